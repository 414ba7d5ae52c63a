#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "base/text.h"
#include "io/errors.h"
#include "io/output_name.h"
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

}  // namespace

AtomicFile::AtomicFile(std::string target, std::uint64_t size, AtomicFileOptions options, NotCreated)
    : target_(std::move(target)), size_(size), options_(options) {}

// The other constructor makes an object whose destructor runs even when what follows throws.
AtomicFile::AtomicFile(std::string target, std::uint64_t size, AtomicFileOptions options)
    : AtomicFile(std::move(target), size, options, NotCreated{}) {
  check_writable(target_, size, options);
  stretch_bytes_ = std::vector<std::atomic<std::uint64_t>>(size / kStretch + 1);
  create();
  reserve();
}

AtomicFile::~AtomicFile() {
  if (temporary_exists_) ::unlink(temporary_.c_str());
}

void AtomicFile::create() {
  constexpr mode_t kMode = 0666;  // the umask applies, as for any other file
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int attempt = 0; attempt < kNameAttempts && !descriptor_.is_open(); ++attempt) {
    temporary_ = random_temporary(target_);
    descriptor_ = Descriptor(::open(temporary_.c_str(), kFlags, kMode));
    if (!descriptor_.is_open() && errno != EEXIST && errno != EINTR) break;
  }
  if (!descriptor_.is_open()) throw system_error("create temporary", errno, target_);
  temporary_exists_ = true;
  takes_one_writer_ = locks_file_for_writing(descriptor_.number());
}

/// Finds out early that the disk is full. Not posix_fallocate, which would write zeros where the file
/// system cannot reserve.
void AtomicFile::reserve() {
  if (size_ == 0) return;
  const auto size = static_cast<off_t>(size_);
  int result;
  do {
    result = ::fallocate(descriptor_.number(), 0, 0, size);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const bool unsupported = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  if (!unsupported) throw system_error(cat("reserve ", size_, " bytes"), errno, target_);
  if (::ftruncate(descriptor_.number(), size) != 0) throw system_error("set the file's size", errno, target_);
}

void AtomicFile::write_at(std::uint64_t offset, Bytes bytes) {
  if (offset > size_ || bytes.size() > size_ - offset) {
    throw Error(ErrorKind::bug, cat("write of ", bytes.size(), " bytes at ", offset, " leaves a file of ", size_),
                {.path = target_});
  }
  std::uint64_t at = offset;
  for (Bytes rest = bytes; !rest.empty();) {
    const ssize_t written = ::pwrite(descriptor_.number(), rest.data(), rest.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("write", errno, target_);
    rest = rest.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
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
    // Errors of writing show at fsync; that the call is unknown here costs only time.
    ::sync_file_range(descriptor_.number(), static_cast<off_t>(start), static_cast<off_t>(whole),
                      SYNC_FILE_RANGE_WRITE);
    if (size_ > kDropAbove && stretch >= kStretchesBehind) {
      // Batch systems count a job's cached pages; only the clean ones go.
      ::posix_fadvise(descriptor_.number(), static_cast<off_t>(start - kStretchesBehind * kStretch),
                      static_cast<off_t>(kStretch), POSIX_FADV_DONTNEED);
    }
  }
}

void AtomicFile::read_at(std::uint64_t offset, MutableBytes out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_.number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read back", errno, target_);
    if (got == 0) throw too_short("file", offset, out.size(), size_, target_);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void AtomicFile::drop_cache() {
  sync_data();
  ::posix_fadvise(descriptor_.number(), 0, 0, POSIX_FADV_DONTNEED);
}

void AtomicFile::sync_data() {
  if (::fsync(descriptor_.number()) != 0) throw system_error("sync", errno, target_);
}

/// Network file systems report failed writes only here. On Linux the descriptor is closed after EINTR too.
void AtomicFile::close_checked() {
  if (::close(descriptor_.release()) != 0 && errno != EINTR) throw system_error("close", errno, target_);
}

void AtomicFile::commit() {
  if (options_.sync) sync_data();
  close_checked();
  rename_into_place(temporary_, target_, options_.replace);
  temporary_exists_ = false;
  if (options_.sync) sync_folder(folder_of(target_));
}

const std::string& AtomicFile::temporary_path() const { return temporary_; }

}  // namespace fsdpckpt
