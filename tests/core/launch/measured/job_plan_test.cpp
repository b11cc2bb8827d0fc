// Two-stage rewriting: what ranks make of the plan alone is, byte for byte, what is made of all.
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/training_graph.h"
#include "core/launch/measured/make_job.h"
#include "core/program/lower/lower.h"
#include "core/program/project/rank_programs.h"
#include "core/program/project/ring_order.h"
#include "core/program/rank/rank_agreement.h"
#include "core/program/rank/rank_file.h"
#include "core/program/value/collective.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/message_of.h"

namespace strato {
namespace {

std::shared_ptr<const Graph> small_layers() {
  ModelKit kit(24);
  TensorId x = kit.input("x", {24, 6});
  for (const char* name : {"w1", "w2", "w3", "w4"})
    x = kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name, {6, 6})})});
  return std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
}

struct Travel {
  explicit Travel(int machines = 2, int gpus = 4, CostSources sources = {})
      : costs(std::move(sources)) {
    problem.graph = small_layers();
    problem.cluster = toy::cluster(machines, gpus);
    problem.cost = make_cost_model(problem.graph, problem.cluster, costs);
    times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
    MetisOptions options;
    options.max_groups = 4;
    problem.grouping =
        std::make_shared<const Grouping>(group_by_metis(*problem.graph, times, options));
  }

  std::vector<int> everything() const {
    std::vector<int> all;
    for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
      all.push_back(static_cast<int>(d));
    return all;
  }
  Strategy everywhere(Mode mode, const std::vector<int>& weights = {}) const {
    Strategy strategy;
    strategy.groups.assign(problem.grouping->size(),
                           toy::Bench::decision(mode, everything(), weights));
    return strategy;
  }
  Strategy on_one(std::size_t device) const {
    Strategy strategy;
    strategy.groups.assign(problem.grouping->size(), decision_on_device(DeviceId(device)));
    return strategy;
  }
  Timeline run(const Strategy& strategy, const SimulateOptions& how = {}) const {
    const Problem own = problem_for(problem, strategy);
    Lowering lowering(own.graph, own.grouping, own.cluster, own.cost);
    return Simulator().simulate(std::make_shared<const Program>(lowering.lower(strategy)), how);
  }
  PlannedBy by(const Strategy& strategy) const { return {problem, strategy, costs}; }

  void expect_the_same(const Strategy& strategy, const std::string& what,
                       const SimulateOptions& how = {}) const {
    SCOPED_TRACE(what);
    const Timeline timeline = run(strategy, how);
    RankPrograms all = rank_programs(*timeline.program, execution_order(timeline));
    const RingOrders rings = ring_orders(*timeline.program, complete(strategy, *problem.cluster));
    for (RankProgram& rank : all.ranks) order_rings(rank, rings);
    const std::optional<JobPlan> plan = plan_of_job(by(strategy), how);
    ASSERT_TRUE(plan.has_value());
    const std::vector<DeviceId> devices = working_devices(*timeline.program);
    ASSERT_EQ(devices.size(), all.ranks.size());
    std::vector<RankShares> shares;
    for (std::size_t r = 0; r < devices.size(); ++r) {
      const RankProgram own = lower_rank(*plan, problem.graph, devices[r], "plan");
      EXPECT_EQ(write_rank_program(own), write_rank_program(all.ranks[r])) << "rank " << r;
      shares.push_back(shares_of(*problem.graph, own, devices));
    }
    EXPECT_FALSE(find_disagreement(shares).has_value());
  }

  CostSources costs;
  Problem problem;
  std::vector<Nanos> times;
};

TEST(JobPlan, RanksMakeTheirOwnProgramsOfIt) {
  const Travel travel;
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const Strategy even = travel.everywhere(mode);
    travel.expect_the_same(even, std::string(name_of(mode)));
    travel.expect_the_same(travel.everywhere(mode, {1, 2, 3, 1, 1, 2, 3, 1}), "uneven");
    travel.expect_the_same(even, "fair links", {true, true});
    travel.expect_the_same(even, "no priorities", {false, false});
  }
  Strategy mixed = travel.everywhere(Mode::ReplicateAllReduce);
  mixed.groups[GroupId(1)] = toy::Bench::decision(Mode::ModelParallel, {1, 3});
  mixed.groups[GroupId(2)] = std::nullopt;  // undecided
  mixed.bucket = Bytes(200);
  travel.expect_the_same(mixed, "mixed");
  for (std::size_t op = 0; op < travel.problem.graph->op_count(); ++op)
    mixed.priorities.push_back(static_cast<std::int32_t>(op * 7 % 5));
  travel.expect_the_same(mixed, "in another order");
  travel.expect_the_same(travel.on_one(3), "one device");
}

TEST(JobPlan, VariablesOfEveryKindTravel) {
  const Travel travel;
  std::mt19937_64 random(11);
  for (int round = 0; round < 12; ++round) {
    Strategy strategy =
        travel.everywhere(round % 2 == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs);
    RandomVariables variables{*travel.problem.graph, *travel.problem.grouping,
                              *travel.problem.cluster, random};
    variables.lossy = round % 3 == 0;
    strategy.variables = variables.variables(strategy);
    travel.expect_the_same(strategy, "round " + std::to_string(round));
  }
}

TEST(JobPlan, GroupsOfItsOwnTravel) {
  const Travel travel;
  Strategy strategy = travel.everywhere(Mode::ReplicateAllReduce);
  MetisOptions options;
  options.max_groups = 7;
  strategy.grouping = std::make_shared<const Grouping>(
      group_by_metis(*travel.problem.graph, travel.times, options));
  strategy.groups.assign(strategy.grouping->size(), strategy.groups.front());
  strategy.groups[GroupId(2)] = toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  travel.expect_the_same(strategy, "own groups");
}

TEST(JobPlan, CostsTravel) {
  Calibration calibration = Calibration::standard();
  calibration.name = "odd";
  calibration.launch_scale = 0.25;
  calibration.issue_us = 2.1;
  CostSources costs;
  costs.calibration = std::make_shared<const Calibration>(calibration);
  const Travel travel(2, 2, costs);
  const Strategy strategy = travel.everywhere(Mode::ReplicateAllReduce, {1, 2, 2, 1});
  travel.expect_the_same(strategy, "calibration");
  // Costs that these sources do not make are told before anything starts, not by ranks.
  Travel other = travel;
  other.costs = {};
  EXPECT_FALSE(plan_of_job(other.by(strategy), {}).has_value());
  const Timeline timeline = other.run(strategy);
  const Job shipped = make_job(timeline, other.by(strategy), "name", {});
  EXPECT_FALSE(shipped.plan.has_value());
  EXPECT_EQ(shipped.programs.ranks.size(), 4u);
  // A number that its file rounds.
  calibration.launch_scale = 1.0 / 3;
  costs.calibration = std::make_shared<const Calibration>(calibration);
  const Travel rounded(2, 2, costs);
  EXPECT_FALSE(plan_of_job(rounded.by(strategy), {}).has_value());
}

TEST(JobPlan, IsRefusedWhereItIsReadOtherwise) {
  const Travel travel;
  const Strategy strategy = travel.everywhere(Mode::ReplicateAllReduce);
  const JobPlan plan = *plan_of_job(travel.by(strategy), {});
  const auto refusal = [&](const JobPlan& of, DeviceId device = DeviceId(0)) {
    return message_of([&] { lower_rank(of, travel.problem.graph, device, "plan.json"); });
  };
  EXPECT_EQ(refusal(plan), "no error");
  JobPlan changed = plan;
  changed.plan.replace(changed.plan.find("replicate-allreduce"), 19, "duplicate");
  EXPECT_NE(refusal(changed).find("understood otherwise"), std::string::npos) << refusal(changed);
  changed = plan;
  changed.plan.resize(plan.plan.size() / 2);
  EXPECT_NE(refusal(changed).find("plan.json"), std::string::npos) << refusal(changed);
  changed = plan;
  changed.calibration = "{}";
  EXPECT_NE(refusal(changed).find("calibration"), std::string::npos) << refusal(changed);
  for (const DeviceId device : {DeviceId(8), DeviceId(100'000)})
    EXPECT_NE(refusal(plan, device).find("nothing to do"), std::string::npos);
  const Strategy alone = travel.on_one(3);
  EXPECT_NE(refusal(*plan_of_job(travel.by(alone), {})).find("nothing to do"), std::string::npos);
}

TEST(JobPlan, AJobOfItHasNoPrograms) {
  const Travel travel;
  Strategy strategy = travel.everywhere(Mode::ReplicateAllReduce);
  strategy.groups.assign(strategy.groups.size(),
                         toy::Bench::decision(Mode::ReplicateAllReduce, {1, 2, 6}));
  const Job job = make_job(travel.run(strategy), travel.by(strategy), "name", {});
  ASSERT_TRUE(job.plan.has_value());
  EXPECT_TRUE(job.programs.ranks.empty());
  EXPECT_EQ(devices_of(job), (std::vector{DeviceId(1), DeviceId(2), DeviceId(6)}));
  EXPECT_EQ(job.machines, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(job_digest(job),
            job_digest(make_job(travel.run(strategy), travel.by(strategy), "again", {})));
  const Strategy other = travel.everywhere(Mode::ReplicateAllReduce);
  EXPECT_NE(job_digest(job), job_digest(make_job(travel.run(other), travel.by(other), "name", {})));
}

}  // namespace
}  // namespace strato
