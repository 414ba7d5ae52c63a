#include "formats/dcp_folder.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "formats/packed_size.h"
#include "pickle/globals.h"

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::kNoNode;
using pickle::NodeId;
using pickle::Values;

constexpr std::string_view kMetadata = "torch.distributed.checkpoint.metadata";
constexpr std::string_view kFileSystem = "torch.distributed.checkpoint.filesystem";
constexpr std::string_view kOldProperties = "torch.distributed._shard.sharded_tensor.metadata";
constexpr std::size_t kMaxDims = 64;

// What a folded number stands for: four bits above its payload.
enum class Tag : std::uint64_t { size = 0, chunk, tensor, index, storage, properties };

std::uint64_t tagged(Tag tag, std::uint64_t payload) { return static_cast<std::uint64_t>(tag) << kSizeBits | payload; }
std::uint64_t payload(std::uint64_t number) { return number & ((1ULL << kSizeBits) - 1); }

bool is_folded(const Values& values, NodeId node, Tag tag) {
  return node != kNoNode && values.kind(node) == Kind::folded &&
         values.folded(node) >> kSizeBits == static_cast<std::uint64_t>(tag);
}

/// The payload of a folded field of `state`; anything else is malformed metadata.
std::uint64_t folded_field(const Values& values, NodeId state, std::string_view field, Tag tag) {
  const NodeId node = values.find(state, field);
  if (!is_folded(values, node, tag))
    throw Error(ErrorKind::input, cat("field ", quote(field), " is missing or of another type"));
  return payload(values.folded(node));
}

std::uint64_t size_field(const Values& values, NodeId state, std::string_view field) {
  const NodeId node = values.find(state, field);
  if (node == kNoNode || values.kind(node) != Kind::integer || values.integer(node) < 0) {
    throw Error(ErrorKind::input, cat("field ", quote(field), " is no number of bytes"));
  }
  return static_cast<std::uint64_t>(values.integer(node));
}

bool is_getattr(std::string_view module, std::string_view name) {
  return (module == "builtins" || module == "__builtin__") && name == "getattr";
}

/// Names a .metadata may mention. Nothing is resolved; the list keeps surprises out (rule P1).
bool is_listed(std::string_view module, std::string_view name) {
  static constexpr std::array<std::string_view, 4> kPlanner = {"SavePlan", "WriteItem", "WriteItemType",
                                                               "TensorWriteData"};
  if (module == kMetadata || module == kFileSystem) return true;
  if (module == kOldProperties) return name == "TensorProperties" || name == "MEM_FORMAT_ENCODING";
  if (module == "torch") return name == "Size" || dtype_of_name(name).has_value();
  if (module == "torch.serialization") return name == "_get_layout";
  if (module == "pathlib" || module == "pathlib._local")
    return name == "PosixPath" || name == "WindowsPath" || name == "Path";
  if (is_getattr(module, name)) return true;  // enums of early Python 3.11
  if (module == "collections") return name == "OrderedDict" || name == "ChainMap";
  // Megatron-core keeps its save plans in the metadata.
  if (module == "torch.distributed.checkpoint.planner") return std::ranges::find(kPlanner, name) != kPlanner.end();
  return module.starts_with("megatron.core.dist_checkpointing");
}

[[noreturn]] void throw_unlisted(const std::string& what) {
  throw Error(ErrorKind::refused,
              cat("the metadata names ", quote(what), ", which no checkpoint writer puts there; nothing was run"));
}

}  // namespace

void DcpFolder::check_global(std::string_view module, std::string_view name) {
  if (!is_listed(module, name)) throw_unlisted(cat(is_after_getattr_ ? "builtins.getattr of " : "", module, ".", name));
  is_after_getattr_ = is_getattr(module, name);
}

/// getattr of anything but a memory format leads to what the list keeps out.
void DcpFolder::check_getattr(const Values& values, NodeId arguments) {
  const auto items = values.items(arguments);
  const bool is_enum =
      items.size() == 2 && pickle::is_memory_format_class(values, items[0]) && values.kind(items[1]) == Kind::text;
  if (!is_enum) throw_unlisted("builtins.getattr");
}

std::optional<std::uint64_t> DcpFolder::fold_reduce(const Values& values, NodeId callable, NodeId arguments) {
  if (values.is_global(callable, "torch", "Size")) return fold_size(values, arguments);  // nearly all of them
  if (values.kind(callable) == Kind::global && is_getattr(values.module(callable), values.name(callable)))
    check_getattr(values, arguments);
  return std::nullopt;
}

std::optional<std::uint64_t> DcpFolder::fold_build(const Values& values, NodeId object, NodeId state) {
  if (values.kind(object) != Kind::object) return std::nullopt;
  const NodeId callable = values.object(object).callable;
  if (values.kind(callable) != Kind::global) return std::nullopt;
  return fold_known(values, callable, state);
}

std::optional<std::uint64_t> DcpFolder::fold_known(const Values& values, NodeId callable, NodeId state) {
  const std::string_view name = values.name(callable);
  if (name == "TensorProperties") return fold_properties(values, callable, state);
  const std::string_view module = values.module(callable);
  if (module == kFileSystem && name == "_StorageInfo") return fold_storage(values, state);
  if (module != kMetadata) return std::nullopt;
  if (name == "ChunkStorageMetadata") return fold_chunk(values, state);
  if (name == "MetadataIndex") return fold_index(values, state);
  if (name == "TensorStorageMetadata") return fold_tensor(values, state);
  return std::nullopt;
}

/// Metadata's fields are read one after the other and stay on the stack: the last one is being read. Above its name
/// stand its dict, then keys and values in turns; what belongs to the last key begins before the next MARK.
std::string DcpFolder::entry_on(const Values& values, std::span<const NodeId> stack,
                                std::span<const std::size_t> marks) const {
  const auto is_text = [&](NodeId node) { return values.kind(node) == Kind::text; };
  const auto place_of = [&](std::string_view field) {
    const auto found =
        std::ranges::find_if(stack, [&](NodeId node) { return is_text(node) && values.text(node) == field; });
    return static_cast<std::size_t>(found - stack.begin());
  };
  if (place_of("storage_data") < stack.size()) return stored_entry();
  const std::size_t planner = place_of("planner_data");
  const std::size_t first = (planner < stack.size() ? planner : place_of("state_dict_metadata")) + 2;
  const auto next = std::ranges::find_if(marks, [&](std::size_t mark) { return mark > first; });
  const std::size_t end = next == marks.end() ? stack.size() : std::min(*next, stack.size());
  std::string name;
  for (std::size_t key = first; key < end; key += 2) {
    if (is_text(stack[key])) name = values.text(stack[key]);
  }
  return name;
}

/// Of the MetadataIndex that was read last and has no place yet.
std::string DcpFolder::stored_entry() const {
  if (items_taken_ >= items_.size()) return {};
  const Item& item = items_.back();
  return item.entry == kNoEntry ? later_names_[item.name] : std::string(index_.entry(item.entry).name);
}

/// torch.Size((d0, d1, ...)): one tuple argument.
std::uint64_t DcpFolder::fold_size(const Values& values, NodeId arguments) {
  const auto outer = values.items(arguments);
  if (outer.size() != 1 || (values.kind(outer[0]) != Kind::tuple && values.kind(outer[0]) != Kind::list)) {
    throw Error(ErrorKind::input, "torch.Size has other arguments than one tuple");
  }
  const auto items = values.items(outer[0]);
  if (items.size() > kMaxDims)
    throw Error(ErrorKind::input, cat("a shape has ", items.size(), " dimensions, more than ", kMaxDims));
  numbers_a_.clear();
  for (const NodeId item : items) {
    if (values.kind(item) != Kind::integer || values.integer(item) < 0) {
      throw Error(ErrorKind::input, "a shape holds something else than non-negative integers");
    }
    numbers_a_.push_back(values.integer(item));
  }
  if (const auto packed = pack_size(numbers_a_)) return tagged(Tag::size, *packed);
  large_sizes_.push_back(numbers_a_);
  return tagged(Tag::size, spilled_size(large_sizes_.size() - 1));
}

void DcpFolder::unpack(std::uint64_t size, std::vector<std::int64_t>& numbers) const {
  if (const auto spilled = spilled_index(size))
    numbers = large_sizes_[*spilled];
  else
    unpack_size(size, numbers);
}

std::uint64_t DcpFolder::fold_chunk(const Values& values, NodeId state) {
  unpack(folded_field(values, state, "offsets", Tag::size), numbers_a_);
  unpack(folded_field(values, state, "sizes", Tag::size), numbers_b_);
  if (numbers_a_.size() != numbers_b_.size())
    throw Error(ErrorKind::input, "a chunk's offsets and sizes differ in length");
  return tagged(Tag::chunk, index_.add_box(numbers_a_, numbers_b_));
}

/// TensorProperties: only the dtype matters. The tuple has five elements, six since torch 2.15.
std::uint64_t DcpFolder::fold_properties(const Values& values, NodeId callable, NodeId state) {
  const auto fields = values.kind(state) == Kind::tuple ? values.items(state) : std::span<const NodeId>();
  if (fields.size() < 5 || values.kind(fields[0]) != Kind::global) {
    throw Error(ErrorKind::input, "TensorProperties is not a tuple of five or six with a dtype first");
  }
  const auto dtype = dtype_of_name(values.name(fields[0]));
  if (!dtype || values.module(fields[0]) != "torch") {
    throw Error(ErrorKind::input, cat("unsupported dtype ", quote(values.name(fields[0]))));
  }
  facts_.add(values.module(callable) == kOldProperties, WriterFact::old_properties, WriterFact::new_properties);
  facts_.add(fields.size() > 5, WriterFact::six_properties, WriterFact::five_properties);
  facts_.add(*dtype);
  return tagged(Tag::properties, static_cast<std::uint64_t>(*dtype));
}

/// A copy of a box that belongs to an earlier tensor too (shared through the memo).
std::uint32_t DcpFolder::copy_box(std::uint32_t box) {
  const Index::Box source = index_.box(box);
  numbers_a_.assign(source.offsets.begin(), source.offsets.end());
  numbers_b_.assign(source.sizes.begin(), source.sizes.end());
  return index_.add_box(numbers_a_, numbers_b_);
}

std::uint64_t DcpFolder::fold_tensor(const Values& values, NodeId state) {
  const NodeId chunks = values.find(state, "chunks");
  if (chunks == kNoNode || values.kind(chunks) != Kind::list)
    throw Error(ErrorKind::input, "a tensor has no list of chunks");
  const auto list = values.items(chunks);
  const std::uint64_t shape = folded_field(values, state, "size", Tag::size);
  unpack(shape, numbers_a_);
  const std::size_t dims = numbers_a_.size();
  const auto count = static_cast<std::uint32_t>(list.size());
  bool in_place = true;  // the boxes just added, one after the other: the normal case
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!is_folded(values, list[i], Tag::chunk)) throw Error(ErrorKind::input, "a list of chunks holds something else");
    const auto box = static_cast<std::uint32_t>(payload(values.folded(list[i])));
    if (index_.box(box).offsets.size() != dims)
      throw Error(ErrorKind::input, "a chunk has another number of dimensions than its tensor");
    in_place &= box == index_.next_box() - count + i;
  }
  const std::uint32_t first = index_.next_box() - (in_place ? count : 0);
  if (!in_place) {
    for (const NodeId chunk : list) copy_box(static_cast<std::uint32_t>(payload(values.folded(chunk))));
  }
  const auto dtype = static_cast<DType>(folded_field(values, state, "properties", Tag::properties));
  tensors_.push_back({.dtype = dtype, .shape = shape, .first = first, .count = count});
  return tagged(Tag::tensor, tensors_.size() - 1);
}

std::uint64_t DcpFolder::fold_index(const Values& values, NodeId state) {
  const NodeId name = values.find(state, "fqn");
  if (name == kNoNode || values.kind(name) != Kind::text) throw Error(ErrorKind::input, "a MetadataIndex has no name");
  const NodeId offsets = values.find(state, "offset");  // absent for objects
  const NodeId hint = values.find(state, "index");
  Item item;
  if (offsets != kNoNode && values.kind(offsets) != Kind::none && !is_folded(values, offsets, Tag::size)) {
    throw Error(ErrorKind::input, "field 'offset' of a MetadataIndex is no torch.Size",
                {.entry = std::string(values.text(name))});
  }
  const EntryId known = index_.find(values.text(name), next_entry_);
  next_entry_ = known + 1;
  if (known < index_.entry_count())
    item.entry = known;
  else
    item.name = later_name(values.text(name));
  if (hint != kNoNode && values.kind(hint) == Kind::integer)
    item.hint = static_cast<std::uint64_t>(values.integer(hint));
  if (offsets != kNoNode && values.kind(offsets) != Kind::none)
    item.offsets = folded_field(values, state, "offset", Tag::size);
  if (items_taken_ == items_.size()) {  // none is waiting for its SETITEMS: start again
    items_.clear();
    items_taken_ = 0;
  }
  items_.push_back(item);
  return tagged(Tag::index, items_.size() - 1);
}

std::uint32_t DcpFolder::later_name(std::string_view name) {
  const auto known = by_later_name_.find(name);
  if (known != by_later_name_.end()) return known->second;
  const auto place = static_cast<std::uint32_t>(later_names_.size());
  by_later_name_.emplace(later_names_.emplace_back(name), place);
  return place;
}

FileId DcpFolder::file_of(std::string_view path) {
  if (path != last_path_ || last_path_.empty()) {
    last_path_ = path;
    last_file_ = files_.add(last_path_);
  }
  return last_file_;
}

std::uint64_t DcpFolder::fold_storage(const Values& values, NodeId state) {
  const NodeId path = values.find(state, "relative_path");
  if (path == kNoNode || values.kind(path) != Kind::text)
    throw Error(ErrorKind::input, "a _StorageInfo has no relative_path");
  Extent extent{.file = file_of(values.text(path)),
                .encoding = Encoding::torch_zip,
                .offset = size_field(values, state, "offset"),
                .length = size_field(values, state, "length")};
  const NodeId descriptors = values.find(state, "transform_descriptors");
  if (descriptors != kNoNode && values.kind(descriptors) == Kind::list) {
    for (const NodeId descriptor : values.items(descriptors)) {
      const std::string_view text =
          values.kind(descriptor) == Kind::text ? values.text(descriptor) : std::string_view();
      if (!(text == "stream.zstd" || text.starts_with("stream.zstd/1")) || extent.encoding != Encoding::torch_zip) {
        throw Error(ErrorKind::input, cat("unsupported transform ", quote(text), "; only one stream.zstd/1 is known"));
      }
      extent.encoding = Encoding::torch_zip_zstd;
      facts_.add(WriterFact::transform);
    }
  }
  return tagged(Tag::storage, index_.add_extent(extent));
}

template <class Add>
bool DcpFolder::add_entry(std::string_view name, std::uint64_t at, Add&& add) {
  try {
    add();
  } catch (const Error&) {
    const EntryId twin = index_.find(name);
    if (twin >= listed_at_.size()) throw;
    throw Error(ErrorKind::input,
                cat("entry ", quote(name), " is listed twice, at byte ", listed_at_[twin], " and at byte ", at),
                {.entry = std::string(name)});
  }
  listed_at_.push_back(at);
  return true;
}

bool DcpFolder::take_item(const Values& values, Key key, NodeId value) {
  if (is_folded(values, key.node, Tag::index) && is_folded(values, value, Tag::storage)) {
    const std::uint64_t number = payload(values.folded(key.node));
    if (number >= items_.size()) throw Error(ErrorKind::input, "a MetadataIndex is used twice");
    const auto extent = static_cast<std::uint32_t>(payload(values.folded(value)));
    const Item& item = items_[number];
    if (item.entry == kNoEntry)
      waiting_.push_back({item, extent});
    else
      place(item, extent);
    ++items_taken_;
    return true;
  }
  if (values.kind(key.node) != Kind::text) return false;
  const std::string_view name = values.text(key.node);
  if (is_folded(values, value, Tag::tensor)) {
    const Tensor& tensor = tensors_[payload(values.folded(value))];
    unpack(tensor.shape, numbers_a_);
    return add_entry(name, key.at,
                     [&] { index_.add_tensor(name, tensor.dtype, numbers_a_, tensor.first, tensor.count); });
  }
  if (values.kind(value) == Kind::object &&
      values.is_global(values.object(value).callable, kMetadata, "BytesStorageMetadata")) {
    return add_entry(name, key.at, [&] { index_.add_object(name); });
  }
  return false;
}

void DcpFolder::place(const Item& item, std::uint32_t extent) {
  const Entry entry = index_.entry(item.entry);
  std::uint64_t chunk = 0;
  if (entry.kind == EntryKind::tensor) {
    if (!item.offsets)
      throw Error(ErrorKind::input, "a stored chunk has no offsets", {.entry = std::string(entry.name)});
    unpack(*item.offsets, numbers_a_);
    chunk = index_.find_chunk(item.entry, numbers_a_, item.hint);
  }
  if (chunk >= entry.chunk_count) {
    ++unlisted_items_;
    return;
  }
  if (index_.placed(item.entry, chunk) != kNoExtent) {
    throw Error(ErrorKind::input, "the same chunk is stored twice", {.entry = std::string(entry.name)});
  }
  index_.place(item.entry, chunk, extent);
}

void DcpFolder::finish() {
  std::vector<EntryId> entries;
  for (const std::string& name : later_names_) entries.push_back(index_.find(name));
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    Waiting& waiting = waiting_[i];
    waiting.item.entry = entries[waiting.item.name];
    if (waiting.item.entry >= index_.entry_count())
      ++unlisted_items_;
    else
      place(waiting.item, waiting.extent);
  }
  waiting_.shrink(0);
}

}  // namespace fsdpckpt
