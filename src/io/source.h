// Where bytes come from. A Source is a readable run of bytes with random access; files, slices of files
// and memory are sources. Nothing here knows what the bytes mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace fsdpckpt {

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills all of `out` from `offset`. Throws Error(input) when the range leaves the source and
  /// Error(io) when reading fails; both name the path. Safe from several threads.
  virtual void read_at(std::uint64_t offset, MutableBytes out) const = 0;
  /// The name for messages: a path, with "@offset" for a slice.
  [[nodiscard]] virtual std::string name() const = 0;
};

/// Bytes in memory that the caller owns and keeps alive.
class MemorySource final : public Source {
 public:
  explicit MemorySource(Bytes bytes, std::string name = "memory") : bytes_(bytes), name_(std::move(name)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read_at(std::uint64_t offset, MutableBytes out) const override;
  [[nodiscard]] std::string name() const override { return name_; }

 private:
  Bytes bytes_;
  std::string name_;
};

/// `length` bytes of another source from `offset`; the parent must outlive it.
/// The constructor throws Error(input) when the slice leaves the parent.
class SliceSource final : public Source {
 public:
  SliceSource(const Source& parent, std::uint64_t offset, std::uint64_t length);
  [[nodiscard]] std::uint64_t size() const override { return length_; }
  void read_at(std::uint64_t offset, MutableBytes out) const override;
  [[nodiscard]] std::string name() const override;

 private:
  const Source& parent_;
  std::uint64_t offset_;
  std::uint64_t length_;
};

/// A source whose first and last `window` bytes are read once at construction, so that the many small
/// reads of an archive's structure cost two system calls. The parent must outlive it.
class EndsCachedSource final : public Source {
 public:
  explicit EndsCachedSource(const Source& parent, std::uint64_t window = 8192);
  [[nodiscard]] std::uint64_t size() const override { return parent_.size(); }
  void read_at(std::uint64_t offset, MutableBytes out) const override;
  [[nodiscard]] std::string name() const override { return parent_.name(); }

 private:
  const Source& parent_;
  std::uint64_t tail_at_ = 0;
  std::vector<std::byte> head_;
  std::vector<std::byte> tail_;
};

}  // namespace fsdpckpt
