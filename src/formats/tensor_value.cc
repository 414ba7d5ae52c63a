#include "formats/tensor_value.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/text.h"

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::kNoNode;
using pickle::NodeId;
using pickle::Values;

struct StorageClass {
  std::string_view name;
  DType dtype;
};

// torch/storage.py; typed storages exist for these dtypes only, the others are saved as UntypedStorage.
constexpr std::array<StorageClass, 12> kStorageClasses = {{
    {"DoubleStorage", DType::float64},
    {"FloatStorage", DType::float32},
    {"HalfStorage", DType::float16},
    {"BFloat16Storage", DType::bfloat16},
    {"LongStorage", DType::int64},
    {"IntStorage", DType::int32},
    {"ShortStorage", DType::int16},
    {"CharStorage", DType::int8},
    {"ByteStorage", DType::uint8},
    {"BoolStorage", DType::boolean},
    {"ComplexDoubleStorage", DType::complex128},
    {"ComplexFloatStorage", DType::complex64},
}};

std::string_view storage_class_of(DType dtype) {
  const auto found = std::ranges::find(kStorageClasses, dtype, &StorageClass::dtype);
  return found == kStorageClasses.end() ? std::string_view() : found->name;
}

[[noreturn]] void malformed(std::string_view what) { throw Error(ErrorKind::input, cat("malformed tensor: ", what)); }

std::int64_t integer_of(const Values& values, NodeId node, std::string_view what) {
  if (values.kind(node) != Kind::integer) malformed(cat(what, " is no integer"));
  return values.integer(node);
}

std::vector<std::int64_t> integers_of(const Values& values, NodeId node, std::string_view what) {
  if (values.kind(node) == Kind::object && values.is_global(values.object(node).callable, "torch", "Size")) {
    const auto arguments = values.items(values.object(node).arguments);
    if (arguments.size() == 1) node = arguments[0];
  }
  if (values.kind(node) != Kind::tuple && values.kind(node) != Kind::list) malformed(cat(what, " is no tuple"));
  std::vector<std::int64_t> numbers;
  for (const NodeId item : values.items(node)) {
    numbers.push_back(integer_of(values, item, what));
    if (numbers.back() < 0) malformed(cat(what, " holds a negative number"));
  }
  if (numbers.size() > 64) malformed(cat(what, " has more than 64 dimensions"));
  return numbers;
}

bool is_valid_key(std::string_view key) {
  return !key.empty() && key.find('/') == std::string_view::npos && key.find('\0') == std::string_view::npos &&
         key != "..";
}

/// The last element the view touches lies inside the storage (rule Z8).
void check_view(const StoredTensor& tensor) {
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return;
  std::int64_t last = tensor.storage_offset;
  for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    last = checked_add(last, checked_mul(tensor.shape[dim] - 1, tensor.strides[dim], "a stride"), "a stride");
  }
  const std::int64_t bytes =
      checked_mul<std::int64_t>(checked_add<std::int64_t>(last, 1, "a view"), item_size(tensor.dtype), "a view");
  const std::int64_t storage_bytes =
      checked_mul<std::int64_t>(tensor.storage.element_count, item_size(tensor.storage.dtype), "a storage");
  if (bytes > storage_bytes) malformed(cat("it needs ", bytes, " bytes of a storage of ", storage_bytes));
}

StoredTensor view_of(const Values& values, NodeId storage, NodeId offset, NodeId shape, NodeId strides) {
  StoredTensor tensor;
  tensor.storage = storage_of(values, storage);
  tensor.dtype = tensor.storage.dtype;
  tensor.storage_offset = integer_of(values, offset, "the storage offset");
  tensor.shape = integers_of(values, shape, "the shape");
  tensor.strides = integers_of(values, strides, "the strides");
  if (tensor.storage_offset < 0) malformed("the storage offset is negative");
  if (tensor.shape.size() != tensor.strides.size()) malformed("shape and strides differ in length");
  return tensor;
}

/// The argument behind the plain ones, a dict, marks lazily conjugated or negated data.
LazyBits lazy_bits(const Values& values, std::span<const NodeId> arguments, std::size_t plain) {
  if (arguments.size() <= plain) return {};
  const auto is_set = [&](std::string_view key) {
    const NodeId bit = values.find(arguments[plain], key);
    return bit != kNoNode && values.boolean(bit);
  };
  return {.conjugate = is_set("conj"), .negate = is_set("neg")};
}

StoredTensor rebuild_v2(const Values& values, std::span<const NodeId> arguments) {
  if (arguments.size() < 4) malformed("too few arguments");
  StoredTensor tensor = view_of(values, arguments[0], arguments[1], arguments[2], arguments[3]);
  tensor.lazy = lazy_bits(values, arguments, 6);
  if (tensor.storage.is_untyped) malformed("an UntypedStorage without a dtype");
  check_view(tensor);
  return tensor;
}

StoredTensor rebuild_v3(const Values& values, std::span<const NodeId> arguments) {
  if (arguments.size() < 7) malformed("too few arguments");
  StoredTensor tensor = view_of(values, arguments[0], arguments[1], arguments[2], arguments[3]);
  const NodeId dtype = arguments[6];
  const auto known = values.kind(dtype) == Kind::global && values.module(dtype) == "torch"
                         ? dtype_of_name(values.name(dtype))
                         : std::nullopt;
  if (!known) malformed("its dtype is unknown");
  tensor.dtype = *known;
  tensor.lazy = lazy_bits(values, arguments, 7);
  check_view(tensor);
  return tensor;
}

}  // namespace

StorageRef storage_of(const Values& values, NodeId persistent) {
  if (values.kind(persistent) != Kind::persistent) malformed("its storage is no persistent id");
  return storage_named(values, values.persistent_id(persistent));
}

StorageRef storage_named(const Values& values, NodeId id) {
  const auto fields = values.kind(id) == Kind::tuple ? values.items(id) : std::span<const NodeId>();
  if (fields.size() < 5 || values.kind(fields[0]) != Kind::text || values.text(fields[0]) != "storage" ||
      values.kind(fields[1]) != Kind::global || values.kind(fields[2]) != Kind::text ||
      values.kind(fields[3]) != Kind::text) {
    malformed("its persistent id is not ('storage', type, key, location, numel)");
  }
  StorageRef storage{.type_name = values.name(fields[1]),
                     .type_module = values.module(fields[1]),
                     .key = values.text(fields[2]),
                     .location = values.text(fields[3]),
                     .element_count = integer_of(values, fields[4], "the storage size")};
  if (!is_valid_key(storage.key) || storage.element_count < 0) malformed("its storage key or size is impossible");
  const auto known = std::ranges::find(kStorageClasses, storage.type_name, &StorageClass::name);
  storage.is_untyped = storage.type_name == "UntypedStorage";
  if (!storage.is_untyped && known == kStorageClasses.end()) {
    throw Error(ErrorKind::input, cat("unsupported storage type ", quote(storage.type_name)));
  }
  storage.dtype = storage.is_untyped ? DType::uint8 : known->dtype;
  return storage;
}

std::optional<StoredTensor> tensor_of(const Values& values, NodeId node) {
  if (values.kind(node) != Kind::object) return std::nullopt;
  const pickle::Object& object = values.object(node);
  if (values.kind(object.callable) != Kind::global || values.kind(object.arguments) != Kind::tuple) return std::nullopt;
  const std::string_view module = values.module(object.callable), name = values.name(object.callable);
  const auto arguments = values.items(object.arguments);
  const bool is_torch_rebuild = (module == "torch._utils" && name.starts_with("_rebuild_")) ||
                                (module == "torch._tensor" && name.starts_with("_rebuild_from_type"));
  if (!is_torch_rebuild) return std::nullopt;
  if (name == "_rebuild_tensor_v2" || name == "_rebuild_tensor") return rebuild_v2(values, arguments);
  if (name == "_rebuild_tensor_v3") return rebuild_v3(values, arguments);
  if (name.starts_with("_rebuild_parameter") && !arguments.empty()) return tensor_of(values, arguments[0]);
  throw Error(ErrorKind::input, cat("unsupported tensor kind: made by ", quote(name)));
}

namespace {

struct SignLayout {
  std::size_t part;  ///< bytes of one real number
  bool is_complex;
};

/// Floating dtypes keep the sign in the highest bit of each number; 0 for dtypes without such a sign.
SignLayout sign_layout(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {8, false};
    case DType::float32:
      return {4, false};
    case DType::float16:
    case DType::bfloat16:
      return {2, false};
    case DType::complex128:
      return {8, true};
    case DType::complex64:
      return {4, true};
    case DType::complex32:
    case DType::bcomplex32:
      return {2, true};
    default:
      return {0, false};
  }
}

}  // namespace

void apply_lazy_bits(const LazyBits& lazy, DType dtype, std::span<std::byte> elements) {
  const SignLayout layout = sign_layout(dtype);
  if (layout.part == 0) throw Error(ErrorKind::input, cat("unsupported tensor kind: lazily negated ", name(dtype)));
  for (std::size_t at = layout.part - 1, number = 0; at < elements.size(); at += layout.part, ++number) {
    const bool is_imaginary = layout.is_complex && number % 2 == 1;
    if (lazy.negate != (lazy.conjugate && is_imaginary)) elements[at] ^= std::byte{0x80};
  }
}

bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t expected = 1;
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && strides[dim] != expected) return false;
    expected *= shape[dim];
  }
  return true;
}

namespace {

void write_integers(pickle::Writer& writer, std::span<const std::int64_t> numbers) {
  if (numbers.empty()) return writer.empty_tuple();
  if (numbers.size() > 3) writer.mark();
  for (const std::int64_t number : numbers) writer.integer(number);
  if (numbers.size() > 3)
    writer.tuple_from_mark();
  else
    writer.tuple(static_cast<int>(numbers.size()));
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t next = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = next;
    next *= std::max<std::int64_t>(shape[dim], 1);
  }
  return strides;
}

}  // namespace

void write_storage(pickle::Writer& writer, const StorageRef& storage) {
  writer.mark();
  writer.shared_text("storage");
  writer.global(storage.type_module, storage.type_name);
  writer.text(storage.key);
  writer.shared_text(storage.location);
  writer.integer(storage.element_count);
  writer.tuple_from_mark();
  writer.persistent_id();
}

void write_tensor(pickle::Writer& writer, DType dtype, std::span<const std::int64_t> shape, std::string_view key,
                  std::string_view location) {
  const std::string_view classic = storage_class_of(dtype);
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  StorageRef storage{.dtype = dtype, .key = key, .location = location, .element_count = count};
  storage.type_module = classic.empty() ? "torch.storage" : "torch";
  storage.type_name = classic.empty() ? "UntypedStorage" : classic;
  if (classic.empty()) storage.element_count *= item_size(dtype);
  writer.global("torch._utils", classic.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  writer.mark();
  write_storage(writer, storage);
  writer.integer(0);
  write_integers(writer, shape);
  write_integers(writer, row_major_strides(shape));
  writer.boolean(false);
  writer.global("collections", "OrderedDict");
  writer.empty_tuple();
  writer.reduce();
  if (classic.empty()) writer.global("torch", name(dtype));
  writer.tuple_from_mark();
  writer.reduce();
}

}  // namespace fsdpckpt
