// Tensors inside pickles: recognises the rebuild functions of torch/_utils.py in a value tree, and writes them.
#pragma once

#include <fsdpckpt/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pickle/value.h"
#include "pickle/writer.h"

namespace fsdpckpt {

/// A persistent id ('storage', storage class, key, location, numel) of torch.save.
struct StorageRef {
  DType dtype = DType::uint8;  ///< of a typed storage; uint8 for UntypedStorage
  bool is_untyped = false;
  std::string_view type_name;  ///< "FloatStorage", "UntypedStorage"
  std::string_view type_module;
  std::string_view key;            ///< record data/KEY
  std::string_view location;       ///< "cpu", "cuda:3": data, never used as a device
  std::int64_t element_count = 0;  ///< bytes for UntypedStorage
};

/// Operations that torch has put off (torch/_utils.py, set_tensor_metadata): the stored elements are not yet conjugated
/// or negated.
struct LazyBits {
  bool conjugate = false;
  bool negate = false;
};

/// Does to dense elements what was put off: flips the sign of imaginary parts, of real and imaginary parts.
void apply_lazy_bits(const LazyBits& lazy, DType dtype, std::span<std::byte> elements);

/// A tensor as the pickle gives it: a view of a storage.
struct StoredTensor {
  DType dtype = DType::float32;
  StorageRef storage;
  std::int64_t storage_offset = 0;  ///< elements
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< elements
  LazyBits lazy;                      ///< what is still to be done to the stored elements
};

/// The storage that the operand of a persistent id names. Throws Error(input) when it has another form (rule P5).
StorageRef storage_named(const pickle::Values& values, pickle::NodeId id);

/// The same for the persistent node itself.
StorageRef storage_of(const pickle::Values& values, pickle::NodeId persistent);

/// The tensor that `node` rebuilds (Parameters are unwrapped), or nothing when it is no tensor at all.
/// Throws Error(input) for tensors of a kind that has no plain bytes (sparse, quantised, meta, conjugated, subclasses)
/// and for views that leave their storage (rules Z8, Z10).
std::optional<StoredTensor> tensor_of(const pickle::Values& values, pickle::NodeId node);

/// True when the strides are those of a dense row-major tensor (strides of dimensions of size 1 or of empty tensors are
/// free).
bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Writes a dense row-major tensor over all of a storage: _rebuild_tensor_v2 with a typed storage for the twelve
/// classic dtypes, which every weights_only loader takes, _rebuild_tensor_v3 with an UntypedStorage for the others.
void write_tensor(pickle::Writer& writer, DType dtype, std::span<const std::int64_t> shape, std::string_view key,
                  std::string_view location);

/// Writes a persistent id as torch.save does.
void write_storage(pickle::Writer& writer, const StorageRef& storage);

}  // namespace fsdpckpt
