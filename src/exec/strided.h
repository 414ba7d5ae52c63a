// Chunks whose stored elements do not lie in row-major order (transposed or channels_last tensors): gathered by their
// strides.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/payload.h"
#include "io/source.h"
#include "plan/pieces.h"

namespace fsdpckpt {

/// Fills `out` with the elements `piece` of a strided chunk, in row-major order. `payload.offset` counts in `source`.
/// Reads the stretch that holds them at once when it has at most `most_bytes`, otherwise element run by element run.
void gather_piece(const Source& source, const Payload& payload, const ExpectedChunk& chunk, const Piece& piece,
                  MutableBytes out, std::uint64_t most_bytes);

/// All elements of a strided chunk.
std::vector<std::byte> gather(const Source& source, const Payload& payload, const ExpectedChunk& chunk);

}  // namespace fsdpckpt
