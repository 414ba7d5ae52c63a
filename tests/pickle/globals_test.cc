#include "pickle/globals.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

using Name = std::pair<std::string_view, std::string_view>;

TEST(WeightsOnly, KnowsTheFirstTorchThatAccepts) {
  EXPECT_EQ(weights_only_since("collections", "OrderedDict"), "2.0");
  EXPECT_EQ(weights_only_since("torch", "FloatStorage"), "2.0");
  EXPECT_EQ(weights_only_since("torch", "float32"), "2.0");
  EXPECT_EQ(weights_only_since("torch._utils", "_rebuild_tensor_v2"), "2.0");
  EXPECT_EQ(weights_only_since("torch._utils", "_rebuild_tensor_v3"), "2.2");
  EXPECT_EQ(weights_only_since("torch", "float8_e4m3fn"), "2.2");
  EXPECT_EQ(weights_only_since("torch", "float8_e4m3fnuz"), "2.3");
  EXPECT_EQ(weights_only_since("torch", "bfloat16"), "2.4");
  EXPECT_EQ(weights_only_since("torch", "device"), "2.4");
  EXPECT_EQ(weights_only_since("_codecs", "encode"), "2.5");
  EXPECT_EQ(weights_only_since("builtins", "set"), "2.6");
  EXPECT_EQ(weights_only_since("torch", "uint3"), "2.7");
}

TEST(WeightsOnly, TakesPython2Names) {
  EXPECT_EQ(weights_only_since("__builtin__", "set"), "2.6");
  EXPECT_EQ(weights_only_since("__builtin__", "bytearray"), "2.5");
}

TEST(WeightsOnly, RefusesTheRest) {
  for (const auto& [module, name] :
       {Name{"builtins", "frozenset"}, Name{"builtins", "getattr"}, Name{"os", "system"}, Name{"numpy", "ndarray"},
        Name{"torch", "load"}, Name{"pathlib", "PosixPath"}, Name{"torch.Float", "Storage"}, Name{"", ""}}) {
    EXPECT_EQ(weights_only_since(module, name), std::nullopt) << module << "." << name;
  }
}

TEST(Dangerous, ReachesTheSystemOrOtherCode) {
  const Name dangerous[] = {{"os", "system"},
                            {"posix", "system"},
                            {"nt", "system"},
                            {"os.path", "exists"},
                            {"subprocess", "Popen"},
                            {"commands", "getoutput"},
                            {"sys", "exit"},
                            {"builtins", "eval"},
                            {"__builtin__", "eval"},
                            {"__builtin__", "execfile"},
                            {"builtins", "exec"},
                            {"builtins", "open"},
                            {"builtins", "compile"},
                            {"builtins", "setattr"},
                            {"builtins", "__import__"},
                            {"builtins", "globals"},
                            {"importlib", "import_module"},
                            {"importlib._bootstrap", "_call_with_frames_removed"},
                            {"runpy", "run_path"},
                            {"shutil", "rmtree"},
                            {"socket", "socket"},
                            {"ctypes", "CDLL"},
                            {"pickle", "loads"},
                            {"_pickle", "loads"},
                            {"cPickle", "loads"},
                            {"marshal", "loads"},
                            {"operator", "attrgetter"},
                            {"_operator", "methodcaller"},
                            {"code", "InteractiveConsole"},
                            {"pty", "spawn"},
                            {"types", "FunctionType"},
                            {"types", "CodeType"},
                            {"functools", "reduce"},
                            {"copyreg", "add_extension"},
                            {"copy_reg", "constructor"},
                            {"io", "open"},
                            {"_io", "FileIO"},
                            {"urllib.request", "urlopen"},
                            {"http.client", "HTTPConnection"},
                            {"numpy", "load"},
                            {"numpy.f2py.crackfortran", "getlincoef"},
                            {"numpy.testing._private.utils", "runstring"},
                            {"torch", "load"},
                            {"torch.hub", "load"},
                            {"torch.serialization", "load"},
                            {"torch.storage", "_load_from_bytes"},
                            {"torch.jit", "load"},
                            {"torch._dynamo.config", "load_config"},
                            {"torch.utils.cpp_extension", "load_inline"},
                            {"pdb", "run"},
                            {"pydoc", "pipepager"},
                            {"webbrowser", "open"},
                            {"pip", "main"},
                            {"six.moves.builtins", "exec"}};
  for (const auto& [module, name] : dangerous) EXPECT_TRUE(is_dangerous(module, name)) << module << "." << name;
}

TEST(Dangerous, ReachesThroughHarmlessModules) {
  const Name dangerous[] = {{"random", "_os.system"},         {"random", "_os"},
                            {"collections", "_sys.modules"},  {"torch.serialization", "os.system"},
                            {"torch.serialization", "os"},    {"some.module", "builtins.eval"},
                            {"some.module", "__builtins__"},  {"some.module", "Popen"},
                            {"some.module", "f.__globals__"}, {"some.module", "C.__init__.__globals__.get"},
                            {"pathlib", "PosixPath.unlink"},  {"some.module", "C.__subclasses__"}};
  for (const auto& [module, name] : dangerous) EXPECT_TRUE(is_dangerous(module, name)) << module << "." << name;
}

TEST(Dangerous, HonestPicklesPass) {
  const Name honest[] = {{"argparse", "Namespace"},
                         {"datetime", "datetime"},
                         {"datetime", "timezone"},
                         {"decimal", "Decimal"},
                         {"fractions", "Fraction"},
                         {"uuid", "UUID"},
                         {"uuid", "SafeUUID"},
                         {"pathlib", "PosixPath"},
                         {"pathlib._local", "PosixPath"},
                         {"collections", "OrderedDict"},
                         {"collections", "defaultdict"},
                         {"collections", "deque"},
                         {"collections", "Counter"},
                         {"__main__", "Config"},
                         {"__main__", "Outer.Inner"},
                         {"my.project.types", "Options"},
                         {"numpy", "dtype"},
                         {"numpy", "ndarray"},
                         {"numpy.core.multiarray", "_reconstruct"},
                         {"numpy._core.multiarray", "scalar"},
                         {"numpy.core.numeric", "_frombuffer"},
                         {"numpy.random._pickle", "__randomstate_ctor"},
                         {"omegaconf.dictconfig", "DictConfig"},
                         {"omegaconf.base", "Metadata"},
                         {"typing", "Any"},
                         {"torch", "device"},
                         {"torch", "Size"},
                         {"torch", "bfloat16"},
                         {"torch._utils", "_rebuild_tensor_v2"},
                         {"torch.optim.lr_scheduler", "LambdaLR"},
                         {"torch.distributed.checkpoint.metadata", "Metadata"},
                         {"torch.distributed._shard.sharded_tensor.api", "ShardedTensor"},
                         {"random", "Random"},
                         {"functools", "partial"},
                         {"types", "SimpleNamespace"},
                         {"copyreg", "_reconstructor"},
                         {"copy_reg", "_reconstructor"},
                         {"_codecs", "encode"},
                         {"builtins", "getattr"},
                         {"builtins", "set"},
                         {"builtins", "frozenset"},
                         {"builtins", "complex"},
                         {"builtins", "slice"},
                         {"builtins", "range"},
                         {"builtins", "object"},
                         {"builtins", "type"},
                         {"builtins", "ValueError"},
                         {"exceptions", "ValueError"},
                         {"re", "_compile"},
                         {"enum", "Enum"},
                         {"_io", "BytesIO"},
                         {"transformers.training_args", "TrainingArguments"}};
  for (const auto& [module, name] : honest) EXPECT_FALSE(is_dangerous(module, name)) << module << "." << name;
}

std::vector<std::string> names(const std::vector<FoundGlobal>& globals) {
  std::vector<std::string> names;
  for (const FoundGlobal& global : globals) names.push_back(global.module + "." + global.name);
  return names;
}

GlobalScan scan(std::string_view pickle) {
  const Tree tree(pickle);
  return scan_globals(tree.values, tree.root);
}

using Strings = std::vector<std::string>;

TEST(ScanGlobals, FindsEachOnceInOrder) {
  const GlobalScan found = scan("(ca\nA\ncb\nB\nK\1\x85R}cc\nC\nca\nA\nscd\nD\n)\x81(ce\nE\ncf\nF\nucg\nG\nbt."s);
  EXPECT_EQ(names(found.all), (Strings{"a.A", "b.B", "c.C", "d.D", "e.E", "f.F", "g.G"}));
  EXPECT_EQ(found.refused, found.all);
  EXPECT_TRUE(found.dangerous.empty());
}

TEST(ScanGlobals, LooksIntoEveryKind) {
  const GlobalScan found =
      scan("(\x8f(ca\nA\n\x90(cb\nB\n\x91"s + "cc\nC\n)}K\1cd\nD\ns\x92](ce\nE\n"s + "ecf\nF\nQt.");
  EXPECT_EQ(names(found.all), (Strings{"a.A", "b.B", "c.C", "d.D", "e.E", "f.F"}));
}

TEST(ScanGlobals, SortsDangerousAndRefused) {
  const GlobalScan found = scan("(cos\nsystem\nccollections\nOrderedDict\ncargparse\nNamespace\nt."s);
  EXPECT_EQ(names(found.dangerous), Strings{"os.system"});
  EXPECT_EQ(names(found.refused), (Strings{"os.system", "argparse.Namespace"}));
}

TEST(ScanGlobals, SaysWhichTorchTakesTheRest) {
  EXPECT_EQ(scan("K\1."s).needs_torch, "2.0");
  EXPECT_EQ(scan("ctorch\nfloat8_e5m2\n."s).needs_torch, "2.2");
  EXPECT_EQ(scan("(ctorch\nuint3\nctorch\nfloat8_e5m2\nt."s).needs_torch, "2.7");
  EXPECT_EQ(scan("C\1a."s).needs_torch, "2.5");
  EXPECT_EQ(scan("\x96\0\0\0\0\0\0\0\0."s).needs_torch, "2.5");
  EXPECT_EQ(scan("\x8f."s).needs_torch, "2.6");
}

TEST(ScanGlobals, TakesTheCallForEmptyBytesAsBytes) {
  const GlobalScan found = scan("c__builtin__\nbytes\n)R.");
  EXPECT_TRUE(found.refused.empty());
  EXPECT_EQ(found.needs_torch, "2.5");
  EXPECT_EQ(names(scan("c__builtin__\nbytes\nK\1\x85R.").refused), Strings{"__builtin__.bytes"});
}

TEST(ScanGlobals, CountsWhatTheWriterWouldName) {
  EXPECT_EQ(names(scan("(\x91."s).refused), Strings{"builtins.frozenset"});
  EXPECT_EQ(names(scan("ctorch\nTensor\n)}\x92."s).refused), Strings{"copyreg.__newobj_ex__"});
}

TEST(ScanGlobals, AcceptsGetattrOfMemoryFormats) {
  for (const std::string& type : {"torch.distributed._shard.sharded_tensor.metadata\nMEM_FORMAT_ENCODING\n"s,
                                  "torch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n"s}) {
    const GlobalScan found = scan("cbuiltins\ngetattr\nc" + type + "\x8c\x17TORCH_CONTIGUOUS_FORMAT\x86R.");
    EXPECT_TRUE(found.dangerous.empty());
    EXPECT_EQ(found.all.size(), 2);
  }
}

TEST(ScanGlobals, AcceptsGetattrOfShardedTensorState) {
  const std::string type = "ctorch.distributed._shard.sharded_tensor.api\nShardedTensor\n";
  EXPECT_TRUE(scan("c__builtin__\ngetattr\n" + type + "\x8c\x11ProcessGroupState\x86R.").dangerous.empty());
  EXPECT_EQ(names(scan("c__builtin__\ngetattr\n" + type + "\x8c\x08__init__\x86R.").dangerous),
            Strings{"__builtin__.getattr"});
}

TEST(ScanGlobals, RefusesEveryOtherGetattr) {
  const std::string others[] = {
      "cbuiltins\ngetattr\n.",
      "cbuiltins\ngetattr\ncm\nC\n\x8c\1a\x86R.",
      "cbuiltins\ngetattr\n)\x81.",
      "cbuiltins\ngetattr\nctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n\x8c\x09__class__\x86R.",
      "cbuiltins\ngetattr\nctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n\x8c\1a\x8c\1a\x87R.",
  };
  for (const std::string& pickle : others) EXPECT_EQ(names(scan(pickle).dangerous), Strings{"builtins.getattr"});
}

TEST(ScanGlobals, RefusesGetattrThatIsAlsoUsedOtherwise) {
  const std::string known =
      "(cbuiltins\ngetattr\nq\0ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n\x8c\6TORCH_\x86R"s;
  EXPECT_TRUE(scan(known + "t.").dangerous.empty());
  EXPECT_EQ(names(scan(known + "h\0t."s).dangerous), Strings{"builtins.getattr"});
}

TEST(ScanGlobals, JudgesPartialByItsFunction) {
  EXPECT_TRUE(scan("cfunctools\npartial\ncm\nf\n\x85R."s).dangerous.empty());
  EXPECT_EQ(names(scan("cfunctools\npartial\ncos\nsystem\n\x85R."s).dangerous),
            (Strings{"functools.partial", "os.system"}));
  EXPECT_EQ(names(scan("cfunctools\npartial\n)R."s).dangerous), Strings{"functools.partial"});
  EXPECT_EQ(names(scan("cfunctools\npartial\n."s).dangerous), Strings{"functools.partial"});
}

TEST(ScanGlobals, VisitsCyclesOnce) { EXPECT_EQ(names(scan("]q\0(h\0cm\nC\ne."s).all), Strings{"m.C"}); }

}  // namespace
}  // namespace fsdpckpt::pickle
