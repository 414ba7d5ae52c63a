#include <fsdpckpt/error.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "base/text.h"
#include "io/byte_reader.h"

namespace fsdpckpt {
namespace {

constexpr int kWindowLogMax = 27;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct ZstdReader::State {
  explicit State(const Source& from)
      : source(from),
        context(ZSTD_createDCtx()),
        compressed(std::min<std::uint64_t>(ZSTD_DStreamInSize(), from.size())),
        decoded(kMaxView + ZSTD_DStreamOutSize()) {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  }

  /// Offset in the compressed source of the next byte to decode.
  [[nodiscard]] std::uint64_t position() const { return read_up_to - (input.size - input.pos); }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, what, {.path = source.name(), .offset = position()});
  }
  void load_input();
  std::size_t decode(MutableBytes out);

  const Source& source;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context;
  std::vector<std::byte> compressed;
  std::vector<std::byte> decoded;
  ZSTD_inBuffer input{nullptr, 0, 0};
  std::uint64_t read_up_to = 0;
  bool in_frame = false;
};

void ZstdReader::State::load_input() {
  const std::size_t count = std::min<std::uint64_t>(compressed.size(), source.size() - read_up_to);
  source.read_at(read_up_to, MutableBytes(compressed).first(count));
  read_up_to += count;
  input = {compressed.data(), count, 0};
}

/// Decodes some bytes into `out` and returns how many; 0 at the end of the last frame.
std::size_t ZstdReader::State::decode(MutableBytes out) {
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  while (output.pos == 0) {
    if (input.pos == input.size) load_input();
    const bool exhausted = input.size == 0;
    if (exhausted && !in_frame) break;
    const std::size_t result = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(result) != 0) fail(cat("zstd stream is broken: ", ZSTD_getErrorName(result)));
    in_frame = result != 0;
    // The decoder may still hold bytes when there is no more input; only if it gives none is the frame cut off.
    if (exhausted && in_frame && output.pos == 0) fail("zstd stream ends in the middle of a frame");
  }
  return output.pos;
}

ZstdReader::ZstdReader(const Source& source) : state_(std::make_unique<State>(source)) {
  begin_ = at_ = end_ = state_->decoded.data();
}

ZstdReader::~ZstdReader() = default;

bool ZstdReader::refill(std::size_t count) {
  std::vector<std::byte>& buffer = state_->decoded;
  const auto kept = static_cast<std::size_t>(end_ - at_);
  base_ = offset();
  if (kept > 0) std::memmove(buffer.data(), at_, kept);
  begin_ = at_ = buffer.data();
  end_ = begin_ + kept;
  while (static_cast<std::size_t>(end_ - at_) < count) {
    const std::size_t added = state_->decode({buffer.data() + (end_ - begin_), buffer.data() + buffer.size()});
    if (added == 0) return false;
    end_ += added;
  }
  return true;
}

}  // namespace fsdpckpt
