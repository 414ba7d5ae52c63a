// What a checkpoint of testdata must hold, by its manifest.json or case.json.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace fsdpckpt {

struct ExpectedTensor {
  std::string name;  ///< the path joined with dots
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string sha256;
};

struct Manifest {
  std::vector<ExpectedTensor> tensors;
  std::set<std::string> objects;
};

inline std::string name_of_path(const nlohmann::json& path) {
  std::string name;
  for (const auto& element : path) {
    if (!name.empty()) name += ".";
    name += element.is_string() ? element.get<std::string>() : std::to_string(element.get<int>());
  }
  return name;
}

inline Manifest read_manifest(const std::string& file) {
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
  Manifest manifest;
  const auto& expected = file.ends_with("case.json") ? json.at("expect").at("tensors") : json.at("expected");
  for (const auto& entry : expected) {
    const std::string name = name_of_path(entry.at("path"));
    if (!entry.contains("sha256")) {
      manifest.objects.insert(name);
      continue;
    }
    std::string dtype = entry.at("dtype");
    if (dtype.starts_with("torch.")) dtype = dtype.substr(6);
    manifest.tensors.push_back({name, dtype, entry.at("shape"), entry.at("sha256")});
  }
  return manifest;
}

/// A checkpoint of testdata and the file that says what is in it.
struct Fixture {
  std::string directory, manifest;
};
inline void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.directory; }

inline std::string test_data(const std::string& name) { return std::string(FSDPCKPT_TESTDATA) + "/" + name; }

/// Every sharded checkpoint of testdata that must consolidate.
inline std::vector<Fixture> fixtures() {
  std::vector<Fixture> found;
  for (const auto& item : std::filesystem::recursive_directory_iterator(FSDPCKPT_TESTDATA)) {
    if (!item.is_directory()) continue;
    const std::filesystem::path path = item.path();
    if (exists(path / "__0_0.distcp") && exists(path / "manifest.json"))
      found.push_back({path, path / "manifest.json"});
    else if (exists(path / "ckpt" / "__0_0.distcp") && exists(path / "case.json"))
      found.push_back({path / "ckpt", path / "case.json"});
  }
  std::ranges::sort(found, {}, &Fixture::directory);
  return found;
}

/// A name for a parameterised test.
inline std::string fixture_name(const testing::TestParamInfo<Fixture>& info) {
  std::string name = info.param.directory.substr(std::string(FSDPCKPT_TESTDATA).size() + 1);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace fsdpckpt
