// Any bytes as .metadata: an index whose boxes can be judged, or an Error.
#include <fsdpckpt/error.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "formats/dcp_folder.h"
#include "model/coverage.h"
#include "pickle/machine.h"

using namespace fsdpckpt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemorySource source({reinterpret_cast<const std::byte*>(data), size});
  try {
    FileSet files(std::filesystem::temp_directory_path().string());
    Index index;
    DcpFolder folder(index, files);
    pickle::Values values;
    pickle::Machine({.memory = 16 << 20}).read(source, values, &folder);
    folder.finish();
    for (EntryId id = 0; id < index.entry_count(); ++id) {
      if (index.entry(id).kind == EntryKind::tensor) cover(index, id);
    }
  } catch (const Error&) {
  }
  return 0;
}
