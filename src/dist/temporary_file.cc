#include "dist/temporary_file.h"

#include <unistd.h>

#include <string_view>

namespace fsdpckpt {
namespace {

bool is_ours(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return name.starts_with('.') && name.find(".fsdpckpt-") != name.npos && name.ends_with(".tmp");
}

}  // namespace

void remove_temporary(const std::string& path) noexcept {
  if (is_ours(path)) ::unlink(path.c_str());
}

}  // namespace fsdpckpt
