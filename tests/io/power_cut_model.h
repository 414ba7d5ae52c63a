// What one folder of a disk may hold after its power was cut, as far as POSIX promises anything: content counts only
// after fsync() of the file, a name only after fsync() of the folder. Until then each sector and each name is, on its
// own, as it was or as it was meant to be; a file's name may be there before its content.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fsdpckpt {

class PowerCutModel {
 public:
  using File = std::size_t;
  using Folder = std::map<std::string, std::string>;

  /// A file that is safely there from the start.
  File put(const std::string& name, const std::string& content);
  /// A new, empty file.
  File create(const std::string& name);
  void write(File file, std::size_t offset, std::string_view bytes);
  void resize(File file, std::size_t size);
  void sync(File file);
  /// The kernel takes what it failed to write for written: no later sync() makes it safe.
  void fail_sync(File file);
  void rename(const std::string& from, const std::string& to);
  void link(const std::string& from, const std::string& to);
  void unlink(const std::string& name);
  void sync_folder();

  /// One of the folders that may be found, by name.
  Folder after_cut(std::mt19937& random) const;
  /// The one in which every name is the newest and no content counts that was not synced.
  [[nodiscard]] Folder names_without_content() const;

 private:
  static constexpr std::size_t kSector = 512;

  struct Content {
    std::string safe, current;
    std::set<std::size_t> unsynced;        ///< sectors that the next sync() makes safe
    std::set<std::size_t> dropped;         ///< sectors that it does not
    std::vector<std::size_t> sizes = {0};  ///< since the last sync
  };

  std::optional<File> newest(const std::string& name) const;
  static std::string found(const Content& content, std::mt19937& random);

  std::vector<Content> contents_;
  std::map<std::string, std::vector<std::optional<File>>> names_;  ///< what each was since the last sync
};

}  // namespace fsdpckpt
