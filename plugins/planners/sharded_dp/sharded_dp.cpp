// Sharded data parallelism (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations
// toward training trillion parameter models", sections 5.1 to 5.3): replicas on all devices, each
// of which updates and keeps its part of every parameter and of its optimizer state. Gradients are
// reduce-scattered as they are made; parameters are all-gathered at the start of the step and stay
// until the backward pass has read them. So it is stage 2, with the gather of stage 1 and 2 moved
// from the end of a step to the start of the next one; stage 3 would gather again for the backward
// pass.
//
// Small parameters stay whole: a collective of their own costs more than the memory is worth. Their
// gradients are all-reduced in fusion buckets.
#include <string>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/plugin/api/plugin.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

struct Settings {
  Bytes smallest{std::int64_t{64} << 10}, bucket{std::int64_t{64} << 20};

  OptionTable option_table() {
    return {{"smallest",
             smallest,
             OptionUnit::KB,
             {0, 1e9},
             "parameters below this many KB (2^10 bytes) stay whole on every device"},
            {"bucket",
             bucket,
             OptionUnit::MB,
             {0, 1e9},
             "largest fusion bucket, in MB (2^20 bytes), of gradients of whole parameters; 0: one "
             "by one"}};
  }
};

struct Kept {
  Bytes parts, all;  // of parameters
};

Strategy sharded(const Problem& problem, Bytes smallest, Kept& kept) {
  const Graph& graph = *problem.graph;
  Strategy strategy = data_parallel(problem);
  const std::vector<DeviceShare> replicas = replicas_of(graph, *strategy.groups.front());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const OpId op(i);
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes bytes = graph.tensor(graph.op(op).inputs.front()).bytes();
    kept.all += bytes;
    if (bytes < smallest) continue;
    const std::optional<OpSplit> split = sharded_update(graph, op, replicas);
    if (!split) continue;
    strategy.splits.push_back(*split);
    kept.parts += bytes;
  }
  return strategy;
}

class ShardedDp final : public Planner {
 public:
  std::string name() const override { return "sharded-dp"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<Settings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    const auto settings = read_options<Settings>(options.set);
    Kept kept;
    PlanResult result;
    result.strategy = sharded(problem, settings.smallest, kept);
    result.strategy.bucket = settings.bucket;
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    result.facts.push_back({"parameters in parts", std::to_string(result.strategy.splits.size()) +
                                                       ": " + bytes_text(kept.parts) + " of " +
                                                       bytes_text(kept.all)});
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<ShardedDp>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
