// A small job: a chain of two layers, data parallel on three devices.
#pragma once

#include <filesystem>

#include "core/launch/job/job.h"
#include "core/program/project/rank_programs.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/program/toy.h"

namespace strato::toy {

inline Job job(int devices = 3, std::int64_t width = 8) {
  Bench bench(training_chain(12, 2, width), cluster(1, devices));
  std::vector<int> all;
  for (int d = 0; d < devices; ++d) all.push_back(d);
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, all));
  Job job;
  job.name = "chain \"quoted\" \n";
  job.graph = bench.graph;
  job.programs = rank_programs(*timeline.program, execution_order(timeline));
  for (const RankProgram& rank : job.programs.ranks) {
    job.devices.push_back(bench.cluster->device(rank.device).name);
    job.machines.push_back(0);
  }
  job.predicted = timeline.step_time;
  return job;
}

}  // namespace strato::toy
