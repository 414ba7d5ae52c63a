#include "pickle/metadata_pickle.h"

#include <algorithm>
#include <vector>

#include "pickle/protocol4_emitter.h"

namespace fsdpckpt::pickle {
namespace {

constexpr const char* kMetadata = "torch.distributed.checkpoint.metadata";

/// One chunk; its sizes' slots go to `sizes`.
void add_chunk(Protocol4Emitter& builder, int chunk, std::vector<std::uint32_t>& sizes) {
  builder.begin_object(kMetadata, "ChunkStorageMetadata");
  builder.text("offsets");
  sizes.push_back(builder.size(chunk * 1024ULL, 0));
  builder.text("sizes");
  sizes.push_back(builder.size(1024, 4096));
  builder.end_object();
}

void add_tensor(Protocol4Emitter& builder, int chunks, std::vector<std::uint32_t>& sizes) {
  builder.begin_object(kMetadata, "TensorStorageMetadata");
  builder.text("chunks");
  builder.container(']');
  for (int begin = 0; begin < chunks; begin += kPythonBatch) {
    builder.op('(');
    for (int chunk = begin; chunk < std::min(begin + kPythonBatch, chunks); ++chunk) add_chunk(builder, chunk, sizes);
    builder.op('e');
  }
  builder.end_object();
}

void add_info(Protocol4Emitter& builder, const std::string& fqn, int chunk, const std::uint32_t* sizes) {
  builder.begin_object(kMetadata, "MetadataIndex");
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
  builder.begin_object(kMetadata, "_StorageInfo");
  builder.text("offset");
  builder.integer(chunk * 100000000ULL);
  builder.end_object();
}

std::string fqn(int tensor) { return "layer." + std::to_string(tensor) + ".weight"; }

}  // namespace

std::string metadata_pickle(const MetadataShape& shape) {
  Protocol4Emitter builder;
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
  for (int begin = 0; begin < chunks; begin += kPythonBatch) {
    builder.op('(');
    for (int i = begin; i < std::min(begin + kPythonBatch, chunks); ++i) {
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
