// Programs that no lowering makes: any task on any set of resources, few different durations (many
// things happen at once), buffers read anywhere. Valid for the simulator, not for the verifier.
#pragma once

#include "core/base/random.h"
#include "core/program/value/program.h"

namespace strato {

struct RandomProgramOptions {
  std::size_t tasks = 100;
  std::int32_t priorities = 1;    // different ones; 1: all are zero
  std::int64_t longest = 5;       // durations: 1 to this
  std::size_t recent = 20;        // dependencies are among this many tasks before
  std::int64_t issue = 0;         // Task::issue: less than this, and nothing where it is 0
  bool awaits_transfers = false;  // Program::issues_after_transfers
};

Program random_program(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
                       const RandomProgramOptions& options, Random& random);

}  // namespace strato
