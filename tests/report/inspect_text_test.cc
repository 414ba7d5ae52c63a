#include "report/inspect_text.h"

#include <fsdpckpt/open.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/checkpoint_data.h"
#include "report/inspect_json.h"

namespace fsdpckpt {
namespace {

constexpr const char* kFixture = FSDPCKPT_TESTDATA "/torch-2.4.1/dt_s0_w2";

std::string text_of(const InspectShow& show) {
  Checkpoint checkpoint = open_checkpoint(kFixture);
  Checkpoint::Data& data = checkpoint.data();
  data.root = "ck";
  return inspect_text(data, overview_of(data, std::vector<bool>(data.index.entry_count(), true)), show);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(InspectText, ShowsWhatIsAskedFor) {
  const InspectShow nothing{.entries = false, .objects = false};
  const std::string summary = text_of(nothing);
  EXPECT_EQ(std::ranges::count(summary, '\n'), 2);
  EXPECT_TRUE(summary.starts_with("ck: sharded checkpoint (DCP as written by torch 2.4 to 2.8), 2 rank files, "));

  InspectShow show = nothing;
  show.entries = true;
  EXPECT_TRUE(has(text_of(show), "\n  entry  dtype    shape "));
  show = nothing;
  show.chunks = true;
  EXPECT_TRUE(has(text_of(show), "\n  entry  chunk "));
  show = nothing;
  show.files = true;
  EXPECT_TRUE(has(text_of(show), "\n  file  "));
}

TEST(InspectText, ShowsExactSizes) {
  EXPECT_FALSE(has(text_of({.exact_bytes = true}), "KiB"));
  EXPECT_TRUE(has(text_of({}), "KiB"));
}

TEST(InspectJson, ListsChunksOnlyWhenAskedFor) {
  const Checkpoint checkpoint = open_checkpoint(kFixture);
  const Checkpoint::Data& data = checkpoint.data();
  const Overview overview = overview_of(data, std::vector<bool>(data.index.entry_count(), true));
  const auto entry = [&](const InspectShow& show) { return inspect_json(data, overview, show)["entries"][0]; };
  EXPECT_FALSE(entry({}).contains("chunks"));
  EXPECT_EQ(entry({.chunks = true})["chunks"].size(), entry({})["chunk_count"].get<std::size_t>());
}

}  // namespace
}  // namespace fsdpckpt
