// The study "llm-measured": published measurements of training steps, and what is predicted.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace strato::cli {

inline constexpr const char* kMeasuredStudy = "llm-measured";

struct MeasuredOptions {
  std::vector<std::string> tables;  // files; none: the bundled ones
  std::string calibration;          // a file or a bundled name; empty: each framework's own
  std::string calibrate;            // the file for constants that are fitted to them; empty: none
};

// Prints each row and each table's errors. Throws InputError.
int measured_study(const MeasuredOptions& options, const Command& command);

}  // namespace strato::cli
