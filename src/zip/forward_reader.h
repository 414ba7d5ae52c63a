// A torch.save archive read front to back, as needed for a compressed stream that cannot seek: local
// headers only, sizes possibly 0 (torch writes data descriptors).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/byte_reader.h"
#include "zip/descriptor.h"

namespace fsdpckpt::zip {

struct LocalHeader {
  std::string name;             ///< full name
  bool has_descriptor = false;  ///< sizes and crc below are 0 and a descriptor follows the payload
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  bool is_zip64 = false;  ///< has a zip64 extra: the descriptor has 64-bit sizes
};

class ForwardReader {
 public:
  /// `bytes` stands at the first local header and must outlive the reader.
  explicit ForwardReader(ByteReader& bytes) : bytes_(bytes) {}

  /// Reads the next local header up to its payload; nothing at the central directory (and from then on). Before calling
  /// it again the caller must have consumed exactly the payload and, if has_descriptor, called read_descriptor().
  /// Throws Error(input) on anything but a stored, unencrypted record.
  std::optional<LocalHeader> next();
  /// Reads the descriptor behind a payload of `payload_size` bytes; Error(input) when its size disagrees.
  Descriptor read_descriptor(const LocalHeader& header, std::uint64_t payload_size);
  /// Passes over a payload and its descriptor, if any: by its size when the header knows it, else by looking for the
  /// descriptor within 1 MiB. Error(input) when there is none.
  void skip_payload(const LocalHeader& header);

 private:
  ByteReader& bytes_;
  bool done_ = false;  ///< the central directory was reached
};

}  // namespace fsdpckpt::zip
