#include "formats/torch_file.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "formats/document.h"
#include "formats/tensor_value.h"
#include "formats/writer_range.h"

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::NodeId;

constexpr int kMaxDepth = 1000;

constexpr std::uint64_t kFreeVisits = 10'000;       ///< of containers and leaves, however small the file
constexpr std::uint64_t kFreeNameBytes = 1U << 20;  ///< of all names together, likewise
constexpr std::uint64_t kNameBytesPerByte = 16;     ///< on top, for each byte that the values take

/// Walks the tree of data.pkl. Shared containers are entered each time they appear; budgets end trees that are small
/// in the file and endless when expanded, or whose names are (rule P9).
class TreeReader {
 public:
  TreeReader(Checkpoint::Data& data, std::shared_ptr<const Document> document)
      : data_(data),
        document_(std::move(document)),
        values_(document_->values),
        visits_left_(kFreeVisits + values_.memory()),
        name_bytes_left_(kFreeNameBytes + kNameBytesPerByte * values_.memory()) {}

  void read() { visit(document_->root, 0); }

 private:
  [[noreturn]] static void throw_endless() {
    throw Error(ErrorKind::input, "the state dict is nested too deeply or refers to itself");
  }

  static void spend(std::uint64_t& budget, std::uint64_t amount) {
    if (budget < amount) throw_endless();
    budget -= amount;
  }

  void visit(NodeId node, int depth) {
    if (depth > kMaxDepth) throw_endless();
    spend(visits_left_, 1);
    if (is_dict(node)) return visit_dict(node, depth);
    if (values_.kind(node) == Kind::list && is_descended(node, depth)) return visit_list(node, depth);
    add_leaf(node);
  }

  [[nodiscard]] bool is_dict(NodeId node) const {
    if (values_.kind(node) == Kind::dict) return true;
    return values_.kind(node) == Kind::object &&
           values_.is_global(values_.object(node).callable, "collections", "OrderedDict");
  }

  [[nodiscard]] bool is_descended(NodeId list, int depth) {
    spend(visits_left_, 1);
    if (depth > kMaxDepth) return false;
    return std::ranges::any_of(values_.items(list), [&](NodeId item) {
      return is_dict(item) || is_tensor(item) || (values_.kind(item) == Kind::list && is_descended(item, depth + 1));
    });
  }

  [[nodiscard]] bool is_tensor(NodeId node) const {
    return values_.kind(node) == Kind::object && values_.kind(values_.object(node).callable) == Kind::global &&
           values_.name(values_.object(node).callable).starts_with("_rebuild_");
  }

  void visit_dict(NodeId node, int depth) {
    const auto items = values_.kind(node) == Kind::dict ? values_.items(node)
                                                        : std::span<const NodeId>(values_.object(node).dict_items);
    if (items.empty() && !path_.empty()) return add_leaf(node);
    std::unordered_map<std::string, std::uint64_t> keys;  ///< how many marks were tried
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      path_.push_back({.text = unique(key_text(items[i]), keys)});
      visit(items[i + 1], depth + 1);
      path_.pop_back();
    }
  }

  void visit_list(NodeId node, int depth) {
    std::int64_t position = 0;
    for (const NodeId item : values_.items(node)) {
      path_.push_back({.text = std::to_string(position), .number = position, .is_number = true});
      ++position;
      visit(item, depth + 1);
      path_.pop_back();
    }
  }

  [[nodiscard]] std::string key_text(NodeId key) const {
    switch (values_.kind(key)) {
      case Kind::text:
        return std::string(values_.text(key));
      case Kind::integer:
        return std::to_string(values_.integer(key));
      case Kind::boolean:
        return values_.boolean(key) ? "True" : "False";
      case Kind::none:
        return "None";
      default:
        return "?";
    }
  }

  /// Keys that differ in type only (1 and '1') are told apart by a mark: 1, 1'2.
  static std::string unique(const std::string& key, std::unordered_map<std::string, std::uint64_t>& keys) {
    const auto [known, is_new] = keys.emplace(key, 1);
    if (is_new) return key;
    std::uint64_t& tries = known->second;
    std::string marked;
    do {
      marked = cat(key, "'", ++tries);
    } while (!keys.emplace(marked, 1).second);
    return marked;
  }

  /// The path joined with dots; further entries of that name (dots in keys) are numbered: w, w'2, w'3.
  std::string name() {
    std::string text;
    for (const Step& step : path_) text += (text.empty() ? "" : ".") + step.text;
    spend(name_bytes_left_, text.size());
    std::string unique = text;
    while (data_.index.find(unique) < data_.index.entry_count()) unique = cat(text, "'", 1 + ++repeats_[text]);
    return unique;
  }

  void add_leaf(NodeId node) {
    const std::string entry_name = name();
    try {
      const auto tensor = tensor_of_file(entry_name, node);
      insert(tensor ? add_tensor(entry_name, *tensor) : add_object(entry_name, node));
    } catch (Error& error) {
      throw error.in_entry(entry_name);
    }
  }

  /// Nothing also for a tensor that cannot be had: the first one is damage, and the others can still be shown.
  std::optional<StoredTensor> tensor_of_file(const std::string& entry_name, NodeId node) {
    try {
      auto tensor = tensor_of(values_, node);
      if (tensor) check_storage(*tensor);
      return tensor;
    } catch (Error& error) {
      if (data_.damages.empty()) data_.damages.push_back(error.in_entry(entry_name).in_path(data_.root));
      return std::nullopt;
    }
  }

  void check_storage(const StoredTensor& tensor) const {
    byte_count(Entry{.dtype = tensor.dtype, .shape = tensor.shape});  // beyond 64 bits is an error
    const auto stored = document_->storages.find(tensor.storage.key);
    const std::uint64_t declared =
        static_cast<std::uint64_t>(tensor.storage.element_count) * item_size(tensor.storage.dtype);
    if (stored != document_->storages.end() && stored->second.size == declared) return;
    throw Error(ErrorKind::input,
                cat("the tensor needs a record ", quote(cat("data/", tensor.storage.key)), " of ", declared, " bytes"));
  }

  EntryId add_object(const std::string& entry_name, NodeId node) {
    const EntryId id = data_.index.add_object(entry_name);
    data_.parts.emplace(id, DocumentPart{document_, node});
    return id;
  }

  /// A value that is no container at all stands under an empty key.
  void insert(EntryId id) {
    std::vector<Key> keys;
    for (const Step& step : path_)
      keys.push_back({.text = step.text, .number = step.number, .is_number = step.is_number});
    if (keys.empty()) keys.emplace_back();
    keys.front().is_number = false;  // the root of a tree is a dict, also for a list
    data_.tree.insert(keys, id);
  }

  EntryId add_tensor(const std::string& entry_name, const StoredTensor& tensor) {
    const std::vector<std::int64_t> zeros(tensor.shape.size(), 0);
    const std::uint32_t first = data_.index.add_box(zeros, tensor.shape);
    const EntryId id = data_.index.add_tensor(entry_name, tensor.dtype, tensor.shape, first, 1);
    Extent extent = document_->storages.find(tensor.storage.key)->second.extent;
    extent.length = std::min(extent.length, byte_count(data_.index.entry(id)));
    if (extent.length > 0) extent.offset += static_cast<std::uint64_t>(tensor.storage_offset) * item_size(tensor.dtype);
    data_.index.place(id, 0, data_.index.add_extent(extent));
    return id;
  }

  Checkpoint::Data& data_;
  std::shared_ptr<const Document> document_;
  const pickle::Values& values_;
  std::uint64_t visits_left_, name_bytes_left_;
  struct Step {
    std::string text;
    std::int64_t number = 0;
    bool is_number = false;
  };
  std::vector<Step> path_;
  std::unordered_map<std::string, std::uint64_t> repeats_;  ///< by name: how many numbers were tried
};

/// "torch.save of torch 2.7 or later", by its records and by the dtypes in it.
std::string writer_text(const Checkpoint::Data& data, const Document& document) {
  WriterFacts facts;
  facts.add(document.has_byteorder, WriterFact::byteorder, WriterFact::no_byteorder);
  facts.add(document.has_serialization_id, WriterFact::serialization_id, WriterFact::no_serialization_id);
  facts.add(document.has_format_version, WriterFact::format_version, WriterFact::no_format_version);
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    if (data.index.entry(id).kind == EntryKind::tensor) facts.add(data.index.entry(id).dtype);
  }
  const std::string range = writer_range(facts);
  return range.empty() ? "not written by torch.save itself" : cat("torch.save of ", range);
}

template <class ReadDocument>
void fill(Checkpoint::Data& data, const ReadDocument& read) {
  try {
    const std::shared_ptr<const Document> document = read();
    TreeReader(data, document).read();
    data.writer = writer_text(data, *document);
  } catch (Error& error) {
    throw error.in_path(data.root);
  }
}

}  // namespace

Checkpoint open_torch_file(const std::string& directory, const std::string& file_name) {
  Checkpoint checkpoint;
  Checkpoint::Data& data = checkpoint.data();
  data.root = directory == "." ? file_name : directory + "/" + file_name;
  data.file_set = std::make_shared<FileSet>(directory);
  data.kind = "torch file";
  const FileId file = data.file_set->add(file_name);
  const Extent whole{.file = file, .encoding = Encoding::torch_zip, .offset = 0, .length = data.file_set->size(file)};
  data.files.push_back({.path = file_name, .size = whole.length});
  fill(data, [&] { return read_document(*data.file_set, whole, data.root); });
  return checkpoint;
}

Checkpoint open_torch_file(const Source& bytes) {
  Checkpoint checkpoint;
  Checkpoint::Data& data = checkpoint.data();
  data.root = bytes.name();
  data.kind = "torch file";
  data.files.push_back({.path = data.root, .size = bytes.size()});
  fill(data, [&] { return read_document(bytes, 0); });
  return checkpoint;
}

}  // namespace fsdpckpt
