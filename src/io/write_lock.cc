#include "io/write_lock.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace fsdpckpt {
namespace {

constexpr long kXfs = 0x58465342;  // fs/xfs/libxfs/xfs_format.h, XFS_SB_MAGIC

/// Linux 6.x: each takes inode_lock() (xfs, NFS: a lock of their own) around a buffered write. Lustre, GPFS, BeeGFS and
/// ZFS lock ranges.
constexpr std::array<long, 7> kLocking = {
    EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, NFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, kXfs};

}  // namespace

bool locks_file_for_writing(int descriptor) {
  struct statfs info {};
  if (::fstatfs(descriptor, &info) != 0) return false;
  return std::ranges::find(kLocking, static_cast<long>(info.f_type)) != kLocking.end();
}

}  // namespace fsdpckpt
