#include "exec/verified_sink.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "io/atomic_file.h"
#include "io/sample_bytes.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

/// Changes a byte of the file behind the sink's back.
void change_byte(const std::string& path, std::size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const auto before = static_cast<char>(file.get());
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(before ^ 1));
}

TEST(VerifiedSink, AcceptsWhatWasWritten) {
  const TempDir directory;
  AtomicFile file(directory.path("out"), 3000, {.sync = false});
  VerifiedSink sink(file);
  const std::string bytes = sample_bytes(3000);
  sink.write_at(1000, as_bytes(bytes).subspan(1000));
  sink.write_at(0, as_bytes(bytes).first(1000));
  EXPECT_NO_THROW(sink.verify());
  file.commit();
  EXPECT_EQ(directory.read("out"), bytes);
}

TEST(VerifiedSink, FindsAChangedByteAndNamesItsRange) {
  for (const std::size_t at : {0U, 1500U, 2999U}) {
    const TempDir directory;
    AtomicFile file(directory.path("out"), 3000, {.sync = false});
    VerifiedSink sink(file);
    sink.write_at(0, as_bytes(sample_bytes(1000)));
    sink.write_at(1000, as_bytes(sample_bytes(2000)));
    change_byte(file.temporary_path(), at);
    const Error error = error_of([&] { sink.verify(); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.where().path, directory.path("out")) << "the temporary is gone when this is read";
    EXPECT_EQ(error.where().offset, at < 1000 ? 0U : 1000U);
  }
}

}  // namespace
}  // namespace fsdpckpt
