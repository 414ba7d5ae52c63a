// Folds the classes of a DCP .metadata pickle into the packed index the moment each is complete, so that a file of
// millions of chunks never becomes a tree. Classes and fields: torch/distributed/checkpoint/metadata.py and
// filesystem.py, torch 2.0 to 2.15 (see fsdpckpt-formats(7)).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/growing_array.h"
#include "formats/writer_range.h"
#include "io/file_set.h"
#include "model/index.h"
#include "pickle/machine.h"

namespace fsdpckpt {

class DcpFolder final : public pickle::Folder {
 public:
  /// Adds what it reads to `index`, the files it meets to `files`.
  DcpFolder(Index& index, FileSet& files) : index_(index), files_(files) {}

  void check_global(std::string_view module, std::string_view name) override;
  std::optional<std::uint64_t> fold_reduce(const pickle::Values& values, pickle::NodeId callable,
                                           pickle::NodeId arguments) override;
  std::optional<std::uint64_t> fold_build(const pickle::Values& values, pickle::NodeId object,
                                          pickle::NodeId state) override;
  bool take_item(const pickle::Values& values, Key key, pickle::NodeId value) override;
  std::string entry_on(const pickle::Values& values, std::span<const pickle::NodeId> stack,
                       std::span<const std::size_t> marks) const override;

  /// Matches stored items that came before their tensors. Called once after the pickle was read.
  void finish();

  /// What the fields tell of the torch that wrote the file.
  [[nodiscard]] const WriterFacts& facts() const { return facts_; }
  /// Stored items of chunks that the index does not list, for a note.
  [[nodiscard]] std::uint64_t unlisted_items() const { return unlisted_items_; }

 private:
  static constexpr EntryId kNoEntry = 0xffffffffU;
  struct Tensor {
    DType dtype;
    std::uint64_t shape;  ///< folded Size
    std::uint32_t first, count;
  };
  struct Item {  ///< a MetadataIndex
    EntryId entry = kNoEntry;
    std::uint32_t name = 0;  ///< of an entry that is not known yet: its place in later_names_
    std::uint64_t hint = UINT64_MAX;
    std::optional<std::uint64_t> offsets;  ///< folded Size; nothing for objects
  };
  struct Waiting {
    Item item;
    std::uint32_t extent;
  };

  std::optional<std::uint64_t> fold_known(const pickle::Values& values, pickle::NodeId callable, pickle::NodeId state);
  [[nodiscard]] std::string stored_entry() const;
  static void check_getattr(const pickle::Values& values, pickle::NodeId arguments);
  std::uint64_t fold_size(const pickle::Values& values, pickle::NodeId arguments);
  std::uint64_t fold_chunk(const pickle::Values& values, pickle::NodeId state);
  std::uint64_t fold_tensor(const pickle::Values& values, pickle::NodeId state);
  std::uint64_t fold_index(const pickle::Values& values, pickle::NodeId state);
  std::uint64_t fold_storage(const pickle::Values& values, pickle::NodeId state);
  std::uint64_t fold_properties(const pickle::Values& values, pickle::NodeId object, pickle::NodeId state);
  std::uint32_t copy_box(std::uint32_t box);
  template <class Add>
  bool add_entry(std::string_view name, std::uint64_t at, Add&& add);
  void place(const Item& item, std::uint32_t extent);
  void unpack(std::uint64_t size, std::vector<std::int64_t>& numbers) const;
  FileId file_of(std::string_view path);
  std::uint32_t later_name(std::string_view name);

  Index& index_;
  FileSet& files_;
  WriterFacts facts_;
  std::vector<Tensor> tensors_;
  std::vector<Item> items_;
  std::uint64_t items_taken_ = 0;
  GrowingArray<Waiting> waiting_;
  GrowingArray<std::uint64_t> listed_at_;  ///< byte of the key, per entry
  std::deque<std::string> later_names_;    ///< of entries whose stored items come first
  std::unordered_map<std::string_view, std::uint32_t> by_later_name_;
  std::vector<std::vector<std::int64_t>> large_sizes_;
  std::vector<std::int64_t> numbers_a_, numbers_b_;
  std::string last_path_;
  FileId last_file_ = 0;
  bool is_after_getattr_ = false;  ///< the global before this one was getattr
  EntryId next_entry_ = 0;         ///< a guess whose stored item comes next
  std::uint64_t unlisted_items_ = 0;
};

}  // namespace fsdpckpt
