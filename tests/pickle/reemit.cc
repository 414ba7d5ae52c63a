// pickle_reemit IN OUT: reads the pickles that follow each other in IN and writes each again, as protocol 2, to OUT.
//
// Each is read in one pass, in two passes, and in two passes with a folder that turns objects into their text; all must
// agree, otherwise the program says so and exits with 1.
#include <fsdpckpt/error.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "pickle/tree_text.h"
#include "pickle/writer.h"

namespace fsdpckpt::pickle {
namespace {

/// True of keys that the folder takes with their values.
bool is_taken(const Values& values, NodeId key) { return values.text(key).starts_with("take"); }

/// Keeps the text of what it folds: objects of classes whose name begins with Folded, fractions, dates and decimals.
class TextFolder : public Folder {
 public:
  void check_global(std::string_view, std::string_view) override {}
  std::optional<std::uint64_t> fold_reduce(const Values& values, NodeId callable, NodeId arguments) override {
    static const std::set<std::string_view> kNames = {"Fraction", "Decimal", "date", "FoldedCall"};
    if (!kNames.contains(values.name(callable))) return std::nullopt;
    return keep(cat("call(", text(values).of(callable), ", ", text(values).of(arguments), ")"));
  }
  std::optional<std::uint64_t> fold_build(const Values& values, NodeId object, NodeId state) override {
    const bool known =
        values.kind(object) == Kind::folded || values.name(values.object(object).callable).starts_with("Folded");
    if (!known) return std::nullopt;
    return keep(text(values).of_object(object, state));
  }
  bool take_item(const Values& values, Key key, NodeId) override { return is_taken(values, key.node); }

  TreeText text(const Values& values) const {
    TreeText tree(values);
    tree.folded = [this](std::uint64_t number) { return texts_.at(number); };
    tree.hides = is_taken;
    return tree;
  }

 private:
  std::uint64_t keep(std::string text) {
    texts_.push_back(std::move(text));
    return texts_.size() - 1;
  }
  std::vector<std::string> texts_;
};

std::string write_again(const Values& values, NodeId root) {
  Writer writer;
  TreeWriter(writer, values, nullptr).write(root);
  return writer.finish();
}

/// Throws unless the pickle reads the same in two passes, and with a folder.
void check_other_ways(std::string_view pickle, const std::string& text, const std::string& again) {
  const Tree plain(pickle);
  if (write_again(plain.values, plain.root) != again) throw Error(ErrorKind::bug, "one pass and two passes differ");
  TextFolder folder;
  const Tree folded(pickle, &folder);
  if (folder.text(folded.values).of(folded.root) != text) throw Error(ErrorKind::bug, "folding changed the tree");
}

void reemit(std::string_view pickles, std::ostream& out) {
  MemoryReader bytes(as_bytes(pickles));
  Machine machine;
  Values values;
  while (!bytes.at_end()) {
    const std::uint64_t begin = bytes.offset();
    values.clear();
    const NodeId root = machine.read(bytes, values);
    const std::string again = write_again(values, root);
    TreeText text(values);
    text.hides = is_taken;
    check_other_ways(pickles.substr(begin, bytes.offset() - begin), text.of(root), again);
    out << again;
  }
}

}  // namespace
}  // namespace fsdpckpt::pickle

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string pickles(std::istreambuf_iterator<char>(in), {});
  std::ofstream out(argv[2], std::ios::binary);
  try {
    fsdpckpt::pickle::reemit(pickles, out);
  } catch (const fsdpckpt::Error& error) {
    std::cerr << error.what() << " (offset " << error.where().offset.value_or(0) << ")\n";
    return 1;
  }
}
