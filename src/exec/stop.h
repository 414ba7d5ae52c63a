// A signal that ends a run at the next place where nothing is half done.
#pragma once

#include <atomic>

namespace fsdpckpt {

/// Throws Error(terminated) when `stop` holds SIGTERM, Error(interrupted) when it holds another signal's number, and
/// nothing when it is 0 or null.
void throw_if_stopped(const std::atomic<int>* stop);

}  // namespace fsdpckpt
