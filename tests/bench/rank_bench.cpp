// What the program of one rank costs alone, beside those of all: data parallelism of a chain on
// more and more devices.
#include <benchmark/benchmark.h>

#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

Strategy rank_strategy(int devices) {
  std::vector<int> all(static_cast<std::size_t>(devices));
  std::iota(all.begin(), all.end(), 0);
  Strategy strategy;
  strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, all));
  return strategy;
}

struct RankSetting {
  explicit RankSetting(int devices)
      : bench(toy::training_chain(1024, 12, 8), toy::cluster(devices / 8, 8)) {
    program = std::make_shared<const Program>(bench.lowering->lower(rank_strategy(devices)));
    order = execution_order(bench.simulator.simulate(program));
  }
  toy::Bench bench;
  std::shared_ptr<const Program> program;
  std::vector<TaskId> order;
};

const RankSetting& rank_setting(int devices) {
  static std::map<int, std::unique_ptr<RankSetting>> known;
  auto& setting = known[devices];
  if (!setting) setting = std::make_unique<RankSetting>(devices);
  return *setting;
}

void ranks_all(benchmark::State& state) {
  const RankSetting& setting = rank_setting(static_cast<int>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(rank_programs(*setting.program, setting.order).ranks.size());
  state.counters["tasks"] = static_cast<double>(setting.program->tasks.size());
}

void ranks_one(benchmark::State& state) {
  const RankSetting& setting = rank_setting(static_cast<int>(state.range(0)));
  const DeviceId device(static_cast<std::size_t>(state.range(0) / 2));
  for (auto _ : state) {
    const auto one = rank_program_of(*setting.program, setting.order, device);
    benchmark::DoNotOptimize(one->instructions.size());
  }
  state.counters["tasks"] = static_cast<double>(setting.program->tasks.size());
}

// From the strategy: the whole program first, or the rank's own part alone.
void strategy_to_rank_by_all(benchmark::State& state) {
  auto& bench = const_cast<RankSetting&>(rank_setting(static_cast<int>(state.range(0)))).bench;
  const Strategy strategy = rank_strategy(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const auto program = std::make_shared<const Program>(bench.lowering->lower(strategy));
    const auto order = execution_order(bench.simulator.simulate(program));
    benchmark::DoNotOptimize(rank_programs(*program, order).ranks.size());
  }
}

void strategy_to_rank_alone(benchmark::State& state) {
  auto& bench = const_cast<RankSetting&>(rank_setting(static_cast<int>(state.range(0)))).bench;
  const Strategy strategy = rank_strategy(static_cast<int>(state.range(0)));
  const DeviceId device(static_cast<std::size_t>(state.range(0) / 2));
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  for (auto _ : state) {
    const auto program = std::make_shared<const Program>(bench.lowering->lower(strategy, options));
    const auto order = execution_order(bench.simulator.simulate(program));
    const auto one = rank_program_of_twin(*program, order, fold, strategy, device);
    CHECK(one.has_value(), "it follows from its twin");
    benchmark::DoNotOptimize(one->instructions.size());
  }
}

BENCHMARK(ranks_all)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(ranks_one)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(strategy_to_rank_by_all)->Arg(8)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(strategy_to_rank_alone)->Arg(8)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
