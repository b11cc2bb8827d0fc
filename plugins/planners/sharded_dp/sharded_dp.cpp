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
#include "core/graph/split_axes.h"
#include "core/plugin/plugin.h"
#include "core/search/baselines.h"

namespace {

using namespace strato;

constexpr double kKilobyte = 1 << 10, kMegabyte = 1 << 20;

Bytes size_option(const PlannerOptions& options, const char* key, double fallback, double unit) {
  const double size = options.number(key, fallback);
  if (!(size >= 0 && size <= 1e9))
    throw InputError("", std::string("--set ") + key + "=" + options.text(key, ""),
                     "cannot be a size", "give a number from 0 to 1000000000, such as 64");
  return Bytes(static_cast<std::int64_t>(size * unit));
}

// The devices that have samples: only they have gradients.
std::vector<DeviceShare> replicas_of(const Problem& problem, const Decision& decision) {
  const std::vector<std::int64_t> samples = apportion(problem.graph->batch(), decision.devices);
  std::vector<DeviceShare> replicas;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i] > 0) replicas.push_back(decision.devices[i]);
  return replicas;
}

// Along which axis of its parameter an update is split: the first on which every replica finds a
// place; -1: none.
int axis_for(const Graph& graph, OpId update, std::size_t replicas) {
  const Shape& shape = graph.tensor(graph.op(update).inputs.front()).shape;
  for (const SplitAxis& split : split_axes(graph, update))
    if (shape[static_cast<std::size_t>(split.axis)] >= static_cast<std::int64_t>(replicas))
      return split.axis;
  return -1;
}

struct Kept {
  Bytes parts, all;  // of parameters
};

Strategy sharded(const Problem& problem, Bytes smallest, Kept& kept) {
  const Graph& graph = *problem.graph;
  Strategy strategy = data_parallel(problem);
  const std::vector<DeviceShare> replicas = replicas_of(problem, *strategy.groups.front());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const OpId op(i);
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes bytes = graph.tensor(graph.op(op).inputs.front()).bytes();
    kept.all += bytes;
    if (replicas.size() < 2 || bytes < smallest) continue;
    const int axis = axis_for(graph, op, replicas.size());
    if (axis < 0) continue;
    strategy.splits.push_back({op, axis, replicas});
    kept.parts += bytes;
  }
  return strategy;
}

class ShardedDp final : public Planner {
 public:
  std::string name() const override { return "sharded-dp"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override {
    return {
        {"smallest", "64", "parameters below this many KB (2^10 bytes) stay whole on every device"},
        {"bucket", "64",
         "largest fusion bucket, in MB (2^20 bytes), of gradients of whole "
         "parameters; 0: one by one"}};
  }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    Kept kept;
    PlanResult result;
    result.strategy = sharded(problem, size_option(options, "smallest", 64, kKilobyte), kept);
    result.strategy.bucket = size_option(options, "bucket", 64, kMegabyte);
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
