#include "formats/file_use.h"

#include <algorithm>
#include <optional>

#include "formats/safetensors.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

struct Range {
  std::uint64_t begin, end;
};

/// Where a safetensors blob ends that starts at `offset`, or nothing when an archive of torch.save does. The items of
/// such a blob all have its offset and their own length, so their extents do not say what they take.
std::optional<std::uint64_t> blob_end(const FileSet& files, FileId file, std::uint64_t offset) {
  try {
    const auto source = files.source(file);
    if (zip::starts_like_zip(*source, offset)) return std::nullopt;
    std::uint64_t end = offset;
    for (const auto& [name, tensor] : read_safetensors_header(*source, offset).tensors)
      end = std::max(end, tensor.offset + tensor.size);
    return end;
  } catch (const Error&) {  // missing, cut or damaged: its extents are all that is known
    return std::nullopt;
  }
}

/// Adds the extents of the entries to the ranges of their files.
class Ranges {
 public:
  explicit Ranges(const Checkpoint::Data& data)
      : data_(data), ranges_(data.file_set->count()), is_seen_(ranges_.size()), blob_ends_(ranges_.size()) {
    for (EntryId id = 0; id < data.index.entry_count(); ++id) {
      if (data.parts.contains(id)) continue;
      const Entry entry = data.index.entry(id);
      for (std::uint64_t i = 0; i < entry.chunk_count; ++i) add(entry, data.index.chunk(id, i));
    }
  }

  /// Bytes in any of the ranges.
  std::uint64_t total(FileId file) {
    std::vector<Range>& ranges = ranges_[file];
    std::ranges::sort(ranges, {}, &Range::begin);
    std::uint64_t bytes = 0, end = 0;
    for (const Range& range : ranges) {
      if (range.end <= end) continue;
      bytes += range.end - std::max(range.begin, end);
      end = range.end;
    }
    return bytes;
  }

 private:
  void add(const Entry& entry, const Chunk& chunk) {
    if (!chunk.is_stored) return;
    const Extent& extent = chunk.extent;
    std::uint64_t end = extent.offset + extent.length;
    if (entry.kind == EntryKind::tensor && extent.encoding == Encoding::torch_zip) {
      if (!is_seen_[extent.file]) blob_ends_[extent.file] = blob_end(*data_.file_set, extent.file, extent.offset);
      is_seen_[extent.file] = true;
      end = blob_ends_[extent.file].value_or(end);
    }
    ranges_[extent.file].push_back({extent.offset, end});
  }

  const Checkpoint::Data& data_;
  std::vector<std::vector<Range>> ranges_;  ///< by file
  std::vector<bool> is_seen_;
  std::vector<std::optional<std::uint64_t>> blob_ends_;  ///< by file
};

bool holds_items(const Checkpoint::Data& checkpoint, std::string_view path) {
  return checkpoint.kind == "sharded checkpoint" && !path.ends_with(".metadata") && path != "meta.pt";
}

void add_problem(const Checkpoint::Data& checkpoint, FileUse& use) {
  const auto problem = std::ranges::find(checkpoint.file_problems, use.path, &FileProblem::file);
  if (problem == checkpoint.file_problems.end()) {
    if (use.size < use.referenced) use.state = FileUse::State::unreadable;  // no regular file, or no permission
    return;
  }
  use.state = problem->missing ? FileUse::State::missing : FileUse::State::cut;
  use.needed = problem->needed_bytes;
}

}  // namespace

std::vector<FileUse> file_uses(const Checkpoint::Data& checkpoint) {
  std::vector<FileUse> uses;
  Ranges ranges(checkpoint);
  for (const SourceFile& file : checkpoint.files) {
    FileUse use{.path = file.path, .size = file.size};
    if (holds_items(checkpoint, file.path)) {
      use.is_counted = true;
      use.referenced = ranges.total(checkpoint.file_set->add(file.path));
      use.unreferenced = file.size > use.referenced ? file.size - use.referenced : 0;
      add_problem(checkpoint, use);
    }
    uses.push_back(std::move(use));
  }
  for (const SourceFile& file : checkpoint.unreferenced_files) {
    uses.push_back({.path = file.path,
                    .size = file.size,
                    .is_counted = true,
                    .unreferenced = file.size,
                    .state = FileUse::State::unreferenced});
  }
  return uses;
}

}  // namespace fsdpckpt
