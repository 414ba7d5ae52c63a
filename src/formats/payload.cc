#include "formats/payload.h"

#include <algorithm>

#include "base/checked.h"
#include "base/text.h"
#include "formats/safetensors.h"
#include "io/crc32.h"
#include "pickle/machine.h"

namespace fsdpckpt {

void check_item(const ExpectedChunk& expected, DType dtype, std::span<const std::int64_t> shape) {
  if (dtype != expected.dtype) {
    throw Error(ErrorKind::input, cat("the item holds ", name(dtype), ", the metadata says ", name(expected.dtype)));
  }
  if (!std::ranges::equal(shape, expected.sizes)) {
    throw Error(ErrorKind::input,
                cat("the item has the shape ", shape_text(shape), ", the metadata says ", shape_text(expected.sizes)));
  }
}

const StoredTensor& PayloadFinder::read_pickle(const Source& item, const zip::Record& record) {
  if (record.size > (1U << 20)) throw Error(ErrorKind::input, "the pickle of a tensor item is larger than 1 MiB");
  pickle_.resize(record.size);
  item.read_at(record.data, pickle_);
  zip::require_checksum(record, crc32(pickle_));  // a flipped bit mostly makes another valid pickle: other strides
  if (!last_pickle_.empty() && pickle_ == last_pickle_) return tensor_;
  last_pickle_.clear();
  values_.clear();
  const MemorySource source(pickle_);
  const auto tensor = tensor_of(values_, pickle::Machine().read(source, values_));
  if (!tensor) throw Error(ErrorKind::input, "the item holds something else than a tensor");
  tensor_ = *tensor;
  key_ = cat("data/", tensor_.storage.key);
  location_ = tensor_.storage.location;
  tensor_.storage.key = key_;
  last_pickle_ = pickle_;
  return tensor_;
}

Payload PayloadFinder::in_archive(const Source& item, const ExpectedChunk& expected) {
  directory_.read(item);
  const zip::Record* pickled = directory_.find("data.pkl");
  if (pickled == nullptr) throw Error(ErrorKind::input, "the item's archive has no data.pkl");
  const StoredTensor& tensor = read_pickle(item, *pickled);
  check_item(expected, tensor.dtype, tensor.shape);
  const zip::Record* storage = directory_.find(key_);
  if (storage == nullptr) throw Error(ErrorKind::input, cat("the item's archive has no record ", quote(key_)));
  const std::uint64_t declared =
      static_cast<std::uint64_t>(tensor.storage.element_count) * item_size(tensor.storage.dtype);
  if (storage->size != declared) {
    throw Error(ErrorKind::input,
                cat("record ", quote(key_), " has ", storage->size, " bytes, the tensor's storage needs ", declared));
  }
  Payload payload{.storage_offset = storage->data, .storage_size = storage->size, .crc = storage->crc};
  payload.offset = storage->data + static_cast<std::uint64_t>(tensor.storage_offset) * item_size(tensor.dtype);
  if (!is_row_major(tensor.shape, tensor.strides)) payload.strides = tensor.strides;
  payload.lazy = tensor.lazy;
  return payload;
}

struct PayloadFinder::Header {
  SafetensorsHeader header;
};

Payload PayloadFinder::in_safetensors(const Source& file, std::uint64_t blob_offset, const ExpectedChunk& expected) {
  const std::string key = cat(file.name(), "@", blob_offset);
  if (key != header_key_) {
    header_ = std::make_shared<Header>(Header{read_safetensors_header(file, blob_offset)});
    header_key_ = key;
  }
  const SafetensorsTensor* tensor = header_->header.find(expected.name);
  if (tensor == nullptr) throw Error(ErrorKind::input, "the safetensors blob does not hold the entry");
  check_item(expected, tensor->dtype, tensor->shape);
  if (!tensor->saved_offsets.empty() && !std::ranges::equal(tensor->saved_offsets, expected.offsets)) {
    throw Error(ErrorKind::input, cat("the safetensors blob holds the chunk at ", shape_text(tensor->saved_offsets),
                                      ", the metadata says ", shape_text(expected.offsets)));
  }
  return {.offset = tensor->offset, .storage_offset = tensor->offset, .storage_size = tensor->size};
}

}  // namespace fsdpckpt
