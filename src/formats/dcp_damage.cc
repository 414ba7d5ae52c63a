#include "formats/dcp_damage.h"

#include <algorithm>

#include "base/checked.h"
#include "base/text.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

constexpr std::uint32_t kNoProblem = 0xffffffffU;
constexpr std::size_t kMostNamed = 8;

std::vector<std::uint64_t> needed_bytes(const Checkpoint::Data& data) {
  std::vector<std::uint64_t> needed(data.file_set->count(), 0);
  for (std::uint32_t i = 0; i < data.index.extent_count(); ++i) {
    const Extent extent = data.index.extent(i);
    needed[extent.file] =
        std::max(needed[extent.file], checked_add(extent.offset, extent.length, "the end of an item"));
  }
  return needed;
}

std::string box_of(const Chunk& chunk) { return chunk.offsets.empty() ? "" : box_text(chunk.offsets, chunk.sizes); }

class FileDamage {
 public:
  explicit FileDamage(Checkpoint::Data& data)
      : data_(data), needed_(needed_bytes(data)), problem_of_(needed_.size(), kNoProblem) {}

  void find() {
    for (FileId file = 0; file < needed_.size(); ++file) {
      if (needed_[file] > 0) look_at(file);
    }
    if (data_.file_problems.empty()) return;
    count_entries();
    std::erase_if(data_.file_problems, [](const FileProblem& problem) { return problem.entries == 0; });
    if (!data_.file_problems.empty()) data_.damages.push_back(error());
  }

 private:
  void look_at(FileId file) {
    try {
      const bool exists = data_.file_set->exists(file);
      const std::uint64_t size = exists ? data_.file_set->size(file) : 0;
      if (exists && size >= needed_[file]) return;
      problem_of_[file] = static_cast<std::uint32_t>(data_.file_problems.size());
      data_.file_problems.push_back({.file = data_.file_set->relative_path(file),
                                     .needed_bytes = needed_[file],
                                     .actual_bytes = size,
                                     .missing = !exists});
    } catch (const Error& error) {
      data_.damages.push_back(error);
    }
  }

  [[nodiscard]] std::uint32_t problem_of(const Chunk& chunk) const {
    const std::uint32_t number = chunk.is_stored ? problem_of_[chunk.extent.file] : kNoProblem;
    if (number == kNoProblem) return kNoProblem;
    const bool is_there = chunk.extent.offset + chunk.extent.length <= data_.file_problems[number].actual_bytes;
    return is_there && !data_.file_problems[number].missing ? kNoProblem : number;
  }

  void count_entries() {
    std::vector<EntryId> last(data_.file_problems.size(), static_cast<EntryId>(data_.index.entry_count()));
    for (EntryId id = 0; id < data_.index.entry_count(); ++id) {
      const Entry entry = data_.index.entry(id);
      bool is_hit = false;
      for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
        const Chunk chunk = data_.index.chunk(id, i);
        const std::uint32_t number = problem_of(chunk);
        if (number == kNoProblem) continue;
        is_hit = true;
        if (last[number] == id) continue;
        last[number] = id;
        count_one(entry, chunk, data_.file_problems[number]);
      }
      entries_ += is_hit ? 1 : 0;
    }
  }

  void count_one(const Entry& entry, const Chunk& chunk, FileProblem& problem) {
    if (entries_ == 0 && first_entry_.empty()) {
      first_entry_ = entry.name;
      first_box_ = box_of(chunk);
    }
    if (problem.entries++ > 0) return;
    problem.first_entry = entry.name;
    problem.first_box = box_of(chunk);
    problem.first_offset = chunk.extent.offset;
    problem.first_length = chunk.extent.length;
  }

  [[nodiscard]] Error error() const {
    if (data_.file_problems.size() == 1) return error_of_one(data_.file_problems.front());
    std::string text = list("missing", true);
    const std::string cut = list("too short", false);
    if (!text.empty() && !cut.empty()) text += "; ";
    text += cat(cut, "; ", entries_, entries_ == 1 ? " entry needs them" : " entries need them");
    return Error(ErrorKind::input, text, {.path = data_.root, .entry = first_entry_, .box = first_box_});
  }

  [[nodiscard]] Error error_of_one(const FileProblem& problem) const {
    return Error(ErrorKind::input, problem.missing ? missing_text(problem) : short_text(problem),
                 {.path = data_.file_set->path(data_.file_set->add(problem.file)),
                  .entry = problem.first_entry,
                  .box = problem.first_box});
  }

  static std::string missing_text(const FileProblem& problem) {
    return cat("a rank file is missing: ", quote(problem.file), "; ", problem.entries,
               problem.entries == 1 ? " entry needs it" : " entries need it");
  }

  [[nodiscard]] std::string short_text(const FileProblem& problem) const {
    const Entry first = data_.index.entry(data_.index.find(problem.first_entry));
    std::string text = cat("rank file is too short: ", first.kind == EntryKind::tensor ? "a chunk" : "an object",
                           " needs bytes ", problem.first_offset, "..", problem.first_offset + problem.first_length,
                           ", the file has ", problem.actual_bytes);
    if (problem.entries > 1) text += cat("; ", problem.entries, " entries need ", problem.needed_bytes);
    return text;
  }

  /// "3 rank files are missing: 'a', 'b', 'c'", "1 rank file is too short: 'd' (9000 of 10091 bytes)"; empty for none.
  [[nodiscard]] std::string list(std::string_view what, bool missing) const {
    std::vector<std::string> files;
    for (const FileProblem& problem : data_.file_problems) {
      if (problem.missing != missing) continue;
      std::string& file = files.emplace_back(quote(problem.file));
      if (!missing) file += cat(" (", problem.actual_bytes, " of ", problem.needed_bytes, " bytes)");
    }
    if (files.empty()) return {};
    return cat(plural(files.size(), "rank file"), files.size() == 1 ? " is " : " are ", what, ": ",
               list_of(files, kMostNamed));
  }

  Checkpoint::Data& data_;
  std::vector<std::uint64_t> needed_;      ///< by file
  std::vector<std::uint32_t> problem_of_;  ///< by file: into file_problems
  std::uint64_t entries_ = 0;              ///< that need any of the files
  std::string first_entry_, first_box_;
};

/// A box of non-zero volume without a stored item would become uninitialised memory in torch.
void find_unstored(Checkpoint::Data& data) {
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Entry entry = data.index.entry(id);
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
      const Chunk chunk = data.index.chunk(id, i);
      if (chunk.is_stored || is_empty(chunk)) continue;
      data.damages.emplace_back(ErrorKind::input,
                                entry.kind == EntryKind::tensor ? "a chunk is listed but stored in no file"
                                                                : "an object is listed but stored in no file",
                                Where{.path = data.root, .entry = std::string(entry.name), .box = box_of(chunk)});
      return;
    }
  }
}

}  // namespace

void find_damages(Checkpoint::Data& data) {
  FileDamage(data).find();
  find_unstored(data);
}

}  // namespace fsdpckpt
