#include "dist/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "dist/thread_world.h"

namespace fsdpckpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error error_in(const std::exception_ptr& thrown) { return as_error(thrown); }

TEST(Agreement, TheLowestRanksErrorIsEveryRanksError) {
  const auto errors = test::run_world(4, [](Communicator& world) {
    agree(world, [&] {
      if (world.rank() == 2) throw Error(ErrorKind::io, "disk full", {.path = "/a", .entry = "w"}, "make room");
      if (world.rank() == 3) throw Error(ErrorKind::input, "cut");
    });
  });
  for (const auto& thrown : errors) {
    ASSERT_TRUE(thrown);
    const Error error = error_in(thrown);
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "disk full");
    EXPECT_EQ(error.where().path, "/a");
    EXPECT_EQ(error.where().entry, "w");
    EXPECT_EQ(error.hint(), "make room");
    EXPECT_EQ(error.where().rank, 2);
    EXPECT_EQ(error.where().rank_text, "rank 2 of 4");
  }
}

TEST(Agreement, NothingIsThrownWhereAllSucceed) {
  int done = 0;
  std::mutex mutex;
  const auto errors = test::run_world(3, [&](Communicator& world) {
    agree(world, [&] {
      const std::lock_guard lock(mutex);
      ++done;
    });
  });
  for (const auto& thrown : errors) EXPECT_FALSE(thrown);
  EXPECT_EQ(done, 3);
}

TEST(Agreement, ABrokenWorldIsNotAskedAgain) {
  const auto errors = test::run_world(2, [](Communicator& world) {
    agree(world, [&] {
      if (world.rank() == 1) throw Error(ErrorKind::ranks, "gone");
    });
  });
  EXPECT_STREQ(error_in(errors[1]).what(), "gone");
  EXPECT_EQ(error_in(errors[0]).kind(), ErrorKind::ranks);
}

TEST(Agreement, TextsOfAnyLengthAreGathered) {
  std::vector<std::vector<std::string>> seen(4);
  test::run_world(4, [&](Communicator& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    seen[rank] = gather_texts(world, std::string(rank * 3, static_cast<char>('a' + rank)));
  });
  for (const auto& texts : seen) EXPECT_THAT(texts, ElementsAre("", "bbb", "cccccc", "ddddddddd"));
}

TEST(Agreement, NoTextsAtAllAreGathered) {
  const auto errors = test::run_world(2, [&](Communicator& world) {
    if (gather_texts(world, "") != std::vector<std::string>{"", ""}) throw std::runtime_error("not empty");
  });
  for (const auto& thrown : errors) EXPECT_FALSE(thrown);
}

TEST(Agreement, TheRootsTextIsBroadcast) {
  std::vector<std::string> seen(3);
  test::run_world(3, [&](Communicator& world) {
    seen[static_cast<std::size_t>(world.rank())] = broadcast_text(world, std::to_string(world.rank() * 111), 2);
  });
  EXPECT_THAT(seen, ElementsAre("222", "222", "222"));
}

TEST(Agreement, EveryExceptionBecomesAnError) {
  EXPECT_STREQ(as_error(std::make_exception_ptr(std::bad_alloc())).what(), "out of memory");
  const Error bug = as_error(std::make_exception_ptr(std::logic_error("x")));
  EXPECT_EQ(bug.kind(), ErrorKind::bug);
  EXPECT_THAT(bug.what(), HasSubstr("a bug in fsdpckpt: x"));
}

}  // namespace
}  // namespace fsdpckpt
