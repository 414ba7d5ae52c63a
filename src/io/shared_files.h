// How the files of a checkpoint are looked at that may lie on the disks of several hosts: all ranks of a run ask the
// same in the same order, and all get the same answers, or the same error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace fsdpckpt {

class SharedFiles {
 public:
  SharedFiles() = default;
  SharedFiles(const SharedFiles&) = delete;
  SharedFiles& operator=(const SharedFiles&) = delete;
  virtual ~SharedFiles() = default;

  /// The names that any rank has, sorted, each once.
  virtual std::vector<std::string> list(const std::function<std::vector<std::string>()>& here) = 0;

  /// A file on all hosts. `holders`: whether each rank has it; empty when none does.
  struct Found {
    std::uint64_t size = 0;
    std::vector<bool> holders;
  };
  /// `here` gives the size of this rank's file, or nothing. Throws Error(input) when two have other sizes.
  virtual Found find(const std::function<std::optional<std::uint64_t>()>& here) = 0;

  /// The first holder reads, all get the bytes.
  virtual void read(const Found& file, const std::function<void(MutableBytes)>& here, MutableBytes out) = 0;

  /// Runs `work` on the first rank alone; what it throws there, all throw.
  virtual void on_first_rank(const std::function<void()>& work) = 0;
};

}  // namespace fsdpckpt
