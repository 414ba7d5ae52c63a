// open_checkpoint(): what a path holds is found by content.
#include "base/text.h"
#include "formats/dcp_reader.h"
#include "formats/torch_file.h"
#include "io/file_set.h"
#include "zip/directory.h"

#include <fsdpckpt/open.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCandidates = 3;

/// Directories inside `directory` that hold a sharded checkpoint, for a hint.
std::vector<std::string> candidates_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, fs::directory_options::skip_permission_denied, ignored)) {
    if (item.is_directory(ignored) && is_dcp(FileSet(item.path().string()))) found.push_back(item.path().string());
  }
  std::ranges::sort(found);
  return found;
}

[[noreturn]] void throw_no_checkpoint(const std::string& directory, const FileSet& files) {
  const auto names = files.list();
  const auto has = [&](auto&& fits) { return std::ranges::any_of(names, fits); };
  if (has([](const std::string& name) { return name.ends_with(".metadata.tmp"); }) || has([](const std::string& name) { return name.ends_with(".distcp"); })) {
    throw Error(ErrorKind::input, "unfinished save: there are rank files but no .metadata, which is written last", {.path = directory},
                "use an earlier checkpoint; the writer did not finish this one");
  }
  const auto inside = candidates_in(directory);
  if (!inside.empty()) {
    std::string list;
    for (std::size_t i = 0; i < inside.size() && i < kMostCandidates; ++i) list += cat(i == 0 ? "" : ", ", quote(inside[i]));
    if (inside.size() > kMostCandidates) list += cat(" and ", inside.size() - kMostCandidates, " more");
    throw Error(ErrorKind::input, cat("no .metadata here, but in folders inside: ", list), {.path = directory}, cat("fsdpckpt inspect ", inside.front()));
  }
  throw Error(ErrorKind::input, "not a sharded checkpoint: there is no .metadata in the directory", {.path = directory});
}

Checkpoint open_directory(const std::string& directory) {
  const FileSet files(directory);
  if (!is_dcp(files)) throw_no_checkpoint(directory, files);
  return open_dcp(directory);
}

Checkpoint open_file(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string(), name = fs::path(path).filename().string();
  FileSet files(directory);
  const FileId file = files.add(name);
  std::array<std::byte, 4> magic{};
  if (files.size(file) < magic.size()) throw Error(ErrorKind::input, cat("the file has only ", files.size(file), " bytes: no checkpoint"), {.path = path});
  files.read_at(file, 0, magic);
  if (!zip::starts_like_zip(magic)) {
    throw Error(ErrorKind::input, "not a checkpoint that can be read: the file does not start like a zip archive of torch.save", {.path = path});
  }
  return open_torch_file(directory, name);
}

}  // namespace

Checkpoint open_checkpoint(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) throw Error(ErrorKind::input, "no such file or directory", {.path = path});
  if (error) throw Error(ErrorKind::io, cat("cannot look at it: ", error.message()), {.path = path});
  return fs::is_directory(status) ? open_directory(path) : open_file(path);
}

}  // namespace fsdpckpt
