// Any bytes as an archive: records that lie inside, or an Error.
#include <fsdpckpt/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "zip/directory.h"

using namespace fsdpckpt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemorySource source({reinterpret_cast<const std::byte*>(data), size});
  try {
    zip::Directory directory;
    directory.read(source);
    for (const zip::Record& record : directory.records()) {
      if (record.data > size || record.size > size - record.data) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
