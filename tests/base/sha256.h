// SHA-256 (FIPS 180-4), to compare with the digests in testdata's manifests.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace fsdpckpt {

class Sha256 {
 public:
  static std::string hex(std::string_view bytes) {
    Sha256 digest;
    std::string padded(bytes);
    padded += '\x80';
    while (padded.size() % 64 != 56) padded += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(std::uint64_t{bytes.size()} * 8 >> shift);
    for (std::size_t at = 0; at < padded.size(); at += 64) digest.add_block(padded.data() + at);
    std::string text;
    for (const std::uint32_t word : digest.state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    }
    return text;
  }

 private:
  /// The first 32 bits of the fraction of a root of the n-th prime.
  static std::uint32_t root_bits(int n, bool cube) {
    int prime = 1;
    for (int left = n + 1; left > 0;) {
      ++prime;
      bool is_prime = true;
      for (int i = 2; i * i <= prime; ++i) is_prime &= prime % i != 0;
      left -= is_prime ? 1 : 0;
    }
    const long double value = prime;
    const long double root = cube ? std::cbrt(value) : std::sqrt(value);
    return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
  }
  static std::array<std::uint32_t, 64> constants() {
    std::array<std::uint32_t, 64> result{};
    for (int i = 0; i < 64; ++i) result[static_cast<std::size_t>(i)] = root_bits(i, true);
    return result;
  }

  Sha256() {
    for (int i = 0; i < 8; ++i) state_[static_cast<std::size_t>(i)] = root_bits(i, false);
  }

  static std::array<std::uint32_t, 64> schedule(const char* block) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < 64; ++i)
      words[i / 4 % 16] = words[i / 4 % 16] << 8 | static_cast<std::uint8_t>(block[i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = words[i - 15], b = words[i - 2];
      words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
                 (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    return words;
  }

  void add_block(const char* block) {
    static const std::array<std::uint32_t, 64> kConstants = constants();
    const std::array<std::uint32_t, 64> words = schedule(block);
    std::array<std::uint32_t, 8> s = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t e = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const std::uint32_t a = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const std::uint32_t first = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + kConstants[i] + words[i];
      const std::uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
  }

  std::array<std::uint32_t, 8> state_{};
};

}  // namespace fsdpckpt
