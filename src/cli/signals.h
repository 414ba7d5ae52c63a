// SIGINT, SIGTERM and SIGHUP set a flag that the executor looks at; SIGPIPE and SIGXFSZ become write errors.
#pragma once

#include <atomic>

namespace fsdpckpt {

/// Installs the handlers and returns the flag: 0, or the number of the signal that came.
const std::atomic<int>& install_signal_handlers();

/// A write to a closed pipe or beyond the limit of a file's size fails with an error instead of ending the program.
void turn_signals_into_errors();

}  // namespace fsdpckpt
