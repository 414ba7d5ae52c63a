// What names of files tell of ranks: pure text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fsdpckpt {

/// The number behind the last "rank" in a name, as in "model_world_size_2_rank_1.pt", "optimizer_rank0.bin" or
/// "rank-3.pt"; nothing when there is none.
std::optional<std::uint64_t> rank_in(std::string_view name);

/// True for "__3_0.distcp": a rank's file, as torch's FileSystemWriter names it.
bool is_rank_file(std::string_view name);

}  // namespace fsdpckpt
