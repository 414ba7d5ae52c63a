// How fast payload moves between ranks: through the rounds of an exchange as the engine makes them, and through plain
// send and recv and all_to_all of c10d, the same bytes in the same buckets. Run by exchange_rate.py, one process a
// rank. Rank 0 prints GB/s of payload, summed over the ranks that receive.
#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "dist/agreement.h"
#include "torch/c10d_world.h"

namespace {

using namespace fsdpckpt;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRounds = 64;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The engine's rounds: what is on its way while the round before it ends, reports gathered.
double exchange(Communicator& world, std::size_t bytes) {
  const auto ranks = static_cast<std::size_t>(world.size());
  std::vector<std::vector<std::byte>> out(ranks), in(ranks);
  std::vector<Parcel> send, receive;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (static_cast<int>(rank) == world.rank()) continue;
    out[rank].resize(bytes / (ranks - 1));
    in[rank].resize(bytes / (ranks - 1));
    send.push_back({static_cast<int>(rank), out[rank]});
    receive.push_back({static_cast<int>(rank), in[rank]});
  }
  const std::vector<std::byte> report(512);
  std::vector<std::byte> reports(512 * ranks);
  agree(world, [] {});
  const Clock::time_point start = Clock::now();
  for (std::size_t round = 0; round < kRounds; ++round) {
    world.start(send, receive)->wait();
    world.all_gather(report, reports);
  }
  return seconds_since(start);
}

class Plain {
 public:
  Plain(int rank, int size, std::uint16_t port) : rank_(rank), size_(size) {
    c10d::TCPStoreOptions store;
    store.port = port;
    store.isServer = rank == 0;
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", store), rank,
                                                         size, options);
  }

  double send_recv(std::int64_t bytes) {
    std::vector<at::Tensor> out, in;
    for (int rank = 0; rank < size_; ++rank) {
      out.push_back(at::zeros({bytes / (size_ - 1)}, at::kByte));
      in.push_back(at::zeros({bytes / (size_ - 1)}, at::kByte));
    }
    group_->barrier()->wait();
    const Clock::time_point start = Clock::now();
    for (std::size_t round = 0; round < kRounds; ++round) {
      std::vector<decltype(group_->send(out, 0, 0))> works;
      for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        std::vector<at::Tensor> from{in[static_cast<std::size_t>(rank)]}, to{out[static_cast<std::size_t>(rank)]};
        works.push_back(group_->recv(from, rank, static_cast<int>(round)));
        works.push_back(group_->send(to, rank, static_cast<int>(round)));
      }
      for (auto& work : works) work->wait();
    }
    group_->barrier()->wait();
    return seconds_since(start);
  }

  double all_to_all(std::int64_t bytes) {
    at::Tensor out = at::zeros({bytes / (size_ - 1) * size_}, at::kByte), in = at::zeros_like(out);
    std::vector<std::int64_t> even;
    group_->barrier()->wait();
    const Clock::time_point start = Clock::now();
    for (std::size_t round = 0; round < kRounds; ++round) group_->alltoall_base(in, out, even, even)->wait();
    group_->barrier()->wait();
    return seconds_since(start);
  }

 private:
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  int rank_, size_;
};

}  // namespace

/// exchange_rate RANK SIZE PORT MIB-A-BUCKET
int main(int, char** argv) {
  const int rank = std::atoi(argv[1]), size = std::atoi(argv[2]);
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[3]));
  const std::size_t bytes = std::strtoull(argv[4], nullptr, 10) << 20;
  const double payload = static_cast<double>(bytes) * size * kRounds / 1e9;
  double exchanged = 1e9, sent = 1e9, all_to_all = 1e9;
  Plain plain(rank, size, port);
  const RankEnvironment environment{.launcher = RankLauncher::torchrun,
                                    .rank = rank,
                                    .world_size = size,
                                    .address = "127.0.0.1",
                                    .port = static_cast<std::uint16_t>(port + 1)};
  const auto world = meet_world(environment, std::chrono::seconds(60));
  for (int repetition = 0; repetition < 5; ++repetition) {
    exchanged = std::min(exchanged, exchange(*world, bytes));
    sent = std::min(sent, plain.send_recv(static_cast<std::int64_t>(bytes)));
    all_to_all = std::min(all_to_all, plain.all_to_all(static_cast<std::int64_t>(bytes)));
  }
  agree(*world, [] {});
  if (rank == 0)
    std::printf("%d ranks, buckets of %zu MiB: exchange %.2f, send and recv %.2f, all_to_all %.2f GB/s\n", size,
                bytes >> 20, payload / exchanged, payload / sent, payload / all_to_all);
  std::fflush(stdout);
  ::_exit(0);
}
