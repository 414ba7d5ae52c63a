#include "base/exit_code.h"

namespace fsdpckpt {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::input:
      return 3;
    case ErrorKind::io:
      return 4;
    case ErrorKind::refused:
      return 5;
    case ErrorKind::ranks:
      return 6;
    case ErrorKind::interrupted:
      return 130;  // 128 + SIGINT, as a shell reports it
    case ErrorKind::terminated:
      return 143;  // 128 + SIGTERM
    case ErrorKind::bug:
      break;
  }
  return 70;  // EX_SOFTWARE of sysexits.h
}

std::string_view kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::io:
      return "io";
    case ErrorKind::refused:
      return "refused";
    case ErrorKind::ranks:
      return "ranks";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::terminated:
      return "terminated";
    case ErrorKind::bug:
      break;
  }
  return "bug";
}

}  // namespace fsdpckpt
