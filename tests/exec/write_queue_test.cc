// Who waits for whom at writing.
#include "exec/write_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "io/memory_sink.h"

namespace fsdpckpt {
namespace {

/// A sink that, like a file on ext4, makes a second writer wait.
class OneWriterSink final : public PositionalSink {
 public:
  void write_at(std::uint64_t offset, Bytes bytes) override { memory_.write_at(offset, bytes); }
  [[nodiscard]] bool takes_one_writer() const override { return true; }
  [[nodiscard]] const std::string& content() const { return memory_.content(); }

 private:
  MemoryPositionalSink memory_;
};

void put(WriteQueue& queue, std::uint64_t offset, const std::string& text) {
  std::ranges::copy(as_bytes(text), queue.next(text.size()).begin());
  queue.put(offset);
}

TEST(WriteQueue, WritesAtOnceWhenItIsItsTurn) {
  OneWriterSink sink;
  std::mutex turn;
  WriteQueue queue(sink, turn, 3);
  put(queue, 2, "cd");
  EXPECT_EQ(sink.content(), std::string("\0\0cd", 4));
  put(queue, 0, "ab");
  EXPECT_EQ(sink.content(), "abcd");
}

TEST(WriteQueue, KeepsWhatIsNotItsTurnAndWritesItLater) {
  OneWriterSink sink;
  std::mutex turn;
  WriteQueue queue(sink, turn, 4);
  turn.lock();  // by this thread, so that the other one finds it taken
  std::thread([&] {
    put(queue, 0, "ab");
    queue.put(6, "gh");
    put(queue, 2, "cd");
  }).join();
  EXPECT_EQ(sink.content(), "");
  turn.unlock();
  put(queue, 4, "ef");
  EXPECT_EQ(sink.content(), "abcdefgh");
}

TEST(WriteQueue, WaitsOnlyWhenItsBuffersAreFull) {
  OneWriterSink sink;
  std::mutex turn;
  WriteQueue queue(sink, turn, 2);
  turn.lock();
  std::thread writer([&] {
    put(queue, 0, "ab");
    put(queue, 2, "cd");
  });
  EXPECT_EQ(sink.content(), "");
  turn.unlock();
  writer.join();
  EXPECT_EQ(sink.content(), "abcd");
}

TEST(WriteQueue, DoesNotCareForTurnsWhereASinkTakesSeveralWriters) {
  MemoryPositionalSink sink;
  std::mutex turn;
  const std::lock_guard other(turn);
  WriteQueue queue(sink, turn, 4);
  std::thread([&] { put(queue, 0, "ab"); }).join();
  EXPECT_EQ(sink.content(), "ab");
  queue.put(2, "cd");
  EXPECT_EQ(sink.content(), "abcd");
}

TEST(WriteQueue, KeepsTheOrderOfWhatIsPut) {
  MemoryPositionalSink sink;
  std::mutex turn;
  WriteQueue queue(sink, turn, 1);
  queue.put(0, "header");
  put(queue, 6, "payload");
  EXPECT_EQ(sink.writes(), 2U);
  EXPECT_EQ(sink.content(), "headerpayload");
}

TEST(WriteQueue, PassesOnWhatTheSinkThrowsAndGivesTheTurnBack) {
  class Full final : public PositionalSink {
    void write_at(std::uint64_t, Bytes) override { throw std::runtime_error("full"); }
    [[nodiscard]] bool takes_one_writer() const override { return true; }
  } sink;
  std::mutex turn;
  WriteQueue queue(sink, turn, 2);
  EXPECT_THROW(put(queue, 0, "ab"), std::runtime_error);
  EXPECT_TRUE(turn.try_lock());
  turn.unlock();
}

}  // namespace
}  // namespace fsdpckpt
