#include "plugins/planners/baselines/sharded_dp.h"

#include <string>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

struct ShardedDpSettings {
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

// The bytes of parameters that are kept in parts, and of all.
struct ParameterBytes {
  Bytes parts, all;
};

Strategy sharded(const Problem& problem, Bytes smallest, ParameterBytes& bytes) {
  const Graph& graph = *problem.graph;
  Strategy strategy = data_parallel(problem);
  const std::vector<DeviceShare> replicas = replicas_of(graph, *strategy.groups.front());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const OpId op(i);
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes parameter = graph.tensor(graph.op(op).inputs.front()).bytes();
    bytes.all += parameter;
    if (parameter < smallest) continue;
    const std::optional<OpSplit> split = sharded_update(graph, op, replicas);
    if (!split) continue;
    strategy.splits.push_back(*split);
    bytes.parts += parameter;
  }
  return strategy;
}

class ShardedDp final : public Planner {
 public:
  std::string name() const override { return "sharded-dp"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<ShardedDpSettings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    const auto settings = read_options<ShardedDpSettings>(options.set);
    ParameterBytes bytes;
    PlanResult result;
    result.strategy = sharded(problem, settings.smallest, bytes);
    result.strategy.bucket = settings.bucket;
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    result.facts.push_back({"parameters in parts", std::to_string(result.strategy.splits.size()) +
                                                       ": " + bytes_text(bytes.parts) + " of " +
                                                       bytes_text(bytes.all)});
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_sharded_dp() { return std::make_unique<ShardedDp>(); }

}  // namespace strato
