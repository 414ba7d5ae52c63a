#include "dist/world_files.h"

#include <fsdpckpt/error.h>

#include <algorithm>

#include "base/text.h"
#include "dist/agreement.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kMissing = UINT64_MAX;

/// File names hold no NUL.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(name).push_back('\0');
  return text;
}

void split(std::string_view text, std::vector<std::string>& names) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    names.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> WorldFiles::list(const std::function<std::vector<std::string>()>& here) {
  std::string mine;
  agree(world_, [&] { mine = joined(here()); });
  std::vector<std::string> names;
  for (const std::string& text : gather_texts(world_, mine)) split(text, names);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

SharedFiles::Found WorldFiles::find(const std::function<std::optional<std::uint64_t>()>& here) {
  std::uint64_t mine = kMissing;
  agree(world_, [&] { mine = here().value_or(kMissing); });
  const std::vector<std::uint64_t> sizes = gather_values(world_, mine);
  Found found;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] == kMissing) continue;
    if (!found.holders.empty() && sizes[rank] != found.size)
      throw Error(ErrorKind::input, cat("the file has ", found.size, " bytes on one rank and ", sizes[rank],
                                        " on rank ", rank, ": they belong to different checkpoints, or one was cut"));
    found.size = sizes[rank];
    found.holders.resize(sizes.size());
    found.holders[rank] = true;
  }
  return found;
}

void WorldFiles::read(const Found& file, const std::function<void(MutableBytes)>& here, MutableBytes out) {
  const auto first = std::ranges::find(file.holders, true);
  const int holder = static_cast<int>(first - file.holders.begin());
  agree(world_, [&] {
    if (world_.rank() == holder) here(out);
  });
  if (!out.empty()) world_.broadcast(out, holder);
}

void WorldFiles::on_first_rank(const std::function<void()>& work) {
  agree(world_, [&] {
    if (world_.rank() == 0) work();
  });
}

}  // namespace fsdpckpt
