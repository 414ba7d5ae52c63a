#include "pickle/metadata_pickle.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace fsdpckpt::pickle {
namespace {

class Builder {
 public:
  std::string take() { return std::move(out_); }

  void op(char code) { out_.push_back(code); }
  std::uint32_t memoize() {
    op('\x94');
    return slots_++;
  }
  void get(std::uint32_t slot) {
    op('j');
    number(slot, 4);
  }
  void integer(std::uint64_t value) {
    op(value < (1U << 31) ? 'J' : '\x8a');
    if (value >= (1U << 31)) op('\x08');
    number(value, value < (1U << 31) ? 4 : 8);
  }
  /// Memoised, and read from the memo the second time.
  void text(const std::string& text) {
    if (const auto known = known_.find(text); known != known_.end()) return get(known->second);
    op('\x8c');
    number(text.size(), 1);
    out_ += text;
    known_[text] = memoize();
  }
  void global(const std::string& module, const std::string& name) {
    const std::string key = module + " " + name;
    if (const auto known = known_.find(key); known != known_.end()) return get(known->second);
    text(module);
    text(name);
    op('\x93');
    known_[key] = memoize();
  }
  std::uint32_t size(std::uint64_t rows, std::uint64_t columns) {
    global("torch", "Size");
    integer(rows);
    integer(columns);
    op('\x86');
    memoize();
    op('\x85');
    memoize();
    op('R');
    return memoize();
  }
  /// Leaves the state's mark open: key and value pairs follow, then end_object().
  void begin_object(const std::string& name) {
    global("torch.distributed.checkpoint.metadata", name);
    out_ += ")\x81";
    memoize();
    op('}');
    memoize();
    op('(');
  }
  void end_object() { out_ += "ub"; }

 private:
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) op(static_cast<char>(value >> (8 * i)));
  }

  std::string out_ = "\x80\x04";
  std::uint32_t slots_ = 0;
  std::unordered_map<std::string, std::uint32_t> known_;
};

/// One chunk; its sizes' slots go to `sizes`.
void add_chunk(Builder& builder, int chunk, std::vector<std::uint32_t>& sizes) {
  builder.begin_object("ChunkStorageMetadata");
  builder.text("offsets");
  sizes.push_back(builder.size(chunk * 1024ULL, 0));
  builder.text("sizes");
  sizes.push_back(builder.size(1024, 4096));
  builder.end_object();
}

void add_tensor(Builder& builder, int chunks, std::vector<std::uint32_t>& sizes) {
  builder.begin_object("TensorStorageMetadata");
  builder.text("chunks");
  builder.op(']');
  builder.memoize();
  for (int begin = 0; begin < chunks; begin += 1000) {
    builder.op('(');
    for (int chunk = begin; chunk < std::min(begin + 1000, chunks); ++chunk) add_chunk(builder, chunk, sizes);
    builder.op('e');
  }
  builder.end_object();
}

void add_info(Builder& builder, const std::string& fqn, int chunk, const std::uint32_t* sizes) {
  builder.begin_object("MetadataIndex");
  builder.text("fqn");
  builder.text(fqn);
  builder.text("offset");
  if (sizes != nullptr) {
    builder.get(sizes[0]);
    builder.text("sizes");
    builder.get(sizes[1]);
  } else {
    builder.size(chunk * 1024ULL, 0);
  }
  builder.end_object();
  builder.begin_object("_StorageInfo");
  builder.text("offset");
  builder.integer(chunk * 100000000ULL);
  builder.end_object();
}

std::string fqn(int tensor) { return "layer." + std::to_string(tensor) + ".weight"; }

}  // namespace

std::string metadata_pickle(const MetadataShape& shape) {
  Builder builder;
  std::vector<std::uint32_t> sizes;
  builder.op('}');
  for (int tensor = 0; tensor < shape.tensors; ++tensor) {
    builder.op('(');
    builder.text(fqn(tensor));
    add_tensor(builder, shape.chunks, sizes);
    builder.op('u');
  }
  builder.op('}');
  const int chunks = shape.tensors * shape.chunks;
  for (int begin = 0; begin < chunks; begin += 1000) {
    builder.op('(');
    for (int i = begin; i < std::min(begin + 1000, chunks); ++i) {
      const std::uint32_t* slots = shape.sizes_shared ? &sizes[2 * i] : nullptr;
      add_info(builder, fqn(i / shape.chunks), i % shape.chunks, slots);
    }
    builder.op('u');
  }
  builder.op('\x86');
  builder.op('.');
  return builder.take();
}

}  // namespace fsdpckpt::pickle
