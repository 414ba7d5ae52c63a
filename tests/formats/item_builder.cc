#include "formats/item_builder.h"

#include <fsdpckpt/dtype.h>
#include <zstd.h>

#include <map>

namespace fsdpckpt {
namespace {

std::string typed_storage(const std::string& dtype) {
  static const std::map<std::string, std::string> kTypes = {{"float64", "DoubleStorage"},
                                                            {"float32", "FloatStorage"},
                                                            {"float16", "HalfStorage"},
                                                            {"bfloat16", "BFloat16Storage"},
                                                            {"int64", "LongStorage"},
                                                            {"int32", "IntStorage"},
                                                            {"int16", "ShortStorage"},
                                                            {"int8", "CharStorage"},
                                                            {"uint8", "ByteStorage"},
                                                            {"bool", "BoolStorage"},
                                                            {"complex128", "ComplexDoubleStorage"},
                                                            {"complex64", "ComplexFloatStorage"}};
  const auto found = kTypes.find(dtype);
  return found == kTypes.end() ? "UntypedStorage" : found->second;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t next = 1;  // impossible shapes may wrap
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = static_cast<std::int64_t>(next);
    next *= static_cast<std::uint64_t>(shape[dim]);
  }
  return strides;
}

void remove_checksums(zip::Archive& archive) {
  for (std::size_t i = 0; i < archive.central_at.size(); ++i) {
    const std::uint32_t size = archive.central(i).size;
    archive.central(i).crc = archive.local(i).crc = 0;
    if ((archive.local(i).flags & zip::kFlagDescriptor) == 0) continue;
    const std::size_t payload = archive.local_at[i] + sizeof(zip::LocalBytes) + archive.local(i).name_length;
    reinterpret_cast<zip::Descriptor32Bytes*>(archive.bytes.data() + payload + size)->crc = 0;
  }
}

}  // namespace

void write_test_storage(pickle::Writer& writer, const std::string& type, const std::string& key,
                        const std::string& location, std::int64_t numel) {
  writer.mark();
  writer.text("storage");
  writer.global(type == "UntypedStorage" ? "torch.storage" : "torch", type);
  writer.text(key);
  writer.text(location);
  writer.integer(numel);
  writer.tuple_from_mark();
  writer.persistent_id();
}

void write_tuple(pickle::Writer& writer, const std::vector<std::int64_t>& numbers) {
  writer.mark();
  for (const std::int64_t number : numbers) writer.integer(number);
  writer.tuple_from_mark();
}

void write_test_tensor(pickle::Writer& writer, const TestTensor& tensor, const std::string& key) {
  const std::string type = typed_storage(tensor.dtype);
  const bool is_untyped = type == "UntypedStorage";
  const auto bytes = static_cast<std::int64_t>(tensor.storage.size());
  const std::int64_t element = is_untyped ? 1 : item_size(dtype_of_name(tensor.dtype).value());
  writer.global("torch._utils", is_untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  writer.mark();
  write_test_storage(writer, type, key, tensor.location, tensor.numel >= 0 ? tensor.numel : bytes / element);
  writer.integer(tensor.storage_offset);
  write_tuple(writer, tensor.shape);
  write_tuple(writer, tensor.strides.empty() ? dense_strides(tensor.shape) : tensor.strides);
  writer.boolean(false);
  writer.global("collections", "OrderedDict");
  writer.empty_tuple();
  writer.reduce();
  if (is_untyped) writer.global("torch", tensor.dtype);
  writer.tuple_from_mark();
  writer.reduce();
}

zip::Archive make_torch_archive(const TestArchive& archive) {
  const std::uint16_t flags = archive.has_descriptors ? zip::kFlagDescriptor | zip::kFlagUtf8 : 0;
  std::vector<zip::Member> members = {{"archive/data.pkl", archive.pickle, flags},
                                      {"archive/byteorder", "little", flags}};
  for (std::size_t i = 0; i < archive.storages.size(); ++i)
    members.push_back({"archive/data/" + std::to_string(i), archive.storages[i], flags});
  members.push_back({"archive/version", "3\n", flags});
  zip::Archive result = zip::make_zip64_archive(members);
  if (!archive.has_checksums) remove_checksums(result);
  return result;
}

std::string tensor_item(const TestTensor& tensor, bool has_checksums, bool has_descriptors) {
  pickle::Writer writer;
  write_test_tensor(writer, tensor);
  return make_torch_archive({writer.finish(), {tensor.storage}, has_descriptors, has_checksums}).bytes;
}

std::string object_item(const std::function<void(pickle::Writer&)>& write, std::vector<std::string> storages) {
  pickle::Writer writer;
  write(writer);
  return make_torch_archive({writer.finish(), std::move(storages)}).bytes;
}

std::string zstd_of(const std::string& bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  result.resize(ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 3));
  return result;
}

}  // namespace fsdpckpt
