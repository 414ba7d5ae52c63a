#include "formats/large_metadata.h"

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "pickle/protocol4_emitter.h"

namespace fsdpckpt {
namespace {

constexpr const char* kMetadata = "torch.distributed.checkpoint.metadata";
constexpr const char* kFileSystem = "torch.distributed.checkpoint.filesystem";

class Builder {
 public:
  Builder(const LargeMetadata& shape, const std::string& path) : shape_(shape), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
  }
  ~Builder() { std::fclose(file_); }

  std::uint64_t build() {
    pickle_.begin_object(kMetadata, "Metadata");
    if (shape_.storage_data_first) write_storage_data();
    write_state_dict();
    write_planner_data();
    if (!shape_.storage_data_first) write_storage_data();
    pickle_.end_object();
    pickle_.op('.');
    flush();
    return written_;
  }

 private:
  void properties() {
    pickle_.new_object(kMetadata, "TensorProperties");
    pickle_.op('(');
    pickle_.global("torch", "bfloat16");
    pickle_.global("torch.serialization", "_get_layout");
    pickle_.text("torch.strided");
    pickle_.call_with_one();
    pickle_.op('\x89');
    pickle_.global(kMetadata, "_MEM_FORMAT_ENCODING");
    pickle_.integer(0);
    pickle_.call_with_one();
    pickle_.op('\x89');
    pickle_.op('t');
    pickle_.memoize();
    pickle_.op('b');
  }

  void write_tensor() {
    pickle_.begin_object(kMetadata, "TensorStorageMetadata");
    pickle_.text("properties");
    properties();
    pickle_.text("size");
    pickle_.size(static_cast<std::uint64_t>(shape_.chunks) * 64, 4096);
    pickle_.text("chunks");
    pickle_.container(']');
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      if (chunk % pickle::kPythonBatch == 0) pickle_.op('(');
      pickle_.begin_object(kMetadata, "ChunkStorageMetadata");
      pickle_.text("offsets");
      const std::uint32_t slot = pickle_.size(static_cast<std::uint64_t>(chunk) * 64, 0);
      if (shape_.shared_offsets) offset_slots_.push_back(slot);
      pickle_.text("sizes");
      pickle_.size(64, 4096);
      pickle_.end_object();
      if (chunk % pickle::kPythonBatch == pickle::kPythonBatch - 1 || chunk + 1 == shape_.chunks) pickle_.op('e');
    }
    pickle_.end_object();
    flush();
  }

  void write_state_dict() {
    pickle_.text("state_dict_metadata");
    pickle_.container('}');
    pickle_.op('(');
    for (int tensor = 0; tensor < shape_.tensors; ++tensor) {
      pickle_.text(large_name(tensor));
      write_tensor();
    }
    pickle_.op('u');
  }

  void write_planner_data() {
    pickle_.text("planner_data");
    pickle_.container('}');
    pickle_.op('(');
    for (int tensor = 0; tensor < shape_.tensors; ++tensor) {
      pickle_.text(large_name(tensor));
      pickle_.text("model");
      pickle_.text(large_name(tensor).substr(6));
      pickle_.op('\x86');
      pickle_.memoize();
    }
    pickle_.op('u');
  }

  void write_item(int tensor, int chunk) {
    pickle_.begin_object(kMetadata, "MetadataIndex");
    pickle_.text("fqn");
    pickle_.text(large_name(tensor));
    pickle_.text("index");
    pickle_.integer(static_cast<std::uint64_t>(chunk));
    pickle_.text("offset");
    if (shape_.shared_offsets)
      pickle_.get(offset_slots_[static_cast<std::size_t>(tensor) * static_cast<std::size_t>(shape_.chunks) +
                                static_cast<std::size_t>(chunk)]);
    else
      pickle_.size(static_cast<std::uint64_t>(chunk) * 64, 0);
    pickle_.end_object();
    pickle_.begin_object(kFileSystem, "_StorageInfo");
    pickle_.text("relative_path");
    pickle_.text(large_file(chunk % kLargeRanks));
    pickle_.text("offset");
    pickle_.integer(static_cast<std::uint64_t>(tensor) * kLargeItem);
    pickle_.text("length");
    pickle_.integer(kLargeItem);
    pickle_.end_object();
  }

  /// Rank after rank, as the coordinator gathers them.
  void write_storage_data() {
    pickle_.text("storage_data");
    pickle_.container('}');
    int item = 0;
    const int count = shape_.tensors * shape_.chunks;
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (int tensor = 0; tensor < shape_.tensors; ++tensor, ++item) {
        if (item % pickle::kPythonBatch == 0) pickle_.op('(');
        write_item(tensor, chunk);
        if (item % pickle::kPythonBatch == pickle::kPythonBatch - 1 || item + 1 == count) pickle_.op('u');
      }
      flush();
    }
  }

  void flush() {
    const std::string bytes = pickle_.take();
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) throw std::runtime_error("cannot write");
    written_ += bytes.size();
  }

  LargeMetadata shape_;
  std::FILE* file_;
  pickle::Protocol4Emitter pickle_;
  std::uint64_t written_ = 0;
  std::vector<std::uint32_t> offset_slots_;
};

}  // namespace

std::string large_name(int tensor) { return "model.layers." + std::to_string(tensor) + ".mlp.gate_proj.weight"; }

std::string large_file(int rank) { return "__" + std::to_string(rank) + "_0.distcp"; }

std::uint64_t write_large_metadata(const LargeMetadata& shape, const std::string& path) {
  return Builder(shape, path).build();
}

}  // namespace fsdpckpt
