#include "cli/output.h"

#include <fsdpckpt/error.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace fsdpckpt {

std::size_t terminal_width() {
  if (isatty(STDOUT_FILENO) == 0) return 0;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && *columns != '\0') {
    const std::string_view text = columns;
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), width);
    if (error != std::errc{} || end != text.end())
      throw Error(ErrorKind::usage, cat("COLUMNS is ", quote(text), ": a number was expected"));
    return width;
  }
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void print_answer(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return;
  throw Error(ErrorKind::io, cat("cannot write to stdout: ", std::system_category().message(errno)));
}

void print_json(const nlohmann::ordered_json& document) { print_answer(document.dump() + "\n"); }

void print_notes(const GlobalOptions& options, const std::vector<std::string>& notes) {
  if (options.quiet || options.json) return;
  for (const std::string& note : notes) std::fputs(cat("fsdpckpt: note: ", note, "\n").c_str(), stderr);
}

bool wants_progress(const GlobalOptions& options) {
  if (options.progress != When::automatic) return options.progress == When::always;
  const char* term = std::getenv("TERM");
  const bool is_dumb = term != nullptr && std::string_view(term) == "dumb";
  return !options.quiet && !options.json && !is_dumb && isatty(STDERR_FILENO) != 0;
}

}  // namespace fsdpckpt
