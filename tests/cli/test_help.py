"""--help, help, --version: short, complete, and in step with the man pages."""
import re
import unittest

import harness

COMMANDS = ("inspect", "consolidate", "verify")
SILENT = {"--output_file"}  # other programs' spellings: taken, not shown


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--?[a-zA-Z0-9][a-z_-]*)", text)) - {"-1000"}


def options_of_man(page):
    """Options that have a paragraph (.TP) of their own; SEE ALSO and examples do not count."""
    lines = (harness.SOURCE / "man" / page).read_text().replace("\\-", "-").splitlines()
    tags = [lines[i + 1] for i, line in enumerate(lines[:-1]) if line == ".TP"]
    return options_in("\n".join(re.sub(r'^\.\w+ |"|\\f.', " ", tag) for tag in tags))


class Help(harness.CliTest):
    def help_of(self, *arguments):
        result = self.run_cli(*arguments)
        self.assert_ok(result)
        return result.out

    def test_fits_a_terminal(self):
        for command in ("", *COMMANDS):
            text = self.help_of("help", *filter(None, [command]))
            self.assertLessEqual(len(text.splitlines()), 24, command)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, command)
            self.assertTrue(text.startswith("usage: fsdpckpt "))

    def test_ends_with_three_examples_and_the_man_page(self):
        for command in ("", *COMMANDS):
            lines = self.help_of("help", *filter(None, [command])).split("examples\n")[1].splitlines()
            self.assertEqual(sum(line.startswith("  fsdpckpt ") for line in lines), 3, command)
            self.assertEqual(lines[-1], "man " + "-".join(filter(None, ["fsdpckpt", command])))

    def test_all_ways_to_ask_for_it(self):
        for command in COMMANDS:
            text = self.help_of("help", command)
            for arguments in ([command, "--help"], [command, "-h"], ["-h", command], [command, "SRC", "--help", "--bogus"]):
                self.assertEqual(self.help_of(*arguments), text, arguments)
        for arguments in (["--help"], ["-h"], ["help", "help"]):
            self.assertEqual(self.help_of(*arguments), self.help_of("help"), arguments)

    def test_options_are_those_of_the_man_page(self):
        for command in COMMANDS:
            text = self.help_of("help", command).split("examples\n")[0]
            self.assertEqual(options_in(text), options_of_man(f"fsdpckpt-{command}.1"), command)
        text = self.help_of("help").split("options\n")[1].split("examples\n")[0]
        self.assertEqual(options_in(text), options_of_man("fsdpckpt.1"))

    def test_every_option_shown_is_understood(self):
        for command in COMMANDS:
            for option in options_in(self.help_of("help", command).split("examples\n")[0]):
                self.assertNotIn("unknown option", self.run_cli(command, option).err, option)
        self.assertNotIn("unknown option", self.run_cli("consolidate", "--output_file", "x").err)

    def test_examples_are_understood(self):
        """They run, except that there is no checkpoint of that name here."""
        for command in ("", *COMMANDS):
            text = self.help_of("help", *filter(None, [command])).split("examples\n")[1]
            for example in re.findall(r"^  fsdpckpt (.*?)(?:   .*)?$", text, re.M):
                result = self.run_cli(*example.replace("'", "").split())
                self.assertEqual(result.code, 3, result.err)

    def test_help_of_an_unknown_command(self):
        self.assert_fails(["help", "inspct"], 2, ("unknown command 'inspct'", "", "fsdpckpt inspect"))
        self.assert_fails(["help", "frobnicate"], 2, ("unknown command 'frobnicate'", "", "fsdpckpt help"))


class Version(harness.CliTest):
    def test_needs_no_sound_environment(self):
        bad = {"FSDPCKPT_LOG": "loud", "FSDPCKPT_THREADS": "many", "FSDPCKPT_MEMORY_LIMIT": "much"}
        for arguments in (["--version"], ["help"], ["consolidate", "--help"]):
            self.assert_ok(self.run_cli(*arguments, env=bad))

    def test_one_line(self):
        result = self.run_cli("--version")
        self.assert_ok(result)
        self.assertRegex(result.out, r"\Afsdpckpt \d+\.\d+\.\d+\n\Z")

    def test_more_with_verbose(self):
        lines = self.run_cli("--version", "-v").out.splitlines()
        self.assertEqual(lines[0] + "\n", self.run_cli("--version").out)
        self.assertEqual([line.split(":")[0] for line in lines[1:]], ["reads", "writes", "LibTorch"])


class ManPages(unittest.TestCase):
    def test_one_table_of_exit_codes(self):
        """Each page's codes mean the same; the main page has them all."""
        codes = {}
        for page in ("fsdpckpt.1", "fsdpckpt-inspect.1", "fsdpckpt-consolidate.1"):
            text = (harness.SOURCE / "man" / page).read_text().split(".SH EXIT STATUS")[1].split(".SH")[0]
            codes[page] = set(re.findall(r"^\.B[R]? (\d+)|\", \" (\d+)", text, re.M))
            codes[page] = {code for pair in codes[page] for code in pair if code}
        self.assertEqual(codes["fsdpckpt.1"], {"0", "1", "2", "3", "4", "5", "6", "70", "130", "143"})
        for page, found in codes.items():
            self.assertLessEqual(found, codes["fsdpckpt.1"], page)
            self.assertLessEqual({"0", "2", "3", "4", "5", "70", "130", "143"}, found, page)


if __name__ == "__main__":
    harness.main()
