#include "formats/tensor_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "base/error_of.h"
#include "formats/item_builder.h"
#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using pickle::Tree;
using pickle::Writer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Write>
std::string written(const Write& write) {
  Writer writer;
  write(writer);
  return writer.finish();
}

std::string pickle_of(const TestTensor& tensor) {
  return written([&](Writer& writer) { write_test_tensor(writer, tensor); });
}

Error error_of_tensor(const std::string& pickle) {
  const Tree tree(pickle);
  return error_of([&] { tensor_of(tree.values, tree.root); });
}

void expect_malformed(const TestTensor& tensor, const std::string& text) {
  const Error error = error_of_tensor(pickle_of(tensor));
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr(text));
}

std::string bytes(std::size_t count) { return std::string(count, 'b'); }

TEST(TensorOf, ReadsEveryDType) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tree tree(
        pickle_of({.dtype = std::string(name(dtype)), .shape = {2, 3}, .storage = bytes(6 * item_size(dtype))}));
    const auto tensor = tensor_of(tree.values, tree.root);
    ASSERT_TRUE(tensor.has_value());
    EXPECT_EQ(tensor->dtype, dtype);
    EXPECT_THAT(tensor->shape, ElementsAre(2, 3));
    EXPECT_THAT(tensor->strides, ElementsAre(3, 1));
    EXPECT_EQ(tensor->storage.key, "0");
  }
}

TEST(TensorOf, ReadsTensorsWithoutDimensionsOrElements) {
  const Tree scalar(pickle_of({.shape = {}, .storage = bytes(4)}));
  EXPECT_THAT(tensor_of(scalar.values, scalar.root)->shape, IsEmpty());
  const Tree empty(pickle_of({.shape = {0, 3}, .storage = ""}));
  EXPECT_THAT(tensor_of(empty.values, empty.root)->shape, ElementsAre(0, 3));
}

TEST(TensorOf, ReadsViews) {
  const Tree tree(
      pickle_of({.shape = {3, 2}, .strides = {1, 3}, .storage_offset = 4, .storage = bytes(40), .location = "cuda:3"}));
  const auto tensor = tensor_of(tree.values, tree.root);
  EXPECT_EQ(tensor->storage_offset, 4);
  EXPECT_THAT(tensor->strides, ElementsAre(1, 3));
  EXPECT_EQ(tensor->storage.location, "cuda:3");
  EXPECT_EQ(tensor->storage.element_count, 10);
}

TEST(TensorOf, UnwrapsParameters) {
  for (const char* rebuild : {"_rebuild_parameter", "_rebuild_parameter_with_state"}) {
    const Tree tree(written([&](Writer& writer) {
      writer.global("torch._utils", rebuild);
      writer.mark();
      write_test_tensor(writer, {.shape = {2}, .storage = bytes(8)});
      writer.boolean(true);
      writer.empty_dict();
      writer.tuple_from_mark();
      writer.reduce();
    }));
    EXPECT_THAT(tensor_of(tree.values, tree.root)->shape, ElementsAre(2));
  }
}

TEST(TensorOf, OtherValuesAreNoTensors) {
  for (const std::string& pickle : {written([](Writer& w) { w.none(); }), written([](Writer& w) { w.empty_dict(); }),
                                    written([](Writer& w) { w.global("torch", "float32"); }), written([](Writer& w) {
                                      w.global("collections", "OrderedDict");
                                      w.empty_tuple();
                                      w.reduce();
                                    })}) {
    const Tree tree(pickle);
    EXPECT_FALSE(tensor_of(tree.values, tree.root).has_value());
  }
}

TEST(TensorOf, RefusesKindsWithoutPlainBytes) {
  for (const auto& [module, name] : {std::pair("torch._utils", "_rebuild_sparse_tensor"),
                                     {"torch._utils", "_rebuild_qtensor"},
                                     {"torch._utils", "_rebuild_meta_tensor_no_storage"},
                                     {"torch._utils", "_rebuild_nested_tensor"},
                                     {"torch._utils", "_rebuild_wrapper_subclass"},
                                     {"torch._tensor", "_rebuild_from_type_v2"}}) {
    const Error error = error_of_tensor(written([&, m = module, n = name](Writer& writer) {
      writer.global(m, n);
      writer.none();
      writer.tuple(1);
      writer.reduce();
    }));
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("unsupported tensor kind"));
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

TEST(TensorOf, RefusesViewsThatLeaveTheirStorage) {
  expect_malformed({.shape = {11}, .storage = bytes(40)}, "44 bytes of a storage of 40");
  expect_malformed({.shape = {10}, .storage_offset = 1, .storage = bytes(40)}, "44 bytes");
  expect_malformed({.shape = {2, 2}, .strides = {9, 1}, .storage = bytes(40)}, "44 bytes");
  expect_malformed({.dtype = "float8_e5m2", .shape = {41}, .storage = bytes(40)}, "41 bytes");
  expect_malformed({.shape = {}, .storage = ""}, "4 bytes of a storage of 0");
}

TEST(TensorOf, ViewsThatWrapSixtyFourBitsAreRefused) {
  constexpr std::int64_t kHuge = INT64_MAX;
  expect_malformed({.shape = {kHuge, kHuge}, .storage = bytes(40)}, "too large");
  expect_malformed({.shape = {2}, .strides = {kHuge}, .storage_offset = kHuge, .storage = bytes(40)}, "too large");
  expect_malformed({.shape = {1}, .storage_offset = kHuge, .storage = bytes(40)}, "too large");
}

TEST(TensorOf, RefusesNegativeNumbers) {
  expect_malformed({.shape = {-1}, .storage = bytes(40)}, "negative");
  expect_malformed({.shape = {2}, .strides = {-1}, .storage = bytes(40)}, "negative");
  expect_malformed({.shape = {2}, .storage_offset = -1, .storage = bytes(40)}, "negative");
}

TEST(TensorOf, RefusesAShapeAndStridesOfDifferentLengths) {
  expect_malformed({.shape = {2, 2}, .strides = {1}, .storage = bytes(40)}, "differ in length");
}

TEST(TensorOf, RefusesMoreThanSixtyFourDimensions) {
  expect_malformed({.shape = std::vector<std::int64_t>(65, 1), .storage = bytes(40)}, "64 dimensions");
}

std::string v2_with(const std::function<void(Writer&)>& storage) {
  return written([&](Writer& writer) {
    writer.global("torch._utils", "_rebuild_tensor_v2");
    writer.mark();
    storage(writer);
    writer.integer(0);
    write_tuple(writer, {1});
    write_tuple(writer, {1});
    writer.tuple_from_mark();
    writer.reduce();
  });
}

TEST(TensorOf, TakesFourArguments) {
  const Tree tree(v2_with([](Writer& writer) { write_test_storage(writer, "FloatStorage", "0", "cpu", 1); }));
  EXPECT_EQ(tensor_of(tree.values, tree.root)->dtype, DType::float32);
}

TEST(TensorOf, RefusesAStorageThatIsNoPersistentId) {
  EXPECT_THAT(error_of_tensor(v2_with([](Writer& writer) { writer.integer(1); })).what(), HasSubstr("persistent id"));
}

TEST(TensorOf, RefusesAnUntypedStorageWithoutADType) {
  const auto untyped = [](Writer& writer) { write_test_storage(writer, "UntypedStorage", "0", "cpu", 4); };
  EXPECT_EQ(error_of_tensor(v2_with(untyped)).kind(), ErrorKind::input);
}

TEST(TensorOf, RefusesAnUnknownStorageType) {
  const auto storage = [](Writer& writer) { write_test_storage(writer, "QInt8Storage", "0", "cpu", 4); };
  EXPECT_THAT(error_of_tensor(v2_with(storage)).what(), HasSubstr("QInt8Storage"));
}

TEST(TensorOf, RefusesStorageKeysThatCouldBePaths) {
  for (const std::string& key :
       {std::string("../x"), std::string("a/b"), std::string(""), std::string(".."), std::string("a\0b", 3)}) {
    const auto storage = [&](Writer& writer) { write_test_storage(writer, "FloatStorage", key, "cpu", 4); };
    EXPECT_EQ(error_of_tensor(v2_with(storage)).kind(), ErrorKind::input) << key;
  }
}

TEST(TensorOf, RefusesANegativeStorageSize) {
  const auto storage = [](Writer& writer) { write_test_storage(writer, "FloatStorage", "0", "cpu", -1); };
  EXPECT_EQ(error_of_tensor(v2_with(storage)).kind(), ErrorKind::input);
}

TEST(TensorOf, RefusesTooFewArguments) {
  for (const char* rebuild : {"_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_tensor"}) {
    const Error error = error_of_tensor(written([&](Writer& writer) {
      writer.global("torch._utils", rebuild);
      writer.empty_tuple();
      writer.reduce();
    }));
    EXPECT_EQ(error.kind(), ErrorKind::input) << rebuild;
  }
}

TEST(TensorOf, RefusesAnUnknownDTypeInV3) {
  for (const char* dtype : {"int4", "load", "Size"})
    EXPECT_EQ(error_of_tensor(written([&](Writer& writer) {
                writer.global("torch._utils", "_rebuild_tensor_v3");
                writer.mark();
                write_test_storage(writer, "UntypedStorage", "0", "cpu", 4);
                writer.integer(0);
                write_tuple(writer, {1});
                write_tuple(writer, {1});
                writer.boolean(false);
                writer.empty_dict();
                writer.global("torch", dtype);
                writer.tuple_from_mark();
                writer.reduce();
              })).kind(),
              ErrorKind::input)
        << dtype;
}

TEST(IsRowMajor, IgnoresStridesThatDoNotMatter) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_TRUE(is_row_major(Numbers{2, 3}, Numbers{3, 1}));
  EXPECT_FALSE(is_row_major(Numbers{2, 3}, Numbers{1, 2}));
  EXPECT_FALSE(is_row_major(Numbers{2, 3}, Numbers{4, 1}));
  EXPECT_FALSE(is_row_major(Numbers{2, 3}, Numbers{0, 1}));
  EXPECT_TRUE(is_row_major(Numbers{1, 3}, Numbers{77, 1}));
  EXPECT_TRUE(is_row_major(Numbers{3, 1}, Numbers{1, 77}));
  EXPECT_TRUE(is_row_major(Numbers{0, 3}, Numbers{1, 1}));
  EXPECT_TRUE(is_row_major(Numbers{}, Numbers{}));
}

TEST(WriteTensor, IsReadBackForEveryDType) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 3, 1, 2}, {}, {0, 3}}) {
      const Tree tree(written([&](Writer& writer) { write_tensor(writer, dtype, shape, "7", "cpu"); }));
      const auto tensor = tensor_of(tree.values, tree.root);
      EXPECT_EQ(tensor->dtype, dtype);
      EXPECT_EQ(tensor->shape, shape);
      EXPECT_EQ(tensor->storage.key, "7");
      EXPECT_TRUE(is_row_major(tensor->shape, tensor->strides));
    }
  }
}

// writing.md 2.2: what torch itself writes, and every weights_only loader takes.
TEST(WriteTensor, WritesClassicDTypesAsV2) {
  const Tree tree(written([](Writer& writer) {
    write_tensor(writer, DType::bfloat16, std::vector<std::int64_t>{2, 3}, "0", "cpu");
  }));
  EXPECT_EQ(tree.text(),
            "call(<torch._utils._rebuild_tensor_v2>, (pid(('storage', <torch.BFloat16Storage>, '0', 'cpu', 6)), 0, "
            "(2, 3), (3, 1), False, call(<collections.OrderedDict>, ())))");
}

TEST(WriteTensor, WritesOtherDTypesAsV3) {
  const Tree tree(
      written([](Writer& writer) { write_tensor(writer, DType::uint16, std::vector<std::int64_t>{3}, "0", "cpu"); }));
  EXPECT_EQ(tree.text(),
            "call(<torch._utils._rebuild_tensor_v3>, (pid(('storage', <torch.storage.UntypedStorage>, '0', 'cpu', 6)), "
            "0, (3), (1), False, call(<collections.OrderedDict>, ()), <torch.uint16>))");
}

TEST(LazyBits, FlipSigns) {
  const float values[] = {1.0F, 2.0F};
  const auto flipped = [&](const LazyBits& lazy, DType dtype) {
    std::array<float, 2> copy = {values[0], values[1]};
    apply_lazy_bits(lazy, dtype, std::as_writable_bytes(std::span(copy)));
    return copy;
  };
  EXPECT_THAT(flipped({.conjugate = true}, DType::complex64), ElementsAre(1.0F, -2.0F));
  EXPECT_THAT(flipped({.negate = true}, DType::complex64), ElementsAre(-1.0F, -2.0F));
  EXPECT_THAT(flipped({.conjugate = true, .negate = true}, DType::complex64), ElementsAre(-1.0F, 2.0F));
  EXPECT_THAT(flipped({.negate = true}, DType::float32), ElementsAre(-1.0F, -2.0F));
  EXPECT_THAT(flipped({}, DType::complex64), ElementsAre(1.0F, 2.0F));
}

}  // namespace
}  // namespace fsdpckpt
