#include "dist/agreement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/text.h"
#include "dist/control.h"

namespace fsdpckpt {
namespace {

std::string packed(const Error& error, const Communicator& world) {
  Error copy = error;
  return pack_error(copy.in_rank(world.rank(), cat("rank ", world.rank(), " of ", world.size())));
}

}  // namespace

Error as_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::io, std::string(kOutOfMemory)};
  } catch (const std::exception& error) {
    return {ErrorKind::bug, cat("this is a bug in fsdpckpt: ", error.what())};
  }
}

std::string broadcast_text(Communicator& world, std::string text, int root) {
  std::uint64_t size = text.size();
  world.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  text.resize(size);
  if (size > 0) world.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::vector<std::string> gather_texts(Communicator& world, std::string_view mine) {
  const std::vector<std::uint64_t> sizes = gather_values<std::uint64_t>(world, mine.size());
  const std::uint64_t longest = std::ranges::max(sizes);
  std::vector<std::string> texts(sizes.size());
  if (longest == 0) return texts;
  std::string padded(mine), all(longest * sizes.size(), '\0');
  padded.resize(longest);
  world.all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) texts[rank] = all.substr(rank * longest, sizes[rank]);
  return texts;
}

void agree(Communicator& world, const std::exception_ptr& mine) {
  const std::string text = mine ? packed(as_error(mine), world) : std::string();
  const std::vector<std::uint64_t> sizes = gather_values<std::uint64_t>(world, text.size());
  const auto failed = std::ranges::find_if(sizes, [](std::uint64_t size) { return size > 0; });
  if (failed == sizes.end()) return;
  throw unpack_error(broadcast_text(world, text, static_cast<int>(failed - sizes.begin())));
}

void agree(Communicator& world, const std::function<void()>& work) {
  std::exception_ptr mine;
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::ranks) throw;
    mine = std::current_exception();
  } catch (...) {
    mine = std::current_exception();
  }
  agree(world, mine);
}

}  // namespace fsdpckpt
