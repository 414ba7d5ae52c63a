// Any bytes as a torch file: opened, its objects shown, and planned as an output; and as the item of a shard.
#include "formats/torch_file.h"

#include <algorithm>
#include <vector>

#include "exec/strided.h"
#include "formats/document.h"
#include "formats/payload.h"
#include "formats/torch_writer.h"
#include "fuzz/target.h"
#include "pickle/globals.h"
#include "report/value_text.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr std::uint64_t kMostGathered = 1 << 16;  ///< bytes

/// The places of all payloads lie inside, and so does all that is written of them.
void check_places(const Checkpoint::Data& data, std::uint64_t size) {
  for (std::uint32_t i = 0; i < data.index.extent_count(); ++i) {
    const Extent extent = data.index.extent(i);
    require(extent.offset <= size && extent.length <= size - extent.offset);
  }
}

void show_objects(const Checkpoint::Data& data) {
  for (const auto& [entry, part] : data.parts) {
    value_text(part.document->values, part.node);
    pickle::scan_globals(part.document->values, part.node);
  }
}

int open_and_plan(Input input) {
  return verdict_of([&] {
    const MemorySource source(bytes_of(input), "f.pt");
    const Checkpoint checkpoint = open_torch_file(source);
    const Checkpoint::Data& data = checkpoint.data();
    check_places(data, input.size());
    const Selection selection = select(data, {});
    show_objects(data);
    if (!data.damages.empty()) throw data.damages.front();
    plan_torch_file(data, selection, ObjectPolicy::all, true);
    plan_torch_file(data, selection, ObjectPolicy::keep, false);
  });
}

/// As what a chunk's item should be: the tensor that its own pickle says.
void find_payload(Input input) {
  const MemorySource source(bytes_of(input), "item");
  const auto document = read_document(source, 0);
  const auto tensor = tensor_of(document->values, document->root);
  if (!tensor) return;
  const std::vector<std::int64_t> zeros(tensor->shape.size(), 0);
  const ExpectedChunk expected{.dtype = tensor->dtype, .sizes = tensor->shape, .offsets = zeros};
  const Payload payload = PayloadFinder().in_archive(source, expected);
  std::uint64_t bytes = item_size(tensor->dtype);
  for (const std::int64_t size : tensor->shape) bytes *= static_cast<std::uint64_t>(size);
  if (payload.strides.empty()) {
    require(payload.offset <= input.size() && bytes <= input.size() - payload.offset);
  } else if (bytes <= kMostGathered) {
    require(gather(source, payload, expected).size() == bytes);
  }
}

/// The same archive with 0, which stands for none, in place of its checksums: so that a changed pickle is read at all.
std::vector<std::uint8_t> without_checksums(Input input) {
  std::vector<std::uint8_t> copy(input.begin(), input.end());
  for (std::size_t at = 0; at + 20 <= copy.size(); ++at) {
    if (copy[at] != 'P' || copy[at + 1] != 'K') continue;
    if (copy[at + 2] == 1 && copy[at + 3] == 2) std::fill_n(copy.begin() + static_cast<std::ptrdiff_t>(at) + 16, 4, 0);
    if (copy[at + 2] == 3 && copy[at + 3] == 4) std::fill_n(copy.begin() + static_cast<std::ptrdiff_t>(at) + 14, 4, 0);
  }
  return copy;
}

}  // namespace

int judge(Input input) {
  const std::vector<std::uint8_t> unchecked = without_checksums(input);
  verdict_of([&] { find_payload(unchecked); });
  const int verdict = open_and_plan(input);
  if (verdict == kExitDone) return verdict;
  open_and_plan(unchecked);
  return verdict;
}

}  // namespace fsdpckpt::fuzz
