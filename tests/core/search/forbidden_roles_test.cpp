// Roles that constraints forbid: their text, what a strategy without them is, and planners that
// keep out of them.
#include "core/search/constraints/forbidden_roles.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/core/search/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

// A training graph of four layers in a few groups, on four devices.
Problem two_and_two() {
  ProblemOptions options;
  options.grouping.max_groups = 4;
  return make_problem(toy::chain(4, 16, 128), toy::small_cluster(2, 2, true), options);
}

Constraints without(const std::string& text) {
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid(text));
  return constraints;
}

std::vector<OpId> ops_of(const Problem& problem, Phase phase) {
  std::vector<OpId> ops;
  for (const OpId op : problem.graph->ops().ids())
    if (problem.graph->op(op).phase == phase) ops.push_back(op);
  return ops;
}

// Groups on the first two devices and on the other two, in two micro-batches.
Strategy in_two_stages(const Problem& problem) {
  Strategy strategy = data_parallel(problem);
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    const std::size_t first = g < problem.grouping->size() / 2 ? 0 : 2;
    strategy.groups[GroupId(g)]->devices = {{DeviceId(first), 1}, {DeviceId(first + 1), 1}};
  }
  strategy.micro_batches = {2, PipelineSchedule::OneFOneB};
  return strategy;
}

// Every role at once.
Strategy with_all(const Problem& problem) {
  Strategy strategy = in_two_stages(problem);
  for (auto& decision : strategy.groups) decision->roles.tensor = 2;
  strategy.recomputed = ops_of(problem, Phase::Forward);
  strategy.offloaded = ops_of(problem, Phase::Update);
  for (const OpId op : ops_of(problem, Phase::Update)) {
    const auto& devices = strategy.groups[problem.grouping->group_of(op)]->devices;
    strategy.splits.push_back({op, 0, devices});
  }
  return strategy;
}

bool has(const Problem& problem, const Strategy& strategy, Role role) {
  std::vector<OpId> ops;
  std::vector<GroupId> groups;
  for (const OpId op : problem.graph->ops().ids()) ops.push_back(op);
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) groups.emplace_back(g);
  return group_with(role, strategy, *problem.graph, *problem.grouping, ops, groups).valid();
}

TEST(ForbiddenRoles, HaveAText) {
  EXPECT_EQ(parse_forbid("pipeline").of.name, "*");
  EXPECT_EQ(parse_forbid("pipeline").roles, std::vector{Role::Pipeline});
  const Constraints::Forbid some = parse_forbid("layers.*=tensor,p100,duplicate,recompute");
  EXPECT_EQ(some.of.name, "layers.*");
  EXPECT_EQ(some.roles, (std::vector{Role::Tensor, Role::Recompute}));
  EXPECT_EQ(some.devices, std::vector<std::string>{"p100"});
  EXPECT_EQ(some.modes, std::vector{Mode::Duplicate});
  EXPECT_EQ(describe(without("layers.*=tensor,recompute")).front(),
            "\"layers.*\" is without tensor parallelism and recomputation");
  EXPECT_EQ(describe(without("sharding,v100")).front(),
            "every op is not on v100 and is without sharding");
  EXPECT_TRUE(forbids_everywhere(without("sharding"), Role::Sharding));
  EXPECT_FALSE(forbids_everywhere(without("sharding"), Role::Tensor));
  EXPECT_FALSE(forbids_everywhere(without("a=sharding"), Role::Sharding));
}

TEST(ForbiddenRoles, AreInFiles) {
  const auto parsed = [](const std::string& forbid) {
    return parse_constraints(
        R"({"format": "stratoscope-constraints", "version": 1, "forbid": [)" + forbid + "]}",
        "c.json");
  };
  for (const char* text : {"pipeline", "a=tensor,sharding", "recompute,x,ps"})
    EXPECT_EQ(parse_constraints(constraints_json(without(text)), "c"), without(text)) << text;
  EXPECT_EQ(parsed(R"({"group": "*", "roles": ["tensor"]})"), without("tensor"));
  EXPECT_EQ(parsed(R"({"group": "a", "devices": ["tensor"]})").forbidden[0].devices,
            std::vector<std::string>{"tensor"})
      << "a device of the name of a role";
  const std::string wrong =
      message_of([&] { parsed(R"({"group": "*", "roles": ["tensor", "host"]})"); });
  EXPECT_NE(wrong.find("forbid[0].roles[1]: \"host\" is not a role"), std::string::npos) << wrong;
  EXPECT_NE(message_of([&] { parsed(R"({"group": "a", "roles": []})"); }).find("forbids nothing"),
            std::string::npos);
}

// A role wins over a device of its name, and says so in words.
TEST(ForbiddenRoles, OfTheNameOfADeviceAreRoles) {
  const auto cluster = std::make_shared<const Cluster>(parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "odd", "machines": [
        {"name": "tensor", "gpus": [{"type": "V100-SXM2-32GB", "count": 2}],
         "fabric": {"bandwidth_GBps": 150, "latency_us": 2},
         "nic": {"bandwidth_GBps": 10, "latency_us": 5}}], "network": {"latency_us": 1}})",
      "odd", GpuCatalogue::bundled()));
  ASSERT_EQ(cluster->devices_named("tensor").size(), 2u);
  const Problem problem = toy::chain_problem(cluster, 2);  // its groups are "product0" and so on
  Strategy strategy = data_parallel(problem);
  EXPECT_TRUE(BoundConstraints(without("tensor"), problem).violated(strategy).empty());
  strategy.groups[GroupId(0)]->roles.tensor = 2;
  EXPECT_FALSE(BoundConstraints(without("tensor"), problem).violated(strategy).empty());
  Constraints device;
  device.forbidden.push_back({{"*", {}}, {"tensor:0"}, {}, {}});
  EXPECT_FALSE(BoundConstraints(device, problem).violated(data_parallel(problem)).empty());
}

TEST(ForbiddenRoles, AreTakenAndNothingElse) {
  const Problem problem = two_and_two();
  const Strategy before = with_all(problem);
  for (const Role role :
       {Role::Pipeline, Role::Tensor, Role::Recompute, Role::Sharding, Role::Offload}) {
    SCOPED_TRACE(std::string(name_of(role)));
    const BoundConstraints bound(without(std::string(name_of(role))), problem);
    EXPECT_TRUE(has(problem, before, role));
    EXPECT_EQ(bound.violated(before).size(), 1u);
    const Strategy after = bound.repaired(before);
    EXPECT_TRUE(bound.violated(after).empty());
    EXPECT_NO_THROW(validate(after, *problem.grouping, *problem.cluster));
    for (const Role other :
         {Role::Pipeline, Role::Tensor, Role::Recompute, Role::Sharding, Role::Offload})
      EXPECT_EQ(has(problem, after, other), other != role) << name_of(other);
    EXPECT_EQ(bound.repaired(after), after);
  }
}

TEST(ForbiddenRoles, AreOfSomeGroups) {
  const Problem problem = two_and_two();
  const GroupId group = problem.grouping->group_of(problem.graph->find_op("product0"));
  const Strategy before = with_all(problem);
  const std::string name = problem.grouping->group(group).name;
  const Strategy after =
      BoundConstraints(without(name + "=tensor,recompute,sharding"), problem).repaired(before);
  for (std::size_t g = 0; g < problem.grouping->size(); ++g)
    EXPECT_EQ(columns_of(*after.groups[GroupId(g)]), GroupId(g) == group ? 1u : 2u);
  const auto is_in = [&](OpId op) { return problem.grouping->group_of(op) == group; };
  EXPECT_TRUE(std::ranges::none_of(after.recomputed, is_in));
  EXPECT_TRUE(std::ranges::none_of(after.splits, is_in, &OpSplit::op));
  EXPECT_FALSE(after.recomputed.empty());
  EXPECT_FALSE(after.splits.empty());
  EXPECT_EQ(after.micro_batches, before.micro_batches);
}

TEST(ForbiddenRoles, RowsDoWithoutExperts) {
  const Problem problem = two_and_two();
  Strategy strategy = data_parallel(problem);
  for (auto& decision : strategy.groups) decision->roles.expert = 2;
  const BoundConstraints bound(without("expert"), problem);
  EXPECT_EQ(bound.violated(strategy).size(), 1u);
  EXPECT_NE(message_of([&] { bound.check(strategy); }).find("has expert parallelism"),
            std::string::npos);
  const Strategy after = bound.repaired(strategy);
  EXPECT_TRUE(bound.violated(after).empty());
  EXPECT_EQ(after, data_parallel(problem));
}

TEST(ForbiddenRoles, RowsDoWithoutEachOthersPositions) {
  const Problem problem = two_and_two();
  Strategy strategy = data_parallel(problem);
  for (auto& decision : strategy.groups) decision->roles.context = 2;
  const BoundConstraints bound(without("context"), problem);
  EXPECT_EQ(bound.violated(strategy).size(), 1u);
  EXPECT_NE(message_of([&] { bound.check(strategy); }).find("has context parallelism"),
            std::string::npos);
  EXPECT_EQ(bound.repaired(strategy), data_parallel(problem));
}

TEST(ForbiddenRoles, RowsDoWithoutSharedStates) {
  const Problem problem = two_and_two();
  Strategy strategy = data_parallel(problem);
  for (auto& decision : strategy.groups) decision->roles.states.stage = 2;
  const BoundConstraints bound(without("sharding"), problem);
  EXPECT_EQ(bound.violated(strategy).size(), 1u);
  const Strategy after = bound.repaired(strategy);
  EXPECT_TRUE(bound.violated(after).empty());
  EXPECT_EQ(after, data_parallel(problem));
}

// Split ops of the forward pass are tensor parallelism, split updates are sharding.
TEST(ForbiddenRoles, SplitOpsHaveTheRoleOfTheirPhase) {
  const Problem problem = two_and_two();
  Strategy strategy = data_parallel(problem);
  const OpId product = problem.graph->find_op("product1");
  strategy.splits = {{product, 1, {{DeviceId(0), 1}, {DeviceId(1), 1}}}};
  EXPECT_TRUE(has(problem, strategy, Role::Tensor));
  EXPECT_FALSE(has(problem, strategy, Role::Sharding));
  EXPECT_TRUE(BoundConstraints(without("tensor"), problem).repaired(strategy).splits.empty());
  EXPECT_EQ(BoundConstraints(without("sharding"), problem).repaired(strategy), strategy);
}

// Gradients may be accumulated in one stage.
TEST(ForbiddenRoles, OneStageIsNoPipeline) {
  const Problem problem = two_and_two();
  Strategy strategy = data_parallel(problem);
  strategy.micro_batches = {4, PipelineSchedule::OneFOneB};
  EXPECT_FALSE(has(problem, strategy, Role::Pipeline));
  strategy.groups[GroupId(0)] = decision_on_device(DeviceId(1));  // of the others' devices
  EXPECT_FALSE(has(problem, strategy, Role::Pipeline));
  strategy = in_two_stages(problem);
  EXPECT_TRUE(has(problem, strategy, Role::Pipeline));
  strategy.groups[GroupId(0)]->devices = data_parallel(problem).groups[GroupId(0)]->devices;
  EXPECT_FALSE(has(problem, strategy, Role::Pipeline)) << "all devices share a group's samples";
  strategy.groups[GroupId(0)]->mode = Mode::ModelParallel;
  EXPECT_TRUE(has(problem, strategy, Role::Pipeline)) << "each op of it is on one device";
  strategy.micro_batches = {};
  EXPECT_FALSE(has(problem, strategy, Role::Pipeline)) << "nothing follows in one micro-batch";
}

TEST(ForbiddenRoles, AreRefusedInWords) {
  const Problem problem = two_and_two();
  const Strategy strategy = with_all(problem);
  const auto refusal = [&](const std::string& text) {
    return message_of([&] { BoundConstraints(without(text), problem).check(strategy); });
  };
  EXPECT_EQ(refusal("p*=tensor").substr(0, 60),
            "constraint \"p*\" is without tensor parallelism: op group \"pro");
  EXPECT_NE(refusal("tensor").find("has tensor parallelism"), std::string::npos);
  EXPECT_NE(refusal("pipeline").find("has a stage of its own in a pipeline"), std::string::npos);
  EXPECT_NE(refusal("recompute").find("has recomputation"), std::string::npos);
  EXPECT_NE(refusal("sharding").find("has sharding"), std::string::npos);
  EXPECT_NE(refusal("allreduce").find("is AllReduce, tensor 2, on"), std::string::npos);
  EXPECT_EQ(refusal("duplicate"), "no error");
  Constraints pinned = without("tensor");
  pinned.pins = {parse_pin("product0=tensor:2")};
  const std::string both = message_of([&] { BoundConstraints(pinned, problem); });
  EXPECT_NE(both.find("contradict each other"), std::string::npos) << both;
}

// Returns what it knows, whatever is demanded.
class Knowing : public Planner {
 public:
  explicit Knowing(Strategy strategy) : strategy_(std::move(strategy)) {}
  std::string name() const override { return "knowing"; }
  PlanResult plan(const Problem&, Evaluator& evaluator, const PlannerOptions&, Observer&,
                  std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = strategy_;
    result.score = evaluator.evaluate(strategy_);
    return result;
  }

 private:
  Strategy strategy_;
};

// Also what is asked of every strategy (PlannerOptions) is kept out of where it is forbidden.
TEST(ForbiddenRoles, AreKeptOutOfByPlanners) {
  const Problem problem = two_and_two();
  PlannerOptions options;
  options.threads = 1;
  options.floor = false;
  options.tensor = 2;
  options.recompute = Recompute::Blocks;
  options.micro_batches = {2, PipelineSchedule::OneFOneB};
  Strategy stages = in_two_stages(problem);
  stages.micro_batches = {};
  for (const char* text : {"tensor", "recompute", "pipeline", "product0=tensor", "sharding"}) {
    SCOPED_TRACE(text);
    options.constraints = std::make_shared<const Constraints>(without(text));
    const BoundConstraints bound(without(text), problem);
    for (const Strategy& known : {with_all(problem), stages, data_parallel(problem)}) {
      Knowing planner(known);
      Observer quiet;
      const PlanResult result = run_planner(planner, problem, options, quiet, {});
      EXPECT_TRUE(bound.violated(result.strategy).empty());
      EXPECT_EQ(result.score.step_time,
                simulate_strategy(problem, result.strategy).score.step_time);
    }
  }
}

}  // namespace
}  // namespace strato
