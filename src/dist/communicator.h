// What the ranks of a run need of each other: a few collectives over bytes. One implementation is c10d's (torch/), the
// tests have another of threads; a further backend needs only this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace fsdpckpt {

/// Bytes that go to, or come from, one rank.
struct Parcel {
  int rank = 0;
  MutableBytes bytes;
};

/// Parcels on their way. Their memory belongs to the caller and must stay until wait() has returned or thrown.
class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;
  /// Returns when all parcels are there.
  virtual void wait() = 0;
};

/// Bytes that this rank gave to each kind of collective.
struct MovedBytes {
  std::uint64_t broadcast = 0, all_gather = 0, send = 0, reduce_scatter = 0;
};

/// All ranks must make the same calls in the same order, from one thread. Every call throws Error(ranks) when another
/// rank is gone or does not answer in time; after that nothing more can be said to the others.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// "c10d gloo, LibTorch 2.13.0", for people.
  [[nodiscard]] virtual std::string backend() const = 0;

  /// The bytes of `root` replace those of all others.
  virtual void broadcast(MutableBytes bytes, int root) = 0;
  /// `all` holds size() times as many bytes as `mine`, by rank.
  virtual void all_gather(Bytes mine, MutableBytes all) = 0;
  /// `all` holds a block of mine.size() bytes for each rank; this rank gets the sum (modulo 256) of its blocks.
  virtual void reduce_scatter(Bytes all, MutableBytes mine) = 0;
  /// Starts sending and receiving; what one rank sends to another, that one must receive in the same call, equally
  /// long. At most one parcel for each rank; no empty ones. A parcel to this rank itself is allowed.
  virtual std::unique_ptr<Transfer> start(const std::vector<Parcel>& send, const std::vector<Parcel>& receive) = 0;

  [[nodiscard]] const MovedBytes& moved() const { return moved_; }

 protected:
  MovedBytes moved_;
};

}  // namespace fsdpckpt
