// The Error that a call throws, for tests that look at its kind, text and place.
#pragma once

#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

namespace fsdpckpt {

template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(ErrorKind::bug, "no Error was thrown");
}

}  // namespace fsdpckpt
