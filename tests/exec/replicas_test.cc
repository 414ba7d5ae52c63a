// Several chunks of one box: copies that must agree.
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

#include "base/error_of.h"
#include "exec/consolidated.h"

namespace fsdpckpt {
namespace {

/// Two stored copies of the same box under the same offsets cannot be told apart in one .metadata; the ranks' own can.
void write_rank_local(const TempDir& directory, const TensorValues& a, const TensorValues& b) {
  directory.make_dir("ck");
  const TensorValues* copies[] = {&a, &b};
  for (int rank = 0; rank < 2; ++rank) {
    DcpBuilder builder;
    builder.add("w", *copies[rank], {{.offsets = {0, 0}, .sizes = a.shape, .rank = rank}});
    const std::string number = std::to_string(rank);
    directory.write("ck/__" + number + "_0.distcp", builder.file(rank));
    directory.write("ck/__" + number + ".metadata", metadata_of(builder.entries()));
  }
}

TEST(Replicas, ThatAgreeAreTakenOnceAndCounted) {
  for (const std::int64_t rows : {3, 700}) {
    const TensorValues values = sample_values("float32", {rows, 500});
    const TempDir directory;
    write_rank_local(directory, values, values);
    const ConsolidateReport report = consolidate_into(directory, directory.path("ck"));
    EXPECT_EQ(report.chunks, 1U);
    EXPECT_EQ(report.replicas_compared, 1U);
    expect_tensors(read_tensors(directory.path("out.pt")), {{"w", values}});
  }
}

TEST(Replicas, ThatDifferAreRefusedByName) {
  for (const std::int64_t rows : {3, 700}) {
    const TensorValues values = sample_values("float32", {rows, 500});
    TensorValues other = values;
    other.bytes.back() = static_cast<char>(other.bytes.back() ^ 1);
    const TempDir directory;
    write_rank_local(directory, values, other);
    const Error error = error_of([&] { consolidate_into(directory, directory.path("ck")); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.where().entry, "w");
    EXPECT_EQ(error.where().path, directory.path("ck/__0_0.distcp"));
    EXPECT_NE(std::string(error.what()).find("__1_0.distcp"), std::string::npos) << error.what();
    EXPECT_EQ(directory.names(), std::set<std::string>{"ck"});
  }
}

}  // namespace
}  // namespace fsdpckpt
