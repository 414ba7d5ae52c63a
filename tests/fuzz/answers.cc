#include "fuzz/answers.h"

#include <fsdpckpt/error.h>

#include <fstream>
#include <iterator>

#include "base/text.h"
#include "exec/strided.h"
#include "formats/dcp_reader.h"
#include "formats/document.h"
#include "formats/payload.h"
#include "formats/torch_file.h"
#include "io/crc32.h"
#include "model/checkpoint_data.h"
#include "model/coverage.h"
#include "pickle/writer.h"

namespace fsdpckpt::fuzz {
namespace {

std::string index_text(const Index& index) {
  std::string text;
  for (EntryId id = 0; id < index.entry_count(); ++id) {
    const Entry entry = index.entry(id);
    text += cat(quote(entry.name), " ", static_cast<int>(entry.kind), " ", name(entry.dtype), " ",
                shape_text(entry.shape), "\n");
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
      const Chunk chunk = index.chunk(id, i);
      text += cat("  ", box_text(chunk.offsets, chunk.sizes), " ", chunk.is_stored ? 1 : 0, " ", chunk.extent.file, " ",
                  chunk.extent.offset, " ", chunk.extent.length, " ", static_cast<int>(chunk.extent.encoding), "\n");
    }
  }
  return text;
}

void add_tree(const StateTree& tree, StateTree::Node node, std::string& text) {
  text += cat("(", static_cast<int>(tree.kind(node)), " ");
  if (tree.kind(node) == StateTree::Kind::entry) text += std::to_string(tree.entry(node));
  for (const StateTree::Child& child : tree.children(node)) {
    text += child.key.is_number ? std::to_string(child.key.number) : quote(child.key.text);
    add_tree(tree, child.node, text);
  }
  text += ")";
}

std::string checkpoint_text(const Checkpoint::Data& data) {
  if (!data.damages.empty()) throw data.damages.front();
  std::string text = index_text(data.index);
  add_tree(data.tree, StateTree::kRoot, text);
  for (const SourceFile& file : data.files) text += cat("\n", quote(file.path), " ", file.size);
  return text;
}

void require_whole(const Index& index) {
  for (EntryId id = 0; id < index.entry_count(); ++id) {
    if (index.entry(id).kind != EntryKind::tensor) continue;
    for (const CoverageProblem& problem : cover(index, id).problems)
      throw Error(ErrorKind::input, describe(problem, index.entry(id)));
  }
}

/// The value, pickled again.
std::string value_text(const DocumentPart& part) {
  pickle::Writer writer;
  pickle::TreeWriter(writer, part.document->values, [&](pickle::NodeId) { writer.none(); }).write(part.node);
  return writer.finish();
}

}  // namespace

std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (content.empty()) throw Error(ErrorKind::bug, cat("no test data in ", path));
  return content;
}

std::string metadata_answer(const std::string& directory, std::string_view metadata) {
  const Checkpoint checkpoint = open_dcp(directory, MemorySource(as_bytes(metadata), ".metadata"));
  require_whole(checkpoint.data().index);
  return checkpoint_text(checkpoint.data());
}

std::string torch_file_answer(std::string_view file) {
  const Checkpoint checkpoint = open_torch_file(MemorySource(as_bytes(file), "f.pt"));
  const Checkpoint::Data& data = checkpoint.data();
  std::string text = checkpoint_text(data);
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    if (data.index.entry(id).kind == EntryKind::object) text += value_text(read_object(data, id));
  }
  return text;
}

std::string item_answer(std::string_view item) {
  const MemorySource source(as_bytes(item), "item");
  const auto document = read_document(source, 0);
  const auto tensor = tensor_of(document->values, document->root);
  if (!tensor) throw Error(ErrorKind::input, "the item holds no tensor");
  const std::vector<std::int64_t> zeros(tensor->shape.size(), 0);
  const ExpectedChunk expected{.dtype = tensor->dtype, .sizes = tensor->shape, .offsets = zeros};
  Payload payload = PayloadFinder().in_archive(source, expected);
  if (payload.crc != 0 && payload.crc != crc32(as_bytes(item.substr(payload.storage_offset, payload.storage_size))))
    throw Error(ErrorKind::input, "another checksum");
  if (payload.strides.empty()) {
    std::int64_t stride = 1;
    payload.strides.resize(tensor->shape.size());
    for (std::size_t dim = tensor->shape.size(); dim-- > 0; stride *= tensor->shape[dim]) payload.strides[dim] = stride;
  }
  const std::vector<std::byte> elements = gather(source, payload, expected);
  return cat(name(tensor->dtype), " ", shape_text(tensor->shape), " ", payload.lazy.conjugate, payload.lazy.negate, " ",
             payload.crc == 0 ? "unchecked" : "checked", "\n", as_text(elements));
}

}  // namespace fsdpckpt::fuzz
