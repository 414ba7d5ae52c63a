#include "io/crc32.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <vector>

namespace fsdpckpt {
namespace {

// Polynomials over GF(2) of degree below 32, bit-reflected as the CRC is: the top bit is the coefficient of x^0.
constexpr std::uint32_t kPolynomial = 0xedb88320;
constexpr std::uint32_t kOne = 0x80000000;
constexpr std::uint32_t kX = kOne >> 1;

/// a * b mod p, without branches: whether a bit is set is as good as random.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int i = 0; i < 32; ++i) {
    product ^= b & (0U - (a >> 31));
    a <<= 1;
    b = b >> 1 ^ (kPolynomial & (0U - (b & 1)));
  }
  return product;
}

constexpr std::size_t kDigits = 4;
constexpr std::size_t kBase = 256;

/// powers[k][d] = x^(d * 256^k): an exponent of four bytes costs four multiplications.
constexpr std::array<std::array<std::uint32_t, kBase>, kDigits> make_powers() {
  std::array<std::array<std::uint32_t, kBase>, kDigits> powers{};
  std::uint32_t base = kX;
  for (auto& of_digit : powers) {
    of_digit[0] = kOne;
    for (std::size_t d = 1; d < kBase; ++d) of_digit[d] = multiply(of_digit[d - 1], base);
    base = multiply(of_digit[kBase - 1], base);
  }
  return powers;
}

constexpr auto kPowers = make_powers();

// x^(2^32) == x: exponents count modulo 2^32 - 1, so 32 bits of them are enough.
static_assert(multiply(kPowers[kDigits - 1][kBase - 1], kPowers[kDigits - 1][1]) == kX);

}  // namespace

std::uint32_t crc32(Bytes bytes, std::uint32_t start) {
  return crc32_gzip_refl(start, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint32_t crc32_of(const Source& source, std::uint64_t offset, std::uint64_t length) {
  constexpr std::uint64_t kBlock = 1 << 20;
  std::vector<std::byte> block(std::min(length, kBlock));
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < length; done += block.size()) {
    block.resize(std::min<std::uint64_t>(block.size(), length - done));
    source.read_at(offset + done, block);
    crc = crc32(block, crc);
  }
  return crc;
}

std::uint32_t crc32_shift(std::uint32_t crc, std::uint64_t length) {
  constexpr std::uint64_t kOrder = 0xffffffff;
  std::uint64_t exponent = length % kOrder * 8 % kOrder;
  for (std::size_t k = 0; exponent != 0; ++k, exponent /= kBase) {
    if (const std::size_t digit = exponent % kBase; digit != 0) crc = multiply(kPowers[k][digit], crc);
  }
  return crc;
}

}  // namespace fsdpckpt
