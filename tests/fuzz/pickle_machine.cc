// Any bytes as a pickle: an answer or an Error, never anything else.
#include <fsdpckpt/error.h>

#include <cstddef>
#include <cstdint>

#include "pickle/globals.h"
#include "pickle/machine.h"
#include "pickle/writer.h"

using namespace fsdpckpt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemorySource source({reinterpret_cast<const std::byte*>(data), size});
  try {
    pickle::Values values;
    const pickle::NodeId root = pickle::Machine({.memory = 16 << 20}).read(source, values);
    pickle::scan_globals(values, root);
    pickle::Writer writer;
    pickle::TreeWriter(writer, values, [&](pickle::NodeId) { writer.none(); }).write(root);
    writer.finish();
  } catch (const Error&) {
  }
  return 0;
}
