// What only an attack, or a very odd program, pickles (rule P1). The list is generous and never complete: it warns, it
// does not protect. What protects is that nothing is ever resolved.
#include "pickle/globals_tables.h"

namespace fsdpckpt::pickle {
namespace {

constexpr std::string_view kDangerousModules[] = {
    // processes, files, devices
    "os", "posix", "nt", "posixpath", "ntpath", "genericpath", "subprocess", "_posixsubprocess", "commands", "popen2",
    "pty", "tty", "termios", "fcntl", "mmap", "resource", "shutil", "tempfile", "fileinput", "glob", "zipfile",
    "tarfile", "gzip", "bz2", "lzma", "shelve", "dbm", "sqlite3", "_sqlite3", "linecache", "filecmp", "pwd", "grp",
    "spwd", "crypt", "msvcrt", "winreg", "_winreg", "_winapi", "winsound", "signal", "_signal", "faulthandler",
    "platform", "getpass", "readline", "rlcompleter", "curses", "syslog", "psutil",
    // network
    "socket", "_socket", "socketserver", "SocketServer", "ssl", "_ssl", "select", "selectors", "asyncio", "_asyncio",
    "asyncore", "asynchat", "http.client", "http.server", "http.cookiejar", "urllib.request", "urllib.robotparser",
    "urllib2", "httplib", "ftplib", "smtplib", "smtpd", "poplib", "imaplib", "nntplib", "telnetlib", "xmlrpc",
    "xmlrpclib", "webbrowser", "antigravity", "cgi", "cgitb", "wsgiref", "requests", "urllib3", "httpx", "aiohttp",
    "paramiko", "fabric", "invoke", "pexpect", "sh", "plumbum", "boto3", "botocore", "docker",
    // the interpreter and its code
    "sys", "importlib", "_frozen_importlib", "_frozen_importlib_external", "imp", "_imp", "runpy", "pkgutil",
    "zipimport", "zipapp", "modulefinder", "code", "codeop", "compileall", "py_compile", "ast", "_ast", "dis",
    "symtable", "inspect", "gc", "atexit", "site", "sitecustomize", "usercustomize", "_xxsubinterpreters",
    "_interpreters", "tracemalloc", "trace", "bdb", "pdb", "timeit", "profile", "cProfile", "_lsprof", "pstats",
    "doctest", "unittest", "test.support", "test.libregrtest", "pydoc", "lib2to3", "idlelib", "tkinter", "_tkinter",
    "turtle", "turtledemo", "venv", "ensurepip", "pip", "setuptools", "pkg_resources", "distutils", "IPython",
    "ipykernel", "nose", "pytest", "_pytest", "operator", "_operator", "six.moves", "past", "future",
    // foreign functions and threads
    "ctypes", "_ctypes", "cffi", "_cffi_backend", "threading", "_thread", "thread", "_dummy_thread", "multiprocessing",
    "_multiprocessing", "concurrent", "sched", "numba", "cython", "pyximport", "llvmlite",
    // other readers of code or pickles
    "pickle", "_pickle", "cPickle", "marshal", "dill", "cloudpickle", "joblib", "yaml", "jsonpickle", "pandas.io",
    "pandas.core.computation", "logging.config", "logging.handlers", "numexpr", "sympy.parsing", "numpy.f2py",
    "numpy.testing", "numpy.distutils", "numpy.ctypeslib", "numpy.lib.npyio", "numpy.lib._npyio_impl",
    "numpy.lib.format", "numpy.lib._format_impl", "numpy.lib.utils", "numpy.lib._datasource",
    // torch
    "torch.hub", "torch.jit", "torch._jit_internal", "torch._dynamo", "torch._inductor", "torch._export",
    "torch.export", "torch.package", "torch.multiprocessing", "torch.fx.graph_module", "torch.fx._lazy_graph_module",
    "torch.utils.cpp_extension", "torch.utils._cpp_extension_versioner", "torch.utils.model_zoo",
    "torch.utils.bottleneck", "torch.utils.collect_env", "torch.utils.model_dump", "torch.utils._config_module",
    "torch.testing", "torch.onnx", "torch.ops", "torch._ops", "torch.classes", "torch._classes",
    "torch.distributed.run", "torch.distributed.launch", "torch.distributed.launcher", "torch.distributed.elastic",
    "torch.distributed.rpc"};

constexpr std::string_view kTypes[] = {"SimpleNamespace",    "MappingProxyType", "NoneType", "EllipsisType",
                                       "NotImplementedType", "GenericAlias",     "UnionType"};
constexpr std::string_view kCopyreg[] = {"_reconstructor", "__newobj__", "__newobj_ex__", "pickle_complex"};
constexpr std::string_view kFunctools[] = {"partial"};

constexpr ModuleNames kClosedModules[] = {
    {"types", kTypes}, {"copyreg", kCopyreg}, {"functools", kFunctools}, {"_functools", kFunctools}};

constexpr std::string_view kBuiltins[] = {
    "eval",      "exec",        "execfile",     "compile",         "open",       "file",
    "setattr",   "delattr",     "hasattr",      "__import__",      "globals",    "locals",
    "vars",      "dir",         "input",        "raw_input",       "breakpoint", "memoryview",
    "help",      "exit",        "quit",         "reload",          "apply",      "super",
    "property",  "classmethod", "staticmethod", "__build_class__", "__loader__", "__spec__",
    "copyright", "credits",     "license",      "intern",          "buffer",     "callable"};
constexpr std::string_view kIo[] = {"open", "open_code", "FileIO", "OpenWrapper"};
constexpr std::string_view kCodecs[] = {"open", "EncodedFile", "register", "register_error", "lookup"};
constexpr std::string_view kLogging[] = {"FileHandler", "basicConfig", "setLoggerClass", "captureWarnings"};
constexpr std::string_view kUuid[] = {"getnode", "uuid1", "_popen", "_get_command_stdout"};
constexpr std::string_view kNumpy[] = {"load",    "loads",   "save",       "savez",     "savez_compressed",
                                       "savetxt", "loadtxt", "genfromtxt", "fromregex", "fromfile",
                                       "tofile",  "memmap",  "DataSource", "safe_eval", "frompyfunc"};
constexpr std::string_view kPandas[] = {"read_pickle", "to_pickle", "eval",     "read_sql", "read_csv",
                                        "read_hdf",    "read_html", "read_xml", "HDFStore"};
constexpr std::string_view kSympy[] = {"sympify", "parse_expr", "lambdify", "S", "preview"};
constexpr std::string_view kTorch[] = {"load", "save", "compile", "import_ir_module", "classes", "ops", "_ops"};
constexpr std::string_view kTorchSerialization[] = {"load",
                                                    "save",
                                                    "_load",
                                                    "_legacy_load",
                                                    "_save",
                                                    "_legacy_save",
                                                    "_open_file",
                                                    "_open_zipfile_reader",
                                                    "add_safe_globals"};
constexpr std::string_view kTorchStorage[] = {"_load_from_bytes"};
constexpr std::string_view kTorchLibrary[] = {"Library", "define", "impl", "custom_op"};
constexpr std::string_view kTorchC[] = {"import_ir_module",
                                        "import_ir_module_from_buffer",
                                        "_import_ir_module_from_package",
                                        "CompilationUnit",
                                        "PyTorchFileReader",
                                        "PyTorchFileWriter"};

constexpr ModuleNames kDangerousNames[] = {
    {"builtins", kBuiltins},
    {"io", kIo},
    {"_io", kIo},
    {"_pyio", kIo},
    {"codecs", kCodecs},
    {"logging", kLogging},
    {"uuid", kUuid},
    {"numpy", kNumpy},
    {"numpy.core", kNumpy},
    {"numpy._core", kNumpy},
    {"numpy.core.multiarray", kNumpy},
    {"numpy._core.multiarray", kNumpy},
    {"numpy.core.memmap", kNumpy},
    {"numpy._core.memmap", kNumpy},
    {"pandas", kPandas},
    {"sympy", kSympy},
    {"sympy.core.sympify", kSympy},
    {"sympy.utilities.lambdify", kSympy},
    {"torch", kTorch},
    {"torch.serialization", kTorchSerialization},
    {"torch.storage", kTorchStorage},
    {"torch.library", kTorchLibrary},
    {"torch._C", kTorchC},
};

constexpr std::string_view kDangerousAnywhere[] = {
    "eval",     "exec",         "execfile",    "__import__",   "import_module", "Popen",
    "popen",    "system",       "check_call",  "check_output", "rmtree",        "runstring",
    "run_path", "run_module",   "run_code",    "_run_code",    "spawn",         "CDLL",
    "PyDLL",    "load_dynamic", "load_source", "urlopen",      "urlretrieve",   "breakpoint"};

constexpr std::string_view kSystemModules[] = {"os",       "sys",       "posix",  "nt",     "subprocess",
                                               "builtins", "importlib", "shutil", "ctypes", "pickle",
                                               "marshal",  "socket",    "runpy"};

}  // namespace

Names dangerous_modules() { return kDangerousModules; }
std::span<const ModuleNames> closed_modules() { return kClosedModules; }
std::span<const ModuleNames> dangerous_names() { return kDangerousNames; }
Names dangerous_anywhere() { return kDangerousAnywhere; }
Names system_modules() { return kSystemModules; }

}  // namespace fsdpckpt::pickle
