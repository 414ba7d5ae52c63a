// A directory that lives as long as a test, and files in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace fsdpckpt {

class TempDir {
 public:
  TempDir() {
    std::string name = testing::TempDir() + "fsdpckpt-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, std::error_code());
    path_ = name;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string path(std::string_view name) const { return path_ / name; }
  void write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void make_dir(std::string_view name) const { std::filesystem::create_directories(path_ / name); }
  void link(std::string_view target, std::string_view name) const {
    std::filesystem::create_symlink(target, path_ / name);
  }
  void remove(std::string_view name) const { std::filesystem::remove(path_ / name); }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) result.insert(entry.path().filename());
    return result;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace fsdpckpt
