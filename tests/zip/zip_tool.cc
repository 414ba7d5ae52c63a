// Lists and writes stored zip archives for zipfile_test.py.
//   zip_tool list ARCHIVE             one line a record: name, size, crc, header offset, payload offset
//   zip_tool write ARCHIVE ALIGNMENT  records from standard input, one line each: "file NAME PATH" or "hole NAME SIZE";
//                                     a hole is a payload of zeros that takes no disk space
#include <fsdpckpt/error.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "io/crc32.h"
#include "io/file_set.h"
#include "zip/directory.h"
#include "zip/layout.h"

namespace {

using namespace fsdpckpt;
namespace fs = std::filesystem;

void list(const fs::path& archive) {
  FileSet files(archive.parent_path());
  const auto source = files.source(files.add(archive.filename()));
  zip::Directory directory;
  directory.read(*source);
  for (const zip::Record& record : directory.records()) {
    std::cout << record.name << '\t' << record.size << '\t' << record.crc << '\t' << record.header << '\t'
              << record.data << '\n';
  }
}

std::uint32_t crc_of_zeros(std::uint64_t count) {
  if (count == 0) return 0;
  if (count % 2 != 0) return crc32_combine(crc_of_zeros(count - 1), crc32(as_bytes(std::string_view("\0", 1))), 1);
  const std::uint32_t half = crc_of_zeros(count / 2);
  return crc32_combine(half, half, count / 2);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::input, "cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Plan {
  zip::Layout layout;
  std::vector<std::string> payloads;  ///< empty for a hole
  std::vector<std::uint32_t> crcs;
};

Plan read_plan(std::istream& input, std::uint32_t alignment) {
  Plan plan;
  std::string kind, name, what;
  while (input >> kind >> name >> what) {
    const bool hole = kind == "hole";
    plan.payloads.push_back(hole ? "" : read_file(what));
    const std::uint64_t size = hole ? std::stoull(what) : plan.payloads.back().size();
    plan.crcs.push_back(hole ? crc_of_zeros(size) : crc32(as_bytes(plan.payloads.back())));
    plan.layout.add(name, size, alignment);
  }
  return plan;
}

void write(const fs::path& archive, std::uint32_t alignment) {
  const Plan plan = read_plan(std::cin, alignment);
  std::ofstream file(archive, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  for (std::uint32_t i = 0; i < plan.payloads.size(); ++i) {
    file.seekp(static_cast<std::streamoff>(plan.layout.records()[i].header));
    file << plan.layout.local_header(i, plan.crcs[i]) << plan.payloads[i];
  }
  file.seekp(static_cast<std::streamoff>(plan.layout.directory_offset()));
  file << plan.layout.directory(plan.crcs);
  file.close();
  if (fs::file_size(archive) != plan.layout.file_size()) throw Error(ErrorKind::bug, "file_size() is wrong");
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "list") {
    list(arguments[1]);
  } else if (arguments.size() == 3 && arguments[0] == "write") {
    write(arguments[1], static_cast<std::uint32_t>(std::stoul(arguments[2])));
  } else {
    std::cerr << "usage: zip_tool list ARCHIVE | zip_tool write ARCHIVE ALIGNMENT\n";
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    std::cerr << error.where().path << ": " << error.what() << '\n';
    return 3;
  }
}
