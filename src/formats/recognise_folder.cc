#include "formats/recognise_folder.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "formats/dcp_reader.h"
#include "formats/rank_names.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 3;         ///< named in a message
constexpr std::size_t kMostCandidates = 20;   ///< named in a message
constexpr std::size_t kMostLookedInto = 500;  ///< directories inside, for candidates

struct Folder {
  std::string path;
  const FileSet& files;
  std::vector<std::string> names;    ///< of files
  std::vector<std::string> folders;  ///< of directories inside

  [[nodiscard]] std::string inside(const std::string& name) const {
    return path.ends_with('/') ? path + name : cat(path, "/", name);
  }
  [[nodiscard]] bool has(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};

/// "'a', 'b', 'c' and 4 more".
std::string quoted(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> shown;
  std::ranges::transform(names, std::back_inserter(shown), quote);
  return list_of(shown, most);
}

template <class Predicate>
std::vector<std::string> those(const std::vector<std::string>& names, Predicate predicate) {
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), predicate);
  return found;
}

/// Names of the directories in `path`, sorted; none when it cannot be read.
std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) found.push_back(at->path().filename().string());
  }
  std::ranges::sort(found);
  return found;
}

bool is_single_file(const std::string& name) {
  return std::ranges::any_of(std::array{".pt", ".pth", ".ckpt", ".bin", ".safetensors"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

/// False also for a file that cannot be read.
bool is_archive(const Folder& folder, const std::string& name) {
  try {
    FileSet files(folder.path);
    return zip::starts_like_zip(*files.source(files.add(name)));
  } catch (const Error&) {
    return false;
  }
}

/// "fsdpckpt inspect ..." of the first file that can be, or nothing.
std::string inspect_one(const Folder& folder, const std::vector<std::string>& names) {
  const auto readable = std::ranges::find_if(names, [&](const std::string& name) { return is_archive(folder, name); });
  return readable == names.end() ? "" : cat("fsdpckpt inspect ", shell_word(folder.inside(*readable)));
}

Error error_at(const Folder& folder, std::string what, std::string hint = "") {
  return Error(ErrorKind::input, std::move(what), {.path = folder.path}, std::move(hint));
}

std::optional<Error> unfinished(const Folder& folder) {
  const auto ends_with = [&](std::string_view ending) {
    return std::ranges::any_of(folder.names, [&](const std::string& name) { return name.ends_with(ending); });
  };
  if (ends_with(".metadata.tmp"))
    return error_at(folder, "unfinished save: there is a .metadata.tmp that was not renamed to .metadata",
                    "use an earlier checkpoint");
  if (!ends_with(".distcp")) return std::nullopt;
  return error_at(
      folder, "there are rank files but no .metadata: the save looks unfinished, or the hidden file was not copied",
      "copy .metadata too; if another node has it, give that directory as SRC and this one with --files-in");
}

/// Paths of checkpoints in the folders of `folder`, or else one level deeper.
std::vector<std::string> candidates(const Folder& folder) {
  std::vector<std::string> level = folder.folders, found;
  std::size_t looked_into = 0;
  for (int depth = 0; depth < 2 && found.empty(); ++depth) {
    std::vector<std::string> next;
    for (const std::string& name : level) {
      if (++looked_into > kMostLookedInto) break;
      const std::string path = folder.inside(name);
      if (holds_dcp(path)) found.push_back(path);
      if (depth == 0)
        for (const std::string& inner : folders_in(path)) next.push_back(cat(name, "/", inner));
    }
    level = std::move(next);
  }
  return found;
}

/// The first that is not an optimizer's: the model is what most people look for.
const std::string& best_of(const std::vector<std::string>& paths) {
  const auto model = std::ranges::find_if(
      paths, [](const std::string& path) { return !fs::path(path).filename().string().starts_with("optim"); });
  return model == paths.end() ? paths.front() : *model;
}

std::optional<Error> parent_of_checkpoints(const Folder& folder) {
  const std::vector<std::string> found = candidates(folder);
  if (found.empty()) return std::nullopt;
  return error_at(folder, cat("no .metadata here, but in folders inside: ", quoted(found, kMostCandidates)),
                  cat("fsdpckpt inspect ", shell_word(best_of(found))));
}

/// Layout: deepspeed/runtime/engine.py, save_checkpoint (0.19). The script is run from the installed package: a copy in
/// the folder came with the checkpoint and may hold anything.
std::optional<Error> deepspeed(const Folder& folder) {
  const auto is_its = [](const std::string& name) {
    return name.find("zero_pp_rank_") != std::string::npos ||
           (name.starts_with("mp_rank_") && name.ends_with("_model_states.pt"));
  };
  const bool is_tag = std::ranges::any_of(folder.names, is_its);
  const bool is_top = folder.has("zero_to_fp32.py") || folder.has("latest_universal") ||
                      (folder.has("latest") && std::ranges::any_of(folder.folders, [](const std::string& name) {
                         return name.starts_with("global_step");
                       }));
  if (!is_tag && !is_top) return std::nullopt;
  const fs::path top = is_top ? fs::path(folder.path) : fs::path(folder.path) / "..";
  const std::string tag = is_top ? "" : cat(" -t ", shell_word(fs::weakly_canonical(folder.path).filename().string()));
  return error_at(folder, "a DeepSpeed ZeRO checkpoint, not a sharded checkpoint of PyTorch: there is no .metadata",
                  cat("DeepSpeed's zero_to_fp32.py makes one state dict of it: python -m deepspeed.utils.zero_to_fp32 ",
                      shell_word(top.string()), " OUTPUT_FOLDER", tag));
}

std::optional<Error> megatron(const Folder& folder) {
  const bool is_its =
      std::ranges::any_of(folder.folders, [](const std::string& name) { return name.starts_with("mp_rank_"); });
  if (!is_its) return std::nullopt;
  return error_at(
      folder, "a Megatron-LM checkpoint of the kind before torch_dist: one file a model-parallel rank, no .metadata",
      "convert it with Megatron-LM's tools/checkpoint/convert.py");
}

std::optional<Error> torchsnapshot(const Folder& folder) {
  if (!folder.has(".snapshot_metadata")) return std::nullopt;
  return error_at(folder, "a torchsnapshot checkpoint, not a sharded checkpoint of PyTorch: there is no .metadata");
}

/// What a rank's file holds, told by the classes that its pickle names near its start.
std::string_view parts_in(const Folder& folder, const std::string& name) {
  constexpr std::uint64_t kSearched = 64 << 10;
  try {
    FileSet files(folder.path);
    const FileId file = files.add(name);
    std::string start(std::min(kSearched, files.size(file)), '\0');
    files.read_at(file, 0, std::as_writable_bytes(std::span(start)));
    if (start.find("ShardedTensor") != std::string::npos) return ", each with its part of ShardedTensors";
    if (start.find("DTensor") != std::string::npos) return ", each with its part of DTensors";
  } catch (const Error&) {  // the message does without
  }
  return "";
}

std::optional<Error> per_rank(const Folder& folder) {
  const auto files = those(folder.names, [](const std::string& name) { return is_single_file(name) && rank_in(name); });
  const bool has_several = std::ranges::any_of(files, [](const std::string& name) { return *rank_in(name) > 0; });
  if (!has_several) return std::nullopt;
  return error_at(folder,
                  cat(files.size(), " files that the ranks saved for themselves", parts_in(folder, files.front()), " (",
                      quoted(files, kMostFiles), "), not a sharded checkpoint: there is no .metadata"),
                  inspect_one(folder, files));
}

std::optional<Error> hugging_face(const Folder& folder) {
  const auto tensors = those(folder.names, [](const std::string& name) { return name.ends_with(".safetensors"); });
  const bool is_by_rank =
      std::ranges::any_of(tensors, [](const std::string& name) { return name.starts_with("shard-"); });
  if (is_by_rank) {
    return error_at(folder,
                    cat(tensors.size(),
                        " safetensors files that each hold one rank's part (torch's Hugging Face writer), "
                        "which this release does not read: there is no .metadata"),
                    "torch.distributed.checkpoint has consolidate_safetensors_files for them");
  }
  const auto weights = those(folder.names, [](const std::string& name) {
    return name.starts_with("pytorch_model") && name.ends_with(".bin");
  });
  if (!folder.has("config.json") && tensors.empty()) return std::nullopt;
  if (tensors.empty() && weights.empty()) return std::nullopt;
  const auto& named = tensors.empty() ? weights : tensors;
  return error_at(folder,
                  cat("a Hugging Face folder of ", tensors.empty() ? "torch" : "safetensors", " files (",
                      quoted(named, kMostFiles), "), not a sharded checkpoint: there is no .metadata"),
                  inspect_one(folder, weights));
}

std::optional<Error> single_files(const Folder& folder) {
  const auto files = those(folder.names, is_single_file);
  if (files.empty()) return std::nullopt;
  return error_at(folder,
                  cat("not a sharded checkpoint: there is no .metadata in the directory, only single files: ",
                      quoted(files, kMostFiles)),
                  inspect_one(folder, files));
}

// The first that knows the folder tells.
constexpr std::array kKinds = {unfinished, parent_of_checkpoints, deepspeed,   megatron, torchsnapshot,
                               per_rank,   hugging_face,          single_files};

}  // namespace

bool holds_dcp(const std::string& directory) {
  try {
    return is_dcp(FileSet(directory));
  } catch (const Error&) {
    return false;
  }
}

void throw_no_checkpoint(const std::string& directory, const FileSet& files) {
  const Folder folder{.path = directory, .files = files, .names = files.list(), .folders = folders_in(directory)};
  for (const auto kind : kKinds) {
    if (const auto error = kind(folder)) throw *error;
  }
  throw error_at(folder, folder.names.empty() && folder.folders.empty()
                             ? "the directory is empty: a sharded checkpoint has a .metadata in it"
                             : "not a sharded checkpoint: there is no .metadata in the directory");
}

}  // namespace fsdpckpt
