#include "formats/renaming.h"

#include <fsdpckpt/error.h>

#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "formats/document.h"
#include "formats/parameter_lists.h"
#include "model/rename.h"

namespace fsdpckpt {
namespace {

using Node = StateTree::Node;
using NameMap = std::map<std::string, std::string, std::less<>>;

/// The parts of a flat optimizer key "state.NAME.exp_avg" or "param_groups.NAME.lr" (path of two elements, as
/// torchtitan's optimizers are saved): before the name, the name, behind it. Empty name: another key.
struct FlatKey {
  std::string_view before, name, behind;
};

FlatKey flat_key(std::string_view key) {
  for (const std::string_view start : {std::string_view("state."), std::string_view("param_groups.")}) {
    const std::size_t last = key.rfind('.');
    if (key.starts_with(start) && last != std::string_view::npos && last > start.size())
      return {key.substr(0, start.size()), key.substr(start.size(), last - start.size()), key.substr(last)};
  }
  return {};
}

class Renaming {
 public:
  Renaming(Checkpoint::Data& data, const Selection& selection, const RenameRules& rules)
      : data_(data), tree_(data.tree), selection_(selection), renamer_(rules), is_model_(model_entries(data)) {}

  std::vector<std::string> run() {
    if (renamer_.is_idle()) return {};
    visit(StateTree::kRoot, "");
    for (const Renamer::Unused& unused : renamer_.unused()) throw_unused(unused);
    return {cat(changed_, " of ", names_.size(), names_.size() == 1 ? " name is" : " names are", " changed")};
  }

 private:
  void visit(Node node, const std::string& path) {
    if (tree_.kind(node) == StateTree::Kind::dict) {
      const bool is_optimizer = tree_.child(node, "param_groups") != StateTree::kNowhere;
      if (is_optimizer) return visit_optimizer(node, path);
      rename_keys(node, path, [&](const StateTree::Child& child) { return renamed(child); });
    }
    for (std::size_t i = 0; i < tree_.children(node).size(); ++i) {
      const StateTree::Child& child = tree_.children(node)[i];
      if (selection_.nodes[child.node]) visit(child.node, path_of(path, child.key));
    }
  }

  static std::string path_of(const std::string& path, const Key& key) {
    const std::string text = key.is_number ? std::to_string(key.number) : std::string(key.text);
    return path.empty() ? text : cat(path, ".", text);
  }

  [[nodiscard]] std::string renamed(const StateTree::Child& child) {
    const bool is_entry = tree_.kind(child.node) == StateTree::Kind::entry;
    if (is_entry && is_model_[tree_.entry(child.node)]) return name(child.key.text);
    const FlatKey flat = is_entry ? flat_key(child.key.text) : FlatKey{};
    return flat.name.empty() ? renamer_.key(child.key.text) : cat(flat.before, name(flat.name), flat.behind);
  }

  std::string name(std::string_view stored) {
    try {
      std::string text = renamer_.name(stored);
      if (names_.emplace(stored).second && text != stored) ++changed_;
      return text;
    } catch (Error& error) {
      throw error.in_path(data_.root).in_entry(std::string(stored));
    }
  }

  void visit_optimizer(Node optimizer, const std::string& path) {
    const Node state = tree_.child(optimizer, "state"), groups = tree_.child(optimizer, "param_groups");
    const bool has_state = state != StateTree::kNowhere && tree_.kind(state) == StateTree::Kind::dict;
    if (has_state && selection_.nodes[state])
      rename_keys(state, cat(path, path.empty() ? "" : ".", "state"),
                  [&](const StateTree::Child& child) { return name(child.key.text); });
    if (!selection_.nodes[groups]) return;
    rename_parameters(groups);
    for (const StateTree::Child& group : tree_.children(groups)) {
      const Node params =
          tree_.kind(group.node) == StateTree::Kind::dict ? tree_.child(group.node, "params") : StateTree::kNowhere;
      if (params != StateTree::kNowhere && selection_.nodes[params]) rename_parameters(params);
    }
  }

  /// Renames the selected keys of a dict; two of them must not become one.
  template <class NewKey>
  void rename_keys(Node dict, const std::string& path, NewKey new_key) {
    std::unordered_map<std::string, std::string> taken;  // new -> stored
    for (std::size_t i = 0; i < tree_.children(dict).size(); ++i) {
      const StateTree::Child child = tree_.children(dict)[i];
      if (child.key.is_number || !selection_.nodes[child.node]) continue;
      const std::string stored(child.key.text), key = new_key(child);
      const auto [other, is_free] = taken.emplace(key, stored);
      if (!is_free) throw_clash(path, other->second, stored, key);
      if (key != stored) tree_.rename_key(dict, i, key);
    }
  }

  [[noreturn]] void throw_clash(const std::string& path, const std::string& a, const std::string& b,
                                const std::string& key) const {
    const auto full = [&](const std::string& name) { return quote(path.empty() ? name : cat(path, ".", name)); };
    throw Error(ErrorKind::input, cat(full(a), " and ", full(b), " would both become ", full(key)),
                {.path = data_.root}, "leave one of them out with -x and its name");
  }

  /// An object entry that lists parameters by name.
  void rename_parameters(Node node) {
    if (tree_.kind(node) != StateTree::Kind::entry) return;
    const EntryId entry = tree_.entry(node);
    if (data_.index.entry(entry).kind != EntryKind::object) return;
    const DocumentPart part = read_object(data_, entry);
    const pickle::Values& values = part.document->values;
    NameMap texts;
    std::unordered_map<std::string, std::string> taken;
    for (const pickle::NodeId list : parameter_lists(values, part.node)) {
      for (const pickle::NodeId item : values.items(list)) {
        const std::string stored(values.text(item)), text = name(stored);
        const auto [other, is_free] = taken.emplace(text, stored);
        if (!is_free && other->second != stored)
          throw_clash(std::string(data_.index.entry(entry).name), other->second, stored, text);
        texts.emplace(stored, text);
      }
    }
    if (!texts.empty()) data_.renamed_texts.emplace(entry, std::move(texts));
  }

  [[noreturn]] void throw_unused(const Renamer::Unused& unused) const {
    std::set<std::string> known = names_;
    if (unused.option == "--strip-prefix") known = prefixes();
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string_view near = nearest(unused.pattern, views);
    throw Error(
        ErrorKind::usage, cat(unused.option, " ", quote(unused.pattern), " matches no name"), {.path = data_.root},
        near.empty() ? cat("fsdpckpt inspect --keys ", shell_word(data_.root)) : cat("the nearest is ", quote(near)));
  }

  /// What names begin with, up to each of their dots.
  [[nodiscard]] std::set<std::string> prefixes() const {
    std::set<std::string> found;
    for (const std::string& name : names_) {
      for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
        found.insert(name.substr(0, dot + 1));
    }
    return found;
  }

  Checkpoint::Data& data_;
  StateTree& tree_;
  const Selection& selection_;
  Renamer renamer_;
  std::vector<bool> is_model_;
  std::set<std::string> names_;  ///< as stored
  std::uint64_t changed_ = 0;
};

}  // namespace

std::vector<std::string> rename_entries(Checkpoint::Data& data, const Selection& selection, const RenameRules& rules) {
  return Renaming(data, selection, rules).run();
}

}  // namespace fsdpckpt
