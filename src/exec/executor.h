// Fills the records of a planned torch file: threads take tiles and batches from one sequence, assemble them and write
// them to their places. Memory is buffers in flight, whatever the checkpoint's size.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "exec/chunk_reader.h"
#include "formats/torch_writer.h"
#include "io/sink.h"

namespace fsdpckpt {

struct ExecutorOptions {
  unsigned threads = 1;
  std::uint64_t tile_bytes = 1 << 20;  ///< a multiple of 4096
  std::size_t buffers = 1;  ///< of a tile, for each thread: finished tiles that wait for their turn to be written
  ReadOptions read;
  bool in_order =
      false;  ///< the sink takes bytes front to back only: one thread, local headers (without CRCs) before payloads
  const std::atomic<int>* stop = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct ExecutorCounts {
  std::uint64_t chunks = 0;
  std::uint64_t chunks_unchecked = 0;
  std::uint64_t replicas = 0;
};

/// Writes all of the file: records, local headers, central directory. The first error of any thread stops all and is
/// thrown.
ExecutorCounts write_torch_file(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink,
                                const ExecutorOptions& options);

}  // namespace fsdpckpt
