#include "torch/c10d_world.h"

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <c10/util/intrusive_ptr.h>
#include <fsdpckpt/error.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "base/text.h"
#include "dist/await_server.h"
#include "dist/control.h"
#include "dist/duration_text.h"
#include "dist/local_address.h"

namespace fsdpckpt {
namespace {

using c10d::ProcessGroupGloo;
using Work = decltype(std::declval<ProcessGroupGloo&>().send(std::declval<std::vector<at::Tensor>&>(), 0, 0));

/// For people: the first line of c10d's text, without the places in its sources that come before and the stack trace
/// that comes after.
std::string plain(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find('\n'), text.find(". This is typically")));
  for (std::size_t end = 0; line.starts_with('[') && (end = line.find("] ")) != std::string::npos;)
    line.erase(0, end + 2);
  return line;
}

/// What c10d throws becomes an Error(ranks).
template <class Call>
auto speaking(const char* doing, const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw Error(ErrorKind::ranks, cat("a rank is gone or does not answer (", doing, "): ", plain(error.what())));
  }
}

/// The bytes themselves, as collectives take them: uint8, since Gloo refuses some dtypes and float sums lose bits.
at::Tensor view(MutableBytes bytes) {
  return torch::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, torch::kByte);
}

at::Tensor view(Bytes bytes) {
  // Collectives take no constant tensors; they only read what is sent.
  return view(MutableBytes(const_cast<std::byte*>(bytes.data()), bytes.size()));  // NOLINT(*-const-cast)
}

class GlooTransfer final : public Transfer {
 public:
  explicit GlooTransfer(std::vector<Work> works) : works_(std::move(works)) {}
  ~GlooTransfer() override {
    try {
      wait();  // the memory must not be given back before
    } catch (const std::exception&) {
      works_.clear();  // the world is broken; who waits for it has been told
    }
  }
  void wait() override {
    speaking("exchange", [&] {
      for (Work& work : works_) work->wait();
    });
    works_.clear();
  }

 private:
  std::vector<Work> works_;
};

class GlooWorld final : public Communicator {
 public:
  GlooWorld(c10::intrusive_ptr<c10d::Store> store, const RankEnvironment& environment,
            std::chrono::milliseconds timeout)
      : store_(std::move(store)), rank_(environment.rank), size_(environment.world_size) {
    auto options = ProcessGroupGloo::Options::create(timeout);
    options->threads = 2;
    options->devices.push_back(device(environment));
    group_ = c10::make_intrusive<ProcessGroupGloo>(store_, rank_, size_, options);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string backend() const override { return cat("c10d gloo, LibTorch ", libtorch_version()); }

  void broadcast(MutableBytes bytes, int root) override {
    if (root == rank_) moved_.broadcast += bytes.size();
    speaking("broadcast", [&] {
      std::vector<at::Tensor> tensors{view(bytes)};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      options.rootTensor = 0;
      group_->broadcast(tensors, options)->wait();
    });
  }

  /// The list form, into views: Gloo of LibTorch 1.13 has no other.
  void all_gather(Bytes mine, MutableBytes all) override {
    moved_.all_gather += mine.size();
    speaking("all-gather", [&] {
      std::vector<std::vector<at::Tensor>> outputs(1);
      for (int rank = 0; rank < size_; ++rank)
        outputs[0].push_back(view(all.subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size())));
      std::vector<at::Tensor> inputs{view(mine)};
      group_->allgather(outputs, inputs)->wait();
    });
  }

  /// Gloo of LibTorch 1.13 has no reduce-scatter: an all-to-all and a sum here.
  void reduce_scatter(Bytes all, MutableBytes mine) override {
    moved_.reduce_scatter += all.size();
    speaking("reduce-scatter", [&] {
      std::vector<std::byte> blocks(all.size());
      at::Tensor output = view(MutableBytes(blocks)), input = view(all);
      std::vector<std::int64_t> even;
      group_->alltoall_base(output, input, even, even)->wait();
      at::Tensor sum = view(mine);
      at::sum_out(sum, output.view({size_, static_cast<std::int64_t>(mine.size())}), {0}, false, torch::kByte);
    });
  }

  std::unique_ptr<Transfer> start(const std::vector<Parcel>& send, const std::vector<Parcel>& receive) override {
    ++tag_;
    return speaking("exchange", [&]() -> std::unique_ptr<Transfer> {
      std::vector<Work> works;
      works.reserve(send.size() + receive.size());
      for (const Parcel& parcel : receive) {
        if (parcel.rank == rank_) continue;
        std::vector<at::Tensor> tensors{view(parcel.bytes)};
        works.push_back(group_->recv(tensors, parcel.rank, tag_));
      }
      for (const Parcel& parcel : send) {
        moved_.send += parcel.bytes.size();
        if (parcel.rank == rank_) {
          keep(parcel, receive);
          continue;
        }
        std::vector<at::Tensor> tensors{view(parcel.bytes)};
        works.push_back(group_->send(tensors, parcel.rank, tag_));
      }
      return std::make_unique<GlooTransfer>(std::move(works));
    });
  }

 private:
  static std::shared_ptr<::gloo::transport::Device> device(const RankEnvironment& environment) {
    if (environment.launcher == RankLauncher::own) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (interface != nullptr && *interface != '\0') return ProcessGroupGloo::createDeviceForInterface(interface);
    // Not what the host's own name leads to, which is often loopback.
    const std::string own = local_address_towards(environment.address, environment.port);
    if (!own.empty()) return ProcessGroupGloo::createDeviceForHostname(own);
    return ProcessGroupGloo::createDefaultDevice();
  }

  void keep(const Parcel& parcel, const std::vector<Parcel>& receive) const {
    for (const Parcel& own : receive) {
      if (own.rank == rank_) std::copy(parcel.bytes.begin(), parcel.bytes.end(), own.bytes.begin());
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<ProcessGroupGloo> group_;
  int rank_;
  int size_;
  int tag_ = 0;
};

/// Where the store is, and who serves it.
struct Meeting {
  std::string address;
  std::uint16_t port = 0;
  bool is_served_here = false;
};

c10::intrusive_ptr<c10d::TCPStore> join_store(const Meeting& meeting, const RankEnvironment& environment,
                                              std::chrono::milliseconds timeout) {
  // A client of c10d waits for its server in steps of seconds, and longer than it is told to.
  if (!meeting.is_served_here) await_server(meeting.address, meeting.port, timeout);
  c10d::TCPStoreOptions options;
  options.port = meeting.port;
  options.isServer = meeting.is_served_here;
  options.numWorkers = environment.world_size;
  options.waitWorkers = false;
  options.timeout = timeout;
  return c10::make_intrusive<c10d::TCPStore>(meeting.address, options);
}

/// Our own launcher's ranks: the first takes a port from the system and tells it through the launcher.
c10::intrusive_ptr<c10d::TCPStore> own_store(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  const Control control(environment.control);
  const bool is_first = environment.rank == 0;
  const std::uint16_t port = is_first ? 0 : control.receive_port(timeout);
  control.watch_launcher();
  auto store = join_store({environment.address, port, is_first}, environment, timeout);
  if (is_first) control.send_port(store->getPort());
  return store;
}

/// torchrun's agent serves its port itself. A LibTorch of its generation joins that store; an older one cannot speak to
/// it, and its first rank serves another beside it.
Meeting launchers_meeting(const RankEnvironment& environment) {
  const bool is_first = environment.rank == 0;
  if (!environment.agent_store) return {environment.address, environment.port, is_first};
  if (TORCH_VERSION_MAJOR >= 2) return {environment.address, environment.port, false};
  const char* other = std::getenv("FSDPCKPT_STORE_PORT");
  const int port = other != nullptr ? std::atoi(other) : environment.port + 1;
  return {environment.address, static_cast<std::uint16_t>(port), is_first};
}

/// Waits until every rank has come to the store. Gloo would wait too, and not say for whom.
void await_all(c10d::Store& store, const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  const auto key_of = [](int rank) { return cat("here/", rank); };
  store.set(key_of(environment.rank), std::vector<std::uint8_t>{1});
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (int rank = 0; rank < environment.world_size; ++rank) {
    while (!store.check({key_of(rank)})) {
      if (std::chrono::steady_clock::now() >= deadline)
        throw Error(ErrorKind::ranks, cat("rank ", rank, " of ", environment.world_size, " did not come within ",
                                          duration_text(timeout)));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

/// LibTorch logs to stderr when it has to wait; what matters comes as an error.
void silence_log() {
#if TORCH_VERSION_MAJOR >= 2
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  c10::initLogging();
#endif
}

}  // namespace

std::string libtorch_version() { return cat(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH); }

std::unique_ptr<Communicator> meet_world(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  silence_log();
  try {
    auto store = environment.launcher == RankLauncher::own
                     ? own_store(environment, timeout)
                     : join_store(launchers_meeting(environment), environment, timeout);
    auto own = c10::make_intrusive<c10d::PrefixStore>(cat("fsdpckpt/", environment.run), store);
    await_all(*own, environment, timeout);
    return std::make_unique<GlooWorld>(own, environment, timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::ranks,
                cat("rank ", environment.rank, " of ", environment.world_size, " could not meet the others at ",
                    environment.address, ": ", plain(error.what())));
  }
}

}  // namespace fsdpckpt
