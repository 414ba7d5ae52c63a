#include "cli/help.h"

namespace fsdpckpt {
namespace {

constexpr std::string_view kMainHelp =
    "usage: fsdpckpt [-q | -v] [--json] [--color WHEN] [--progress WHEN] COMMAND ...\n"
    "\n"
    "Consolidates and inspects sharded PyTorch FSDP checkpoints. Reads the bytes itself:\n"
    "no Python, nothing in a checkpoint is ever executed.\n"
    "\n"
    "commands\n"
    "  inspect     SRC        what is in it: entries, shapes, dtypes, sizes, chunks, objects\n"
    "  consolidate SRC [DST]  one torch file from a sharded checkpoint; DST defaults to SRC.pt\n"
    "  verify      SRC        does it survive FSDP's collectives at --world-size N, bit for bit\n"
    "  help        [COMMAND]\n"
    "\n"
    "options\n"
    "  -q, --quiet            only the essential        -v, --verbose   what is done, on stderr\n"
    "  --json                 one JSON document on stdout\n"
    "  --color, --progress    auto, always or never     --version       one line; with -v more\n"
    "  -h, --help             this; after a command, that command's\n"
    "\n"
    "examples\n"
    "  fsdpckpt inspect ck                        what one has\n"
    "  fsdpckpt consolidate ck full.pt            one file that torch.load takes\n"
    "  fsdpckpt consolidate ck model.pt -k 'model.*'\n"
    "\n"
    "man fsdpckpt\n";

constexpr std::string_view kConsolidateHelp =
    "usage: fsdpckpt consolidate SRC [DST] [options]\n"
    "One torch file from the sharded checkpoint in directory SRC; DST defaults to SRC.pt, `-` is stdout.\n"
    "entries\n"
    "  -k, --key GLOB         only entries that match; repeatable, `*` crosses dots\n"
    "  -x, --exclude GLOB     not those; repeatable   --model-only           the model's entries alone\n"
    "  --clean                parameters' names without the parts that wrappers leave (_orig_mod. ...)\n"
    "  --strip-prefix P, --add-prefix P, --rename 'REGEX=REPLACEMENT'       other names for parameters\n"
    "  --objects POLICY       keep (default), safe, all or drop pickled Python values\n"
    "  --keep-device          keep the cuda:N tags of tensors (default: cpu)\n"
    "run\n"
    "  -o, --output DST       the same as the positional\n"
    "  --files-in DIR         files of SRC also lie there; repeatable\n"
    "  --ranks N              N processes     --timeout 300s      --exchange auto|always\n"
    "  -f, --force            replace DST            -n, --dry-run           check and print only\n"
    "  -j, --threads N        I/O threads            --memory-limit SIZE     for buffers\n"
    "  --verify               read DST back and compare before it gets its name\n"
    "  --no-fsync             do not wait for the disk\n"
    "  --no-checksum          convert although a checksum of SRC disagrees\n"
    "examples\n"
    "  fsdpckpt consolidate ck full.pt\n"
    "  fsdpckpt consolidate ck model.pt --model-only --verify\n"
    "  fsdpckpt consolidate ck weights.pt -x 'optimizer*' --objects drop\n"
    "man fsdpckpt-consolidate\n";

constexpr std::string_view kInspectHelp =
    "usage: fsdpckpt inspect SRC [options]\n"
    "What is in a sharded directory or a torch file, and who wrote it. No tensor bytes are read.\n"
    "\n"
    "what\n"
    "  --show LIST            of entries, chunks, objects, files, tree (default: entries,objects)\n"
    "  -k, --key GLOB         only entries that match; repeatable, `*` crosses dots\n"
    "  -x, --exclude GLOB     not those; repeatable\n"
    "  --files-in DIR         files of SRC also lie there; repeatable\n"
    "  --keys                 only the names, one a line\n"
    "  -0, --null             with --keys: each name raw, with a NUL behind it\n"
    "how\n"
    "  --sort BY              name, size, dtype, shape or chunks (default: as stored)\n"
    "  --bytes                exact sizes\n"
    "\n"
    "examples\n"
    "  fsdpckpt inspect ck --show tree,files\n"
    "  fsdpckpt inspect full.pt -k 'model.*' --sort size\n"
    "  fsdpckpt --json inspect ck\n"
    "\n"
    "man fsdpckpt-inspect\n";

constexpr std::string_view kVerifyHelp =
    "usage: fsdpckpt verify SRC --world-size N [options]\n"
    "Does every parameter of a sharded checkpoint come back bit for bit at world size N? N FSDP ranks\n"
    "take their shards as fully_shard() does, gather them in flat buckets and scatter them again.\n"
    "\n"
    "  --world-size N         FSDP ranks; each process carries several\n"
    "  --ranks N              processes (default: one a core)\n"
    "  --timeout TIME         how long they wait for each other (default: 300s)\n"
    "  --files-in DIR         files of SRC also lie there; repeatable\n"
    "\n"
    "exit code 0: all came back; 1: some did not, and are named\n"
    "\n"
    "examples\n"
    "  fsdpckpt verify ck --world-size 16\n"
    "  fsdpckpt verify ck --world-size 64 --ranks 4\n"
    "  fsdpckpt --json verify ck --world-size 8\n"
    "\n"
    "man fsdpckpt-verify\n";

}  // namespace

std::string_view help_text(std::string_view command) {
  if (command == "consolidate") return kConsolidateHelp;
  if (command == "inspect") return kInspectHelp;
  if (command == "verify") return kVerifyHelp;
  return kMainHelp;
}

}  // namespace fsdpckpt
