#include "tests/plugins/engines/rank/staged_run.h"

#include "core/plugin/load/plugin_registry.h"
#include "core/program/lower/lower.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"
#include "tests/paths.h"

namespace strato {

const RankEngine& rank_engine() {
  static const PluginRegistry registry({std::string(kBuildFolder) + "/plugins"});
  static const std::unique_ptr<RankEngine> engine = registry.rank_engine("torch");
  return *engine;
}

std::unique_ptr<InProcessRun> staged_run(const RandomProblem& problem, const Strategy& strategy,
                                         Random& random, int steps) {
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  LowerOptions verified;
  verified.verify = true;
  const Program program = lowering.lower(strategy, verified);
  auto programs =
      std::make_shared<RankPrograms>(rank_programs(program, random_order(program, random)));
  check_termination(*programs, "plan");
  for (RankProgram& rank : programs->ranks)
    rank = read_rank_program(write_rank_program(rank), *problem.graph, "rank");
  EngineOptions options;
  options.seed = kSeed;
  options.learning_rate = kRate;
  auto run = std::make_unique<InProcessRun>(programs, rank_engine(), options);
  for (int step = 1; step <= steps; ++step) run->run_step(step, random);
  return run;
}

}  // namespace strato
