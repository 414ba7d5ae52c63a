"""SRC is something else that people have lying about: it is named, with what to do, and nothing is written."""
import gzip
import io
import lzma
import pickle
import shutil
import subprocess
import tarfile
import zipfile

import dcp
import harness

UNPACK = ", of which fsdpckpt reads what is in it"
AGAIN = "copy the file again, or use an earlier checkpoint"
SAVE = "load it with PyTorch and save it again with torch.save"
HEADER = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
SAFETENSORS = len(HEADER).to_bytes(8, "little") + HEADER + bytes(4)
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
PAGE = b"\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"


class Foreign(harness.CliTest):
    def wrong(self, source, what, hint="", where="", code=3):
        """Both commands say the same."""
        for arguments in (["inspect", source], ["consolidate", source, "out.pt"]):
            self.assert_fails(arguments, code, (what, where or source, hint))

    def write(self, name, data=b""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name


class Files(Foreign):
    def test_empty(self):
        self.wrong(self.write("e.pt"), "an empty file: nothing was written to it", AGAIN)

    def test_zeros(self):
        """Room was made before writing, and the writing never came."""
        for size in (1, 100, 5000, 1 << 20):
            self.wrong(self.write("z.pt", bytes(size)),
                       "zeros at the start and the end: room was made for the file, and it was never written", AGAIN)

    def test_git_lfs_pointer(self):
        self.wrong(self.write("p.pt", LFS), "a Git LFS pointer: the file itself was not downloaded", "git lfs pull")

    def test_web_page(self):
        for page in (PAGE, b"<html>", b"<HTML><BODY>", b"\xef\xbb\xbf<!doctype HTML>"):
            self.wrong(self.write("page.pt", page), "a web page, saved under the name of the file",
                       "download the file again")

    def test_before_1_6(self):
        shutil.copy(harness.TESTDATA / "torch-2.13.0/full/layouts_legacy.pt", self.folder / "old.pt")
        self.wrong("old.pt", "a torch file in the form from before PyTorch 1.6, which fsdpckpt does not read", SAVE)

    def tar(self, name, members, mode="w"):
        with tarfile.open(self.folder / name, mode) as archive:
            for member in members:
                archive.addfile(tarfile.TarInfo(member))
        return name

    def test_tar(self):
        what = "a torch file in the tar form of the first PyTorch releases, which fsdpckpt does not read"
        for members in (["sys_info", "pickle"], ["storages", "tensors"], ["pickle"], ["tensors"]):
            self.wrong(self.tar("old.pt", members), what, SAVE)
        self.wrong(self.tar("a b.tar", ["ck/.metadata"]), "a tar archive" + UNPACK, "tar -xf 'a b.tar'")

    def test_compressed(self):
        item = dcp.torch_zip({})
        self.wrong(self.write("f.pt.gz", gzip.compress(item)), "a file compressed with gzip" + UNPACK,
                   "gzip -dc f.pt.gz > FILE")
        self.wrong(self.write("f.xz", lzma.compress(item)), "a file compressed with xz" + UNPACK, "xz -dc f.xz > FILE")
        for magic, name in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh9", "bzip2"), (b"\x04\x22\x4d\x18", "lz4")):
            self.wrong(self.write("f", magic + bytes(range(1, 200))), f"a file compressed with {name}{UNPACK}",
                       f"{name} -dc f > FILE")

    def test_the_command_to_unpack_helps(self):
        if shutil.which("gzip") is None:
            self.skipTest("no gzip here")
        source = self.write("my f.gz", gzip.compress(dcp.torch_zip({"a": 1})))
        hint = self.run_cli("inspect", source).err.split("  try: ")[1].strip().replace("FILE", "unpacked")
        subprocess.run(hint, shell=True, check=True, cwd=self.folder)
        self.assert_ok(self.run_cli("inspect", "unpacked"))

    def test_safetensors(self):
        self.wrong(self.write("m.safetensors", SAFETENSORS), "a safetensors file, which this release does not read",
                   "safetensors.torch.load_file reads it; it is one file already")

    def test_plain_pickle(self):
        for protocol in (2, 3, 4, 5):
            self.wrong(self.write("p.pt", pickle.dumps({"a": [1, 2, 3]}, protocol)), "a plain pickle, not a file of torch.save", SAVE)

    def test_metadata_without_its_directory(self):
        dcp.small(self.folder / "ck").save()
        shutil.copy(self.folder / "ck/.metadata", self.folder / "copied")
        self.wrong("copied", "the metadata of a sharded checkpoint without its rank files",
                   "give the directory in which the rank files lie")

    def test_other_programs(self):
        self.wrong(self.write("h.h5", b"\x89HDF\r\n\x1a\n" + bytes(20)), "an HDF5 file, which PyTorch does not write")
        self.wrong(self.write("g", b"GGUF\3" + bytes(20)), "a GGUF file, which PyTorch does not write")
        self.wrong(self.write("a.npy", b"\x93NUMPY\1\0" + bytes(20)), "a NumPy array, not a file of torch.save")
        self.wrong(self.write("notes.txt", b"These are only notes.\n"), "a text file, not a checkpoint")

    def test_unknown(self):
        what = "not a checkpoint: the file does not start like a zip archive of torch.save"
        for data in (b"\xff", b"\xff\xfe\xfd" * 9, b"PK\3\4", b"\x80\x09" + bytes(9)):
            self.wrong(self.write("f", data), what)

    def zip(self, name, members, compression=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / name, "w", compression) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
        return name

    def test_torchscript(self):
        archive = self.zip("m.pt", {"m/data.pkl": pickle.dumps({}, 2), "m/code/__torch__.py": b"", "m/constants.pkl": b"", "m/version": b"3\n"})
        self.wrong(archive, "a TorchScript archive, not a state dict",
                   "load it with torch.jit.load and save its state_dict() with torch.save")

    def test_other_archives(self):
        hint = "if a checkpoint is packed in it, unpack it first"
        for members in ({"arr_0.npy": b"x" * 50}, {"ck/.metadata": b"x" * 50, "ck/__0_0.distcp": b"y" * 50},
                        {"[Content_Types].xml": b"<Types/>" * 9}):
            for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self.wrong(self.zip("a.zip", members, compression), "a zip archive that torch.save did not write", hint)

    def test_cut_archive_keeps_its_own_error(self):
        self.write("cut.pt", dcp.torch_zip({"a": list(range(100))})[:300])
        self.assertNotIn("did not write", self.run_cli("inspect", "cut.pt").err)

    def test_name_of_a_file_with_a_slash(self):
        self.write("a b.pt", dcp.torch_zip({}))
        self.wrong("a b.pt/", "not a directory: the name ends in / and belongs to a file", "fsdpckpt inspect 'a b.pt'")

    def test_extension_does_not_count(self):
        for name in ("f.safetensors", "f.zip", "f.tar.gz", "f.distcp", "metadata"):
            self.write(name, dcp.torch_zip({"a": 1}))
            self.assert_ok(self.run_cli("inspect", name, "--keys"), "a\n")


class TwoFormats(Foreign):
    """Programs disagree about what such a file holds: rule Z12."""

    def test_refused(self):
        archive = dcp.torch_zip({"a": 1})
        legacy = (harness.TESTDATA / "torch-2.13.0/full/layouts_legacy.pt").read_bytes()
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as target:
            target.addfile(tarfile.TarInfo("x"))
        for start, what in ((legacy, "a torch file in the form from before PyTorch 1.6"),
                            (SAFETENSORS, "a safetensors file"), (pickle.dumps({}, 2), "a plain pickle"),
                            (tar.getvalue(), "a tar archive"), (gzip.compress(b"x"), "a file compressed with gzip")):
            for end in (archive, archive[:-2] + b"\5\0hello"):
                self.wrong(self.write("two.pt", start + end),
                           f"two formats at once: {what} at the start and a zip archive at the end", code=5)

    def test_bytes_in_front_of_an_archive(self):
        self.wrong(self.write("f.pt", b"\xff\xfe\1\2" * 8 + dcp.torch_zip({"a": 1})),
                   "not a checkpoint: a zip archive with other bytes in front of it")


class PartsOfACheckpoint(Foreign):
    def test_rank_file_alone(self):
        dcp.small(self.folder / "ck").save()
        self.write("__0_0.distcp", (self.folder / "ck/__1_0.distcp").read_bytes())
        self.wrong("__0_0.distcp", "this is one rank's file of a sharded checkpoint, and there is no .metadata beside it",
                   "give the directory that has both")

    def test_what_spoils_any_file_is_told_of_metadata_too(self):
        for data, what, hint in ((bytes(500), "zeros at the start and the end: room was made for the file, and it was never written", AGAIN),
                                 (LFS, "a Git LFS pointer: the file itself was not downloaded", "git lfs pull"),
                                 (PAGE, "a web page, saved under the name of the file", "download the file again")):
            dcp.small(self.folder / "ck").save()
            self.write("ck/.metadata", data)
            self.wrong("ck", what, hint, "ck/.metadata")


class SpoiledRankFiles(harness.CliTest):
    def test_said_of_rank_files_too(self):
        for data, what in ((bytes(50), "zeros at the start and the end: room was made for the file, and it was never written"),
                           (LFS, "a Git LFS pointer: the file itself was not downloaded")):
            dcp.small(self.folder / "ck").save()
            (self.folder / "ck/__1_0.distcp").write_bytes(data)
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertEqual((result.code, self.listed()), (3, ["ck"]))
            self.assertTrue(result.err.startswith(f"fsdpckpt: error: {what}\n  in:  ck/__1_0.distcp, entry 'model.w' [2:4, 0:3]\n"), result.err)


class Folders(Foreign):
    def test_empty(self):
        (self.folder / "empty").mkdir()
        self.wrong("empty", "the directory is empty: a sharded checkpoint has a .metadata in it")

    def test_of_other_files(self):
        self.write("other/readme.txt", b"hello")
        self.wrong("other", "not a sharded checkpoint: there is no .metadata in the directory")

    def test_parent_of_model_and_optimizer(self):
        """As Accelerate and the Hugging Face Trainer save; the model is the one to look at."""
        for name in ("optimizer_0", "pytorch_model_fsdp_0"):
            dcp.small(self.folder / "checkpoint-7" / name).save()
        self.write("checkpoint-7/scheduler.pt", dcp.torch_zip({}))
        self.wrong("checkpoint-7", "no .metadata here, but in folders inside: 'checkpoint-7/optimizer_0', "
                                   "'checkpoint-7/pytorch_model_fsdp_0'", "fsdpckpt inspect checkpoint-7/pytorch_model_fsdp_0")

    def test_two_levels_up(self):
        for name in ("checkpoint-1/optimizer_0", "checkpoint-1/pytorch_model_fsdp_0", "checkpoint-2/pytorch_model_fsdp_0"):
            dcp.small(self.folder / "run" / name).save()
        what = "no .metadata here, but in folders inside: 'run/checkpoint-1/optimizer_0', 'run/checkpoint-1/pytorch_model_fsdp_0', 'run/checkpoint-2/pytorch_model_fsdp_0'"
        self.wrong("run", what, "fsdpckpt inspect run/checkpoint-1/pytorch_model_fsdp_0")

    def test_three_levels_up_is_not_searched(self):
        dcp.small(self.folder / "a/b/c/ck").save()
        self.wrong("a", "not a sharded checkpoint: there is no .metadata in the directory")

    def test_many_checkpoints(self):
        for step in range(25):
            dcp.small(self.folder / f"run/{step:02}").save()
        named = ", ".join(f"'run/{step:02}'" for step in range(20))
        self.wrong("run", f"no .metadata here, but in folders inside: {named} and 5 more", "fsdpckpt inspect run/00")

    def per_rank(self, names, what, hint):
        for name in names:
            self.write("d/" + name, dcp.torch_zip({}))
        self.wrong("d", what + "), not a sharded checkpoint: there is no .metadata", hint)
        shutil.rmtree(self.folder / "d")

    def test_per_rank_files(self):
        self.per_rank(["model_world_size_2_rank_0.pt", "model_world_size_2_rank_1.pt"],
                      "2 files that the ranks saved for themselves ('model_world_size_2_rank_0.pt', 'model_world_size_2_rank_1.pt'",
                      "fsdpckpt inspect d/model_world_size_2_rank_0.pt")
        self.per_rank([f"pytorch_model_fsdp_0_rank{rank}.bin" for rank in range(8)],
                      "8 files that the ranks saved for themselves ('pytorch_model_fsdp_0_rank0.bin', "
                      "'pytorch_model_fsdp_0_rank1.bin', 'pytorch_model_fsdp_0_rank2.bin' and 5 more",
                      "fsdpckpt inspect d/pytorch_model_fsdp_0_rank0.bin")

    def test_per_rank_files_of_sharded_tensors(self):
        for module, name in (("torch.distributed._shard.sharded_tensor.api", "ShardedTensor"),
                             ("torch.distributed.tensor", "DTensor")):
            part = dcp.Call(dcp.function(module, name), 1)
            for rank in range(2):
                self.write(f"d/rank{rank}.pt", dcp.torch_zip({"w": part}))
            self.wrong("d", f"2 files that the ranks saved for themselves, each with its part of {name}s "
                            "('rank0.pt', 'rank1.pt'), not a sharded checkpoint: there is no .metadata",
                       "fsdpckpt inspect d/rank0.pt")

    def test_files_of_rank_0_alone_are_single_files(self):
        """As Composer saves whole checkpoints: one a step."""
        for name in ("ep0-ba1-rank0.pt", "ep0-ba2-rank0.pt"):
            self.write("d/" + name, dcp.torch_zip({}))
        self.wrong("d", "not a sharded checkpoint: there is no .metadata in the directory, only single files: "
                        "'ep0-ba1-rank0.pt', 'ep0-ba2-rank0.pt'", "fsdpckpt inspect d/ep0-ba1-rank0.pt")

    def test_deepspeed(self):
        what = "a DeepSpeed ZeRO checkpoint, not a sharded checkpoint of PyTorch: there is no .metadata"
        hint = "DeepSpeed's zero_to_fp32.py makes one state dict of it: python -m deepspeed.utils.zero_to_fp32 {} OUTPUT_FOLDER{}"
        self.write("my ds/latest", b"global_step10")
        self.write("my ds/global_step10/mp_rank_00_model_states.pt", dcp.torch_zip({}))
        self.wrong("my ds", what, hint.format("'my ds'", ""))
        self.write("ds/zero_to_fp32.py", b"")
        self.wrong("ds", what, hint.format("ds", ""))
        self.wrong("my ds/global_step10", what, hint.format("'my ds/global_step10/..'", " -t global_step10"))
        for name in ("zero_pp_rank_0_mp_rank_00_model_states.pt", "bf16_zero_pp_rank_3_mp_rank_00_optim_states.pt"):
            self.write(f"t/{name}", b"x")
            self.wrong("t", what, hint.format("t/..", " -t t"))
            shutil.rmtree(self.folder / "t")

    def test_megatron(self):
        self.write("iter_1/mp_rank_00/model_optim_rng.pt", dcp.torch_zip({}))
        self.wrong("iter_1", "a Megatron-LM checkpoint of the kind before torch_dist: one file a model-parallel rank, no .metadata",
                   "convert it with Megatron-LM's tools/checkpoint/convert.py")

    def test_torchsnapshot(self):
        self.write("snap/.snapshot_metadata", b"{}")
        self.wrong("snap", "a torchsnapshot checkpoint, not a sharded checkpoint of PyTorch: there is no .metadata")

    def test_hugging_face(self):
        end = "), not a sharded checkpoint: there is no .metadata"
        self.write("hf/model-00001-of-00001.safetensors", SAFETENSORS)
        self.wrong("hf", "a Hugging Face folder of safetensors files ('model-00001-of-00001.safetensors'" + end)
        self.write("bin/config.json", b"{}")
        self.write("bin/pytorch_model.bin", dcp.torch_zip({}))
        self.wrong("bin", "a Hugging Face folder of torch files ('pytorch_model.bin'" + end, "fsdpckpt inspect bin/pytorch_model.bin")
        for rank in (1, 2):
            self.write(f"sharded/shard-0000{rank}-model-00001-of-00001.safetensors", SAFETENSORS)
        self.wrong("sharded", "2 safetensors files that each hold one rank's part (torch's Hugging Face writer), "
                              "which this release does not read: there is no .metadata",
                   "torch.distributed.checkpoint has consolidate_safetensors_files for them")

    def test_single_files(self):
        for name in ("a.pt", "b.pt", "c.pt", "d.pt"):
            self.write("d/" + name, dcp.torch_zip({}))
        what = "not a sharded checkpoint: there is no .metadata in the directory, only single files: 'a.pt', 'b.pt', 'c.pt' and 1 more"
        self.wrong("d", what, "fsdpckpt inspect d/a.pt")

    def test_no_advice_to_inspect_what_cannot_be(self):
        self.write("d/a.pt", b"x")
        self.wrong("d", "not a sharded checkpoint: there is no .metadata in the directory, only single files: 'a.pt'")


if __name__ == "__main__":
    harness.main()
