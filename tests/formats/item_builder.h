// Items of a .distcp file as torch.save writes them: a zip archive of one value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pickle/writer.h"
#include "zip/archive_builder.h"

namespace fsdpckpt {

/// A tensor as its pickle describes it: a view of the storage data/0.
struct TestTensor {
  std::string dtype = "float32";
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};  ///< empty: row-major
  std::int64_t storage_offset = 0;         ///< elements
  std::string storage = {};                ///< bytes of data/0
  std::string location = "cpu";
  std::int64_t numel = -1;  ///< declared elements (bytes of an UntypedStorage); -1: what the storage holds
};

/// Writes ('storage', TYPE, key, location, numel) and BINPERSID.
void write_test_storage(pickle::Writer& writer, const std::string& type, const std::string& key,
                        const std::string& location, std::int64_t numel);
/// Writes the tuple of `numbers`.
void write_tuple(pickle::Writer& writer, const std::vector<std::int64_t>& numbers);
/// Writes the tensor's _rebuild_tensor_v2 (v3 for dtypes without a typed storage) over storage `key`.
void write_test_tensor(pickle::Writer& writer, const TestTensor& tensor, const std::string& key = "0");

/// data.pkl and the storages of an archive.
struct TestArchive {
  std::string pickle;
  std::vector<std::string> storages = {};
  bool has_descriptors = true;  ///< as torch writes
  bool has_checksums = true;
};
zip::Archive make_torch_archive(const TestArchive& archive);

/// An archive of the tensor.
std::string tensor_item(const TestTensor& tensor, bool has_checksums = true, bool has_descriptors = true);
/// An archive of what `write` writes.
std::string object_item(const std::function<void(pickle::Writer&)>& write, std::vector<std::string> storages = {});

std::string zstd_of(const std::string& bytes);

}  // namespace fsdpckpt
