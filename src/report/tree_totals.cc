#include "report/tree_totals.h"

#include "base/text.h"

namespace fsdpckpt {
namespace {

class Walk {
 public:
  Walk(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected)
      : checkpoint_(checkpoint), tree_(checkpoint.tree), selected_(selected) {}

  std::vector<TreeRow> rows() {
    for (const StateTree::Child& child : tree_.children(StateTree::kRoot)) visit(child, 0);
    return std::move(rows_);
  }

 private:
  static void add(const Totals& part, Totals& totals) {
    totals.tensors += part.tensors;
    totals.objects += part.objects;
    totals.elements += part.elements;
    totals.bytes += part.bytes;
  }

  Totals visit(const StateTree::Child& place, std::size_t depth) {
    Totals totals;
    if (tree_.kind(place.node) == StateTree::Kind::entry) {
      if (selected_[tree_.entry(place.node)]) count(checkpoint_.index.entry(tree_.entry(place.node)), totals);
      return totals;
    }
    const std::size_t row = rows_.size();
    rows_.push_back(
        {.depth = depth, .name = place.key.is_number ? cat("[", place.key.number, "]") : std::string(place.key.text)});
    for (const StateTree::Child& child : tree_.children(place.node)) add(visit(child, depth + 1), totals);
    rows_[row].totals = totals;
    if (totals.tensors + totals.objects == 0) rows_.resize(row);
    return totals;
  }

  const Checkpoint::Data& checkpoint_;
  const StateTree& tree_;
  const std::vector<bool>& selected_;
  std::vector<TreeRow> rows_;
};

}  // namespace

std::vector<TreeRow> tree_totals(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected) {
  return Walk(checkpoint, selected).rows();
}

}  // namespace fsdpckpt
