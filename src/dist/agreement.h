// What the ranks do together, so that they stay together: one rank's error becomes every rank's error.
#pragma once

#include <fsdpckpt/error.h>

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/communicator.h"

namespace fsdpckpt {

/// Runs `work` on every rank, which may do different things. Where it throws on some, all throw the error of the lowest
/// of them, with its rank. An Error(ranks) is thrown at once: there is nobody left to agree with.
void agree(Communicator& world, const std::function<void()>& work);

/// The same for an error that was met before; none when `mine` is null.
void agree(Communicator& world, const std::exception_ptr& mine);

/// The value of every rank, by rank: plain bytes, of one size everywhere.
template <class T>
std::vector<T> gather_values(Communicator& world, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(world.size()));
  world.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// The text of every rank, by rank.
std::vector<std::string> gather_texts(Communicator& world, std::string_view mine);

/// The text of `root`, on all ranks.
std::string broadcast_text(Communicator& world, std::string text, int root);

/// The text of the error that std::bad_alloc becomes.
inline constexpr std::string_view kOutOfMemory = "out of memory";

/// Any exception in the words of this program.
Error as_error(const std::exception_ptr& exception);

}  // namespace fsdpckpt
