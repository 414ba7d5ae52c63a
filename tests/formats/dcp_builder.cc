#include "formats/dcp_builder.h"

#include <fsdpckpt/dtype.h>

#include <algorithm>

#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t count_of(const Numbers& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

std::size_t element_of(const TensorValues& values) { return item_size(dtype_of_name(values.dtype).value()); }

/// The row-major bytes with the order of the dimensions reversed.
std::string reversed(const std::string& bytes, const Numbers& sizes, std::size_t element) {
  std::string result(bytes.size(), '\0');
  for (std::int64_t i = 0; i < count_of(sizes); ++i) {
    std::int64_t rest = i, place = 0, stride = 1;
    Numbers at(sizes.size());
    for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) at[dim] = rest % sizes[dim];
    for (std::size_t dim = 0; dim < sizes.size(); ++dim, stride *= sizes[dim - 1]) place += at[dim] * stride;
    result.replace(static_cast<std::size_t>(place) * element, element, bytes, static_cast<std::size_t>(i) * element,
                   element);
  }
  return result;
}

Numbers reversed_strides(const Numbers& sizes) {
  Numbers strides;
  std::int64_t next = 1;
  for (const std::int64_t size : sizes) {
    strides.push_back(next);
    next *= size;
  }
  return strides;
}

std::string item_of(const TensorValues& values, const ChunkPlan& plan) {
  const std::size_t element = element_of(values);
  std::string bytes = bytes_in_box(values, plan.offsets, plan.sizes);
  if (plan.is_transposed) bytes = reversed(bytes, plan.sizes, element);
  const std::string padding = sample_bytes(static_cast<std::size_t>(plan.padding) * element, 77);
  const TestTensor tensor{.dtype = values.dtype,
                          .shape = plan.sizes,
                          .strides = plan.is_transposed ? reversed_strides(plan.sizes) : Numbers(),
                          .storage_offset = plan.padding,
                          .storage = padding + bytes + padding};
  const std::string item = tensor_item(tensor, plan.has_checksum, plan.has_descriptor);
  return plan.is_compressed ? zstd_of(item) : item;
}

}  // namespace

TensorValues sample_values(const std::string& dtype, const Numbers& shape, unsigned seed) {
  const std::size_t element = item_size(dtype_of_name(dtype).value());
  return {dtype, shape, sample_bytes(static_cast<std::size_t>(count_of(shape)) * element, seed)};
}

std::string bytes_in_box(const TensorValues& values, const Numbers& offsets, const Numbers& sizes) {
  const std::size_t element = element_of(values);
  std::string bytes;
  if (count_of(sizes) == 0) return bytes;
  bytes.reserve(static_cast<std::size_t>(count_of(sizes)) * element);
  const std::int64_t run = sizes.empty() ? 1 : sizes.back();
  for (std::int64_t i = 0; i < count_of(sizes); i += run) {
    std::int64_t rest = i, place = 0, stride = 1;
    for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) {
      place += (offsets[dim] + rest % sizes[dim]) * stride;
      stride *= values.shape[dim];
    }
    bytes.append(values.bytes, static_cast<std::size_t>(place) * element, static_cast<std::size_t>(run) * element);
  }
  return bytes;
}

std::vector<ChunkPlan> cut(const Numbers& shape, std::size_t dim, int parts) {
  std::vector<ChunkPlan> chunks;
  const std::int64_t step = (shape[dim] + parts - 1) / parts;
  for (int rank = 0; rank < parts; ++rank) {
    ChunkPlan chunk{.offsets = Numbers(shape.size(), 0), .sizes = shape, .rank = rank};
    chunk.offsets[dim] = std::min(shape[dim], rank * step);
    chunk.sizes[dim] = std::min(shape[dim], (rank + 1) * step) - chunk.offsets[dim];
    chunks.push_back(chunk);
  }
  return chunks;
}

TestChunk DcpBuilder::store(const std::string& item, const ChunkPlan& plan) {
  const std::string name = "__" + std::to_string(plan.rank) + "_0.distcp";
  std::string& content = files_[name];
  TestChunk chunk{plan.offsets, plan.sizes, name, content.size(), item.size()};
  if (plan.is_compressed) chunk.transforms = {"stream.zstd/1"};
  content += item;
  return chunk;
}

DcpBuilder& DcpBuilder::add(const std::string& name, const TensorValues& values, const std::vector<ChunkPlan>& chunks,
                            std::vector<PathElement> path) {
  TestEntry entry{.name = name, .dtype = values.dtype, .shape = values.shape, .path = std::move(path)};
  for (const ChunkPlan& plan : chunks) entry.chunks.push_back(store(item_of(values, plan), plan));
  entries_.push_back(std::move(entry));
  return *this;
}

DcpBuilder& DcpBuilder::add_object(const std::string& name, const std::string& item, std::vector<PathElement> path,
                                   bool is_compressed) {
  const ChunkPlan plan{.is_compressed = is_compressed};
  entries_.push_back({.name = name,
                      .dtype = "",
                      .chunks = {store(is_compressed ? zstd_of(item) : item, plan)},
                      .path = std::move(path)});
  return *this;
}

void DcpBuilder::write(const TempDir& directory, const MetadataStyle& style) const { write(directory, ".", style); }

void DcpBuilder::write(const TempDir& directory, const std::string& folder, const MetadataStyle& style) const {
  directory.make_dir(folder);
  for (const auto& [name, content] : files_) directory.write(folder + "/" + name, content);
  directory.write(folder + "/.metadata", metadata_of(entries_, style));
}

}  // namespace fsdpckpt
