// One record of the output at work: the chunks that feed it, in the order of their first elements, each with where its
// bytes were found and how much of its checksum is known. Shared by the threads that fill tiles of the record.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "exec/stream_chunk.h"
#include "formats/payload.h"
#include "formats/torch_writer.h"
#include "io/crc32.h"
#include "plan/pieces.h"

namespace fsdpckpt {

/// A chunk that is read, piece by piece.
struct SourceChunk {
  Chunk chunk;
  ExpectedChunk expected;
  BoxInTensor box;
  std::uint64_t bytes = 0;  ///< of its elements

  std::once_flag found;                 ///< guards payload
  Payload payload;                      ///< offsets are the file's
  std::unique_ptr<StreamChunk> stream;  ///< compressed chunks: read by one thread, front to back
  Crc32Parts crc;
  std::vector<SourceChunk*> replicas;  ///< other copies of the same box, compared with this one
  int reader = -1;                     ///< of a compressed chunk: the rank that reads all of it, once one was chosen

  explicit SourceChunk(std::uint64_t size) : bytes(size), crc(size) {}
};

class RecordWork {
 public:
  /// Throws Error(input) naming entry and box when the chunks do not tile the tensor.
  RecordWork(const Checkpoint::Data& checkpoint, const OutputRecord& record, std::uint64_t size);

  /// The bytes of a record that was made here, null for others.
  [[nodiscard]] const std::string* text() const { return text_; }
  [[nodiscard]] std::uint32_t item_size() const { return item_size_; }
  [[nodiscard]] Crc32Parts& crc() { return crc_; }
  /// Calls `use(chunk, piece)` for every chunk with elements in [begin, end) of the tensor.
  template <class Use>
  void for_each_piece(std::uint64_t begin, std::uint64_t end, Use&& use) {
    for (std::size_t i = first_reaching(begin); i < order_.size() && order_[i].first < end; ++i) {
      const Piece piece = piece_of(order_[i].chunk->box, begin, end);
      if (piece.count > 0) use(*order_[i].chunk, piece);
    }
  }

 private:
  struct Ordered {
    SourceChunk* chunk;
    std::uint64_t first;    ///< its first element in the tensor
    std::uint64_t reached;  ///< the furthest end of this and all chunks before it
  };
  void add_tensor(const Checkpoint::Data& checkpoint, EntryId id);
  void add_storage(const StoredStorage& storage);
  SourceChunk& new_chunk(const Entry& entry, const Chunk& chunk);
  void order(SourceChunk& chunk);
  [[nodiscard]] std::size_t first_reaching(std::uint64_t begin) const;

  const std::string* text_ = nullptr;
  std::string_view name_;  ///< FQN of the entry, for messages
  std::uint32_t item_size_ = 1;
  std::int64_t storage_shape_ = 0, storage_offset_ = 0;  ///< a storage is a tensor of bytes in one chunk
  std::deque<SourceChunk> chunks_;
  std::vector<Ordered> order_;
  Crc32Parts crc_;
};

}  // namespace fsdpckpt
