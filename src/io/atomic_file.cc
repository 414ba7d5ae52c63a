#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "base/text.h"
#include "io/errors.h"
#include "io/output_name.h"
#include "io/positional_io.h"
#include "io/rename.h"
#include "io/write_lock.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kStretch = 64 << 20;
constexpr std::uint64_t kDropAbove = 1ULL << 30;  ///< files this large leave the page cache as they are written
constexpr std::uint64_t kStretchesBehind = 4;     ///< by then the disk is done with a stretch
constexpr int kNameAttempts = 100;

std::string random_temporary(const std::string& target) {
  std::random_device random;
  const std::string folder = target.substr(0, target.find_last_of('/') + 1);
  return cat(folder, temporary_prefix(target), ::getpid(), '-', random(), kTemporarySuffix);
}

bool is_of_the_disk(int number) { return number == EIO || number == ENOSPC || number == EDQUOT; }

}  // namespace

AtomicFile::AtomicFile(std::string target, std::uint64_t size, const AtomicFileOptions& options, FileSystem& files,
                       NotCreated)
    : target_(std::move(target)), size_(size), options_(options), files_(files) {}

// The other constructor makes an object whose destructor runs even when what follows throws.
AtomicFile::AtomicFile(std::string target, std::uint64_t size, const AtomicFileOptions& options, FileSystem& files)
    : AtomicFile(std::move(target), size, options, files, NotCreated{}) {
  check_writable(target_, size, options, files);
  stretch_bytes_ = std::vector<std::atomic<std::uint64_t>>(size / kStretch + 1);
  create();
  reserve();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) files_.close(descriptor_);
  if (temporary_exists_) uninterrupted([&] { return files_.unlink(temporary_); });
}

void AtomicFile::create() {
  constexpr mode_t kMode = 0666;  // the umask applies, as for any other file
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int attempt = 0; attempt < kNameAttempts && descriptor_ < 0; ++attempt) {
    temporary_ = random_temporary(target_);
    if (options_.before_create) options_.before_create(temporary_);
    descriptor_ = files_.open(temporary_, kFlags, kMode);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) throw system_error("create temporary", errno, target_);
  temporary_exists_ = true;
  takes_one_writer_ = locks_file_for_writing(descriptor_);
}

/// Finds out early that the disk is full. Not posix_fallocate, which would write zeros where the file
/// system cannot reserve.
void AtomicFile::reserve() {
  if (size_ == 0) return;
  if (uninterrupted([&] { return files_.fallocate(descriptor_, size_); }) == 0) return;
  const bool unsupported = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  if (!unsupported) throw system_error(cat("reserve ", size_, " bytes"), errno, target_);
  if (uninterrupted([&] { return files_.ftruncate(descriptor_, size_); }) != 0)
    throw system_error("set the file's size", errno, target_);
}

void AtomicFile::write_at(std::uint64_t offset, Bytes bytes) {
  if (offset > size_ || bytes.size() > size_ - offset) {
    throw Error(ErrorKind::bug, cat("write of ", bytes.size(), " bytes at ", offset, " leaves a file of ", size_),
                {.path = target_});
  }
  write_all(files_, descriptor_, offset, bytes, target_);
  if (options_.sync) start_writeback(offset, bytes.size());
}

/// The disk then works while the rest is still being computed, and the final fsync finds little to do.
void AtomicFile::start_writeback(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + length;
  for (std::uint64_t stretch = offset / kStretch; stretch * kStretch < end; ++stretch) {
    const std::uint64_t start = stretch * kStretch;
    const std::uint64_t whole = std::min(kStretch, size_ - start);
    const std::uint64_t added = std::min(end, start + whole) - std::max(offset, start);
    const std::uint64_t before = stretch_bytes_[stretch].fetch_add(added, std::memory_order_relaxed);
    if (before >= whole || before + added < whole) continue;
    // That the call is unknown here costs only time; what it found of the disk, fsync may not find again.
    if (files_.start_writeback(descriptor_, start, whole) != 0 && is_of_the_disk(errno))
      throw system_error("write", errno, target_);
    if (size_ > kDropAbove && stretch >= kStretchesBehind) {
      // Batch systems count a job's cached pages; only the clean ones go.
      files_.drop_pages(descriptor_, start - kStretchesBehind * kStretch, kStretch);
    }
  }
}

void AtomicFile::read_at(std::uint64_t offset, MutableBytes out) const {
  read_all(files_, descriptor_, offset, out, target_);
}

void AtomicFile::drop_cache() {
  sync_data();
  files_.drop_pages(descriptor_, 0, 0);
}

/// A failed fsync is final: the kernel drops what it could not write, and another fsync would succeed without it.
void AtomicFile::sync_data() {
  if (uninterrupted([&] { return files_.fsync(descriptor_); }) != 0) throw system_error("sync", errno, target_);
}

/// Network file systems report failed writes only here. On Linux the descriptor is closed after EINTR too.
void AtomicFile::close_checked() {
  if (files_.close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) throw system_error("close", errno, target_);
}

void AtomicFile::commit(const std::function<void()>& before_name) {
  if (options_.sync) sync_data();
  close_checked();
  if (before_name) before_name();
  rename_into_place(temporary_, target_, options_.replace, files_);
  temporary_exists_ = false;
  if (options_.sync) sync_name_of(target_, files_);
}

}  // namespace fsdpckpt
