// Writes checkpoints in another form.
#pragma once

#include <fsdpckpt/checkpoint.h>
#include <fsdpckpt/error.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fsdpckpt {

/// What happens to pickled Python values; none is ever resolved or run.
enum class ObjectPolicy : std::uint8_t {
  keep,  ///< carried over, but callables that only an attack pickles are refused
  safe,  ///< whatever torch.load(weights_only=True) refuses is refused
  all,   ///< carried over, whatever they are
  drop,  ///< left out
};

/// Other names for the model's parameters, also where optimizers repeat them; applied in this order.
struct RenameRules {
  bool clean = false;                ///< remove the parts that wrappers leave in names
  std::string strip_prefix;          ///< whole parts, off names that begin with them; a final dot may be left out
  std::vector<std::string> replace;  ///< "REGEX=REPLACEMENT", all matches; the last "=" divides
  std::string add_prefix;            ///< parts before every name; a final dot may be left out
};

/// Which pieces the ranks of a world send each other.
enum class ExchangeMode : std::uint8_t {
  automatic,  ///< those whose writer cannot read them
  always,     ///< all
};

struct ConsolidateOptions {
  std::vector<std::string> keep;     ///< globs over FQNs; empty keeps all
  std::vector<std::string> exclude;  ///< globs over FQNs
  bool model_only = false;
  RenameRules rename;
  ObjectPolicy objects = ObjectPolicy::keep;
  bool keep_device = false;        ///< keep cuda:N tags of storages; otherwise they are written as cpu
  bool replace = false;            ///< an existing target is replaced
  bool dry_run = false;            ///< plan and check only
  bool verify = false;             ///< read back what was written and compare before it is renamed into place
  bool sync = true;                ///< fsync file and folder
  bool check_crc = true;           ///< compare source checksums
  unsigned threads = 0;            ///< 0: one a core
  std::uint64_t memory_limit = 0;  ///< bytes for buffers; 0: 64 MiB
  ExchangeMode exchange = ExchangeMode::automatic;  ///< in a world of several ranks
  const std::atomic<int>* stop = nullptr;  ///< a signal number ends the run with Error(interrupted or terminated)
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< bytes; called from one worker at a time
};

/// What one rank of a world did; bytes of payload.
struct RankShare {
  std::string host;
  std::uint64_t pid = 0;
  std::uint64_t read = 0, sent = 0, received = 0, written = 0;
  std::uint64_t peak_anon_bytes = 0;  ///< memory that no file backs, LibTorch's own included
};

struct ConsolidateReport {
  std::string target;
  std::uint64_t tensors = 0;
  std::uint64_t objects = 0;
  std::uint64_t tensor_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t chunks = 0;            ///< chunks copied
  std::uint64_t chunks_unchecked = 0;  ///< of these, without a checksum to compare
  std::uint64_t replicas_compared = 0;
  double seconds = 0;
  std::vector<std::string> notes;
  std::vector<RankShare> ranks;  ///< by rank; empty when one process did it
  std::string backend;           ///< of the ranks' collectives
  std::uint64_t moved_by_broadcast = 0, moved_by_all_gather = 0, moved_by_send = 0;  ///< bytes, of all ranks together
};

/// Writes `checkpoint` as one torch file at `target`, which appears whole or not at all. Every element of every tensor
/// must come from exactly one chunk: Error(input) naming entry and box otherwise, before a payload byte is read.
ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options);

/// The same, written front to back to an open descriptor that only appends (a pipe, a FUSE mount): by one thread, and
/// the CRCs stand in the central directory alone. What was written before an error stays written; `replace`, `sync` and
/// `verify` have no meaning here.
ConsolidateReport consolidate_to_stream(Checkpoint& checkpoint, int descriptor, const ConsolidateOptions& options);

}  // namespace fsdpckpt
