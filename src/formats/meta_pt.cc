#include "formats/meta_pt.h"

#include <fsdpckpt/error.h>

#include <algorithm>

#include "base/text.h"
#include "formats/document.h"

namespace fsdpckpt {
namespace {

constexpr std::string_view kMetaName = "meta.pt";

std::string key_text(const pickle::Values& values, pickle::NodeId key, const std::string& path) {
  if (values.kind(key) == pickle::Kind::text) return std::string(values.text(key));
  throw Error(ErrorKind::input, "a top-level key of meta.pt is no text", {.path = path});
}

}  // namespace

void add_meta_pt(Checkpoint::Data& data) {
  const auto names = data.file_set->list();
  if (std::ranges::find(names, kMetaName) == names.end()) return;
  const FileId file = data.file_set->add(std::string(kMetaName));
  const std::string path = data.file_set->path(file);
  const Extent whole{.file = file, .encoding = Encoding::torch_zip, .offset = 0, .length = data.file_set->size(file)};
  data.files.push_back({.path = std::string(kMetaName), .size = whole.length});
  const auto document = read_document(*data.file_set, whole, path);
  const pickle::Values& values = document->values;
  if (values.kind(document->root) != pickle::Kind::dict)
    throw Error(ErrorKind::input, "meta.pt holds something else than a dict", {.path = path});
  const auto items = values.items(document->root);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const std::string name = key_text(values, items[i], path);
    const bool clashes = data.tree.child(StateTree::kRoot, name) != StateTree::kNowhere ||
                         data.index.find(name) < data.index.entry_count();
    if (clashes) {
      throw Error(ErrorKind::input,
                  cat("key ", quote(name), " is in meta.pt and in the sharded part: one would replace the other"),
                  {.path = path, .entry = name});
    }
    const EntryId entry = data.index.add_object(name);
    data.parts.emplace(entry, DocumentPart{document, items[i + 1]});
    const Key key{.text = name};
    data.tree.insert({&key, 1}, entry);
  }
}

}  // namespace fsdpckpt
