// How a rank's program that came from a file is refused (internal to core/program).
#pragma once

#include <string>

#include "core/base/error.h"

namespace strato {

struct RankRefusal {
  const std::string& file;

  void expect(bool holds, const char* place, const char* problem) const {
    if (!holds) throw InputError(file, place, problem, "stage the job again");
  }
  void expect(bool holds, std::size_t instruction, const char* problem) const {
    if (!holds)
      throw InputError(file, "instruction " + std::to_string(instruction), problem,
                       "stage the job again");
  }
};

}  // namespace strato
