#include "formats/writer_range.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr int kAnyEarlier = -1, kAnyLater = 99;

struct Row {
  WriterFact fact;
  int first, last;  ///< minor numbers of torch 2
};

using F = WriterFact;
// Read in torch/distributed/checkpoint/{metadata,filesystem}.py, torch/distributed/_shard/sharded_tensor/metadata.py
// and torch/serialization.py of 2.0.1 to 2.15.0, and seen in files of 2.0.1, 2.2.2, 2.4.1, 2.13.0 and 2.15.0.
constexpr std::array kRows = {
    Row{F::old_properties, 0, 2},
    Row{F::new_properties, 3, kAnyLater},
    Row{F::five_properties, 0, 14},
    Row{F::six_properties, 15, kAnyLater},
    Row{F::transform, 7, kAnyLater},
    Row{F::no_storage_meta, 0, 3},
    Row{F::storage_meta, 4, kAnyLater},
    Row{F::storage_meta_plain, 4, 6},
    Row{F::storage_meta_modules, 7, kAnyLater},
    Row{F::no_version, 0, 8},
    Row{F::version, 9, kAnyLater},
    Row{F::rank_local, 9, kAnyLater},
    Row{F::no_byteorder, kAnyEarlier, 0},
    Row{F::byteorder, 1, kAnyLater},
    Row{F::no_serialization_id, kAnyEarlier, 0},
    Row{F::serialization_id, 1, kAnyLater},
    Row{F::no_format_version, kAnyEarlier, 6},
    Row{F::format_version, 7, kAnyLater},
    Row{F::dtype_2_2, 2, kAnyLater},
    Row{F::dtype_2_3, 3, kAnyLater},
    Row{F::dtype_2_6, 6, kAnyLater},
    Row{F::dtype_2_7, 7, kAnyLater},
    Row{F::dtype_2_8, 8, kAnyLater},
    Row{F::dtype_2_15, 15, kAnyLater},
};
static_assert(kRows.size() == static_cast<std::size_t>(F::count));

/// The first torch that can save a storage of `dtype`, when that is not every torch 2.
std::optional<WriterFact> fact_of(DType dtype) {
  switch (dtype) {
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
    case DType::bits8:
    case DType::bits16:
    case DType::bits1x8:
    case DType::bits2x4:
    case DType::bits4x2:
      return F::dtype_2_2;
    case DType::float8_e4m3fnuz:
    case DType::float8_e5m2fnuz:
    case DType::complex32:
      return F::dtype_2_3;
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return F::dtype_2_6;
    case DType::float8_e8m0fnu:
      return F::dtype_2_7;
    case DType::float4_e2m1fn_x2:
      return F::dtype_2_8;
    case DType::bcomplex32:
      return F::dtype_2_15;
    default:
      return std::nullopt;
  }
}

}  // namespace

void WriterFacts::add(DType dtype) {
  if (const auto fact = fact_of(dtype)) add(*fact);
}

std::string writer_range(const WriterFacts& facts) {
  int first = kAnyEarlier, last = kAnyLater;
  for (const Row& row : kRows) {
    if (!facts.has(row.fact)) continue;
    first = std::max(first, row.first);
    last = std::min(last, row.last);
  }
  if (first > last || (first == kAnyEarlier && last == kAnyLater)) return {};
  if (first == last) return cat("torch 2.", first);
  if (last == kAnyLater) return cat("torch 2.", first, " or later");
  return first == kAnyEarlier ? cat("torch 2.", last, " or earlier") : cat("torch 2.", first, " to 2.", last);
}

}  // namespace fsdpckpt
