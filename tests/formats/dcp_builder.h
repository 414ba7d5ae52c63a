// DCP directories made from named tensors, boxes and bytes: real .distcp files of torch.save archives and a .metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/item_builder.h"
#include "formats/metadata_builder.h"
#include "io/temp_dir.h"

namespace fsdpckpt {

/// A box of a tensor and how it is stored.
struct ChunkPlan {
  std::vector<std::int64_t> offsets, sizes;
  int rank = 0;
  bool is_transposed = false;  ///< stored with its dimensions in reverse order, as a non-contiguous item
  bool is_compressed = false;  ///< as a zstd stream
  bool has_checksum = true;
  bool has_descriptor = true;
  std::int64_t padding = 0;  ///< elements before and behind its own in its storage
};

/// A dtype, a shape, and row-major bytes.
struct TensorValues {
  std::string dtype = "float32";
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// Values that look random.
TensorValues sample_values(const std::string& dtype, const std::vector<std::int64_t>& shape, unsigned seed = 1);
/// The bytes of a box of `values`, row-major.
std::string bytes_in_box(const TensorValues& values, const std::vector<std::int64_t>& offsets,
                         const std::vector<std::int64_t>& sizes);
/// The whole in `parts` boxes along `dim`, by torch's ceiling rule, one a rank.
std::vector<ChunkPlan> cut(const std::vector<std::int64_t>& shape, std::size_t dim, int parts);

class DcpBuilder {
 public:
  /// Adds the tensor, its chunks cut out of `values`.
  DcpBuilder& add(const std::string& name, const TensorValues& values, const std::vector<ChunkPlan>& chunks,
                  std::vector<PathElement> path = {});
  /// Adds an object entry with this item (see object_item()).
  DcpBuilder& add_object(const std::string& name, const std::string& item, std::vector<PathElement> path = {},
                         bool is_compressed = false);
  /// The content of a rank's file so far, to be damaged.
  std::string& file(int rank) { return files_["__" + std::to_string(rank) + "_0.distcp"]; }
  [[nodiscard]] std::vector<TestEntry>& entries() { return entries_; }
  /// Writes the files and .metadata into the directory.
  void write(const TempDir& directory, const MetadataStyle& style = {}) const;
  void write(const TempDir& directory, const std::string& folder, const MetadataStyle& style = {}) const;

 private:
  TestChunk store(const std::string& item, const ChunkPlan& plan);

  std::vector<TestEntry> entries_;
  std::map<std::string, std::string> files_;
};

}  // namespace fsdpckpt
