// The fixed parts of a zip archive as they lie in the file, little-endian and unaligned. Field names and section
// numbers: PKWARE APPNOTE.TXT 6.3.10. Only what torch's container (caffe2/serialize/inline_container.cc on miniz)
// uses: stored records, one disk, zip64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsdpckpt::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;       // PK\3\4
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;  // PK\7\8
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;     // PK\1\2
inline constexpr std::uint32_t kZip64EndSignature = 0x06064b50;    // PK\6\6
inline constexpr std::uint32_t kLocatorSignature = 0x07064b50;     // PK\6\7
inline constexpr std::uint32_t kEndSignature = 0x06054b50;         // PK\5\6

/// A 16 or 32-bit field with this value says that the real one is in a zip64 structure (4.4.1.4).
inline constexpr std::uint16_t kSaturated16 = 0xffff;
inline constexpr std::uint32_t kSaturated32 = 0xffffffff;

inline constexpr std::uint16_t kFlagEncrypted = 0x0001;   // 4.4.4, bit 0
inline constexpr std::uint16_t kFlagDescriptor = 0x0008;  // bit 3: sizes and CRC follow the payload
inline constexpr std::uint16_t kFlagUtf8 = 0x0800;        // bit 11: the name is UTF-8
inline constexpr std::uint16_t kMethodStored = 0;

inline constexpr std::uint16_t kZip64Extra = 0x0001;    // 4.5.3
inline constexpr std::uint16_t kPaddingExtra = 0x4246;  // "FB": inline_container.cc, kPadding
inline constexpr char kPaddingFill = 'Z';

struct [[gnu::packed]] LocalBytes {  // 4.3.7
  std::uint32_t signature;
  std::uint16_t version_needed;
  std::uint16_t flags;
  std::uint16_t method;
  std::uint16_t time;
  std::uint16_t date;
  std::uint32_t crc;
  std::uint32_t stored_size;
  std::uint32_t size;
  std::uint16_t name_length;
  std::uint16_t extra_length;
};
static_assert(sizeof(LocalBytes) == 30);

struct [[gnu::packed]] CentralBytes {  // 4.3.12
  std::uint32_t signature;
  std::uint16_t version_made_by;
  std::uint16_t version_needed;
  std::uint16_t flags;
  std::uint16_t method;
  std::uint16_t time;
  std::uint16_t date;
  std::uint32_t crc;
  std::uint32_t stored_size;
  std::uint32_t size;
  std::uint16_t name_length;
  std::uint16_t extra_length;
  std::uint16_t comment_length;
  std::uint16_t disk;
  std::uint16_t internal_attributes;
  std::uint32_t external_attributes;
  std::uint32_t header_offset;
};
static_assert(sizeof(CentralBytes) == 46);

struct [[gnu::packed]] Descriptor32Bytes {  // 4.3.9
  std::uint32_t signature;
  std::uint32_t crc;
  std::uint32_t stored_size;
  std::uint32_t size;
};
static_assert(sizeof(Descriptor32Bytes) == 16);

struct [[gnu::packed]] Descriptor64Bytes {  // 4.3.9.2, of a record with a zip64 extra
  std::uint32_t signature;
  std::uint32_t crc;
  std::uint64_t stored_size;
  std::uint64_t size;
};
static_assert(sizeof(Descriptor64Bytes) == 24);

struct [[gnu::packed]] Zip64EndBytes {  // 4.3.14
  std::uint32_t signature;
  std::uint64_t record_size;  ///< of what follows this field
  std::uint16_t version_made_by;
  std::uint16_t version_needed;
  std::uint32_t disk;
  std::uint32_t directory_disk;
  std::uint64_t count_on_disk;
  std::uint64_t count;
  std::uint64_t directory_size;
  std::uint64_t directory_offset;
};
static_assert(sizeof(Zip64EndBytes) == 56);

struct [[gnu::packed]] LocatorBytes {  // 4.3.15
  std::uint32_t signature;
  std::uint32_t disk;
  std::uint64_t zip64_end_offset;
  std::uint32_t disks;
};
static_assert(sizeof(LocatorBytes) == 20);

struct [[gnu::packed]] EndBytes {  // 4.3.16
  std::uint32_t signature;
  std::uint16_t disk;
  std::uint16_t directory_disk;
  std::uint16_t count_on_disk;
  std::uint16_t count;
  std::uint32_t directory_size;
  std::uint32_t directory_offset;
  std::uint16_t comment_length;
};
static_assert(sizeof(EndBytes) == 22);

}  // namespace fsdpckpt::zip
