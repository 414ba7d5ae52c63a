// Any bytes as an archive: records that lie inside, or an Error. Read by the directory, and front to back as a stream.
#include "fuzz/target.h"
#include "zip/directory.h"
#include "zip/forward_reader.h"

namespace fsdpckpt::fuzz {
namespace {

void read_by_directory(Input input) {
  zip::Directory directory;
  directory.read(MemorySource(bytes_of(input)));
  require(!directory.records().empty());
  std::uint64_t before = 0;
  for (const zip::Record& record : directory.records()) {
    require(record.header < record.data && record.data <= input.size() && record.size <= input.size() - record.data);
    require(directory.find(record.name.substr(directory.prefix().size() + 1)) == &record);
    before = record.header;
  }
  require(before < input.size());
}

void read_forward(Input input) {
  MemoryReader reader(bytes_of(input));
  zip::ForwardReader archive(reader);
  while (const auto header = archive.next()) {
    archive.skip_payload(*header);
    require(reader.offset() <= input.size());
  }
}

}  // namespace

int judge(Input input) {
  verdict_of([&] { read_forward(input); });
  return verdict_of([&] { read_by_directory(input); });
}

}  // namespace fsdpckpt::fuzz
