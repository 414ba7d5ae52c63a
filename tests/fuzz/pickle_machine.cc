// Any bytes as a pickle: an answer or an Error, never anything else.
#include "fuzz/target.h"
#include "io/byte_reader.h"
#include "pickle/globals.h"
#include "pickle/machine.h"
#include "pickle/writer.h"
#include "report/value_text.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr pickle::Limits kLimits{.memory = 16 << 20};

/// All that is ever done with a tree.
void use(const pickle::Values& values, pickle::NodeId root) {
  pickle::scan_globals(values, root);
  value_text(values, root);
  pickle::Writer writer;
  pickle::TreeWriter(writer, values, [&](pickle::NodeId) { writer.none(); }).write(root);
  writer.finish();
}

}  // namespace

/// Read in one pass (as from a stream) and in two, it is the same pickle.
int judge(Input input) {
  const int in_one_pass = verdict_of([&] {
    MemoryReader reader(bytes_of(input));
    pickle::Values values;
    pickle::Machine(kLimits).read(reader, values);
    if (!reader.at_end()) throw Error(ErrorKind::input, "bytes behind the end");
  });
  const int in_two_passes = verdict_of([&] {
    pickle::Values values;
    use(values, pickle::Machine(kLimits).read(MemorySource(bytes_of(input)), values));
  });
  require(in_two_passes != kExitDone || in_one_pass == kExitDone);
  return in_two_passes;
}

}  // namespace fsdpckpt::fuzz
