#include "pickle/writer.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

#include "base/error_of.h"
#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

template <class Write>
std::string written(const Write& write) {
  Writer writer;
  write(writer);
  return writer.finish();
}

std::string integer(std::int64_t value) {
  return written([&](Writer& writer) { writer.integer(value); });
}

TEST(Writer, StartsWithProtocol2AndEndsWithStop) {
  EXPECT_EQ(written([](Writer& writer) { writer.none(); }), "\x80\2N."s);
}

TEST(Writer, WritesBooleans) {
  EXPECT_EQ(written([](Writer& writer) { writer.boolean(true); }), "\x80\2\x88."s);
  EXPECT_EQ(written([](Writer& writer) { writer.boolean(false); }), "\x80\2\x89."s);
}

TEST(Writer, WritesIntegersInTheShortestOpcode) {
  EXPECT_EQ(integer(0), "\x80\2K\0."s);
  EXPECT_EQ(integer(255), "\x80\2K\xff."s);
  EXPECT_EQ(integer(256), "\x80\2M\0\1."s);
  EXPECT_EQ(integer(65535), "\x80\2M\xff\xff."s);
  EXPECT_EQ(integer(65536), "\x80\2J\0\0\1\0."s);
  EXPECT_EQ(integer(-1), "\x80\2J\xff\xff\xff\xff."s);
  EXPECT_EQ(integer(INT32_MAX), "\x80\2J\xff\xff\xff\x7f."s);
  EXPECT_EQ(integer(INT32_MIN), "\x80\2J\0\0\0\x80."s);
  EXPECT_EQ(integer(1LL << 31), "\x80\2\x8a\5\0\0\0\x80\0."s);
  EXPECT_EQ(integer(-(1LL << 31) - 1), "\x80\2\x8a\5\xff\xff\xff\x7f\xff."s);
  EXPECT_EQ(integer(INT64_MAX), "\x80\2\x8a\x8\xff\xff\xff\xff\xff\xff\xff\x7f."s);
  EXPECT_EQ(integer(INT64_MIN), "\x80\2\x8a\x8\0\0\0\0\0\0\0\x80."s);
}

TEST(Writer, IntegersAreReadBack) {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t value : {1LL << bit, (1LL << bit) - 1, -(1LL << bit), -(1LL << bit) - 1}) {
      const Tree tree(integer(value));
      EXPECT_EQ(tree.values.integer(tree.root), value);
    }
  }
}

TEST(Writer, WritesBigIntegersUpTo255Bytes) {
  const std::string raw(255, '\7');
  EXPECT_EQ(written([&](Writer& writer) { writer.big_integer(raw); }), "\x80\2\x8a\xff"s + raw + ".");
  Writer writer;
  EXPECT_EQ(error_of([&] { writer.big_integer(std::string(256, '\7')); }).kind(), ErrorKind::input);
}

TEST(Writer, WritesRealsBigEndian) {
  EXPECT_EQ(written([](Writer& writer) { writer.real(1.5); }), "\x80\2G\x3f\xf8\0\0\0\0\0\0."s);
}

TEST(Writer, WritesTextUnshared) {
  EXPECT_EQ(written([](Writer& writer) { writer.text("ab"); }), "\x80\2X\2\0\0\0ab."s);
}

TEST(Writer, WritesSharedTextOnce) {
  const std::string pickle = written([](Writer& writer) {
    writer.shared_text("ab");
    writer.shared_text("ab");
    writer.tuple(2);
  });
  EXPECT_EQ(pickle, "\x80\2X\2\0\0\0abq\0h\0\x86."s);
}

TEST(Writer, WritesBytesThroughCodecs) {
  const std::string pickle = written([](Writer& writer) { writer.bytes("a\xff"); });
  EXPECT_EQ(pickle, "\x80\2c_codecs\nencode\nq\0X\3\0\0\0a\xc3\xbfX\6\0\0\0latin1q\1\x86R."s);
}

TEST(Writer, WritesEmptyBytesThroughCodecsToo) {
  EXPECT_EQ(Tree(written([](Writer& writer) { writer.bytes(""); })).text(), "call(<_codecs.encode>, ('', 'latin1'))");
}

TEST(Writer, WritesGlobalsOnce) {
  const std::string pickle = written([](Writer& writer) {
    writer.global("m", "n");
    writer.global("m", "n");
    writer.global("m", "o");
    writer.tuple(3);
  });
  EXPECT_EQ(pickle, "\x80\2cm\nn\nq\0h\0cm\no\nq\1\x87."s);
}

TEST(Writer, WritesNestedClassesAsGetattr) {
  const Tree tree(written([](Writer& writer) { writer.global("m", "A.B.C"); }));
  EXPECT_EQ(tree.text(), "call(<__builtin__.getattr>, (call(<__builtin__.getattr>, (<m.A>, 'B')), 'C'))");
}

TEST(Writer, WritesContainersOpcodeByOpcode) {
  const std::string pickle = written([](Writer& writer) {
    writer.mark();
    writer.empty_tuple();
    writer.empty_list();
    writer.none();
    writer.append();
    writer.empty_list();
    writer.mark();
    writer.none();
    writer.appends();
    writer.empty_dict();
    writer.none();
    writer.none();
    writer.set_item();
    writer.empty_dict();
    writer.mark();
    writer.none();
    writer.none();
    writer.set_items();
    writer.none();
    writer.tuple(1);
    writer.tuple_from_mark();
  });
  EXPECT_EQ(pickle, "\x80\2()]Na](Ne}NNs}(NNuN\x85t."s);
}

TEST(Writer, WritesObjectsOpcodeByOpcode) {
  const std::string pickle = written([](Writer& writer) {
    writer.global("m", "n");
    writer.empty_tuple();
    writer.new_object();
    writer.none();
    writer.build();
    writer.empty_tuple();
    writer.reduce();
    writer.persistent_id();
  });
  EXPECT_EQ(pickle, "\x80\2cm\nn\nq\0)\x81Nb)RQ."s);
}

TEST(Writer, PutsAndGetsSlotsBeyond255) {
  Writer writer;
  writer.none();
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(writer.put(), i);
  EXPECT_EQ(writer.put(), 256);
  writer.get(255);
  writer.get(256);
  const std::string pickle = writer.finish();
  EXPECT_TRUE(pickle.ends_with("q\xffr\0\1\0\0h\xffj\0\1\0\0."s));
}

TEST(Writer, HasNoOpcodeForOtherTuples) {
  Writer writer;
  EXPECT_EQ(error_of([&] { writer.tuple(0); }).kind(), ErrorKind::bug);
  EXPECT_EQ(error_of([&] { writer.tuple(4); }).kind(), ErrorKind::bug);
}

TEST(Writer, StartsAfreshAfterFinish) {
  Writer writer;
  writer.shared_text("a");
  writer.finish();
  writer.shared_text("a");
  EXPECT_EQ(writer.finish(), "\x80\2X\1\0\0\0aq\0."s);
}

}  // namespace
}  // namespace fsdpckpt::pickle
