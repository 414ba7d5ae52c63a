#include "dist/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "base/error_of.h"
#include "dist/descriptor_pair.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

using std::chrono::milliseconds;

/// A rank's end of a channel and the launcher's.
struct Channel {
  Channel() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::bad_alloc();
    rank = Descriptor(ends[0]);
    launcher = Descriptor(ends[1]);
  }
  void write(std::string_view text) const {
    EXPECT_EQ(::send(launcher.number(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string read() const {
    std::array<char, 4096> text;
    const ssize_t got = ::recv(launcher.number(), text.data(), text.size(), MSG_DONTWAIT);
    return {text.data(), got < 0 ? 0 : static_cast<std::size_t>(got)};
  }
  [[nodiscard]] Control control() const { return Control(rank.number()); }
  Descriptor rank, launcher;
};

TEST(Control, SendsLinesOfAWordAndAText) {
  const Channel channel;
  channel.control().send_port(29500);
  channel.control().send_stage("copying 'a'");
  channel.control().send_temporary("/out/.x.fsdpckpt-1-2.tmp");
  EXPECT_EQ(channel.read(), "port 29500\nstage copying 'a'\ntemporary /out/.x.fsdpckpt-1-2.tmp\n");
}

TEST(Control, KeepsALineOneLineWhateverIsInIt) {
  using namespace std::string_view_literals;
  const Channel channel;
  channel.control().send_temporary("a\nb");
  EXPECT_EQ(channel.read(), "temporary a\0b\n"sv);
}

TEST(Control, SendsAFailureThatCanBeUnpacked) {
  const Channel channel;
  channel.control().send_failure(Error(ErrorKind::io, "disk\nfull"));
  const std::string line = channel.read();
  ASSERT_TRUE(line.starts_with("failed {"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_STREQ(unpack_error(std::string_view(line).substr(7)).what(), "disk\nfull");
}

TEST(Control, DoesNothingForARankOfAnotherLauncher) {
  const Control control(-1);
  EXPECT_FALSE(control.is_open());
  control.send_port(1);
  control.send_stage("a");
  control.send_temporary("a");
  control.send_failure(Error(ErrorKind::io, "a"));
  control.watch_launcher();
  EXPECT_EQ(control.receive_port(milliseconds(10)), 0);
}

TEST(Control, SendsToNobodyWhenTheLauncherIsGone) {
  Channel channel;
  channel.launcher = Descriptor();
  channel.control().send_stage("a");  // no SIGPIPE
}

TEST(ReceivePort, WaitsForTheWholeLine) {
  const Channel channel;
  std::thread launcher([&] {
    channel.write("port 29");
    std::this_thread::sleep_for(milliseconds(50));
    channel.write("500\n");
  });
  EXPECT_EQ(channel.control().receive_port(milliseconds(10'000)), 29500);
  launcher.join();
}

TEST(ReceivePort, GivesUpAfterTheTimeout) {
  const Channel channel;
  channel.write("port 29");
  const Error error = error_of([&] { return channel.control().receive_port(milliseconds(60)); });
  EXPECT_EQ(error.kind(), ErrorKind::ranks);
  EXPECT_STREQ(error.what(), "rank 0 told no port within 60 ms");
}

TEST(ReceivePort, NoticesThatTheLauncherIsGone) {
  Channel channel;
  channel.launcher = Descriptor();
  const Error error = error_of([&] { return channel.control().receive_port(milliseconds(10'000)); });
  EXPECT_EQ(error.kind(), ErrorKind::ranks);
  EXPECT_STREQ(error.what(), "the launcher is gone");
}

TEST(ReceivePort, RefusesWhatIsNoPort) {
  for (const std::string_view line :
       {"port 0\n", "port 65536\n", "port \n", "port 1 \n", "port -1\n", "stage 1\n", "\n"}) {
    const Channel channel;
    channel.write(line);
    const Error error = error_of([&] { return channel.control().receive_port(milliseconds(1'000)); });
    EXPECT_EQ(error.kind(), ErrorKind::ranks) << line;
    EXPECT_TRUE(std::string_view(error.what()).starts_with("the launcher sent '")) << error.what();
  }
}

/// Ends as a rank does whose launcher goes away.
[[noreturn]] void run_watched_rank(const Channel& channel, const std::string& own, const std::string& foreign) {
  const Control control = channel.control();
  control.send_temporary(own);
  control.send_temporary(foreign);
  control.watch_launcher();
  for (;;) ::pause();
}

TEST(WatchLauncher, RemovesTheTemporaryAndEndsTheProcess) {
  const TempDir folder;
  folder.write(".out.fsdpckpt-1-2.tmp", "a");
  folder.write("foreign", "a");
  Channel channel;
  const pid_t pid = ::fork();
  if (pid == 0) {
    channel.launcher = Descriptor();
    run_watched_rank(channel, folder.path(".out.fsdpckpt-1-2.tmp"), folder.path("foreign"));
  }
  std::string received;
  while (received.find("foreign") == received.npos) received += channel.read();
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);
  channel.launcher = Descriptor();
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6);
  EXPECT_EQ(folder.names(), std::set<std::string>{"foreign"});
}

void expect_same(const Error& got, const Error& wanted) {
  EXPECT_EQ(got.kind(), wanted.kind());
  EXPECT_STREQ(got.what(), wanted.what());
  EXPECT_EQ(got.hint(), wanted.hint());
  EXPECT_EQ(got.where().path, wanted.where().path);
  EXPECT_EQ(got.where().offset, wanted.where().offset);
  EXPECT_EQ(got.where().entry, wanted.where().entry);
  EXPECT_EQ(got.where().box, wanted.where().box);
  EXPECT_EQ(got.where().rank, wanted.where().rank);
  EXPECT_EQ(got.where().rank_text, wanted.where().rank_text);
}

TEST(PackError, KeepsAllFields) {
  const Where where{.path = "/a b/\u00fc\n\"",
                    .offset = UINT64_MAX,
                    .entry = "model.w",
                    .box = "[3:5, 0:7]",
                    .rank = 2,
                    .rank_text = "rank 2 of 4 on host7"};
  const Error error(ErrorKind::input, "chunk is 'damaged'\n", where, "run fsdpckpt inspect");
  expect_same(unpack_error(pack_error(error)), error);
  EXPECT_EQ(pack_error(error).find('\n'), std::string::npos);
}

TEST(PackError, KeepsWhatIsNotSetUnset) {
  const Error error(ErrorKind::io, "");
  expect_same(unpack_error(pack_error(error)), error);
}

TEST(PackError, KeepsEveryKind) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::input, ErrorKind::io, ErrorKind::refused, ErrorKind::ranks,
                               ErrorKind::interrupted, ErrorKind::terminated, ErrorKind::bug})
    EXPECT_EQ(unpack_error(pack_error(Error(kind, "a"))).kind(), kind);
}

TEST(PackError, ReplacesBytesThatAreNoText) {
  const Error got = unpack_error(pack_error(Error(ErrorKind::io, "a\xff", {.path = "\xc3(\x01"})));
  EXPECT_STREQ(got.what(), "a\ufffd");
  EXPECT_EQ(got.where().path, "\ufffd(\x01");
}

TEST(UnpackError, IsAnErrorOfRanksForWhatItDoesNotUnderstand) {
  for (const char* text : {"", "{", "[]", "1", "null", "{}", R"({"kind": "io"})", R"({"kind": "odd", "message": "a"})",
                           R"({"kind": 1, "message": "a"})", R"({"kind": "io", "message": 1})", "\xff\x01",
                           R"({"kind": "io", "message": "a", "path": 1})",
                           R"({"kind": "io", "message": "a", "rank": "b"})", R"({"kind": "io", "message": "a"} b)"}) {
    const Error error = unpack_error(text);
    EXPECT_EQ(error.kind(), ErrorKind::ranks) << text;
    EXPECT_TRUE(std::string_view(error.what()).starts_with("a rank failed with an error that cannot be read: '"));
  }
}

}  // namespace
}  // namespace fsdpckpt
