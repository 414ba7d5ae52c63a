"""--clean, --strip-prefix, --rename, --add-prefix: other names for parameters, with their optimizers."""
import pickle
import zipfile

import dcp
import harness

WRAPPED = {"_orig_mod.net.0.weight": "net.0.weight", "_orig_mod.net.0._checkpoint_wrapped_module.bias": "net.0.bias",
           "_orig_mod._fsdp_wrapped_module.net.1.weight": "net.1.weight"}


class Stub:
    """Whatever the pickle of an output names: only keys and texts matter here."""

    def __init__(self, *arguments):
        pass

    def __setstate__(self, state):
        pass


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        return dict if name == "OrderedDict" else Stub

    def persistent_load(self, operand):
        return operand


class Rename(harness.CliTest):
    def consolidated(self, *options, err=None):
        """The pickled tree of the output."""
        result = self.run_cli("consolidate", "ck", "out.pt", "-f", *options)
        self.assertEqual(result.code, 0, result.err)
        if err is not None:
            self.assertEqual(result.err, err)
        with zipfile.ZipFile(self.folder / "out.pt") as archive:
            with archive.open(next(name for name in archive.namelist() if name.endswith("/data.pkl"))) as source:
                return Reader(source).load()

    def save(self, *paths, objects=()):
        """One tensor a path; objects are (path, value)."""
        made = dcp.Directory(self.folder / "ck")
        for number, path in enumerate(paths):
            made.tensor(".".join(map(str, path)), (1,), [((0,), (1,), "__0_0.distcp", dcp.floats(number))], path)
        for path, value in objects:
            made.object(".".join(map(str, path)), value, path=path)
        made.save()

    def wrapped(self, extra=()):
        self.save(*[("model", name) for name in [*WRAPPED, *extra]])


class Clean(Rename):
    def test_kept_by_default(self):
        self.wrapped()
        self.assertEqual(list(self.consolidated(err="")["model"]), list(WRAPPED))

    def test_wrapper_parts_are_removed(self):
        self.wrapped()
        self.assertEqual(list(self.consolidated("--clean", err="fsdpckpt: note: 3 of 3 names are changed\n")["model"]),
                         list(WRAPPED.values()))

    def test_parts_of_other_names_stay(self):
        names = ["my_orig_mod.w", "a.x_fsdp_wrapped_module.w", "_orig_mod", "net.module.w"]
        self.save(*[("model", name) for name in names])
        self.assertEqual(list(self.consolidated("--clean")["model"]), names)

    def test_what_wraps_the_whole_model_goes_at_the_start_alone(self):
        self.save(("model", "module.net.w"), ("model", "_forward_module.module.b"), ("model", "net.module.w"), ("module.x", "w"))
        state = self.consolidated("--clean")
        self.assertEqual(list(state["model"]), ["net.w", "b", "net.module.w"])
        self.assertEqual(list(state), ["model", "module.x"])

    def test_without_a_model_dict(self):
        self.save(("_orig_mod.w",), ("optimizer", "state._orig_mod.w.exp_avg"), ("optimizer", "param_groups._orig_mod.w.lr"))
        state = self.consolidated("--clean")
        self.assertEqual((list(state), list(state["optimizer"])),
                         (["w", "optimizer"], ["state.w.exp_avg", "param_groups.w.lr"]))

    def test_copies_of_the_model_are_cleaned_too(self):
        self.save(("model", "_orig_mod.w"), ("ema", "_orig_mod.w"))
        self.assertEqual(list(self.consolidated("--clean")["ema"]), ["w"])

    def test_optimizer_follows(self):
        names = list(WRAPPED)
        self.save(*[("model", name) for name in names], *[("optim", "state", name, "exp_avg") for name in names],
                  objects=[(("optim", "param_groups", 0, "params"), names[:2]), (("optim", "param_groups", 0, "lr"), 0.1),
                           (("optim", "param_groups", 1, "params"), names[2:])])
        state = self.consolidated("--clean")
        clean = list(WRAPPED.values())
        self.assertEqual(list(state["optim"]["state"]), clean)
        self.assertEqual(state["optim"]["param_groups"], [{"params": clean[:2], "lr": 0.1}, {"params": clean[2:]}])

    def test_groups_as_one_object(self):
        """As torch 2.0 to 2.3 saves them; other texts stay."""
        groups = [{"params": ["_orig_mod.w"], "tag": "_orig_mod.w2"}]
        self.save(("model", "_orig_mod.w"), ("optim", "state", "_orig_mod.w", "step"),
                  objects=[(("optim", "param_groups"), groups)])
        self.assertEqual(self.consolidated("--clean")["optim"]["param_groups"], [{"params": ["w"], "tag": "_orig_mod.w2"}])

    def test_optimizers_by_number_stay(self):
        self.save(("model", "_orig_mod.w"), ("optim", "state", "0", "step"), objects=[(("optim", "param_groups", 0, "params"), [0])])
        state = self.consolidated("--clean")
        self.assertEqual((list(state["optim"]["state"]), state["optim"]["param_groups"]), ([0], [{"params": [0]}]))


class Clash(Rename):
    HINT = "leave one of them out with -x and its name"

    def refused(self, a, b, both, *options):
        self.assert_fails(["consolidate", "ck", "out.pt", *options], 3,
                          (f"'{a}' and '{b}' would both become '{both}'", "ck", self.HINT))

    def test_of_a_wrapped_name_with_a_plain_one(self):
        self.wrapped(["net.0.weight"])
        self.refused("model._orig_mod.net.0.weight", "model.net.0.weight", "model.net.0.weight", "--clean")
        self.refused("model._orig_mod.net.0.weight", "model.net.0.weight", "model.net.0.weight", "--strip-prefix", "_orig_mod")

    def test_of_two_wrapped_names(self):
        self.save(("m", "_orig_mod.w"), ("m", "_fsdp_wrapped_module.w"))
        self.refused("m._orig_mod.w", "m._fsdp_wrapped_module.w", "m.w", "--clean")

    def test_by_a_pattern(self):
        self.save(("model", "a.0.w"), ("model", "b.1.w"))
        self.refused("model.a.0.w", "model.b.1.w", "model.c.w", "--rename", r"\w\.\d=c")

    def test_in_an_optimizer(self):
        self.save(("model", "a.w"), ("optim", "state", "a.w", "step"), ("optim", "state", "b.w", "step"),
                  objects=[(("optim", "param_groups", 0, "params"), ["a.w"])])
        self.refused("optim.state.a.w", "optim.state.b.w", "optim.state.w", "--rename", r"^[ab]\.=")

    def test_in_the_parameters_of_a_group(self):
        self.save(("model", "a.w"), objects=[(("optim", "param_groups", 0, "params"), ["a.w", "b.w"])])
        self.refused("optim.param_groups.0.params.a.w", "optim.param_groups.0.params.b.w",
                     "optim.param_groups.0.params.w", "--rename", r"^[ab]\.=")

    def test_is_none_when_one_is_left_out(self):
        self.wrapped(["net.0.weight"])
        state = self.consolidated("--clean", "-x", "model.net.0.weight")
        self.assertEqual(list(state["model"]), list(WRAPPED.values()))

    def test_a_free_name_may_be_taken(self):
        self.save(("model", "a"), ("model", "b"), ("model", "c"))
        self.assertEqual(list(self.consolidated("--rename", "^b$=x", "--rename", "^a$=b")["model"]), ["b", "x", "c"])


class Prefixes(Rename):
    def test_strip(self):
        self.save(("state", "model", "model.a.w"), ("state", "model", "b.w"))
        for prefix in ("model", "model."):
            state = self.consolidated("--strip-prefix", prefix, err="fsdpckpt: note: 1 of 2 names are changed\n")
            self.assertEqual(list(state["state"]["model"]), ["a.w", "b.w"])

    def test_whole_parts_only(self):
        self.save(("model", "model.a.w"))
        self.assert_fails(["consolidate", "ck", "out.pt", "--strip-prefix", "mod"], 2,
                          ("--strip-prefix 'mod.' matches no name", "ck", "the nearest is 'model.'"))

    def test_add(self):
        self.save(("model", "a.w"), ("optim", "state", "a.w", "step"),
                  objects=[(("optim", "param_groups", 0, "params"), ["a.w"]), (("epoch",), 3)])
        state = self.consolidated("--add-prefix", "net")
        self.assertEqual((list(state["model"]), list(state["optim"]["state"]), state["optim"]["param_groups"], state["epoch"]),
                         (["net.a.w"], ["net.a.w"], [{"params": ["net.a.w"]}], 3))

    def test_all_in_one_order(self):
        self.save(("model", "_orig_mod.old.w"))
        state = self.consolidated("--add-prefix", "x", "--rename", r"^w$=weight", "--strip-prefix", "old", "--clean")
        self.assertEqual(list(state["model"]), ["x.weight"])


class Patterns(Rename):
    def test_groups_and_all_matches(self):
        self.save(("model", "layers.0.attn.w"), ("model", "layers.11.mlp.w"))
        state = self.consolidated("--rename", r"layers\.(\d+)=h.$1", "--rename", "[aeiou]=_")
        self.assertEqual(list(state["model"]), ["h.0._ttn.w", "h.11.mlp.w"])

    def test_options_of_optimizers_are_no_names(self):
        self.save(("model", "weight"), objects=[(("optim", "param_groups", 0, "weight_decay"), 0.1),
                                                 (("optim", "param_groups", 0, "params"), ["weight"])])
        state = self.consolidated("--rename", "weight=w")
        self.assertEqual((list(state["model"]), state["optim"]["param_groups"]), (["w"], [{"weight_decay": 0.1, "params": ["w"]}]))

    def test_the_last_equals_sign_divides(self):
        self.save(("model", "a=b"))
        self.assertEqual(list(self.consolidated("--rename", "a=b=c")["model"]), ["c"])

    def no_match(self, pattern, hint):
        self.assert_fails(["consolidate", "ck", "out.pt", "--rename", pattern + "=x"], 2,
                          (f"--rename '{pattern}' matches no name", "ck", hint))

    def test_no_match_names_the_nearest(self):
        self.save(("model", "encoder.weight"))
        self.no_match("encodr.weight", "the nearest is 'encoder.weight'")
        self.no_match("transformer", "fsdpckpt inspect --keys ck")

    def wrong(self, rule, what, code=2, where=""):
        self.assert_fails(["consolidate", "ck", "out.pt", "--rename", rule], code, (what, where))

    def test_no_pattern(self):
        for rule in ("abc", "=x", ""):
            self.wrong(rule, f"--rename is '{rule}': REGEX=REPLACEMENT was expected")
        for pattern in ("(", "[a", "*"):
            self.wrong(pattern + "=x", f"--rename cannot use '{pattern}': it is no regular expression (ECMAScript's syntax)")
        self.wrong(r"(a)\1=x", r"--rename cannot use '(a)\\1': back references are not supported")

    def test_nothing_left(self):
        self.save(("model", "abc"))
        self.wrong(".*=", "the renaming leaves nothing of 'abc'", where="ck, entry 'abc'")

    def test_names_that_take_long_to_match(self):
        """Neither time nor the stack may grow with what a file says."""
        self.save(("model", "a" * 1024))
        self.consolidated("--rename", "(a*)*b|a$=x")
        self.save(("model", "a" * 1025))
        self.wrong("(a|b)*=x", "a name of 1025 bytes is too long for --rename, which takes up to 1024", 3,
                   f"ck, entry '{'a' * 200}…'")


if __name__ == "__main__":
    harness.main()
