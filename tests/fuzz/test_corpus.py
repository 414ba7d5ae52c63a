"""The fuzz corpus is what REASONS.md says, and its hand-made files are what make_attacks.py makes."""
import pathlib
import re
import unittest

import make_attacks

CORPUS = pathlib.Path(__file__).parent / "corpus"
LINE = re.compile(r"- `(\w+/[^`]+)` (accepted|refused [35]|any): (.+)")
ROWS = [f"P{row}" for row in range(1, 15)] + [f"Z{row}" for row in range(1, 13)] \
    + [f"X{row}" for row in (1, 2, 3, 4, 5, 6, 7, 8, 12)]


def reasons():
    """The lines of REASONS.md as (name, outcome, reason)."""
    lines = [line for line in (CORPUS / "REASONS.md").read_text().splitlines() if line.startswith("- ")]
    return [LINE.fullmatch(line).groups() for line in lines]


def files():
    return {str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*")}


class Corpus(unittest.TestCase):
    maxDiff = None

    def test_every_file_has_one_reason_and_every_reason_a_file(self):
        named = [name for name, _, _ in reasons()]
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual(set(named), files())

    def test_hand_made_files_are_what_the_script_makes(self):
        made = {name: data for name, _, _, data in make_attacks.attacks()}
        self.assertEqual({name for name in files() if re.search(r"/[PZX]\d+-", name)}, set(made))
        for name, data in made.items():
            self.assertEqual((CORPUS / name).read_bytes(), data, name)

    def test_hand_made_files_have_the_lines_the_script_makes(self):
        self.assertEqual([line for line in (CORPUS / "REASONS.md").read_text().splitlines()
                          if make_attacks.IS_ATTACK.match(line)], sorted(make_attacks.lines()))

    def test_every_row_of_the_threat_list_is_attacked(self):
        attacked = {re.match(r"\w+/([PZX]\d+)-", name)[1] for name in files() if re.search(r"/[PZX]\d+-", name)}
        self.assertEqual(attacked & set(ROWS), set(ROWS))

    def test_it_is_large_in_number_and_small_in_bytes(self):
        sizes = sorted((CORPUS / name).stat().st_size for name in files())
        self.assertGreaterEqual(len(sizes), 300)
        self.assertLess(sizes[len(sizes) // 2], 2048)
        self.assertLess(sizes[-1], 65537)
        self.assertLess(sum(sizes), 1_500_000)


if __name__ == "__main__":
    unittest.main()
