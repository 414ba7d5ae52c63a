// Which torch wrote a checkpoint, as a range of versions: deduced from the form of what it wrote, never from a path or
// a name in it. Each fact narrows the range; facts that no one version can leave together mean another writer.
#pragma once

#include <fsdpckpt/dtype.h>

#include <bitset>
#include <cstdint>
#include <string>

namespace fsdpckpt {

/// What was seen. The versions that leave it stand in one table, in writer_range.cc.
enum class WriterFact : std::uint8_t {
  // DCP metadata
  old_properties,        ///< TensorProperties in torch.distributed._shard
  new_properties,        ///< TensorProperties in torch.distributed.checkpoint.metadata
  five_properties,       ///< its state is a tuple of five
  six_properties,        ///< of six: with strides
  transform,             ///< _StorageInfo with transform_descriptors
  no_storage_meta,       ///< Metadata without a field storage_meta
  storage_meta,          ///< with one
  storage_meta_plain,    ///< StorageMeta without a field modules
  storage_meta_modules,  ///< with one
  no_version,            ///< Metadata without a field version
  version,               ///< with one
  rank_local,            ///< one metadata file a rank
  // archives of torch.save
  no_byteorder,         ///< no record byteorder
  byteorder,            ///< one
  no_serialization_id,  ///< no record .data/serialization_id
  serialization_id,     ///< one
  no_format_version,    ///< no record .format_version
  format_version,       ///< one
  // dtypes, by when torch.save learnt to write them
  dtype_2_2,
  dtype_2_3,
  dtype_2_6,
  dtype_2_7,
  dtype_2_8,
  dtype_2_15,
  count,
};

class WriterFacts {
 public:
  void add(WriterFact fact) { facts_.set(static_cast<std::size_t>(fact)); }
  /// `yes` when `seen`, otherwise `no`: for a record or field that is there or is not.
  void add(bool seen, WriterFact yes, WriterFact no) { add(seen ? yes : no); }
  /// A tensor of that dtype was stored; most dtypes tell nothing.
  void add(DType dtype);
  void add(const WriterFacts& others) { facts_ |= others.facts_; }
  [[nodiscard]] bool has(WriterFact fact) const { return facts_.test(static_cast<std::size_t>(fact)); }

 private:
  std::bitset<static_cast<std::size_t>(WriterFact::count)> facts_;
};

/// "torch 2.9 to 2.14", "torch 2.15 or later", "torch 2.0 or earlier", "torch 2.3"; empty when no version leaves all
/// of the facts.
std::string writer_range(const WriterFacts& facts);

}  // namespace fsdpckpt
