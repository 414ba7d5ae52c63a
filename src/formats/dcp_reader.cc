#include "formats/dcp_reader.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "formats/dcp_damage.h"
#include "formats/dcp_merge.h"
#include "formats/document.h"
#include "formats/meta_pt.h"
#include "io/byte_reader.h"
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
    try {
      if (entry < rank.index.entry_count() && read_path(values, items[i + 1], path)) rank.add_path(entry, path);
    } catch (Error& error) {
      throw error.in_entry(std::string(values.text(items[i])));
    }
  }
}

void add_state_facts(const Values& values, NodeId state, WriterFacts& facts) {
  const NodeId storage_meta = values.find(state, "storage_meta");
  facts.add(storage_meta != kNoNode, WriterFact::storage_meta, WriterFact::no_storage_meta);
  facts.add(values.find(state, "version") != kNoNode, WriterFact::version, WriterFact::no_version);
  if (storage_meta == kNoNode || values.kind(storage_meta) != Kind::object) return;
  const NodeId fields = values.object(storage_meta).state;
  const bool has_modules = fields != kNoNode && values.find(fields, "modules") != kNoNode;
  facts.add(has_modules, WriterFact::storage_meta_modules, WriterFact::storage_meta_plain);
}

/// "DCP as written by torch 2.9 to 2.14".
std::string writer_text(const std::vector<RankMetadata>& ranks, bool is_local) {
  WriterFacts facts;
  for (const RankMetadata& rank : ranks) facts.add(rank.facts);
  if (is_local) facts.add(WriterFact::rank_local);
  const std::string range = writer_range(facts);
  return cat("DCP", is_local ? " with rank-local metadata" : "",
             range.empty() ? " of an unknown writer" : cat(" as written by ", range));
}

RankMetadata read_metadata(FileSet& files, const Source& source) {
  const Stopwatch watch;
  RankMetadata rank;
  try {
    if (source.size() == 0)
      throw Error(ErrorKind::input, "the metadata file is empty: the save looks unfinished", {},
                  "use an earlier checkpoint");
    DcpFolder folder(rank.index, files);
    Values values;
    const NodeId root = pickle::Machine({.memory = kMetadataMemory}).read(source, values, &folder);
    if (values.kind(root) != Kind::object || values.object(root).state == kNoNode) {
      throw Error(ErrorKind::input, "the file holds no DCP Metadata object");
    }
    folder.finish();
    const NodeId state = values.object(root).state;
    read_paths(values, values.find(state, "planner_data"), rank);
    rank.facts = folder.facts();
    add_state_facts(values, state, rank.facts);
    rank.unlisted_items = folder.unlisted_items();
    log_info(cat("read ", source.name(), ": ", source.size(), " bytes, ", rank.index.entry_count(), " entries, ",
                 rank.index.next_box(), " chunks, ", values.memory(), " bytes of values, ", rank.index.bytes(),
                 " of index, ", watch.milliseconds(), " ms"));
  } catch (Error& error) {
    const std::string path = source.name();
    if (!std::string_view(error.what()).starts_with(kEndsEarly)) throw error.in_path(path);
    throw Error(ErrorKind::input,
                "the metadata ends in the middle of its pickle: the save looks unfinished, or the file was cut",
                {.path = path, .offset = error.where().offset}, "copy the file again, or use an earlier checkpoint");
  }
  return rank;
}

/// Files without a byte say nothing: a rank without work leaves one.
void note_stale_files(Checkpoint::Data& data) {
  std::string stale;
  for (const SourceFile& file : data.unreferenced_files) {
    if (file.size > 0) stale += (stale.empty() ? "" : ", ") + quote(file.path);
  }
  if (!stale.empty()) data.notes.push_back(cat("not referenced by the metadata, left alone: ", stale));
}

/// A file that may not be looked at is among the damages already.
std::uint64_t size_or_zero(const FileSet& files, FileId file) {
  try {
    return files.exists(file) ? files.size(file) : 0;
  } catch (const Error&) {
    return 0;
  }
}

void note_files(Checkpoint::Data& data) {
  std::set<std::string, std::less<>> used;
  for (FileId file = 0; file < data.file_set->count(); ++file) {
    if (is_logging()) log_info(cat("file ", data.file_set->path(file)));
    data.files.push_back({.path = data.file_set->relative_path(file), .size = size_or_zero(*data.file_set, file)});
    used.insert(data.files.back().path);
  }
  for (const std::string& name : data.file_set->list()) {
    if (!name.ends_with(".distcp") || used.contains(name)) continue;
    data.unreferenced_files.push_back({.path = name, .size = data.file_set->size(data.file_set->add(name))});
  }
  note_stale_files(data);
  const std::size_t links = data.file_set->symlinked().size();
  if (links > 0)
    data.notes.push_back(cat(links, links == 1 ? " file is" : " files are", " read through symbolic links"));
}

/// A damaged meta.pt leaves the sharded part as it is.
void add_meta_pt_or_damage(Checkpoint::Data& data) {
  try {
    add_meta_pt(data);
  } catch (const Error& error) {
    data.damages.push_back(error);
  }
}

Checkpoint start(const std::string& directory, const std::vector<std::string>& others, SharedFiles* shared) {
  Checkpoint checkpoint;
  checkpoint.data().root = directory;
  checkpoint.data().kind = "sharded checkpoint";
  checkpoint.data().file_set = std::make_shared<FileSet>(directory, others, shared);
  return checkpoint;
}

/// Everything behind the reading of the metadata.
void finish(Checkpoint::Data& data, std::vector<RankMetadata> ranks, bool is_local) {
  data.writer = writer_text(ranks, is_local);
  try {
    const std::uint64_t unlisted = merge_ranks(std::move(ranks), data);
    if (unlisted > 0) data.notes.push_back(cat(unlisted, " stored items belong to no listed chunk and are left alone"));
    find_damages(data);
  } catch (Error& error) {
    throw error.in_path(data.root);
  }
  note_files(data);
  add_meta_pt_or_damage(data);
  std::stable_partition(data.damages.begin(), data.damages.end(),
                        [](const Error& error) { return error.kind() == ErrorKind::refused; });
}

}  // namespace

bool is_dcp(const FileSet& files) { return !metadata_files(files).empty(); }

Checkpoint open_dcp(const std::string& directory, const std::vector<std::string>& others, SharedFiles* shared) {
  Checkpoint checkpoint = start(directory, others, shared);
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
  Checkpoint checkpoint = start(directory, {}, nullptr);
  std::vector<RankMetadata> ranks;
  ranks.push_back(read_metadata(*checkpoint.data().file_set, metadata));
  finish(checkpoint.data(), std::move(ranks), false);
  return checkpoint;
}

}  // namespace fsdpckpt
