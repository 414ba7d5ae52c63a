#include "formats/dcp_reader.h"

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "base/log.h"
#include "base/text.h"
#include "formats/dcp_merge.h"
#include "formats/document.h"
#include "formats/meta_pt.h"
#include "pickle/machine.h"

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::kNoNode;
using pickle::NodeId;
using pickle::Values;

constexpr std::string_view kMetadataName = ".metadata";
constexpr std::uint64_t kMetadataMemory = 4ULL << 30;  ///< names and paths only: chunks are folded

/// "__3.metadata": rank-local metadata of torch 2.9 and later (use_collectives=False).
bool is_rank_local(std::string_view name) {
  if (!name.starts_with("__") || !name.ends_with(".metadata")) return false;
  const std::string_view rank = name.substr(2, name.size() - 2 - kMetadataName.size());
  return !rank.empty() && std::ranges::all_of(rank, [](char c) { return c >= '0' && c <= '9'; });
}

int rank_of(std::string_view name) { return std::stoi(std::string(name.substr(2, name.size() - 11).substr(0, 9))); }

/// Names of the metadata files to read: .metadata alone, or every rank's in rank order.
std::vector<std::string> metadata_files(const FileSet& files) {
  std::vector<std::string> local;
  for (const std::string& name : files.list()) {
    if (name == kMetadataName) return {name};
    if (is_rank_local(name)) local.push_back(name);
  }
  std::ranges::sort(local, {}, [](const std::string& name) { return rank_of(name); });
  return local;
}

/// Path elements of planner_data: text is a dict key, an integer a list position.
bool read_path(const Values& values, NodeId node, std::vector<Key>& path) {
  path.clear();
  if (node == kNoNode || (values.kind(node) != Kind::tuple && values.kind(node) != Kind::list)) return false;
  for (const NodeId element : values.items(node)) {
    if (values.kind(element) == Kind::text)
      path.push_back({.text = values.text(element)});
    else if (values.kind(element) == Kind::integer)
      path.push_back({.number = values.integer(element), .is_number = true});
    else
      throw Error(ErrorKind::input, "a path in planner_data holds something else than text and integers");
  }
  return !path.empty();
}

/// The nesting, in planner_data order; an entry without a path stands at the top under its flat name.
void read_paths(const Values& values, NodeId planner_data, RankMetadata& rank) {
  if (planner_data == kNoNode || values.kind(planner_data) != Kind::dict) return;
  const auto items = values.items(planner_data);
  std::vector<Key> path;
  EntryId entry = 0;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (values.kind(items[i]) != Kind::text) throw Error(ErrorKind::input, "a name in planner_data is no text");
    entry = rank.index.find(values.text(items[i]), entry + 1);
    if (entry < rank.index.entry_count() && read_path(values, items[i + 1], path)) rank.add_path(entry, path);
  }
}

RankMetadata read_metadata(FileSet& files, const Source& source) {
  const Stopwatch watch;
  RankMetadata rank;
  try {
    if (source.size() == 0) throw Error(ErrorKind::input, "the metadata file is empty: the save did not finish");
    DcpFolder folder(rank.index, files);
    Values values;
    const NodeId root = pickle::Machine({.memory = kMetadataMemory}).read(source, values, &folder);
    if (values.kind(root) != Kind::object || values.object(root).state == kNoNode) {
      throw Error(ErrorKind::input, "the file holds no DCP Metadata object");
    }
    folder.finish();
    const NodeId state = values.object(root).state;
    read_paths(values, values.find(state, "planner_data"), rank);
    rank.traits = folder.traits();
    const NodeId storage_meta = values.find(state, "storage_meta"), version = values.find(state, "version");
    rank.traits.has_storage_meta = storage_meta != kNoNode && values.kind(storage_meta) != Kind::none;
    rank.traits.has_version = version != kNoNode && values.kind(version) == Kind::text;
    rank.unlisted_items = folder.unlisted_items();
    log_info(cat("read ", source.name(), ": ", source.size(), " bytes, ", rank.index.entry_count(), " entries, ",
                 rank.index.next_box(), " chunks, ", values.memory(), " bytes of values, ", rank.index.bytes(),
                 " of index, ", watch.milliseconds(), " ms"));
  } catch (Error& error) {
    throw error.in_path(source.name());
  }
  return rank;
}

/// Names the first item that does not fit, as the user would look for it.
[[noreturn]] void throw_too_short(const Checkpoint::Data& data, FileId file, std::uint64_t size) {
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Entry entry = data.index.entry(id);
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
      const Chunk chunk = data.index.chunk(id, i);
      if (!chunk.is_stored || chunk.extent.file != file || chunk.extent.offset + chunk.extent.length <= size) continue;
      throw Error(ErrorKind::input,
                  cat("rank file is too short: an item needs bytes ", chunk.extent.offset, "..",
                      chunk.extent.offset + chunk.extent.length, ", the file has ", size),
                  {.path = data.file_set->path(file),
                   .entry = std::string(entry.name),
                   .box = chunk.offsets.empty() ? "" : box_text(chunk.offsets, chunk.sizes)});
    }
  }
  throw Error(ErrorKind::input, cat("rank file is too short: it has ", size, " bytes"),
              {.path = data.file_set->path(file)});
}

/// Each stored item lies inside its file; all files that are missing or too short are found before the first error is
/// raised.
void check_extents(const Checkpoint::Data& data) {
  std::vector<std::uint64_t> needed(data.file_set->count(), 0);
  for (std::uint32_t i = 0; i < data.index.extent_count(); ++i) {
    const Extent extent = data.index.extent(i);
    needed[extent.file] =
        std::max(needed[extent.file], checked_add(extent.offset, extent.length, "the end of an item"));
  }
  std::vector<std::string> missing;
  for (FileId file = 0; file < needed.size(); ++file) {
    if (needed[file] > 0 && !data.file_set->exists(file)) missing.push_back(quote(data.file_set->relative_path(file)));
  }
  if (!missing.empty()) {
    std::string list;
    for (std::size_t i = 0; i < missing.size() && i < 8; ++i) list += (i == 0 ? "" : ", ") + missing[i];
    if (missing.size() > 8) list += cat(" and ", missing.size() - 8, " more");
    throw Error(ErrorKind::input,
                cat(missing.size() == 1 ? "a rank file is missing: " : "rank files are missing: ", list),
                {.path = data.root});
  }
  for (FileId file = 0; file < needed.size(); ++file) {
    if (needed[file] == 0) continue;
    const std::uint64_t size = data.file_set->size(file);
    if (needed[file] > size) throw_too_short(data, file, size);
  }
}

/// A box of non-zero volume without a stored item would become uninitialised memory in torch.
void check_stored(const Checkpoint::Data& data) {
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Entry entry = data.index.entry(id);
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
      const Chunk chunk = data.index.chunk(id, i);
      if (chunk.is_stored || std::ranges::find(chunk.sizes, 0) != chunk.sizes.end()) continue;
      throw Error(ErrorKind::input,
                  entry.kind == EntryKind::tensor ? "a chunk is listed but stored in no file"
                                                  : "an object is listed but stored in no file",
                  {.path = data.root,
                   .entry = std::string(entry.name),
                   .box = entry.shape.empty() ? "" : box_text(chunk.offsets, chunk.sizes)});
    }
  }
}

void note_files(Checkpoint::Data& data) {
  std::set<std::string, std::less<>> used;
  for (FileId file = 0; file < data.file_set->count(); ++file) {
    if (is_logging()) log_info(cat("file ", data.file_set->path(file)));
    data.files.push_back({.path = data.file_set->relative_path(file),
                          .size = data.file_set->exists(file) ? data.file_set->size(file) : 0});
    used.insert(data.files.back().path);
  }
  std::string stale;
  for (const std::string& name : data.file_set->list()) {
    if (name.ends_with(".distcp") && !used.contains(name) && data.file_set->size(data.file_set->add(name)) > 0)
      stale += (stale.empty() ? "" : ", ") + quote(name);
  }
  if (!stale.empty()) data.notes.push_back(cat("not referenced by the metadata, left alone: ", stale));
  const std::size_t links = data.file_set->symlinked().size();
  if (links > 0)
    data.notes.push_back(cat(links, links == 1 ? " file is" : " files are", " read through symbolic links"));
}

Checkpoint start(const std::string& directory) {
  Checkpoint checkpoint;
  checkpoint.data().root = directory;
  checkpoint.data().kind = "sharded checkpoint";
  checkpoint.data().file_set = std::make_shared<FileSet>(directory);
  return checkpoint;
}

/// Everything behind the reading of the metadata.
void finish(Checkpoint::Data& data, std::vector<RankMetadata> ranks, bool is_local) {
  data.writer =
      cat("DCP", is_local ? " with rank-local metadata" : "", " as written by ", writer_text(ranks.front().traits));
  try {
    const std::uint64_t unlisted = merge_ranks(std::move(ranks), data);
    if (unlisted > 0) data.notes.push_back(cat(unlisted, " stored items belong to no listed chunk and are left alone"));
    check_extents(data);
    check_stored(data);
  } catch (Error& error) {
    throw error.in_path(data.root);
  }
  note_files(data);
  add_meta_pt(data);
}

}  // namespace

bool is_dcp(const FileSet& files) { return !metadata_files(files).empty(); }

std::string writer_text(const WriterTraits& traits) {
  if (traits.has_strides) return "torch 2.15 or later";
  if (traits.has_version) return "torch 2.9 to 2.14";
  if (traits.has_extensions) return "torch 2.7 to 2.8";
  if (traits.has_storage_meta) return "torch 2.4 to 2.8";
  if (traits.new_properties) return "torch 2.3";
  if (traits.old_properties) return "torch 2.0 to 2.2";
  return "torch 2.0 to 2.3";
}

Checkpoint open_dcp(const std::string& directory) {
  Checkpoint checkpoint = start(directory);
  FileSet& files = *checkpoint.data().file_set;
  const std::vector<std::string> names = metadata_files(files);
  if (names.empty()) throw Error(ErrorKind::input, "no .metadata in the directory", {.path = directory});
  std::vector<RankMetadata> ranks;
  ranks.reserve(names.size());
  for (const std::string& name : names) ranks.push_back(read_metadata(files, *files.source(files.add(name))));
  finish(checkpoint.data(), std::move(ranks), names.front() != kMetadataName);
  return checkpoint;
}

Checkpoint open_dcp(const std::string& directory, const Source& metadata) {
  Checkpoint checkpoint = start(directory);
  std::vector<RankMetadata> ranks;
  ranks.push_back(read_metadata(*checkpoint.data().file_set, metadata));
  finish(checkpoint.data(), std::move(ranks), false);
  return checkpoint;
}

}  // namespace fsdpckpt
