// SharedFiles over a communicator.
#pragma once

#include "dist/communicator.h"
#include "io/shared_files.h"

namespace fsdpckpt {

class WorldFiles final : public SharedFiles {
 public:
  /// `world` must outlive it.
  explicit WorldFiles(Communicator& world) : world_(world) {}

  std::vector<std::string> list(const std::function<std::vector<std::string>()>& here) override;
  Found find(const std::function<std::optional<std::uint64_t>()>& here) override;
  void read(const Found& file, const std::function<void(MutableBytes)>& here, MutableBytes out) override;
  void on_first_rank(const std::function<void()>& work) override;

 private:
  Communicator& world_;
};

}  // namespace fsdpckpt
