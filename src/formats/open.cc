// open_checkpoint(): what a path holds is found by content.
#include <fsdpckpt/open.h>

#include <filesystem>

#include "base/text.h"
#include "formats/dcp_reader.h"
#include "formats/open_shared.h"
#include "formats/rank_names.h"
#include "formats/recognise_file.h"
#include "formats/recognise_folder.h"
#include "formats/torch_file.h"
#include "io/file_set.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;

std::string directory_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path().string() : "."; }

/// What a file of the checkpoint is says more than the place where reading it failed.
Error plainer(const Error& error) {
  const fs::path path(error.where().path);
  std::error_code ignored;
  if (error.kind() != ErrorKind::input || !fs::is_regular_file(path, ignored)) return error;
  FileSet files(directory_of(path));
  auto spoiled = spoiled_file(files, files.add(path.filename().string()), path.string());
  return spoiled ? spoiled->in_entry(error.where().entry).in_box(error.where().box) : error;
}

Checkpoint open_directory(const std::string& directory, const std::vector<std::string>& others) {
  const FileSet files(directory, others);
  if (!is_dcp(files)) throw_no_checkpoint(directory, files);
  try {
    Checkpoint checkpoint = open_dcp(directory, others);
    for (Error& damage : checkpoint.data().damages) damage = plainer(damage);
    return checkpoint;
  } catch (const Error& error) {
    throw plainer(error);
  }
}

/// A rank file or the metadata of a sharded checkpoint is not the checkpoint.
void check_is_whole(const std::string& path, const std::string& directory, const std::string& name) {
  const bool is_part = is_rank_file(name) || name.ends_with(".distcp") || name.ends_with(".metadata");
  if (!is_part) return;
  if (holds_dcp(directory)) {
    throw Error(ErrorKind::input, "this is one file of a sharded checkpoint, which is read as a directory",
                {.path = path}, cat("fsdpckpt inspect ", shell_word(directory)));
  }
  if (!is_rank_file(name)) return;
  throw Error(ErrorKind::input, "this is one rank's file of a sharded checkpoint, and there is no .metadata beside it",
              {.path = path}, "give the directory that has both");
}

Checkpoint open_file(const std::string& path) {
  const std::string directory = directory_of(path), name = fs::path(path).filename().string();
  check_is_whole(path, directory, name);
  FileSet files(directory);
  const FileId file = files.add(name);
  require_archive(files, file, path);
  try {
    return open_torch_file(directory, name);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input || !is_foreign_archive(files, file)) throw;
    throw Error(ErrorKind::input, "a zip archive that torch.save did not write", {.path = path},
                "if a checkpoint is packed in it, unpack it first");
  }
}

/// A name with a slash behind it asks for a directory.
[[noreturn]] void throw_missing(const std::string& path) {
  std::string file = path;
  while (file.size() > 1 && file.ends_with('/')) file.pop_back();
  std::error_code ignored;
  if (file != path && fs::is_regular_file(file, ignored))
    throw Error(ErrorKind::input, "not a directory: the name ends in / and belongs to a file", {.path = path},
                cat("fsdpckpt inspect ", shell_word(file)));
  throw Error(ErrorKind::input, "no such file or directory", {.path = path});
}

/// What is wrong with a path at which no rank sees a sharded checkpoint, as the first rank sees it.
void explain_missing(const std::string& path, const std::vector<std::string>& files_in) {
  const Checkpoint checkpoint = open_checkpoint(path, files_in);
  throw Error(ErrorKind::usage, cat("several ranks are for a sharded checkpoint, and this is a ", checkpoint.kind()),
              {.path = path});
}

}  // namespace

Checkpoint open_shared(const std::string& path, const std::vector<std::string>& files_in, SharedFiles& shared) {
  shared.on_first_rank([&] {
    if (fs::is_regular_file(path)) explain_missing(path, files_in);
  });
  const FileSet files(path, files_in, &shared);
  if (!is_dcp(files)) shared.on_first_rank([&] { explain_missing(path, files_in); });
  return open_dcp(path, files_in, &shared);
}

Checkpoint open_checkpoint(const std::string& path, const std::vector<std::string>& files_in) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) throw_missing(path);
  if (error) throw Error(ErrorKind::io, cat("cannot look at it: ", error.message()), {.path = path});
  if (fs::is_directory(status)) return open_directory(path, files_in);
  if (!files_in.empty())
    throw Error(ErrorKind::usage, "--files-in is for sharded checkpoints, and this is a file", {.path = path});
  return open_file(path);
}

}  // namespace fsdpckpt
