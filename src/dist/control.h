// The channel between our own launcher and one rank: a socket whose number the rank finds in FSDPCKPT_CONTROL. Lines of
// "WORD TEXT\n" go both ways; a newline within TEXT travels as NUL. Its end tells each side of the other's death.
#pragma once

#include <fsdpckpt/error.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fsdpckpt {

/// A rank's end. All functions do nothing, or give nothing, for a negative descriptor: a rank of another launcher.
class Control {
 public:
  explicit Control(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  /// "port N": where rank 0 serves the store; the launcher passes it on to the other ranks.
  void send_port(std::uint16_t port) const;
  /// Waits for what send_port() of rank 0 sent. Throws Error(ranks) after `timeout`, or when the launcher is gone.
  [[nodiscard]] std::uint16_t receive_port(std::chrono::milliseconds timeout) const;
  /// "stage TEXT": what the rank is doing now, for messages: "while TEXT".
  void send_stage(std::string_view stage) const;
  /// "temporary PATH": a file that the launcher removes when the run fails.
  void send_temporary(const std::string& path) const;
  /// "failed JSON": the error that ends this rank; see pack_error().
  void send_failure(const Error& error) const;
  /// "answer no": the exit code of the whole run is to be kExitAnswerIsNo although all is well; the rank itself ends
  /// with 0.
  void send_answer_is_no() const;
  /// Starts a thread that ends this process, after removing the files named by send_temporary(), once the launcher is
  /// gone. Call it when no more is to be received. The thread is detached.
  void watch_launcher() const;

 private:
  void send(std::string_view word, std::string_view text) const;
  int descriptor_;
};

/// An error as one line of text, and back; unpack_error() gives Error(ranks) for what it does not understand.
std::string pack_error(const Error& error);
Error unpack_error(std::string_view text);

}  // namespace fsdpckpt
