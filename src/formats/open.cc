// open_checkpoint(): what a path holds is found by content.
#include <fsdpckpt/open.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/text.h"
#include "formats/dcp_reader.h"
#include "formats/torch_file.h"
#include "io/file_set.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 3;

/// "'a', 'b', 'c' and 4 more".
std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) list += cat(i == 0 ? "" : ", ", quote(names[i]));
  if (names.size() > kMostNamed) list += cat(" and ", names.size() - kMostNamed, " more");
  return list;
}

/// False also for a directory that cannot be read.
bool holds_dcp(const std::string& directory) {
  try {
    return is_dcp(FileSet(directory));
  } catch (const Error&) {
    return false;
  }
}

/// Directories inside `directory` that hold a sharded checkpoint, for a hint.
std::vector<std::string> candidates_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && holds_dcp(at->path().string())) found.push_back(at->path().string());
  }
  std::ranges::sort(found);
  return found;
}

/// Files that a folder of per-rank or Hugging Face checkpoints is made of.
bool is_single_file(const std::string& name) {
  return std::ranges::any_of(std::array{".pt", ".pth", ".ckpt", ".bin", ".safetensors"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

/// False also for a file that cannot be read.
bool is_zip(const std::string& directory, const std::string& name) {
  try {
    FileSet files(directory);
    std::array<std::byte, 4> magic{};
    files.read_at(files.add(name), 0, magic);
    return zip::starts_like_zip(magic);
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void throw_no_metadata(const std::string& directory, bool is_unfinished) {
  if (is_unfinished) {
    throw Error(ErrorKind::input, "unfinished save: there is a .metadata.tmp that was not renamed to .metadata",
                {.path = directory}, "use an earlier checkpoint");
  }
  throw Error(ErrorKind::input,
              "there are rank files but no .metadata: the save did not finish, or the hidden file was not copied",
              {.path = directory}, "copy .metadata too, or use an earlier checkpoint");
}

[[noreturn]] void throw_no_checkpoint(const std::string& directory, const FileSet& files) {
  std::vector<std::string> names = files.list();
  const auto has = [&](std::string_view ending) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name.ends_with(ending); });
  };
  if (has(".metadata.tmp") || has(".distcp")) throw_no_metadata(directory, has(".metadata.tmp"));
  const auto inside = candidates_in(directory);
  if (!inside.empty()) {
    throw Error(ErrorKind::input, cat("no .metadata here, but in folders inside: ", list_of(inside)),
                {.path = directory}, cat("fsdpckpt inspect ", shell_word(inside.front())));
  }
  std::erase_if(names, [](const std::string& name) { return !is_single_file(name); });
  if (names.empty())
    throw Error(ErrorKind::input, "not a sharded checkpoint: there is no .metadata in the directory",
                {.path = directory});
  const auto readable = std::ranges::find_if(names, [&](const std::string& name) { return is_zip(directory, name); });
  throw Error(
      ErrorKind::input,
      cat("not a sharded checkpoint: there is no .metadata in the directory, only single files: ", list_of(names)),
      {.path = directory},
      readable == names.end() ? "" : cat("fsdpckpt inspect ", shell_word(directory + "/" + *readable)));
}

Checkpoint open_directory(const std::string& directory) {
  const FileSet files(directory);
  if (!is_dcp(files)) throw_no_checkpoint(directory, files);
  return open_dcp(directory);
}

/// torch.save's first pickle before PyTorch 1.6: protocol 2, then a long integer that is its magic number.
constexpr std::array<std::uint8_t, 14> kLegacyMagic = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c,
                                                       0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

[[noreturn]] void throw_not_readable(const std::string& path, std::span<const std::byte> start) {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(start[at]); };
  if (std::ranges::equal(kLegacyMagic, start.first(kLegacyMagic.size()), {}, {},
                         [](std::byte b) { return std::to_integer<std::uint8_t>(b); })) {
    throw Error(ErrorKind::input, "a torch file in the form from before PyTorch 1.6, which fsdpckpt does not read",
                {.path = path}, "load it with PyTorch and save it again with torch.save");
  }
  if (byte(8) == '{' && byte(6) == 0 && byte(7) == 0)
    throw Error(ErrorKind::input, "a safetensors file, which this release does not read", {.path = path});
  throw Error(ErrorKind::input, "not a checkpoint: the file does not start like a zip archive of torch.save",
              {.path = path});
}

/// A rank file or the metadata of a sharded checkpoint is not the checkpoint.
void check_is_whole(const std::string& path, const std::string& directory, const std::string& name) {
  if (!name.ends_with(".distcp") && !name.ends_with(".metadata")) return;
  if (!holds_dcp(directory)) return;
  throw Error(ErrorKind::input, "this is one file of a sharded checkpoint, which is read as a directory",
              {.path = path}, cat("fsdpckpt inspect ", shell_word(directory)));
}

Checkpoint open_file(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string(), name = fs::path(path).filename().string();
  check_is_whole(path, directory, name);
  FileSet files(directory);
  const FileId file = files.add(name);
  std::array<std::byte, 16> start{};
  if (files.size(file) < start.size())
    throw Error(ErrorKind::input, cat("not a checkpoint: the file has only ", files.size(file), " bytes"),
                {.path = path});
  files.read_at(file, 0, start);
  if (!zip::starts_like_zip(std::span(start).first(4))) throw_not_readable(path, start);
  return open_torch_file(directory, name);
}

}  // namespace

Checkpoint open_checkpoint(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    throw Error(ErrorKind::input, "no such file or directory", {.path = path});
  if (error) throw Error(ErrorKind::io, cat("cannot look at it: ", error.message()), {.path = path});
  return fs::is_directory(status) ? open_directory(path) : open_file(path);
}

}  // namespace fsdpckpt
