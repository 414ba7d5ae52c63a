// .metadata pickles made by hand, in the forms that torch 2.0 to 2.15 write and in forms that none writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fsdpckpt {

struct TestChunk {
  std::vector<std::int64_t> offsets, sizes;
  std::string file = "__0_0.distcp";
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<std::string> transforms = {};
  bool is_stored = true;                                      ///< it has an entry in storage_data
  std::optional<std::int64_t> hint = {};                      ///< MetadataIndex.index; its position when not given
  std::optional<std::vector<std::int64_t>> key_offsets = {};  ///< MetadataIndex.offset; its offsets when not given
};

using PathElement = std::variant<std::string, std::int64_t>;

/// A tensor entry, or an object entry when it has no dtype; an object has one chunk, which says where it is stored.
struct TestEntry {
  std::string name;
  std::string dtype = "float32";
  std::vector<std::int64_t> shape = {};
  std::vector<TestChunk> chunks = {};
  std::vector<PathElement> path = {};  ///< in planner_data; the name alone when empty
};

struct MetadataStyle {
  enum class Planner { paths, none, absent };
  enum class Enum { reduce, getattr };
  enum class Path { none, parts, one_part, text };
  bool old_home = true;      ///< TensorProperties in torch.distributed._shard (2.0 to 2.2)
  bool has_strides = false;  ///< six properties (2.15)
  bool has_version = false;
  bool storage_data_first = false;
  bool hints = true;
  bool shared_infos = false;  ///< chunks in the same place share one _StorageInfo through the memo
  Planner planner = Planner::paths;
  Enum enums = Enum::reduce;
  Path checkpoint_id = Path::none;  ///< storage_meta is written when it is not none
};

std::string metadata_of(const std::vector<TestEntry>& entries, const MetadataStyle& style = {});

}  // namespace fsdpckpt
