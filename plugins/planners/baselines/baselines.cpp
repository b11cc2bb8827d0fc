// The strategies that others are measured against.
//   dp-allreduce               equal shares on all devices, gradients all-reduced (DP-NCCL of
//   TAG 5.2) dp-allreduce-proportional  shares in proportion to each device's speed (DP-NCCL-P)
//   dp-ps                      equal shares, gradients summed at parameter servers
//   single-device              everything on the fastest device that holds it (TAG 5, GDP 4)
//   expert                     a human expert's placement by layer blocks (GDP 4.1, Baechi 5):
//   every
//                              layer, with its gradients and updates, is whole on one device
//   metis, horovod, sharded-dp, heft   see their headers
#include "core/search/evaluate/baselines.h"

#include <map>
#include <utility>

#include "core/plugin/api/plugin.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/baselines/heft.h"
#include "plugins/planners/baselines/horovod.h"
#include "plugins/planners/baselines/metis.h"
#include "plugins/planners/baselines/sharded_dp.h"

namespace {

using namespace strato;

// Only a strategy and facts; the score is added.
using MakeResult = PlanResult (*)(const Problem& problem);

// A planner that knows its strategy without asking what others are worth.
class FixedPlanner final : public Planner {
 public:
  FixedPlanner(std::string_view name, MakeResult make) : name_(name), make_(make) {}
  std::string name() const override { return name_; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result = make_(problem);
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }

 private:
  std::string name_;
  MakeResult make_;
};

PlanResult only(Strategy strategy) {
  PlanResult result;
  result.strategy = std::move(strategy);
  return result;
}

PlanResult expert(const Problem& problem) {
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (const DeviceId device : expert_devices(problem)) choice_of.push_back(device.value());
  PlanResult result = only(strategy_by_ops(problem, choice_of, choices));
  result.facts.push_back(
      {"layers", is_recurrent(problem) ? "recurrent: round robin" : "in blocks of equal work"});
  return result;
}

// Devices of one GPU type are equal here, so one of each type is tried.
class SingleDevice final : public Planner {
 public:
  std::string name() const override { return "single-device"; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    for (const Baseline& baseline : simple_baselines(problem)) {
      if (baseline.name != name()) continue;
      const Score score = evaluator.evaluate(baseline.strategy);
      const bool first = result.evaluations++ == 0;
      if (!first && !score.better_than(result.score)) continue;
      result.strategy = baseline.strategy;
      result.score = score;
      observer.on_improvement(result.strategy, score,
                              {result.evaluations, result.evaluations, 0, score});
    }
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view name) {
  static const std::map<std::string_view, MakeResult> fixed = {
      {"dp-allreduce", [](const Problem& problem) { return only(data_parallel(problem)); }},
      {"dp-allreduce-proportional",
       [](const Problem& problem) { return only(data_parallel_proportional(problem)); }},
      {"dp-ps",
       [](const Problem& problem) { return only(data_parallel(problem, Mode::ReplicatePs)); }},
      {"expert", expert},
      {"metis", [](const Problem& problem) { return only(partition_groups(problem)); }},
  };
  if (const auto found = fixed.find(name); found != fixed.end())
    return std::make_unique<FixedPlanner>(name, found->second);
  if (name == "single-device") return std::make_unique<SingleDevice>();
  if (name == "horovod") return make_horovod();
  if (name == "sharded-dp") return make_sharded_dp();
  if (name == "heft") return make_heft();
  return nullptr;
}

}  // namespace

STRATOSCOPE_PLANNER(make)
