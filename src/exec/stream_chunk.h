// A compressed chunk: its item is a zstd stream, which can only be decoded front to back. Pieces are asked for in
// ascending order by one thread; each byte is decoded once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "formats/payload.h"
#include "io/byte_reader.h"
#include "io/file_set.h"
#include "zip/forward_reader.h"

namespace fsdpckpt {

class StreamChunk {
 public:
  StreamChunk();
  ~StreamChunk();

  /// The bytes are a storage record of an object's archive, `skip` decoded bytes behind its start, instead of the one
  /// tensor.
  void set_storage(std::uint64_t skip, std::uint64_t size, std::uint32_t crc);

  /// Fills `out` with the chunk's bytes from `offset` on; offsets ascend from call to call without overlap.
  /// Throws Error(input) when the stream is broken or the item is not what the metadata says.
  void read(const FileSet& files, const Extent& extent, const ExpectedChunk& expected, std::uint64_t offset,
            MutableBytes out);

  /// What is still to be done to the elements that read() gives.
  [[nodiscard]] const LazyBits& lazy() const { return lazy_; }

  struct Checksums {
    std::uint32_t seen = 0;
    std::uint32_t stored = 0;  ///< 0: none
  };
  /// The checksums of the storage that holds the chunk. Call once, after the chunk's last byte: reads what follows it
  /// in the storage and in the item. Throws Error(input) when the stream does not end there as it should.
  Checksums finish();

 private:
  void open(const FileSet& files, const Extent& extent, const ExpectedChunk& expected);
  void find_tensor(const ExpectedChunk& expected);
  void finish_pickle(std::uint64_t begin);
  void take(MutableBytes out);
  void pass(std::uint64_t count);
  void read_to_end();
  void make_row_major(const ExpectedChunk& expected, const std::vector<std::int64_t>& strides);

  struct Storage {
    std::uint64_t skip, size;
    std::uint32_t crc;
  };
  std::optional<Storage> storage_;
  std::unique_ptr<Source> file_;
  std::unique_ptr<Source> item_;
  std::unique_ptr<ByteReader> bytes_;
  std::unique_ptr<zip::ForwardReader> archive_;
  zip::LocalHeader header_;
  std::uint64_t size_ = 0;   ///< bytes of the storage record
  std::uint64_t start_ = 0;  ///< of the chunk in it
  std::uint64_t at_ = 0;     ///< of its bytes taken so far
  std::uint32_t seen_ = 0;   ///< their checksum
  LazyBits lazy_;
  std::vector<std::byte> dense_;  ///< a non-contiguous chunk, put in order
};

}  // namespace fsdpckpt
