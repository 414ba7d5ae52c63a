// The index of a checkpoint: entries, their chunks, and the extents where the bytes lie. No tensor bytes. It is what
// every reader makes and all that planning needs: nothing after the readers knows where a checkpoint came from.
#pragma once

#include <fsdpckpt/dtype.h>
#include <fsdpckpt/error.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fsdpckpt {

using EntryId = std::uint32_t;

enum class EntryKind : std::uint8_t { tensor, object };

/// How the bytes of an extent stand for a tensor or object.
enum class Encoding : std::uint8_t {
  torch_zip,       ///< a whole torch.save archive of one value (DCP's items)
  torch_zip_zstd,  ///< the same, as a zstd stream (DCP extension stream.zstd/1)
  safetensors,  ///< a safetensors blob starts at `offset`; the entry's FQN is looked up in its header; `length` is the
                ///< tensor's
  plain,        ///< the tensor's row-major bytes themselves
};

/// Where bytes lie: a byte range of one of the checkpoint's files.
struct Extent {
  std::uint32_t file = 0;  ///< index into Checkpoint::files()
  Encoding encoding = Encoding::torch_zip;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// An axis-aligned box of a tensor, stored in one place. Offsets and sizes count elements, one number a dimension.
struct Chunk {
  std::span<const std::int64_t> offsets;
  std::span<const std::int64_t> sizes;
  bool is_stored = false;  ///< false for an empty chunk that no file holds
  Extent extent;
};

/// One leaf of the state dict. Views are valid as long as the Checkpoint.
struct Entry {
  std::string_view name;  ///< FQN: the path joined with dots
  EntryKind kind = EntryKind::tensor;
  DType dtype = DType::float32;         ///< tensors only
  std::span<const std::int64_t> shape;  ///< tensors only; empty for a 0-dim tensor
  std::uint64_t chunk_count = 0;        ///< tensors: chunks, replicas and empty ones included; objects: stored copies
};

/// One of the files that hold the bytes.
struct SourceFile {
  std::string path;        ///< relative to the checkpoint's root
  std::uint64_t size = 0;  ///< bytes
};

class Checkpoint {
 public:
  Checkpoint();
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;

  /// "sharded checkpoint", "torch file" ...: the kind in words.
  [[nodiscard]] const std::string& kind() const;
  /// The directory (or file) it was opened from, as given.
  [[nodiscard]] const std::string& root() const;
  [[nodiscard]] std::size_t entry_count() const;
  /// In the order of the state dict.
  [[nodiscard]] Entry entry(EntryId entry) const;
  /// Chunk `index` of a tensor entry, or the stored copy `index` of an object entry.
  [[nodiscard]] Chunk chunk(EntryId entry, std::uint64_t index) const;
  /// The entry of that FQN, or entry_count().
  [[nodiscard]] EntryId find(std::string_view name) const;
  [[nodiscard]] const std::vector<SourceFile>& files() const;
  /// Facts worth telling that are no errors, in plain words.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// What is wrong with it although it could be opened: files that are missing or cut, chunks that no file holds, a
  /// damaged meta.pt. Empty for a whole checkpoint; consolidate() throws the first.
  [[nodiscard]] const std::vector<Error>& damages() const;
  /// Bytes that the index itself holds, names included.
  [[nodiscard]] std::uint64_t index_bytes() const;

  struct Data;  ///< internal
  [[nodiscard]] const Data& data() const { return *data_; }
  [[nodiscard]] Data& data() { return *data_; }

 private:
  std::unique_ptr<Data> data_;
};

/// Number of elements of a tensor entry.
std::uint64_t element_count(const Entry& entry);

/// Bytes of a tensor entry's elements, whole; 0 for objects.
std::uint64_t byte_count(const Entry& entry);

/// "[5, 7]", as torch spells a shape.
std::string shape_text(std::span<const std::int64_t> shape);

/// "[3:5, 0:7]", the box of a chunk.
std::string box_text(std::span<const std::int64_t> offsets, std::span<const std::int64_t> sizes);

}  // namespace fsdpckpt
