#include "report/inspect_text.h"

#include <fsdpckpt/open.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/checkpoint_data.h"
#include "report/inspect_json.h"

namespace fsdpckpt {
namespace {

constexpr const char* kFixture = FSDPCKPT_TESTDATA "/torch-2.4.1/dt_s0_w2";

/// Everything of one checkpoint.
struct Sample {
  Sample()
      : checkpoint(open_checkpoint(kFixture)),
        selected(checkpoint.entry_count(), true),
        overview(overview_of(checkpoint.data(), selected)),
        objects(read_objects(checkpoint.data(), overview.order, 60)) {
    checkpoint.data().root = "ck";
  }
  [[nodiscard]] Inspected inspected() const { return {checkpoint.data(), selected, overview, overview.order, objects}; }

  Checkpoint checkpoint;
  std::vector<bool> selected;
  Overview overview;
  std::vector<ShownObject> objects;
};

std::string text_of(const InspectShow& show) { return inspect_text(Sample().inspected(), show); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(InspectText, ShowsWhatIsAskedFor) {
  const InspectShow nothing{.entries = false, .objects = false};
  const std::string summary = text_of(nothing);
  EXPECT_EQ(std::ranges::count(summary, '\n'), 2);
  EXPECT_TRUE(summary.starts_with("ck: sharded checkpoint (DCP as written by torch 2.4 to 2.6), 2 rank files, "));

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

TEST(InspectText, FitsATerminal) {
  const std::string text = text_of({.chunks = true, .width = 40});
  const std::string tables = text.substr(text.find("\n\n"));
  EXPECT_TRUE(has(tables, "__0_0.distcp")) << "no narrower than is of use";
}

TEST(InspectJson, LeavesOutWhatIsNotAskedFor) {
  const Sample sample;
  const auto entry = [&](const InspectShow& show) {
    std::string text;
    write_inspect_json(sample.inspected(), show, std::nullopt, [&](std::string_view piece) { text += piece; });
    return nlohmann::json::parse(text)["entries"][0];
  };
  EXPECT_FALSE(entry({}).contains("chunks"));
  EXPECT_EQ(entry({.chunks = true})["chunks"].size(), entry({})["chunk_count"].get<std::size_t>());
}

}  // namespace
}  // namespace fsdpckpt
