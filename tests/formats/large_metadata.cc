#include "formats/large_metadata.h"

#include <cstdio>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace fsdpckpt {
namespace {

constexpr const char* kMetadata = "torch.distributed.checkpoint.metadata";
constexpr const char* kFileSystem = "torch.distributed.checkpoint.filesystem";
constexpr int kBatch = 1000;  // of APPENDS and SETITEMS, in Lib/pickle.py

class Builder {
 public:
  Builder(const LargeMetadata& shape, const std::string& path) : shape_(shape), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
  }
  ~Builder() { std::fclose(file_); }

  std::uint64_t build() {
    out_ = "\x80\x04";
    begin_object(kMetadata, "Metadata");
    if (shape_.storage_data_first) write_storage_data();
    write_state_dict();
    write_planner_data();
    if (!shape_.storage_data_first) write_storage_data();
    end_object();
    op('.');
    flush();
    return written_;
  }

 private:
  void op(char code) { out_.push_back(code); }
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) op(static_cast<char>(value >> (8 * i)));
  }
  void memoize() {
    op('\x94');
    ++slots_;
  }
  void get(std::uint32_t slot) {
    op(slot < 256 ? 'h' : 'j');
    number(slot, slot < 256 ? 1 : 4);
  }
  void integer(std::uint64_t value) {
    const int bytes = value < 256 ? 1 : value < 65536 ? 2 : value < (1U << 31) ? 4 : 8;
    op(bytes == 1 ? 'K' : bytes == 2 ? 'M' : bytes == 4 ? 'J' : '\x8a');
    if (bytes == 8) op('\x08');
    number(value, bytes);
  }
  void text(const std::string& text) {
    if (const auto known = known_.find(text); known != known_.end()) return get(known->second);
    op('\x8c');
    number(text.size(), 1);
    out_ += text;
    known_[text] = slots_;
    memoize();
  }
  void global(const std::string& module, const std::string& name) {
    const std::string key = module + " " + name;
    if (const auto known = known_.find(key); known != known_.end()) return get(known->second);
    text(module);
    text(name);
    op('\x93');
    known_[key] = slots_;
    memoize();
  }
  void begin_object(const char* module, const char* name) {
    global(module, name);
    out_ += ")\x81";
    memoize();
    op('}');
    memoize();
    op('(');
  }
  void end_object() { out_ += "ub"; }

  void size(std::uint64_t rows, std::uint64_t columns) {
    global("torch", "Size");
    integer(rows);
    integer(columns);
    op('\x86');
    memoize();
    op('\x85');
    memoize();
    op('R');
    memoize();
  }

  void properties() {
    global(kMetadata, "TensorProperties");
    out_ += ")\x81";
    memoize();
    op('(');
    global("torch", "bfloat16");
    global("torch.serialization", "_get_layout");
    text("torch.strided");
    op('\x85');
    memoize();
    op('R');
    memoize();
    op('\x89');
    global(kMetadata, "_MEM_FORMAT_ENCODING");
    integer(0);
    op('\x85');
    memoize();
    op('R');
    memoize();
    out_ += "\x89t";
    memoize();
    op('b');
  }

  void write_tensor() {
    begin_object(kMetadata, "TensorStorageMetadata");
    text("properties");
    properties();
    text("size");
    size(static_cast<std::uint64_t>(shape_.chunks) * 64, 4096);
    text("chunks");
    op(']');
    memoize();
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      if (chunk % kBatch == 0) op('(');
      begin_object(kMetadata, "ChunkStorageMetadata");
      text("offsets");
      size(static_cast<std::uint64_t>(chunk) * 64, 0);
      if (shape_.shared_offsets) offset_slots_.push_back(slots_ - 1);
      text("sizes");
      size(64, 4096);
      end_object();
      if (chunk % kBatch == kBatch - 1 || chunk + 1 == shape_.chunks) op('e');
    }
    end_object();
    flush();
  }

  void write_state_dict() {
    text("state_dict_metadata");
    op('}');
    memoize();
    op('(');
    for (int tensor = 0; tensor < shape_.tensors; ++tensor) {
      text(large_name(tensor));
      write_tensor();
    }
    op('u');
  }

  void write_planner_data() {
    text("planner_data");
    op('}');
    memoize();
    op('(');
    for (int tensor = 0; tensor < shape_.tensors; ++tensor) {
      text(large_name(tensor));
      text("model");
      text(large_name(tensor).substr(6));
      op('\x86');
      memoize();
    }
    op('u');
  }

  void write_item(int tensor, int chunk) {
    begin_object(kMetadata, "MetadataIndex");
    text("fqn");
    text(large_name(tensor));
    text("index");
    integer(static_cast<std::uint64_t>(chunk));
    text("offset");
    if (shape_.shared_offsets)
      get(offset_slots_[static_cast<std::size_t>(tensor) * static_cast<std::size_t>(shape_.chunks) +
                        static_cast<std::size_t>(chunk)]);
    else
      size(static_cast<std::uint64_t>(chunk) * 64, 0);
    end_object();
    begin_object(kFileSystem, "_StorageInfo");
    text("relative_path");
    text(large_file(chunk % kLargeRanks));
    text("offset");
    integer(static_cast<std::uint64_t>(tensor) * kLargeItem);
    text("length");
    integer(kLargeItem);
    end_object();
  }

  /// Rank after rank, as the coordinator gathers them.
  void write_storage_data() {
    text("storage_data");
    op('}');
    memoize();
    int item = 0;
    const int count = shape_.tensors * shape_.chunks;
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (int tensor = 0; tensor < shape_.tensors; ++tensor, ++item) {
        if (item % kBatch == 0) op('(');
        write_item(tensor, chunk);
        if (item % kBatch == kBatch - 1 || item + 1 == count) op('u');
      }
      flush();
    }
  }

  void flush() {
    if (std::fwrite(out_.data(), 1, out_.size(), file_) != out_.size()) throw std::runtime_error("cannot write");
    written_ += out_.size();
    out_.clear();
  }

  LargeMetadata shape_;
  std::FILE* file_;
  std::string out_;
  std::uint64_t written_ = 0;
  std::uint32_t slots_ = 0;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<std::uint32_t> offset_slots_;
};

}  // namespace

std::string large_name(int tensor) { return "model.layers." + std::to_string(tensor) + ".mlp.gate_proj.weight"; }

std::string large_file(int rank) { return "__" + std::to_string(rank) + "_0.distcp"; }

std::uint64_t write_large_metadata(const LargeMetadata& shape, const std::string& path) {
  return Builder(shape, path).build();
}

}  // namespace fsdpckpt
