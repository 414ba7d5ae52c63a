// Bytes that look random and are the same in every run.
#pragma once

#include <cstddef>
#include <random>
#include <string>

namespace fsdpckpt {

inline std::string sample_bytes(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace fsdpckpt
