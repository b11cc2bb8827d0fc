// What a refusal says.
#pragma once

#include <string>

#include "core/base/error.h"

namespace strato {

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace strato
