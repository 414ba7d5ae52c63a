"""The stored-zip container against Python's zipfile and Info-ZIP's unzip, in both directions.

usage: zipfile_test.py ZIP_TOOL DATA_FOLDER
"""

import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOOL, DATA = (os.path.abspath(path) for path in sys.argv[1:3])
GIB = 1 << 30


ZEROS = bytes(16 << 20)


class Sparse(io.FileIO):
    """Makes holes of ZEROS."""

    def write(self, data):
        if data is not ZEROS:
            return super().write(data)
        self.seek(len(data), os.SEEK_CUR)
        return len(data)


class Unseekable(io.RawIOBase):
    """Makes zipfile write flags 8 and data descriptors."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def close(self):
        self.file.close()
        super().close()


def payload_offset(file, info):
    file.seek(info.header_offset + 26)
    return info.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))


def seen_by_zipfile(path):
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        return [
            (i.filename, i.file_size, i.CRC, i.header_offset, payload_offset(file, i))
            for i in archive.infolist()
        ]


class TestCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "model.pt")

    def tool(self, *arguments, stdin=""):
        return subprocess.run([TOOL, *arguments], input=stdin, capture_output=True, text=True)

    def seen_by_us(self, path):
        done = self.tool("list", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        return [(row[0], *map(int, row[1:])) for row in rows]

    def assert_seen_alike(self, path):
        self.assertEqual(self.seen_by_us(path), seen_by_zipfile(path))

    def assert_refused(self, path, text):
        done = self.tool("list", path)
        self.assertEqual(done.returncode, 3)
        self.assertIn(text, done.stderr)


class WhatOthersWrote(TestCase):
    def test_torch(self):
        for name in sorted(os.listdir(DATA)):
            if name.endswith(".pt"):
                with self.subTest(name):
                    self.assert_seen_alike(os.path.join(DATA, name))

    def test_zipfile(self):
        with zipfile.ZipFile(self.path, "w") as archive:
            archive.writestr("archive/data.pkl", b"pickle")
            archive.writestr("archive/data/0", b"")
            archive.writestr("archive/\u00e9", b"x" * 1000)
        self.assert_seen_alike(self.path)

    def test_zipfile_to_a_pipe(self):
        with Unseekable(self.path) as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/data.pkl", b"pickle")
            archive.writestr("archive/data/0", b"")
        self.assert_seen_alike(self.path)

    def test_zipfile_with_forced_zip64(self):
        with zipfile.ZipFile(self.path, "w") as archive:
            with archive.open("archive/data.pkl", "w", force_zip64=True) as record:
                record.write(b"pickle")
            archive.writestr("archive/version", b"3\n")
        self.assert_seen_alike(self.path)

    def test_zipfile_with_forced_zip64_to_a_pipe(self):
        with Unseekable(self.path) as file, zipfile.ZipFile(file, "w") as archive:
            with archive.open("archive/data.pkl", "w", force_zip64=True) as record:
                record.write(b"pickle")
            archive.writestr("archive/version", b"3\n")
        self.assert_seen_alike(self.path)

    def test_zipfile_with_66000_records(self):
        with zipfile.ZipFile(self.path, "w") as archive:
            for i in range(66000):
                archive.writestr(f"archive/data/{i}", b"x")
        self.assert_seen_alike(self.path)

    def test_zipfile_beyond_4_gib(self):
        with Sparse(self.path, "w") as file, zipfile.ZipFile(file, "w") as archive:
            with archive.open("archive/data/0", "w", force_zip64=True) as record:
                for _ in range(4 * GIB // len(ZEROS) + 1):
                    record.write(ZEROS)
            archive.writestr("archive/version", b"3\n")
        self.assert_seen_alike(self.path)

    def test_deflated_records_are_refused(self):
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", b"pickle" * 100)
        self.assert_refused(self.path, "'archive/data.pkl' is compressed (method 8)")

    def test_comments_are_refused(self):
        with zipfile.ZipFile(self.path, "w") as archive:
            archive.writestr("archive/data.pkl", b"pickle")
            archive.comment = b"hello"
        self.assert_refused(self.path, "has a comment")

    def test_prepended_bytes_are_refused(self):
        with open(self.path, "wb") as file:
            file.write(b"#!/bin/sh\n")
        with zipfile.ZipFile(self.path, "a") as archive:
            archive.writestr("archive/data.pkl", b"pickle")
        self.assert_refused(self.path, "bytes other than zeros in front of the first zip record")


class WhatWeWrote(TestCase):
    def write(self, lines, alignment=64):
        done = self.tool("write", self.path, str(alignment), stdin="".join(line + "\n" for line in lines))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_seen_alike(self.path)
        return seen_by_zipfile(self.path)

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def assert_whole(self):
        with zipfile.ZipFile(self.path) as archive:
            self.assertIsNone(archive.testzip())
        self.assert_unzipped()

    def assert_readable(self, name):
        """Like assert_whole for one record, where reading all would take a minute."""
        with zipfile.ZipFile(self.path) as archive:
            archive.read(name)
        self.assert_unzipped(name)

    def assert_unzipped(self, *names):
        if shutil.which("unzip"):
            done = subprocess.run(["unzip", "-tq", self.path, *names], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_small_archives_of_every_alignment(self):
        pickle = self.file("p", b"a pickle")
        for alignment in (1, 2, 64, 4096, 32768):
            with self.subTest(alignment):
                seen = self.write(
                    [f"file archive/data.pkl {pickle}", "hole archive/data/0 5000", "hole archive/data/1 0"], alignment
                )
                self.assertEqual([row[1] for row in seen], [8, 5000, 0])
                self.assertEqual({row[4] % alignment for row in seen}, {0})
                self.assert_whole()
                with zipfile.ZipFile(self.path) as archive:
                    self.assertEqual(archive.read("archive/data.pkl"), b"a pickle")

    def test_plain_flags_versions_and_date(self):
        self.write(["hole archive/data/0 10"])
        with zipfile.ZipFile(self.path) as archive:
            info = archive.infolist()[0]
        self.assertEqual((info.flag_bits, info.extract_version, info.date_time), (0, 20, (1980, 1, 1, 0, 0, 0)))

    def test_66000_records(self):
        self.assertEqual(len(self.write(f"hole archive/data/{i} 1" for i in range(66000))), 66000)
        self.assert_whole()

    def test_a_record_of_more_than_4_gib(self):
        for alignment in (64, 4096):
            with self.subTest(alignment):
                seen = self.write(["hole archive/data/0 %d" % (4 * GIB + 4096), "hole archive/version 2"], alignment)
                self.assertEqual(seen[0][1], 4 * GIB + 4096)
                self.assert_readable("archive/version")

    def test_the_last_sizes_of_32_bits(self):
        for size in (0xFFFFFFFE, 0xFFFFFFFF):
            with self.subTest(size):
                self.assertEqual(self.write([f"hole archive/data/0 {size}"])[0][1], size)

    def test_many_records_beyond_4_gib(self):
        lines = [f"hole archive/data/{i} {2 * GIB}" for i in range(3)]
        lines += [f"hole archive/data/{i} 100" for i in range(3, 1000)]
        self.assertGreater(self.write(lines)[-1][3], 6 * GIB)
        self.assert_readable("archive/data/999")

    def test_records_of_more_than_4_gib_beyond_4_gib(self):
        lines = [f"hole archive/data/{i} {5 * GIB}" for i in range(4)]
        self.assertGreater(self.write(lines)[-1][3], 15 * GIB)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
