// Constraints: their text, what they make of strategies, and planners that are held to them.
#include "core/search/constraints/constraints.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/error.h"
#include "core/schedule/list/placement.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/run_record.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

// Layers as groups on two V100 (fast:0, fast:1) and two machines of one 1080 Ti (slow-0:0,
// slow-1:0).
Problem layers(int count = 4) { return toy::chain_problem(toy::small_cluster(2, 2), count); }

Constraints all_kinds() {
  Constraints constraints;
  constraints.pins.push_back(parse_pin("product0=ps:fast:0x2,slow-0:0"));
  constraints.forbidden.push_back(parse_forbid("product1=slow-0,duplicate"));
  constraints.together.push_back(parse_together("product2,product3"));
  constraints.limits.push_back(parse_limit("*=3"));
  return constraints;
}

Strategy repaired(const Constraints& constraints, const Problem& problem,
                  const Strategy& strategy) {
  return BoundConstraints(constraints, problem).repaired(strategy);
}

TEST(ConstraintsText, goes_there_and_back) {
  Constraints constraints = all_kinds();
  constraints.pins[0].of.ops = {"a", "b \"quoted\"", "\xf0\x9f\x8c\x8a"};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c.json"), constraints);
  EXPECT_EQ(parse_constraints(constraints_json({}), "c.json"), Constraints());
  EXPECT_EQ(describe(constraints).size(), constraints.size());
}

TEST(ConstraintsText, says_where_it_is_wrong) {
  const auto parsed = [](const std::string& body) {
    return message_of([&] {
      parse_constraints(R"({"format": "stratoscope-constraints", "version": 1, )" + body + "}",
                        "c.json");
    });
  };
  EXPECT_NE(parsed(R"("pins": [])").find("pins"), std::string::npos);
  EXPECT_NE(parsed(R"("pin": [{"group": "a", "mode": "magic", "devices": {"v": 1}}])")
                .find("pin[0].mode"),
            std::string::npos);
  EXPECT_NE(parsed(R"("pin": [{"group": "a", "mode": "duplicate", "devices": {}}])").find("empty"),
            std::string::npos);
  EXPECT_NE(parsed(R"("pin": [{"group": "a", "mode": "duplicate", "devices": {"v": 0}}])")
                .find("pin[0].devices.v"),
            std::string::npos);
  EXPECT_NE(parsed(R"("forbid": [{"group": "a"}])").find("forbids nothing"), std::string::npos);
  EXPECT_NE(parsed(R"("forbid": [{"group": "", "devices": ["v"]}])").find("empty"),
            std::string::npos);
  EXPECT_NE(parsed(R"("together": [{"groups": ["a"]}])").find("fewer than two"), std::string::npos);
  EXPECT_NE(parsed(R"("max_devices": [{"devices": 0}])").find("max_devices[0].devices"),
            std::string::npos);
  EXPECT_THROW(parse_constraints("{", "c.json"), InputError);
  EXPECT_THROW(parse_constraints(R"({"format": "other", "version": 1})", "c.json"), InputError);
  EXPECT_THROW(parse_constraints(R"({"format": "stratoscope-constraints", "version": 2})", "c"),
               InputError);
}

TEST(ConstraintsText, short_forms) {
  EXPECT_EQ(parse_pin("layers.*=tensor:4"),
            (Constraints::Pin{{"layers.*", {}}, Mode::ReplicateAllReduce, {{"all", 1}}, 4}));
  EXPECT_EQ(
      parse_pin("fc=tensor:2:v100:0,v100:1"),
      (Constraints::Pin{{"fc", {}}, Mode::ReplicateAllReduce, {{"v100:0", 1}, {"v100:1", 1}}, 2}));
  EXPECT_EQ(parse_pin("moe.*=expert:8"),
            (Constraints::Pin{{"moe.*", {}}, Mode::ReplicateAllReduce, {{"all", 1}}, 1, 8}));
  EXPECT_EQ(parse_pin("moe.*=tensor:2:expert:4:v100"),
            (Constraints::Pin{{"moe.*", {}}, Mode::ReplicateAllReduce, {{"v100", 1}}, 2, 4}));
  const Constraints::Pin pin = parse_pin("a=b=allreduce:v100:0, p100x3");
  EXPECT_EQ(pin.of.name, "a=b");
  EXPECT_EQ(pin.devices.size(), 2u);
  EXPECT_EQ(parse_forbid("p100,ps").of.name, "*");
  EXPECT_EQ(parse_forbid("p100,ps").modes, std::vector{Mode::ReplicatePs});
  EXPECT_EQ(parse_limit("7").devices, 7);
  EXPECT_EQ(parse_limit("enc.*=2").of.name, "enc.*");
  for (const char* text : {"", "a", "=ps:x", "a=", "a=ps", "a=ps:", "a=magic:x", "a=ps:x,,y"})
    EXPECT_THROW(parse_pin(text), InputError) << text;
  for (const char* text : {"", "=x", "a=", "a=x,,y"})
    EXPECT_THROW(parse_forbid(text), InputError) << text;
  for (const char* text : {"", "a", "a,"}) EXPECT_THROW(parse_together(text), InputError) << text;
  for (const char* text : {"", "0", "-1", "a=0", "=3", "3x", "99999999999999999999"})
    EXPECT_THROW(parse_limit(text), InputError) << text;
}

TEST(Constraints, are_kept_by_what_is_repaired) {
  const Problem problem = layers();
  const BoundConstraints bound(all_kinds(), problem);
  const Strategy before = data_parallel(problem);
  EXPECT_EQ(bound.violated(before).size(), 3u);
  const Strategy after = bound.repaired(before);
  EXPECT_TRUE(bound.violated(after).empty());
  EXPECT_EQ(bound.repaired(after), after);
  const GroupId first = problem.grouping->group_of(OpId(0));
  EXPECT_EQ(after.groups[first],
            (Decision{Mode::ReplicatePs, {{DeviceId(0), 2}, {DeviceId(2), 1}}}));
}

TEST(Constraints, leave_what_keeps_to_them_alone) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid("slow-1,duplicate"));
  Strategy strategy = on_one_device(problem, DeviceId(1));
  EXPECT_EQ(repaired(constraints, problem, strategy), strategy);
  strategy.groups[GroupId(2)] = Decision{Mode::ModelParallel, {{DeviceId(0), 5}, {DeviceId(2), 1}}};
  EXPECT_EQ(repaired(constraints, problem, strategy), strategy);
}

// 10 : 10 is 1 : 1, and weights mean nothing where the batch is not split.
TEST(Constraints, do_not_mind_how_shares_are_written) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins.push_back(parse_pin("product0=allreduce:fast:0x10,fast:1x10"));
  constraints.together.push_back(parse_together("product2,product3"));
  const BoundConstraints bound(constraints, problem);
  Strategy strategy = data_parallel(problem);
  const auto decide = [&](int op, Mode mode, std::int32_t weight) {
    strategy.groups[problem.grouping->group_of(OpId(op))] =
        Decision{mode, {{DeviceId(0), weight}, {DeviceId(1), weight}}};
  };
  decide(0, Mode::ReplicateAllReduce, 7);
  decide(2, Mode::Duplicate, 3);
  decide(3, Mode::Duplicate, 1);
  EXPECT_TRUE(bound.violated(strategy).empty());
  EXPECT_EQ(bound.repaired(strategy), strategy);
}

// What a variable says of its own stays where only the weights of its group are written otherwise.
TEST(Constraints, keep_variables_of_groups_that_stay_together) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins.push_back(parse_pin("product0=allreduce:fast:0"));
  constraints.together.push_back(parse_together("product2,product3"));
  Strategy strategy = data_parallel(problem);
  for (const int op : {2, 3})
    strategy.groups[problem.grouping->group_of(OpId(op))] =
        Decision{Mode::ReplicateAllReduce, {{DeviceId(0), 64}, {DeviceId(1), 64}}};
  SyncPart part;
  part.encoding = Encoding::LowRank;
  strategy.variables = {{OpId(2), 0, {part}}};
  const Strategy kept = repaired(constraints, problem, strategy);
  EXPECT_NE(kept, strategy) << "product0 was elsewhere";
  EXPECT_EQ(kept.variables, strategy.variables);
}

TEST(Constraints, fill_partial_strategies_first) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid("fast"));
  Strategy partial;
  partial.groups.resize(problem.grouping->size());
  const Strategy after = repaired(constraints, problem, partial);
  ASSERT_TRUE(after.is_complete());
  for (const auto& decision : after.groups)
    EXPECT_EQ(*decision,
              (Decision{Mode::ReplicateAllReduce, {{DeviceId(2), 1}, {DeviceId(3), 1}}}));
}

TEST(Constraints, move_what_has_no_device_left) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid("product0=fast"));
  const Strategy after = repaired(constraints, problem, on_one_device(problem, DeviceId(1)));
  const GroupId first = problem.grouping->group_of(OpId(0));
  EXPECT_EQ(after.groups[first]->devices.size(), 1u);
  EXPECT_GE(after.groups[first]->devices[0].device, DeviceId(2));
}

TEST(Constraints, of_too_many_devices_the_most_used_stay) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.limits.push_back(parse_limit("1"));
  Strategy strategy = on_one_device(problem, DeviceId(3));
  strategy.groups[GroupId(3)] = decision_on_device(DeviceId(0));  // the least of compute time
  EXPECT_EQ(repaired(constraints, problem, strategy), on_one_device(problem, DeviceId(3)));
}

TEST(Constraints, limits_leave_every_group_a_device) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.limits.push_back(parse_limit("2"));
  constraints.limits.push_back(parse_limit("product*=2"));
  constraints.forbidden.push_back(parse_forbid("product0=fast,slow-0"));
  constraints.forbidden.push_back(parse_forbid("product1=slow,slow-1,fast:1"));
  EXPECT_THROW(BoundConstraints(constraints, problem), InputError) << "there is no device 'slow'";
  constraints.forbidden.back() = parse_forbid("product1=slow-0,slow-1,fast:1");
  const BoundConstraints bound(constraints, problem);
  for (std::size_t d = 0; d < 4; ++d) {
    const Strategy after = bound.repaired(on_one_device(problem, DeviceId(d)));
    EXPECT_TRUE(bound.violated(after).empty()) << d;
    EXPECT_EQ(after.groups[problem.grouping->group_of(OpId(0))], decision_on_device(DeviceId(3)));
  }
}

// Sixty groups with three devices each, and fourteen devices for all: those that keep the limit are
// known, and a strategy that uses all others leads the repair astray.
TEST(Constraints, limits_that_are_hard_to_keep_are_kept_all_the_same) {
  constexpr std::size_t kGroups = 60, kServing = 14, kDevices = 42;
  const Problem problem = toy::chain_problem(toy::small_cluster(2, kDevices - 2), kGroups);
  Constraints constraints;
  constraints.limits = {parse_limit("*=" + std::to_string(kServing))};
  std::uint64_t random = 5;
  for (std::size_t g = 0; g < kGroups; ++g) {
    std::set<std::size_t> allowed = {g % kServing};
    for (int i = 0; i < 2; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      allowed.insert(kServing + (random >> 33) % (kDevices - kServing));
    }
    Constraints::Forbid forbid{{"layer", {}}, {}, {}};
    for (const OpId op : problem.grouping->group(GroupId(g)).ops)
      forbid.of.ops.push_back(problem.graph->op(op).name);
    for (std::size_t d = 0; d < kDevices; ++d)
      if (!allowed.contains(d)) forbid.devices.push_back(problem.cluster->device(DeviceId(d)).name);
    constraints.forbidden.push_back(std::move(forbid));
  }
  const BoundConstraints bound(constraints, problem);
  Strategy all = data_parallel(problem);
  std::erase_if(all.groups[GroupId(0)]->devices,
                [](const DeviceShare& share) { return share.device.index() < kServing; });
  for (auto& decision : all.groups) decision = all.groups[GroupId(0)];
  Strategy alone = all;  // with groups of its own, all of whose ops are constrained alike
  const std::vector<std::int32_t> one(problem.graph->op_count(), 0);
  const std::vector<Nanos> times(one.size(), Nanos(1));
  alone.grouping = std::make_shared<const Grouping>(*problem.graph, one, times);
  alone.groups.resize(1);
  for (const Strategy& strategy : {all, alone}) {
    const Strategy after = bound.repaired(strategy);
    EXPECT_TRUE(bound.violated(after).empty());
    const Problem own = problem_for(problem, after);
    EXPECT_NO_THROW(validate(after, *own.grouping, *own.cluster));
  }
}

TEST(Constraints, name_those_that_contradict) {
  const Problem problem = layers();
  const auto contradiction =
      [&](const std::vector<const char*>& pins, const std::vector<const char*>& forbids,
          const std::vector<const char*>& together, const std::vector<const char*>& limits) {
        Constraints constraints;
        for (const char* text : pins) constraints.pins.push_back(parse_pin(text));
        for (const char* text : forbids) constraints.forbidden.push_back(parse_forbid(text));
        for (const char* text : together) constraints.together.push_back(parse_together(text));
        for (const char* text : limits) constraints.limits.push_back(parse_limit(text));
        return message_of([&] { BoundConstraints(constraints, problem); });
      };
  const auto tells = [](const std::string& message, const char* text) {
    return message.find("contradict") != std::string::npos &&
           message.find(text) != std::string::npos;
  };
  EXPECT_TRUE(
      tells(contradiction({"product0=ps:fast", "relu0=ps:slow-0"}, {}, {}, {}), "product0"));
  EXPECT_TRUE(tells(contradiction({"product0=ps:fast"}, {"fast:1"}, {}, {}), "is not on fast:1"));
  EXPECT_TRUE(tells(contradiction({"product0=ps:fast"}, {"ps"}, {}, {}), "is not PS"));
  EXPECT_TRUE(tells(contradiction({"product0=ps:fast", "product1=ps:slow-0"}, {},
                                  {"product0,product2", "product2,product1"}, {}),
                    "product1"));
  EXPECT_TRUE(tells(contradiction({}, {"fast", "slow-0,slow-1"}, {}, {}), "is not on fast"));
  EXPECT_TRUE(tells(contradiction({"product0=ps:all"}, {}, {}, {"3"}), "at most 3 devices"));
  EXPECT_TRUE(tells(contradiction({}, {"product0=fast", "product1=slow-0,slow-1"}, {}, {"1"}),
                    "at most 1"));
  EXPECT_NE(contradiction({}, {"all"}, {}, {}).find("no strategy"), std::string::npos);
  EXPECT_EQ(contradiction({"product0=ps:fast"}, {"product1=fast"}, {}, {"3"}), "no error");
}

// The last 14 of 42 devices serve all: who begins with the first ones comes to dead ends until the
// patience is over. That is no proof of a contradiction.
TEST(Constraints, do_not_contradict_where_a_search_gave_up) {
  constexpr int kServing = 14, kDevices = 42, kGroups = 60;
  const Problem problem = toy::chain_problem(toy::small_cluster(kDevices, 0), kGroups);
  std::mt19937 random(3);
  Constraints constraints;
  for (int group = 0; group < kGroups; ++group) {
    std::set<int> own = {kDevices - 1 - group % kServing};
    for (int i = 0; i < 2; ++i) own.insert(static_cast<int>(random() % (kDevices - kServing)));
    Constraints::Forbid& forbid = constraints.forbidden.emplace_back();
    forbid.of.name = "product" + std::to_string(group);
    for (int device = 0; device < kDevices; ++device)
      if (!own.contains(device)) forbid.devices.push_back("fast:" + std::to_string(device));
  }
  constraints.limits = {parse_limit("*=" + std::to_string(kServing))};
  const std::string message = message_of([&] { BoundConstraints(constraints, problem); });
  EXPECT_NE(message.find("no strategy was found"), std::string::npos) << message.substr(0, 200);
  EXPECT_NE(message.find("at most 14 devices"), std::string::npos);
}

TEST(Constraints, refuse_names_that_the_problem_lacks) {
  const Problem problem = layers();
  const auto refused = [&](const Constraints& constraints) {
    return message_of([&] { BoundConstraints(constraints, problem); });
  };
  Constraints constraints;
  constraints.pins = {parse_pin("nowhere=ps:fast")};
  EXPECT_NE(refused(constraints).find("no op \"nowhere\""), std::string::npos);
  constraints.pins = {parse_pin("nothing*=ps:fast")};
  EXPECT_THROW(BoundConstraints(constraints, problem), InputError);
  constraints.pins = {parse_pin("product0=ps:fast,fast:0")};
  EXPECT_NE(refused(constraints).find("twice"), std::string::npos);
  constraints.pins = {parse_pin("product0=ps:fastx0")};
  EXPECT_THROW(BoundConstraints(constraints, problem), InputError);
  constraints.pins = {parse_pin("product0=ps:h100")};
  EXPECT_NE(refused(constraints).find("no device or device group \"h100\""), std::string::npos);
  constraints.pins = {{{"x", {"gone", "product0"}}, Mode::Duplicate, {{"fast", 1}}}};
  EXPECT_EQ(refused(constraints), "no error") << "ops that a model lost do not count";
  constraints.pins[0].of.ops = {"gone"};
  EXPECT_THROW(BoundConstraints(constraints, problem), InputError);
}

TEST(Constraints, groups_may_keep_rows_of_columns) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins = {parse_pin("product0=tensor:2")};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c"), constraints);
  const BoundConstraints bound(constraints, problem);
  const GroupId group = problem.grouping->group_of(problem.graph->find_op("product0"));
  const Strategy plain = data_parallel(problem);
  EXPECT_FALSE(bound.violated(plain).empty());
  const Strategy repaired = bound.repaired(plain);
  EXPECT_EQ(columns_of(*repaired.groups[group]), 2u);
  EXPECT_TRUE(bound.violated(repaired).empty());
  constraints.pins = {parse_pin("product0=expert:2")};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c"), constraints);
  const Strategy with_experts = BoundConstraints(constraints, problem).repaired(plain);
  EXPECT_EQ(expert_rows_of(*with_experts.groups[group]), 2u);
  constraints.pins = {parse_pin("product0=context:2")};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c"), constraints);
  const Strategy in_context = BoundConstraints(constraints, problem).repaired(plain);
  EXPECT_EQ(context_rows_of(*in_context.groups[group]), 2u);
  constraints.pins = {parse_pin("product0=tensor:2:pieces:4")};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c"), constraints);
  const Strategy in_pieces = BoundConstraints(constraints, problem).repaired(plain);
  EXPECT_EQ(in_pieces.groups[group]->roles.pieces, 4);
  constraints.pins = {parse_pin("product0=zero:3:zero_rows:2")};
  EXPECT_EQ(parse_constraints(constraints_json(constraints), "c"), constraints);
  const Strategy shared = BoundConstraints(constraints, problem).repaired(plain);
  EXPECT_EQ(state_rows_of(*shared.groups[group]), 2u);
  EXPECT_EQ(shared.groups[group]->roles.states.stage, 3);
  constraints.pins = {parse_pin("product0=zero:3:zero_rows:3")};
  EXPECT_NE(message_of([&] { BoundConstraints(constraints, problem); }).find("in 3 rows of 4"),
            std::string::npos)
      << message_of([&] { BoundConstraints(constraints, problem); });
  constraints.pins = {parse_pin("product0=zero_rows:2")};
  EXPECT_NE(message_of([&] {
              BoundConstraints(constraints, problem);
            }).find("shares states in 2 rows without a stage of ZeRO"),
            std::string::npos);
  EXPECT_THROW(parse_pin("product0=zero:4"), InputError);
  EXPECT_THROW(parse_pin("product0=zero:"), InputError);
  constraints.pins = {parse_pin("product0=expert:3")};
  EXPECT_NE(message_of([&] { BoundConstraints(constraints, problem); }).find("is expert 3 on"),
            std::string::npos);
  constraints.pins = {parse_pin("product0=tensor:3")};
  EXPECT_NE(message_of([&] { BoundConstraints(constraints, problem); }).find("no whole rows"),
            std::string::npos);
}

TEST(Constraints, hold_for_strategies_with_groups_of_their_own) {
  const Problem problem = layers();
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < 4; ++d) choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    choice_of.push_back(static_cast<std::int32_t>(i % 2));
  Strategy scattered = strategy_by_ops(problem, choice_of, choices);
  ASSERT_NE(scattered.grouping, nullptr);
  scattered.splits.push_back({OpId(0), 1, {{DeviceId(0), 1}, {DeviceId(1), 1}}});
  Constraints constraints = all_kinds();
  constraints.limits = {parse_limit("2")};
  constraints.pins = {parse_pin("product0=duplicate:slow-1,fast:0")};
  const BoundConstraints bound(constraints, problem);
  const Strategy after = bound.repaired(scattered);
  const Problem own = problem_for(problem, after);
  EXPECT_NO_THROW(validate(after, *own.grouping, *own.cluster));
  EXPECT_TRUE(bound.violated(after).empty());
  EXPECT_TRUE(after.splits.empty());
  EXPECT_EQ(bound.repaired(after), after);
}

TEST(Constraints, of_parts_of_a_group_count_for_all_of_it) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins = {{{"x", {"product0"}}, Mode::Duplicate, {{"slow-1", 1}}}};
  constraints.forbidden = {{{"y", {"relu0"}}, {"slow-1"}, {}}};
  EXPECT_THROW(BoundConstraints(constraints, problem), InputError);
}

TEST(Constraints, divide_groups_of_other_strategies) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins = {{{"x", {"product0"}}, Mode::Duplicate, {{"slow-1", 1}}}};
  constraints.pins.push_back({{"y", {"product1"}}, Mode::Duplicate, {{"slow-0", 1}}});
  const BoundConstraints bound(constraints, problem);
  Strategy strategy = on_one_device(problem, DeviceId(0));
  std::vector<std::int32_t> one(problem.graph->op_count(), 0);
  const std::vector<Nanos> times(one.size(), Nanos(1));
  strategy.grouping = std::make_shared<const Grouping>(*problem.graph, one, times);
  strategy.groups.resize(1);
  const Strategy after = bound.repaired(strategy);
  ASSERT_NE(after.grouping, nullptr);
  EXPECT_NO_THROW(validate(after, *after.grouping, *problem.cluster));
  EXPECT_TRUE(bound.violated(after).empty());
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const std::string& name = problem.graph->op(OpId(i)).name;
    const std::size_t device = name == "product0" ? 3 : name == "product1" ? 2 : 0;
    EXPECT_EQ(after.groups[after.grouping->group_of(OpId(i))]->devices[0].device, DeviceId(device))
        << name;
  }
}

TEST(Constraints, survive_another_grouping) {
  ProblemOptions options;
  options.grouping.max_groups = 2;
  const Problem coarse = make_problem(toy::chain(6, 16, 128), toy::small_cluster(2, 2), options);
  options.grouping.max_groups = 6;
  const Problem fine = make_problem(toy::chain(6, 16, 128), toy::small_cluster(2, 2), options);
  const OpGroup& group = fine.grouping->group(GroupId(0));
  Constraints constraints;
  constraints.forbidden.push_back({{group.name, {}}, {"slow-0", "slow-1"}, {}});
  for (const OpId op : group.ops)
    constraints.forbidden[0].of.ops.push_back(fine.graph->op(op).name);
  const Strategy after = repaired(constraints, coarse, data_parallel(coarse));
  for (const OpId op : group.ops)
    for (const DeviceShare& share : after.groups[coarse.grouping->group_of(op)]->devices)
      EXPECT_LT(share.device, DeviceId(2));
}

TEST(Constraints, are_stored_with_a_run) {
  RunOptions options;
  options.planner.constraints = std::make_shared<const Constraints>(all_kinds());
  const RunOptions again = parse_run_options(run_options_text(options), "run 1");
  ASSERT_NE(again.planner.constraints, nullptr);
  EXPECT_EQ(*again.planner.constraints, all_kinds());
  EXPECT_EQ(parse_run_options(run_options_text({}), "run 1").planner.constraints, nullptr);
}

// --- planners -----------------------------------------------------------------------------------

class TreePlanner : public Planner {
 public:
  std::string name() const override { return "mcts"; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    return tree_search({problem, evaluator, options, observer, stop, std::move(resume)},
                       TreeSearchOptions());
  }
};

// Knows one strategy, and nothing of constraints; does not even ask what it is worth.
class Stubborn : public Planner {
 public:
  explicit Stubborn(Strategy strategy, bool baseline) : strategy_(strategy), baseline_(baseline) {}
  std::string name() const override { return "stubborn"; }
  bool is_baseline() const override { return baseline_; }
  PlanResult plan(const Problem&, Evaluator&, const PlannerOptions&, Observer& observer,
                  std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = strategy_;
    result.score = {Nanos(1), true, Bytes(0), nullptr};
    observer.on_improvement(strategy_, result.score, {});
    return result;
  }

 private:
  Strategy strategy_;
  bool baseline_;
};

struct Witness : Observer {
  explicit Witness(const BoundConstraints& bound) : bound(bound) {}
  void on_improvement(const Strategy& strategy, const Score&, const Progress&) override {
    ++seen;
    violations += static_cast<int>(bound.violated(strategy).size());
  }
  const BoundConstraints& bound;
  int seen = 0, violations = 0;
};

PlannerOptions constrained(const Constraints& constraints) {
  PlannerOptions options;
  options.iterations = 96;
  options.threads = 1;
  options.constraints = std::make_shared<const Constraints>(constraints);
  return options;
}

TEST(ConstrainedPlanner, of_any_kind_keeps_to_them) {
  const Problem problem = layers();
  const BoundConstraints bound(all_kinds(), problem);
  for (const bool baseline : {false, true}) {
    Stubborn planner(data_parallel(problem), baseline);
    Witness witness(bound);
    const PlanResult result = run_planner(planner, problem, constrained(all_kinds()), witness, {});
    EXPECT_TRUE(bound.violated(result.strategy).empty());
    EXPECT_EQ(witness.violations, 0);
    EXPECT_GT(witness.seen, 0);
    const Score score = simulate_strategy(problem, result.strategy).score;
    EXPECT_EQ(result.score.step_time, score.step_time) << "what it claimed is not what it is";
  }
}

TEST(ConstrainedPlanner, searches_among_what_is_allowed) {
  const Problem problem = layers();
  const BoundConstraints bound(all_kinds(), problem);
  TreePlanner planner;
  Witness witness(bound);
  const PlannerOptions options = constrained(all_kinds());
  const PlanResult first = run_planner(planner, problem, options, witness, {});
  EXPECT_TRUE(bound.violated(first.strategy).empty());
  EXPECT_EQ(witness.violations, 0);
  ASSERT_NE(first.tree, nullptr);
  EXPECT_TRUE(first.tree->pinned[problem.grouping->group_of(OpId(0))].has_value());
  // It goes on as if it had never stopped.
  PlannerOptions half = options, whole = options;
  half.iterations = 48;
  whole.iterations = 48;
  const PlanResult begun = run_planner(planner, problem, half, witness, {});
  const PlanResult gone_on = run_planner(planner, problem, whole, witness, {}, begun.tree);
  EXPECT_EQ(gone_on.strategy, first.strategy);
  EXPECT_TRUE(bound.violated(gone_on.strategy).empty());
}

TEST(ConstrainedPlanner, is_not_worse_than_the_baselines_that_are_allowed) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid("slow-0,slow-1"));
  const BoundConstraints bound(constraints, problem);
  Stubborn planner(on_one_device(problem, DeviceId(3)), false);
  Witness witness(bound);
  const PlanResult result = run_planner(planner, problem, constrained(constraints), witness, {});
  const Score floor = simulate_strategy(problem, bound.repaired(data_parallel(problem))).score;
  EXPECT_FALSE(floor.better_than(result.score));
}

TEST(ConstrainedPlanner, says_before_it_begins_that_they_contradict) {
  const Problem problem = layers();
  Constraints constraints;
  constraints.pins.push_back(parse_pin("product0=ps:fast"));
  constraints.forbidden.push_back(parse_forbid("ps"));
  Stubborn planner(data_parallel(problem), false);
  Observer nobody;
  EXPECT_NE(message_of([&] {
              run_planner(planner, problem, constrained(constraints), nobody, {});
            }).find("contradict"),
            std::string::npos);
}

TEST(ConstrainedPlanner, without_any_is_as_it_was) {
  const Problem problem = layers();
  TreePlanner planner;
  Observer nobody;
  PlannerOptions options;
  options.iterations = 48;
  options.threads = 1;
  const PlanResult before = run_planner(planner, problem, options, nobody, {});
  options.constraints = std::make_shared<const Constraints>();
  const PlanResult after = run_planner(planner, problem, options, nobody, {});
  EXPECT_EQ(before.strategy, after.strategy);
  EXPECT_EQ(before.note, after.note);
}

}  // namespace
}  // namespace strato
