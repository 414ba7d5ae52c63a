#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "io/atomic_file.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

using Identity = std::pair<dev_t, ino_t>;

/// Where a path leads: what exists of it by identity, from "/" down, and the names that do not exist yet.
struct Place {
  std::vector<Identity> existing;
  std::vector<std::string> missing;
};

std::optional<Identity> identity_of(const std::filesystem::path& path, FileSystem& files) {
  struct stat status;
  if (uninterrupted([&] { return files.stat(path, status); }) == 0) return Identity(status.st_dev, status.st_ino);
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG) return std::nullopt;
  throw system_error("look at", errno, path);
}

Place place_of(const std::string& path, FileSystem& files) {
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) throw system_error("look at", error.value(), path);
  Place place;
  std::filesystem::path prefix;
  for (const auto& component : resolved) {
    if (component.empty()) continue;  // behind a final slash
    prefix /= component;
    const auto identity = place.missing.empty() ? identity_of(prefix, files) : std::nullopt;
    if (identity) {
      place.existing.push_back(*identity);
    } else {
      place.missing.push_back(component);
    }
  }
  return place;
}

bool holds(const Place& outer, const Place& inner) {
  const Identity& last = outer.existing.back();
  if (outer.missing.empty()) return std::ranges::find(inner.existing, last) != inner.existing.end();
  return last == inner.existing.back() && outer.missing.size() <= inner.missing.size() &&
         std::ranges::equal(outer.missing, std::span(inner.missing).first(outer.missing.size()));
}

}  // namespace

bool is_one_of(const std::string& path, const std::vector<std::string>& others, FileSystem& files) {
  const auto identity = identity_of(path, files);
  return identity &&
         std::ranges::any_of(others, [&](const std::string& other) { return identity_of(other, files) == identity; });
}

bool same_or_nested(const std::string& a, const std::string& b, FileSystem& files) {
  const Place place_a = place_of(a, files);
  const Place place_b = place_of(b, files);
  return holds(place_a, place_b) || holds(place_b, place_a);
}

}  // namespace fsdpckpt
