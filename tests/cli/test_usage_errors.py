"""Calls that cannot be right: exit code 2, one message, no file touched."""
import re

import harness

HELP = {"inspect": "fsdpckpt help inspect", "consolidate": "fsdpckpt help consolidate"}
SIZES = "write a number of bytes or a number with K, M, G or T, e.g. 512M or 1.5 GiB"


class UsageErrors(harness.CliTest):
    def wrong(self, arguments, what, hint="", where=""):
        self.assert_fails(arguments, 2, (what, where, hint))

    def test_no_command(self):
        self.wrong([], "no command was given", "fsdpckpt help")
        self.wrong(["-q"], "no command was given", "fsdpckpt help")

    def test_unknown_command_names_the_nearest(self):
        self.wrong(["consolidtae", "ck"], "unknown command 'consolidtae'", "fsdpckpt consolidate")
        self.wrong(["inpsect"], "unknown command 'inpsect'", "fsdpckpt inspect")
        self.wrong(["frobnicate"], "unknown command 'frobnicate'", "fsdpckpt help")

    def test_a_checkpoint_in_the_place_of_the_command(self):
        self.copy("torch-2.4.1/dt_s0_w2", "my ck")
        self.wrong(["my ck"], "unknown command 'my ck'", "fsdpckpt inspect 'my ck'")

    def test_unknown_option_names_the_nearest(self):
        self.wrong(["consolidate", "ck", "--frce"], "unknown option '--frce'", "--force")
        self.wrong(["consolidate", "ck", "--memory-limt=1G"], "unknown option '--memory-limt=1G'", "--memory-limit")
        self.wrong(["--jsno", "inspect", "ck"], "unknown option '--jsno'", "--json")
        self.wrong(["inspect", "ck", "-j", "4"], "unknown option '-j'", HELP["inspect"])
        self.wrong(["inspect", "ck", "--force"], "unknown option '--force'", HELP["inspect"])
        self.wrong(["-k"], "unknown option '-k'", "fsdpckpt help")

    def test_no_source(self):
        for command, hint in HELP.items():
            self.wrong([command], "no SRC was given", hint)
            self.wrong([command, ""], "no SRC was given", hint)

    def test_empty_target_is_not_the_default(self):
        """As from an unset variable of a script."""
        self.wrong(["consolidate", "ck", ""], "the name of DST is empty")
        self.wrong(["consolidate", "ck", "-o", ""], "the name of DST is empty")

    def test_the_nearest_command_is_spelled_right(self):
        self.copy("torch-2.4.1/dt_s0_w2")
        for command in ("inspcet", "consolidte"):
            name = self.run_cli(command, "ck").err.split("  try: fsdpckpt ")[1].strip()
            self.assertEqual(self.run_cli(name, "ck").code, 0)

    def test_an_option_takes_one_value(self):
        """What follows is an argument."""
        self.copy("torch-2.4.1/dt_s0_w2")
        for option, value in (("-k", "*"), ("-x", "nothing*"), ("--rename", "t=u"), ("--files-in", "ck")):
            result = self.run_cli("consolidate", "ck", option, value, "out.pt", "-n")
            self.assertTrue(result.out.startswith("would write out.pt: ") or "'nothing*'" in result.err, (option, result))
        self.assert_ok(self.run_cli("inspect", "--show", "files", "ck"))

    def test_too_many_arguments(self):
        self.wrong(["inspect", "a", "b"], "one argument too many: 'b'", HELP["inspect"])
        self.wrong(["consolidate", "a", "b", "c"], "one argument too many: 'c'", HELP["consolidate"])

    def test_option_without_its_value(self):
        for option, name in (("-k", "--key"), ("-x", "--exclude"), ("-o", "--output"), ("-j", "--threads"),
                             ("--objects", "--objects"), ("--memory-limit", "--memory-limit")):
            self.wrong(["consolidate", "ck", option], f"{name} needs a value", HELP["consolidate"])
        self.wrong(["inspect", "ck", "--show"], "--show needs a value", HELP["inspect"])
        self.wrong(["--progress"], "--progress needs a value", "fsdpckpt help")

    def test_option_given_twice(self):
        self.wrong(["consolidate", "ck", "--objects", "keep", "--objects", "drop"], "--objects was given more than once",
                   HELP["consolidate"])
        self.wrong(["consolidate", "ck", "-o", "a", "-o", "b"], "--output was given more than once", HELP["consolidate"])

    def test_value_for_a_flag(self):
        self.wrong(["consolidate", "ck", "--force=no"], "--force takes no value", HELP["consolidate"])
        self.wrong(["--json=1", "inspect", "ck"], "--json takes no value", "fsdpckpt help")

    def test_value_that_is_no_choice(self):
        self.wrong(["consolidate", "ck", "--objects", "foo"], "--objects is 'foo': keep, safe, all or drop were expected")
        self.wrong(["consolidate", "ck", "--objects", "kepp"], "--objects is 'kepp': keep, safe, all or drop were expected",
                   "--objects keep")
        self.wrong(["--color", "allways", "inspect", "ck"], "--color is 'allways': auto, always or never were expected",
                   "--color always")
        self.wrong(["inspect", "ck", "--show", "entries,chunk"],
                   "--show is 'chunk': entries, chunks, objects, files or tree were expected", "--show chunks")
        self.wrong(["consolidate", "ck", "--objects", ""], "--objects is '': keep, safe, all or drop were expected")
        for option in ("--color", "--progress"):
            self.wrong([option, "foo", "inspect", "ck"], f"{option} is 'foo': auto, always or never were expected")
        for bad, part in (("foo", "foo"), ("entries,foo", "foo"), ("entries,", ""), ("", "")):
            self.wrong(["inspect", "ck", "--show", bad],
                       f"--show is '{part}': entries, chunks, objects, files or tree were expected")
        self.wrong(["inspect", "ck", "--show", "entries,chunk"],
                   "--show is 'chunk': entries, chunks, objects, files or tree were expected", "--show chunks")
        self.wrong(["inspect", "ck", "--sort", "sise"],
                   "--sort is 'sise': name, size, dtype, shape or chunks were expected", "--sort size")
        self.wrong(["inspect", "ck", "--sort", ""], "--sort is '': name, size, dtype, shape or chunks were expected")

    def test_numbers(self):
        for bad in ("0", "foo", "-1", "1025", "2x", "99999999999999999999", ""):
            self.wrong(["consolidate", "ck", "-j", bad], f"--threads is '{bad}': a number from 1 to 1024 was expected")
        for bad in ("foo", "-1", "1Q", "1..5G", "99999999999G"):
            self.wrong(["consolidate", "ck", "--memory-limit", bad], f"--memory-limit is no size: '{bad}'", SIZES)

    def test_null_is_for_keys(self):
        self.copy("torch-2.4.1/dt_s0_w2", "my ck")
        self.wrong(["inspect", "-0", "my ck"], "-0 is for --keys only", "fsdpckpt inspect --keys -0 'my ck'")

    def test_only_torch_files_are_written(self):
        what = "only torch files can be written: the name must not end in .safetensors or /"
        for target in ("out.safetensors", "out/"):
            self.wrong(["consolidate", "ck", target], what, where=target)
            self.wrong(["consolidate", "ck", "-o", target], what, where=target)

    def test_terminal_escapes_are_shown_not_sent(self):
        self.wrong(["inspect", "a", "b\x1b[31m"], "one argument too many: 'b\\x1b[31m'", HELP["inspect"])
        self.wrong(["in\x1b[2Jspect"], "unknown command 'in\\x1b[2Jspect'", "fsdpckpt help")

    def test_two_dashes_end_the_options(self):
        self.assert_fails(["inspect", "--", "--keys"], 3, ("no such file or directory", "--keys"))


class Exclusions(harness.CliTest):
    """One row each of the table in src/cli/command_line.cc."""

    ROWS = {
        ("--quiet", "--verbose"): ["-q", "-v", "inspect", "nothing"],
        ("--keys", "--json"): ["inspect", "nothing", "--keys", "--json"],
        ("--keys", "--show"): ["inspect", "nothing", "--keys", "--show", "files"],
        ("--keys", "--bytes"): ["inspect", "nothing", "--keys", "--bytes"],
        ("--dry-run", "--verify"): ["consolidate", "nothing", "-n", "--verify"],
        ("DST", "--output"): ["consolidate", "nothing", "a", "-o", "b"],
        ("DST '-'", "--json"): ["consolidate", "nothing", "-", "--json"],
        ("DST '-'", "--verify"): ["consolidate", "nothing", "-o", "-", "--verify"],
        ("DST '-'", "--force"): ["consolidate", "nothing", "-", "--force"],
        ("DST '-'", "--ranks"): ["consolidate", "nothing", "-", "--ranks", "2"],
    }

    def test_every_row(self):
        for (a, b), arguments in self.ROWS.items():
            with self.subTest(a + " " + b):
                result = self.run_cli(*arguments)
                self.assertEqual((result.code, result.err), (2, harness.error_text(f"{a} and {b} exclude each other")))

    def test_every_row_is_tested(self):
        source = (harness.SOURCE / "src/cli/command_line.cc").read_text()
        table = source.split("kExclusions = {{")[1].split("}};")[0]
        self.assertEqual(re.findall(r'\{"\w*", "([^"]+)", "([\w-]+)"\}', table.replace("kStdoutTarget", "\"DST '-'\"")), list(self.ROWS))


class Environment(harness.CliTest):
    """Flag beats variable beats default."""

    def wrong(self, variables, what, hint=""):
        self.assert_fails(["consolidate", "ck", "out.pt"], 2, (what, "", hint), env=variables)

    def test_bad_values(self):
        self.wrong({"FSDPCKPT_THREADS": "many"}, "FSDPCKPT_THREADS is 'many': a number from 1 to 1024 was expected")
        self.wrong({"FSDPCKPT_MEMORY_LIMIT": "much"}, "FSDPCKPT_MEMORY_LIMIT is no size: 'much'", SIZES)
        self.wrong({"FSDPCKPT_LOG": "loud"},
                   "FSDPCKPT_LOG is 'loud': trace, debug, info, warn, error or off were expected")

    def test_flag_beats_variable(self):
        self.copy("torch-2.4.1/dt_s0_w2")
        bad = {"FSDPCKPT_THREADS": "many", "FSDPCKPT_MEMORY_LIMIT": "much"}
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-j", "1", "--memory-limit", "1M", env=bad))
        result = self.run_cli("-v", "consolidate", "ck", "two.pt", env={"FSDPCKPT_LOG": "off", "FSDPCKPT_THREADS": "1"})
        self.assertRegex(result.err, r"(?m)^fsdpckpt: info: copy: 1 threads, ")

    def test_empty_is_unset(self):
        self.copy("torch-2.4.1/dt_s0_w2")
        empty = {"FSDPCKPT_THREADS": "", "FSDPCKPT_MEMORY_LIMIT": "", "FSDPCKPT_LOG": ""}
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", env=empty))

    def test_log_level(self):
        self.copy("torch-2.4.1/dt_s0_w2")
        result = self.run_cli("consolidate", "ck", "out.pt", env={"FSDPCKPT_LOG": "info"})
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"(?m)^fsdpckpt: info: plan: ")


if __name__ == "__main__":
    harness.main()
