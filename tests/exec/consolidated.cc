#include "exec/consolidated.h"

#include <fstream>
#include <set>

#include "base/error_of.h"
#include "formats/selection.h"
#include "formats/torch_writer.h"
#include "io/memory_sink.h"

namespace fsdpckpt {

Tensors read_tensors(const std::string& path) {
  const Checkpoint checkpoint = open_checkpoint(path);
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  Tensors tensors;
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id) {
    const Entry entry = checkpoint.entry(id);
    if (entry.kind == EntryKind::object) continue;
    const Extent extent = checkpoint.chunk(id, 0).extent;
    EXPECT_EQ(extent.length, byte_count(entry)) << entry.name;
    tensors[std::string(entry.name)] = {std::string(name(entry.dtype)),
                                        {entry.shape.begin(), entry.shape.end()},
                                        content.substr(extent.offset, extent.length)};
  }
  return tensors;
}

std::set<std::string> object_names(const std::string& path) {
  const Checkpoint checkpoint = open_checkpoint(path);
  std::set<std::string> names;
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id) {
    if (checkpoint.entry(id).kind == EntryKind::object) names.emplace(checkpoint.entry(id).name);
  }
  return names;
}

ConsolidateReport consolidate_into(const TempDir& directory, const std::string& source, ConsolidateOptions options) {
  Checkpoint checkpoint = open_checkpoint(source);
  options.sync = false;
  return consolidate(checkpoint, directory.path("out.pt"), options);
}

std::string write_to_memory(const std::string& source, const ExecutorOptions& options, ExecutorCounts* counts) {
  const Checkpoint checkpoint = open_checkpoint(source);
  const Selection selection = select(checkpoint.data(), {});
  const TorchFilePlan plan = plan_torch_file(checkpoint.data(), selection, ObjectPolicy::keep, false);
  MemoryPositionalSink sink;
  const ExecutorCounts seen = write_torch_file(checkpoint.data(), plan, sink, options);
  if (counts != nullptr) *counts = seen;
  EXPECT_EQ(sink.content().size(), plan.layout.file_size());
  return sink.content();
}

void expect_tensors(const Tensors& seen, const Tensors& expected) {
  for (const auto& [name, values] : expected) {
    const auto found = seen.find(name);
    if (found == seen.end()) {
      ADD_FAILURE() << name << " is not there";
      continue;
    }
    EXPECT_EQ(found->second.dtype, values.dtype) << name;
    EXPECT_EQ(found->second.shape, values.shape) << name;
    EXPECT_TRUE(found->second.bytes == values.bytes) << name << " has other bytes";
  }
  EXPECT_EQ(seen.size(), expected.size());
}

ConsolidateReport expect_consolidates(const DcpBuilder& builder, const Tensors& expected, ConsolidateOptions options) {
  const TempDir directory;
  builder.write(directory, "ck");
  ConsolidateReport report = consolidate_into(directory, directory.path("ck"), std::move(options));
  expect_tensors(read_tensors(directory.path("out.pt")), expected);
  EXPECT_EQ(directory.names(), (std::set<std::string>{"ck", "out.pt"}));
  return report;
}

Error error_of_consolidating(const DcpBuilder& builder, const ConsolidateOptions& options) {
  const TempDir directory;
  builder.write(directory, "ck");
  Error error = error_of([&] { consolidate_into(directory, directory.path("ck"), options); });
  EXPECT_EQ(directory.names(), std::set<std::string>{"ck"}) << "something was left behind";
  return error;
}

}  // namespace fsdpckpt
