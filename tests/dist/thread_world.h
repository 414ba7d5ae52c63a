// A world of ranks that are threads of the test: every collective is a copy between two barriers, and says so when
// ranks do not do the same thing at the same time.
#pragma once

#include <fsdpckpt/error.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "dist/communicator.h"

namespace fsdpckpt::test {

/// Where the threads meet. A rank that leaves by an exception ends the waiting of the others.
class MeetingPoint {
 public:
  explicit MeetingPoint(int size) : posts_(static_cast<std::size_t>(size)) {}

  struct Post {
    char what = ' ';
    Bytes bytes;
    std::vector<Parcel> parcels;
  };

  /// Shows `post` to all, runs `look` on the posts of all, and returns when everybody has looked.
  void meet(int rank, Post post, const std::function<void(const std::vector<Post>&)>& look) {
    posts_[static_cast<std::size_t>(rank)] = std::move(post);
    wait();
    const bool is_same = std::ranges::all_of(posts_, [&](const Post& other) { return other.what == posts_[0].what; });
    if (is_same) look(posts_);
    wait();
    if (!is_same) throw Error(ErrorKind::bug, "the ranks do different things");
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    changed_.notify_all();
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    const std::size_t turn = turn_;
    if (++waiting_ == posts_.size()) {
      waiting_ = 0;
      ++turn_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return turn_ != turn || is_broken_; });
    if (turn_ == turn) throw Error(ErrorKind::ranks, "a rank is gone");
  }

  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0, turn_ = 0;
  bool is_broken_ = false;
};

class ThreadWorld final : public Communicator {
 public:
  ThreadWorld(MeetingPoint& place, int rank, int size) : place_(place), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string backend() const override { return "threads"; }

  void broadcast(MutableBytes bytes, int root) override {
    place_.meet(rank_, {'b', bytes, {}}, [&](const auto& posts) {
      const Bytes from = posts[static_cast<std::size_t>(root)].bytes;
      require(from.size() == bytes.size());
      if (root != rank_) std::ranges::copy(from, bytes.begin());
    });
  }

  void all_gather(Bytes mine, MutableBytes all) override {
    place_.meet(rank_, {'g', mine, {}}, [&](const auto& posts) {
      require(all.size() == mine.size() * posts.size());
      for (std::size_t i = 0; i < posts.size(); ++i) {
        require(posts[i].bytes.size() == mine.size());
        std::ranges::copy(posts[i].bytes, all.subspan(i * mine.size()).begin());
      }
    });
  }

  void reduce_scatter(Bytes all, MutableBytes mine) override {
    place_.meet(rank_, {'r', all, {}}, [&](const auto& posts) {
      std::ranges::fill(mine, std::byte{0});
      for (const auto& post : posts) {
        require(post.bytes.size() == mine.size() * posts.size());
        for (std::size_t i = 0; i < mine.size(); ++i) {
          const std::byte added = post.bytes[static_cast<std::size_t>(rank_) * mine.size() + i];
          mine[i] = static_cast<std::byte>(std::to_integer<unsigned>(mine[i]) + std::to_integer<unsigned>(added));
        }
      }
    });
  }

  std::unique_ptr<Transfer> start(const std::vector<Parcel>& send, const std::vector<Parcel>& receive) override {
    std::size_t sent_here = 0;
    place_.meet(rank_, {'s', {}, send}, [&](const auto& posts) {
      for (std::size_t i = 0; i < posts.size(); ++i) {
        for (const Parcel& parcel : posts[i].parcels) {
          if (parcel.rank != rank_) continue;
          const auto to = std::ranges::find(receive, static_cast<int>(i), &Parcel::rank);
          require(to != receive.end() && to->bytes.size() == parcel.bytes.size());
          std::ranges::copy(parcel.bytes, to->bytes.begin());
          ++sent_here;
        }
      }
    });
    require(sent_here == receive.size());
    for (const Parcel& parcel : send) moved_.send += parcel.bytes.size();
    struct Done : Transfer {
      void wait() override {}
    };
    return std::make_unique<Done>();
  }

 private:
  static void require(bool holds) {
    if (!holds) throw Error(ErrorKind::bug, "the ranks' parcels do not fit each other");
  }

  MeetingPoint& place_;
  int rank_, size_;
};

/// Runs `work` on `size` ranks; returns what each threw, by rank.
inline std::vector<std::exception_ptr> run_world(int size, const std::function<void(Communicator&)>& work) {
  MeetingPoint place(size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadWorld world(place, rank, size);
      try {
        work(world);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        place.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace fsdpckpt::test
