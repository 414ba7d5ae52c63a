// The entry point of clang's libFuzzer.
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fsdpckpt::fuzz::judge({data, size});
  return 0;
}
