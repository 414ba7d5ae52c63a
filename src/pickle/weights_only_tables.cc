// What torch.load(weights_only=True) accepts. Source: torch/_weights_only_unpickler.py of 2.0.1, 2.2.2, 2.4.1, 2.13.0
// and 2.15.0, and saving each dtype with them. Where a version between was not looked at, the table has the later one.
#include "pickle/globals_tables.h"

namespace fsdpckpt::pickle {
namespace {

constexpr std::string_view kCollections20[] = {"OrderedDict"};
constexpr std::string_view kCollections24[] = {"Counter"};
constexpr std::string_view kCodecs25[] = {"encode"};
constexpr std::string_view kBuiltins25[] = {"bytearray"};
constexpr std::string_view kBuiltins26[] = {"set", "complex"};
constexpr std::string_view kParameter20[] = {"Parameter"};
constexpr std::string_view kSerialization20[] = {"_get_layout"};
constexpr std::string_view kTensor20[] = {"_rebuild_from_type_v2"};
constexpr std::string_view kStorage20[] = {"TypedStorage", "UntypedStorage"};

constexpr std::string_view kTorch20[] = {"Size",    "Tensor",  "complex32", "complex64", "complex128", "float16",
                                         "float32", "float64", "int8",      "int16",     "int32",      "int64"};
constexpr std::string_view kTorch22[] = {"float8_e5m2", "float8_e4m3fn"};
constexpr std::string_view kTorch23[] = {"float8_e5m2fnuz", "float8_e4m3fnuz"};
constexpr std::string_view kTorch24[] = {"device",
                                         "bfloat16",
                                         "bool",
                                         "uint8",
                                         "bits8",
                                         "bits16",
                                         "bits1x8",
                                         "bits2x4",
                                         "bits4x2",
                                         "qint8",
                                         "qint32",
                                         "quint8",
                                         "quint2x4",
                                         "quint4x2",
                                         "per_tensor_affine",
                                         "per_tensor_symmetric",
                                         "per_channel_affine",
                                         "per_channel_symmetric",
                                         "per_channel_affine_float_qparams"};
constexpr std::string_view kTorch26[] = {"uint16", "uint32", "uint64"};
constexpr std::string_view kTorch27[] = {"int1",  "int2",  "int3",  "int4",  "int5",  "int6",  "int7",          "uint1",
                                         "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "float8_e8m0fnu"};
constexpr std::string_view kTorch28[] = {"float4_e2m1fn_x2"};

constexpr std::string_view kStorages[] = {
    "BFloat16Storage",     "BoolStorage",   "ByteStorage",   "CharStorage",     "ComplexDoubleStorage", "DoubleStorage",
    "ComplexFloatStorage", "FloatStorage",  "HalfStorage",   "IntStorage",      "LongStorage",          "ShortStorage",
    "QInt8Storage",        "QInt32Storage", "QUInt8Storage", "QUInt2x4Storage", "QUInt4x2Storage"};
constexpr std::string_view kCudaStorages[] = {
    "BFloat16Storage",     "BoolStorage",  "ByteStorage", "CharStorage", "DoubleStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "FloatStorage", "HalfStorage", "IntStorage",  "LongStorage",   "ShortStorage"};
constexpr std::string_view kTensors[] = {"BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor",
                                         "FloatTensor",    "HalfTensor", "IntTensor",  "LongTensor", "ShortTensor"};
constexpr std::string_view kSparseTensors[] = {"BFloat16Tensor", "ByteTensor",  "CharTensor",
                                               "DoubleTensor",   "FloatTensor", "HalfTensor",
                                               "IntTensor",      "LongTensor",  "ShortTensor"};

constexpr std::string_view kRebuild20[] = {"_rebuild_parameter", "_rebuild_tensor", "_rebuild_tensor_v2",
                                           "_rebuild_sparse_tensor", "_rebuild_meta_tensor_no_storage"};
// 2.15 takes _rebuild_nested_tensor no longer.
constexpr std::string_view kRebuild22[] = {"_rebuild_tensor_v3", "_rebuild_nested_tensor"};
constexpr std::string_view kRebuild24[] = {"_rebuild_qtensor", "_rebuild_parameter_with_state",
                                           "_rebuild_wrapper_subclass"};
constexpr std::string_view kRebuild26[] = {"_rebuild_device_tensor_from_numpy",
                                           "_rebuild_device_tensor_from_cpu_tensor"};

constexpr WeightsOnlyGroup kGroups[] = {
    {"collections", "2.0", kCollections20},
    {"collections", "2.4", kCollections24},
    {"_codecs", "2.5", kCodecs25},
    {"builtins", "2.5", kBuiltins25},
    {"builtins", "2.6", kBuiltins26},
    {"torch.nn.parameter", "2.0", kParameter20},
    {"torch.serialization", "2.0", kSerialization20},
    {"torch._tensor", "2.0", kTensor20},
    {"torch.storage", "2.0", kStorage20},
    {"torch", "2.0", kTorch20},
    {"torch", "2.2", kTorch22},
    {"torch", "2.3", kTorch23},
    {"torch", "2.4", kTorch24},
    {"torch", "2.6", kTorch26},
    {"torch", "2.7", kTorch27},
    {"torch", "2.8", kTorch28},
    {"torch", "2.0", kStorages},
    {"torch", "2.0", kTensors},
    {"torch.cuda", "2.0", kCudaStorages},
    {"torch.cuda", "2.0", kTensors},
    {"torch.sparse", "2.0", kSparseTensors},
    {"torch.cuda.sparse", "2.0", kSparseTensors},
    {"torch._utils", "2.0", kRebuild20},
    {"torch._utils", "2.2", kRebuild22},
    {"torch._utils", "2.4", kRebuild24},
    {"torch._utils", "2.6", kRebuild26},
};

}  // namespace

std::span<const WeightsOnlyGroup> weights_only_groups() { return kGroups; }

}  // namespace fsdpckpt::pickle
