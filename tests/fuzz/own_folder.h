// A folder of this process, made once and removed at the end: what a target reads must not depend on what lies in a
// folder that others use.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace fsdpckpt::fuzz {

class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fsdpckpt-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", name, std::make_error_code(std::errc::io_error));
    path_ = name;
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// A file of `size` zeros, which take no space.
  void add_zeros(const std::string& name, std::uintmax_t size) const {
    std::ofstream(path_ + "/" + name).close();
    std::filesystem::resize_file(path_ + "/" + name, size);
  }
  void write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ + "/" + name, std::ios::binary | std::ios::trunc)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }

 private:
  std::string path_;
};

}  // namespace fsdpckpt::fuzz
