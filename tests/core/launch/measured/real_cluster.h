// A "real" cluster for tests of tune(): programs run on it with other costs than those that are
// assumed, with noise, and with less memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/io/json.h"
#include "core/launch/measured/measured.h"
#include "core/launch/measured/tune.h"
#include "core/search/tree/search_tree.h"

namespace strato::toy {

// How much faster or slower than said; 1: as said.
struct Truth {
  double fast = 1, slow = 1;  // computing of the V100s and the 1080 Ti's
  double network = 1;         // bandwidth
  double memory = 1;
};

// `fast` V100s in one machine and `slow` machines of one GTX 1080 Ti.
inline std::shared_ptr<const Cluster> mixed_cluster(int fast, int slow, const Truth& truth = {},
                                                    std::int64_t memory = 1 << 30) {
  const auto gpu = [&](const std::string& name, double tflops, double factor) {
    return Json{
        {"name", name},
        {"memory_bytes", static_cast<std::int64_t>(static_cast<double>(memory) * truth.memory)},
        {"memory_bandwidth_GBps", 700 * factor},
        {"peak_tflops", {{"fp32", tflops * factor}}}};
  };
  const auto machine = [&](const std::string& name, const std::string& type, int gpus, int count) {
    return Json{{"name", name},
                {"count", count},
                {"gpus", Json::array({{{"type", type}, {"count", gpus}}})},
                {"fabric", {{"bandwidth_GBps", 12 * truth.network}, {"latency_us", 4}}},
                {"nic", {{"bandwidth_GBps", 10 * truth.network}, {"latency_us", 5}}}};
  };
  const Json json = {
      {"format", "stratoscope-cluster"},
      {"version", 1},
      {"name", "mixed"},
      {"gpu_types", Json::array({gpu("Fast", 15, truth.fast), gpu("Slow", 8, truth.slow)})},
      {"machines",
       Json::array({machine("fast", "Fast", fast, 1), machine("slow", "Slow", 1, slow)})},
      {"network", {{"latency_us", 1}}}};
  return std::make_shared<const Cluster>(parse_cluster(json.dump(), "mixed", GpuCatalogue()));
}

class RealCluster {
 public:
  // `cluster`: with the same devices as the assumed one.
  RealCluster(const Problem& assumed, std::shared_ptr<const Cluster> cluster)
      : cluster_(std::move(cluster)), cost_(make_analytic_cost_model(assumed.graph, cluster_)) {}

  const CostModel& cost() const { return *cost_; }
  void set_noise(double share, std::uint64_t seed) {
    noise_ = share;
    random_ = Random(seed);
  }

  PlanRun run(const TunePlan& plan) {
    ++runs;
    auto program =
        std::make_shared<Program>(*retimed(*plan.predicted.program, *plan.problem.cost, *cost_));
    for (Task& task : program->tasks) {
      const double factor = 1 + noise_ * random_.uniform(-1, 1);
      task.duration =
          std::max(Nanos(1), nanos_from(static_cast<double>(task.duration.value) * factor));
      task.latency = std::min(task.latency, task.duration);
    }
    const Timeline timeline = Simulator().simulate(program);
    PlanRun came;
    for (std::size_t d = 0; d < cluster_->device_count(); ++d) {
      const DeviceId device(d);
      came.devices.push_back(device);
      came.result.peaks.push_back(timeline.devices[device].peak);
      if (timeline.devices[device].peak <= cluster_->gpu(device).memory) continue;
      came.state = PlanRun::State::Failed;
      came.problem = "rank " + std::to_string(d) + ": memory does not suffice";
      came.exhausted = device;
      return came;
    }
    for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
      came.result.tasks.push_back(
          {TaskId(i), 0, timeline.tasks[TaskId(i)].start, timeline.tasks[TaskId(i)].end});
    came.result.step_time = timeline.step_time;
    came.result.step_times = {timeline.step_time};
    return came;
  }

  int runs = 0;

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const CostModel> cost_;
  double noise_ = 0;
  Random random_{1};
};

// Decides group by group, each with the others as they are, until nothing gets better.
class Greedy final : public Planner {
 public:
  std::string name() const override { return "greedy"; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer&, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    seeds += options.seeds.size();
    for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
      consider(whole(problem, decision_on_device(DeviceId(d))), evaluator, result);
    std::vector<DeviceGroupId> all;
    for (std::size_t g = 0; g < problem.cluster->groups().size(); ++g) all.emplace_back(g);
    const std::vector<Decision> choices = {
        decision_on_groups(*problem.cluster, all, Mode::ReplicateAllReduce),
        decision_on_groups(*problem.cluster, {{DeviceGroupId(0)}}, Mode::ReplicateAllReduce),
        decision_on_device(DeviceId(0)),
        decision_on_device(DeviceId(problem.cluster->device_count() - 1))};
    for (const Decision& choice : choices) consider(whole(problem, choice), evaluator, result);
    for (int round = 0; round < 2; ++round)
      for (std::size_t group = 0; group < problem.grouping->size(); ++group)
        for (const Decision& choice : choices) {
          Strategy changed = result.strategy;
          changed.groups[GroupId(group)] = choice;
          consider(changed, evaluator, result);
        }
    return result;
  }

  std::size_t seeds = 0;  // that it was given, over all calls

 private:
  static Strategy whole(const Problem& problem, const Decision& decision) {
    Strategy strategy;
    strategy.groups.assign(problem.grouping->size(), decision);
    return strategy;
  }
  static void consider(const Strategy& strategy, Evaluator& evaluator, PlanResult& result) {
    const Score score = evaluator.evaluate(strategy);
    if (!result.strategy.groups.empty() && !score.better_than(result.score)) return;
    result.strategy = strategy;
    result.score = score;
  }
};

// Always the same.
class Stubborn final : public Planner {
 public:
  explicit Stubborn(std::function<Strategy(const Problem&)> make) : make_(std::move(make)) {}
  std::string name() const override { return "stubborn"; }
  bool is_baseline() const override { return true; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&, Observer&,
                  std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = make_(problem);
    result.score = evaluator.evaluate(result.strategy);
    return result;
  }

 private:
  std::function<Strategy(const Problem&)> make_;
};

}  // namespace strato::toy
