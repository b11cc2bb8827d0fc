// Runs a program of this machine to its end and catches what it says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace strato {

struct ProgramResult {
  std::string problem;  // "ended with status 1"; empty: it ended well
  std::string output, error;
};

// The program is looked for in PATH; its standard input is empty. One that takes longer is killed,
// which is its problem then. Throws InputError when it cannot be started. Safe from any thread.
ProgramResult run_program(const std::vector<std::string>& arguments, std::chrono::seconds most);

}  // namespace strato
