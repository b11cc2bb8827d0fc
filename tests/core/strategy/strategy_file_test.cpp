// Strategy files: round trips, partial files, rebinding to other groupings, clusters and models.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/base/error.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/rebind.h"
#include "tests/core/strategy/fixture.h"
#include "tests/message_of.h"

namespace strato {
namespace {

Strategy weighted_strategy(const toy::Problem& p) {
  Strategy strategy;
  strategy.groups.resize(p.grouping.size());
  strategy.groups[GroupId(0)] = p.on({"v100:0", "v100:1"});
  strategy.groups[GroupId(0)]->devices[1].weight = 3;
  strategy.groups[GroupId(1)] = p.on({"p100-1:1"}, Mode::ModelParallel);
  strategy.groups[GroupId(3)] = p.on({"1080ti-2:0", "1080ti-3:1"}, Mode::ReplicatePs);
  return strategy;
}

NamedStrategy named(const toy::Problem& p, const Strategy& strategy) {
  return name_strategy(strategy, *p.graph, p.grouping, *p.cluster);
}

Rebound bind(const NamedStrategy& strategy, const toy::Problem& p) {
  return bind_strategy(strategy, *p.graph, p.grouping, *p.cluster, p.times);
}

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(StrategyFile, RoundTrip) {
  const toy::Problem p;
  const Strategy strategy = weighted_strategy(p);
  const std::string text = strategy_json(named(p, strategy));
  const NamedStrategy read = parse_strategy(text, "s.json");
  EXPECT_EQ(read, named(p, strategy));
  EXPECT_EQ(strategy_json(read), text);
  const Rebound rebound = bind(read, p);
  EXPECT_EQ(rebound.strategy, strategy);
  EXPECT_TRUE(rebound.unmatched.empty()) << rebound.unmatched.front();
}

TEST(StrategyFile, RoundTripOfAnyStrategy) {
  const toy::Problem p(8, 6);
  EXPECT_TRUE(rc::check([&] {
    Strategy strategy;
    strategy.groups.resize(p.grouping.size());
    for (auto& group : strategy.groups) {
      const auto mask = *rc::gen::inRange(0, 1 << 16);  // 16 devices
      if (mask == 0) continue;
      group = Decision{static_cast<Mode>(*rc::gen::inRange(0, 4)), {}};
      for (std::size_t i = 0; i < 16; ++i) {
        if (mask >> i & 1) group->devices.push_back({DeviceId(i), *rc::gen::inRange(1, 100)});
      }
      if (group->mode == Mode::ReplicateAllReduce && group->devices.size() > 1)
        group->roles.states = {*rc::gen::inRange(0, 4), 0, Bytes(*rc::gen::inRange(0, 99))};
      if (group->roles.states.stage == 0) group->roles.states = {};
      const bool pairs = *rc::gen::inRange(0, 3) == 0 && group->devices.size() % 2 == 0;
      if (!pairs || group->mode != Mode::ReplicateAllReduce) continue;
      group->roles.tensor = 2;
      for (std::size_t i = 0; i < group->devices.size(); i += 2)
        group->devices[i + 1].weight = group->devices[i].weight;
    }
    const Rebound rebound = bind(parse_strategy(strategy_json(named(p, strategy)), "s"), p);
    RC_ASSERT(rebound.strategy == strategy);
    RC_ASSERT(rebound.unmatched.empty());
  }));
}

TEST(StrategyFile, BucketDuplicatedOpsAndOrderRoundTripExactly) {
  const toy::Problem p;
  const std::size_t ops = p.graph->op_count();
  EXPECT_TRUE(rc::check([&] {
    Strategy strategy = weighted_strategy(p);
    strategy.bucket = Bytes(*rc::gen::inRange<std::int64_t>(0, 1 << 30));
    for (std::size_t i = 0; i < ops; ++i)
      if (*rc::gen::inRange(0, 4) == 0) strategy.duplicated.push_back(OpId(i));
    for (std::size_t i = 0; i < ops; ++i)
      if (*rc::gen::inRange(0, 3) == 0)
        (*rc::gen::inRange(0, 2) == 0 ? strategy.recomputed : strategy.offloaded)
            .push_back(OpId(i));
    const int form = *rc::gen::inRange(0, 4);
    for (std::size_t i = 0; form > 0 && i < ops; ++i)
      strategy.priorities.push_back(form == 1   ? static_cast<std::int32_t>(i * 5 % ops)
                                    : form == 2 ? 0
                                                : *rc::gen::inRange(-3, 4));
    strategy.micro_batches.count = *rc::gen::inRange(1, 5);
    if (strategy.micro_batches.count > 1)
      strategy.micro_batches.schedule = static_cast<PipelineSchedule>(*rc::gen::inRange(0, 8));
    const int rows =
        strategy.micro_batches.schedule == PipelineSchedule::ByHand ? *rc::gen::inRange(1, 4) : 0;
    for (int row = 0; row < rows; ++row) {
      const bool in_turn = *rc::gen::inRange(0, 2) == 0;
      auto& cells = strategy.micro_batches.table.emplace_back();
      for (int cell = 0; cell < 2 * strategy.micro_batches.count; ++cell) {
        const int count = strategy.micro_batches.count;
        const bool backward = in_turn ? cell % 2 == 1 : cell >= count;
        cells.push_back({row, backward ? PassKind::Backward : PassKind::Forward,
                         in_turn ? cell / 2 : cell % count});
      }
    }
    const NamedStrategy file = named(p, strategy);
    const NamedStrategy read = parse_strategy(strategy_json(file), "s");
    RC_ASSERT(read == file);
    const Rebound rebound = bind(read, p);
    RC_ASSERT(rebound.strategy == strategy);
    RC_ASSERT(rebound.unmatched.empty());
  }));
}

// A schedule is a name or rows, which say how many micro-batches there are unless that is said.
TEST(StrategyFile, SchedulesMayBeTables) {
  const auto read = [](const std::string& more) {
    return parse_strategy(
               R"({"format": "stratoscope-strategy", "version": 1, "groups": [], )" + more + "}",
               "s")
        .micro_batches;
  };
  const MicroBatches table = read(R"("schedule": ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"])");
  EXPECT_EQ(table.schedule, PipelineSchedule::ByHand);
  EXPECT_EQ(table.count, 2);
  EXPECT_EQ(name_of(table.table.at(1).at(2)), "1F1");
  EXPECT_EQ(read(R"("micro_batches": 3, "schedule": ["0F0 0B0"])").count, 3);
  EXPECT_EQ(read(R"("micro_batches": 3, "schedule": "zb-v")").schedule, PipelineSchedule::ZbV);
  const auto refusal = [&](const std::string& more) { return message_of([&] { read(more); }); };
  EXPECT_NE(refusal(R"("schedule": ["0F0 0B0", "1F0 1X0"])").find("row 2, column 1: \"1X0\" is no"),
            std::string::npos)
      << refusal(R"("schedule": ["0F0 0B0", "1F0 1X0"])");
  EXPECT_NE(refusal(R"("schedule": "fast")").find("dualpipe-v, or a list of rows"),
            std::string::npos);
  EXPECT_NE(refusal(R"("schedule": 7)"), "");
}

// A device that the cluster lacks leaves no whole rows.
TEST(StrategyFile, RowsWithoutADeviceAreNoRows) {
  const toy::Problem p;
  Strategy strategy;
  strategy.groups.resize(p.grouping.size());
  Decision mesh{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}}, 2};
  strategy.groups[GroupId(0)] = mesh;
  NamedStrategy file = named(p, strategy);
  EXPECT_EQ(bind(file, p).strategy, strategy);
  file.groups[0].devices[1].first = "gone:7";
  const Rebound rebound = bind(file, p);
  EXPECT_EQ(rebound.strategy.groups[GroupId(0)]->roles.tensor, 1);
  EXPECT_NE(rebound.unmatched.back().find("no whole rows of 2"), std::string::npos)
      << rebound.unmatched.back();
}

TEST(StrategyFile, OrdersMayBePartial) {
  const toy::Problem p;
  const std::string first = p.graph->op(OpId(0)).name, third = p.graph->op(OpId(2)).name;
  const auto read = [&](const std::string& order) {
    return bind(parse_strategy(R"({"format": "stratoscope-strategy", "version": 1, "groups": [],
                                   "bucket_bytes": 9, "order": )" +
                                   order + "}",
                               "s"),
                p);
  };
  const Rebound list = read("[\"" + third + "\", \"gone\", \"" + first + "\"]");
  EXPECT_EQ(list.strategy.bucket, Bytes(9));
  ASSERT_EQ(list.strategy.priorities.size(), p.graph->op_count());
  EXPECT_EQ(list.strategy.priorities[0], 2);
  EXPECT_EQ(list.strategy.priorities[1], 3);
  EXPECT_EQ(list.strategy.priorities[2], 0);
  EXPECT_TRUE(
      mentions(list.unmatched, "order: 1 of its 3 ops are not in the model, such as \"gone\""));
  const Rebound object = read("{\"" + third + "\": -4}");
  EXPECT_EQ(object.strategy.priorities[2], -4);
  EXPECT_EQ(object.strategy.priorities[1], 0);
  EXPECT_TRUE(read(R"(["gone"])").strategy.priorities.empty()) << "of another model altogether";
}

TEST(StrategyFile, DuplicatedOpsAreBoundByName) {
  const toy::Problem p;
  const std::string first = p.graph->op(OpId(0)).name, third = p.graph->op(OpId(2)).name;
  const auto read = [&](const std::string& ops) {
    return bind(parse_strategy(R"({"format": "stratoscope-strategy", "version": 1, "groups": [],
                                   "duplicated": )" +
                                   ops + "}",
                               "s"),
                p);
  };
  const Rebound bound = read("[\"" + third + "\", \"gone\", \"" + first + "\"]");
  EXPECT_EQ(bound.strategy.duplicated, (std::vector<OpId>{OpId(0), OpId(2)}));
  validate(bound.strategy, p.grouping, *p.cluster);
  EXPECT_TRUE(mentions(bound.unmatched,
                       "duplicated: 1 of its 3 ops are not in the model, such as \"gone\""));
  EXPECT_TRUE(read("[\"gone\"]").strategy.duplicated.empty());
  EXPECT_FALSE(mentions(read("[]").unmatched, "duplicated"));
}

TEST(StrategyFile, RestoresTheGrouping) {
  const toy::Problem p;
  const RestoredGrouping restored =
      restore_grouping(named(p, weighted_strategy(p)), *p.graph, p.times);
  EXPECT_EQ(restored.grouping.digest(), p.grouping.digest());
  EXPECT_TRUE(restored.unmatched.empty());
}

TEST(Rebinding, OntoAnotherGroupingTakesTheGroupWithMostTime) {
  const toy::Problem fine(4, 4), coarse(4, 2);  // coarse: {m0, r0} and all the rest
  Strategy strategy;
  strategy.groups.resize(fine.grouping.size());
  for (std::size_t i = 0; i < strategy.groups.size(); ++i) {
    strategy.groups[GroupId(i)] = decision_on_device(DeviceId(i));
  }
  const Rebound rebound = bind(named(fine, strategy), coarse);
  ASSERT_EQ(rebound.strategy.groups.size(), 2u);
  EXPECT_TRUE(rebound.strategy.is_complete());
  EXPECT_TRUE(
      mentions(rebound.unmatched, "has ops of 3 groups of the file, takes the decision of"));
}

TEST(Rebinding, OntoASmallerClusterDropsDevices) {
  toy::Problem p;
  const NamedStrategy file = named(p, weighted_strategy(p));
  p.cluster = toy::sample_cluster("celeritas");  // v100:0 to v100:3
  const Rebound rebound = bind(file, p);
  EXPECT_EQ(rebound.strategy.groups[GroupId(0)]->devices,
            (std::vector<DeviceShare>{{DeviceId(0), 1}, {DeviceId(1), 3}}));
  EXPECT_FALSE(rebound.strategy.groups[GroupId(1)].has_value());
  EXPECT_TRUE(mentions(rebound.unmatched, "device \"p100-1:1\" is not in the cluster, dropped"));
  EXPECT_TRUE(mentions(rebound.unmatched, "none of its devices is in the cluster, left undecided"));
  validate(rebound.strategy, p.grouping, *p.cluster);
}

TEST(Rebinding, OntoAChangedModel) {
  const toy::Problem before(4, 4), after(2, 2);
  const Rebound shrunk = bind(named(before, weighted_strategy(before)), after);
  EXPECT_EQ(shrunk.strategy.groups.size(), after.grouping.size());
  EXPECT_TRUE(mentions(shrunk.unmatched, "are not in the model, such as"));
  Strategy partial;
  partial.groups.resize(after.grouping.size());
  partial.groups[GroupId(0)] = after.on({"v100:0"});
  const Rebound grown = bind(named(after, partial), before);
  EXPECT_TRUE(mentions(grown.unmatched, "is not in the file, left undecided"));
}

TEST(Rebinding, RestoredGroupingOfAChangedModelCoversAllOps) {
  const toy::Problem before(2, 2), after(4, 4);
  Strategy strategy;
  strategy.groups.resize(before.grouping.size());
  const RestoredGrouping restored =
      restore_grouping(named(before, strategy), *after.graph, after.times);
  std::size_t ops = 0;
  for (const OpGroup& group : restored.grouping.groups()) ops += group.ops.size();
  EXPECT_EQ(ops, after.graph->op_count());
  EXPECT_TRUE(mentions(restored.unmatched, "is not in the file, nor are 3 more"))
      << restored.unmatched.back();
}

TEST(PartialFile, GroupsByNameAndDeviceGroups) {
  const toy::Problem p;
  const std::string name = p.grouping.group(GroupId(1)).name;
  const std::string text =
      R"({"format": "stratoscope-strategy", "version": 1, "groups": [
          {"name": ")" +
      name + R"(", "mode": "duplicate", "devices": {"p100-0": 2, "v100:3": 1}},
          {"name": "nowhere", "mode": "duplicate", "devices": {"v100:0": 1}}]})";
  const NamedStrategy file = parse_strategy(text, "s.json");
  EXPECT_FALSE(file.names_ops());
  const Rebound rebound = bind(file, p);
  const DeviceId v100 = p.cluster->find_device("v100:3"), p100 = p.cluster->find_device("p100-0:0");
  EXPECT_EQ(rebound.strategy.groups[GroupId(1)]->devices,
            (std::vector<DeviceShare>{{v100, 1}, {p100, 2}, {DeviceId(p100.index() + 1), 2}}));
  EXPECT_FALSE(rebound.strategy.groups[GroupId(0)].has_value());
  EXPECT_TRUE(mentions(rebound.unmatched, "group \"nowhere\" of the file lists no ops"));
}

std::string message_of(const std::string& groups) {
  try {
    parse_strategy(R"({"format": "stratoscope-strategy", "version": 1, "groups": )" + groups + "}",
                   "s.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BadStrategyFile, NamesThePlace) {
  const auto starts = [](const std::string& groups, const std::string& beginning) {
    const std::string message = message_of(groups);
    EXPECT_EQ(message.substr(0, beginning.size()), beginning);
  };
  EXPECT_EQ(message_of("[]"), "no error");
  starts("{}", "s.json: groups: is not a list");
  starts(R"([{}])", "s.json: groups[0]: has no \"name\"; add it");
  starts(R"([{"name": "a", "mode": "dupe", "devices": {"x": 1}}])",
         "s.json: groups[0].mode: \"dupe\" is not a mode; modes: replicate-allreduce");
  starts(R"([{"name": "a", "mode": "duplicate"}])",
         "s.json: groups[0]: has a mode and no \"devices\"");
  starts(R"([{"name": "a", "devices": {"x": 1}}])",
         "s.json: groups[0]: has devices and no \"mode\"");
  starts(R"([{"name": "a", "mode": "duplicate", "devices": {}}])",
         "s.json: groups[0].devices: names no device");
  starts(R"([{"name": "a", "mode": "duplicate", "devices": {"x": 0}}])",
         "s.json: groups[0].devices.x: is 0; give a whole number from 1");
  starts(R"([{"name": "a", "mode": "duplicate", "devices": {"x": 0.5}}])",
         "s.json: groups[0].devices.x: is not a whole number");
  starts(R"([{"name": "a"}, {"name": "a"}])", "s.json: groups[1].name: repeats \"a\"");
  starts(R"([{"name": "a", "ops": ["m", "n"]}, {"name": "b", "ops": ["n"]}])",
         "s.json: groups[1].ops[0]: \"n\" is there twice");
  starts(R"([{"name": "a", "ops": [1]}])", "s.json: groups[0].ops[0]: is not a text");
  starts(R"([{"name": "a", "mod": 1}])", "s.json: groups[0].mod: is not a known key");
}

TEST(BadStrategyFile, BucketsDuplicatedOpsAndOrders) {
  const auto starts = [](const std::string& more, const std::string& beginning) {
    const std::string message = message_of("[], " + more);
    EXPECT_EQ(message.substr(0, beginning.size()), beginning);
  };
  starts(R"("bucket_bytes": 0)", "no error");
  starts(R"("bucket_bytes": -1)", "s.json: bucket_bytes: is -1; give a whole number from 0");
  starts(R"("bucket_bytes": "25MB")", "s.json: bucket_bytes: is not a");
  starts(R"("duplicated": [])", "no error");
  starts(R"("duplicated": "all")", "s.json: duplicated: is not a list");
  starts(R"("duplicated": {"a": 1})", "s.json: duplicated: is not a list");
  starts(R"("duplicated": ["a", 7])", "s.json: duplicated[1]: is not a text");
  starts(R"("gather": "never")", "s.json: gather: \"never\" is no way to gather parameters");
  starts(R"("recomputed": ["a", "a"])",
         "s.json: recomputed[1]: \"a\" is there twice; name each op once");
  starts(R"("offloaded": ["a", "a"])",
         "s.json: offloaded[1]: \"a\" is there twice; name each op once");
  starts(R"("offloaded": ["a", "b"], "recomputed": ["b"])",
         "s.json: offloaded[1]: is recomputed, too; name it in one of both lists");
  starts(R"("offloaded": 7)", "s.json: offloaded: is not a list");
  starts(R"("duplicated": ["a", "b", "a"])",
         "s.json: duplicated[2]: \"a\" is there twice; name each op once");
  starts(R"("order": [])", "no error");
  starts(R"("order": "rank")", "s.json: order: is neither a list nor an object");
  starts(R"("order": ["a", "b", "a"])",
         "s.json: order[2]: \"a\" is there twice; name each op once");
  starts(R"("order": ["a", 1])", "s.json: order[1]: is not a text");
  starts(R"("order": {"a": 0.5})", "s.json: order.a: is not a whole number");
  starts(R"("order": {"a": 3000000000})", "s.json: order.a: is 3000000000");
  starts(R"("micro_batches": 8, "schedule": "1f1b")", "no error");
  starts(R"("micro_batches": 0)", "s.json: micro_batches: is 0; give a whole number from 1");
  starts(R"("micro_batches": 1e9)", "s.json: micro_batches: is");
  starts(R"("schedule": "fast")",
         "s.json: schedule: \"fast\" is no schedule of micro-batches; schedules: as-ready, gpipe");
}

TEST(BadStrategyFile, RowsOfDevices) {
  const auto group = [](const std::string& more) {
    return message_of(R"([{"name": "g", "mode": "replicate-allreduce", "devices": {"d": 1}, )" +
                      more + "}]");
  };
  EXPECT_EQ(group(R"("tensor": 1)"), "no error");
  EXPECT_TRUE(group(R"("tensor": 0)").starts_with("s.json: groups[0].tensor: is 0")) << group("");
  EXPECT_TRUE(group(R"("tensor": "2")").starts_with("s.json: groups[0].tensor: is not a"));
  EXPECT_TRUE(message_of(R"([{"name": "g", "tensor": 2}])").starts_with("s.json: groups[0]: has"));

  EXPECT_EQ(group(R"("expert": 1)"), "no error");
  EXPECT_TRUE(group(R"("expert": 0)").starts_with("s.json: groups[0].expert: is 0"));
  EXPECT_TRUE(message_of(R"([{"name": "g", "expert": 2}])").starts_with("s.json: groups[0]: has"));

  EXPECT_EQ(group(R"("context": 1)"), "no error");
  EXPECT_TRUE(group(R"("context": 0)").starts_with("s.json: groups[0].context: is 0"));
  EXPECT_TRUE(message_of(R"([{"name": "g", "context": 2}])").starts_with("s.json: groups[0]: has"));

  EXPECT_EQ(group(R"("pieces": 4)"), "no error");
  EXPECT_TRUE(group(R"("pieces": 0)").starts_with("s.json: groups[0].pieces: is 0"));

  EXPECT_EQ(group(R"("sequence": false)"), "no error");
  EXPECT_TRUE(group(R"("sequence": 0)").starts_with("s.json: groups[0].sequence: "));

  EXPECT_EQ(group(R"("zero": 3, "zero_rows": 2, "zero_smallest_bytes": 0)"), "no error");
  EXPECT_TRUE(group(R"("zero": 4)").starts_with("s.json: groups[0].zero: is 4"));
  EXPECT_TRUE(group(R"("zero": "3")").starts_with("s.json: groups[0].zero: is not a"));
  EXPECT_TRUE(group(R"("zero": 1, "zero_rows": 0)").starts_with("s.json: groups[0].zero_rows: is"));
  EXPECT_TRUE(group(R"("zero_rows": 2)").starts_with("s.json: groups[0]: says how states are"));
  EXPECT_TRUE(message_of(R"([{"name": "g", "zero": 2}])").starts_with("s.json: groups[0]: has"));

  // Rows that are none are told where the plan meets its cluster.
  const toy::Problem p;
  NamedStrategy file;
  file.groups.push_back({p.grouping.group(GroupId(0)).name,
                         Mode::ReplicateAllReduce,
                         {{"v100:0", 1}, {"v100:1", 1}, {"v100:2", 1}},
                         {},
                         false,
                         {.tensor = 2}});
  const auto bound = [&] {
    try {
      bind(file, p);
      return std::string("no error");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(bound().find("is tensor 2 on 3 devices, which are no whole rows"), std::string::npos)
      << bound();
  file.groups[0].devices.pop_back();
  EXPECT_EQ(bound(), "no error");
  file.groups[0].roles.expert = 2;
  EXPECT_NE(bound().find("is expert 2 on 1 rows of devices, which it does not divide"),
            std::string::npos)
      << bound();
  file.groups[0].roles.tensor = 1;
  EXPECT_EQ(bound(), "no error");
  file.groups[0].roles.tensor = 2;
  file.groups[0].roles.expert = 1;
  file.groups[0].devices[1].second = 3;
  EXPECT_NE(bound().find("unequal weights"), std::string::npos) << bound();
  file.groups[0].devices[1].second = 1;
  file.groups[0].roles = {.states = {.stage = 1, .rows = 3}};
  EXPECT_NE(bound().find("shares states in 3 rows of 2, which it does not divide"),
            std::string::npos)
      << bound();
  file.groups[0].roles = {.expert = 2, .states = {.stage = 1, .rows = 1}};
  EXPECT_NE(bound().find("shares states in 1 rows, of which 2 have the experts"), std::string::npos)
      << bound();
  file.groups[0].roles = {.context = 2, .states = {.stage = 1, .rows = 1}};
  EXPECT_NE(bound().find("shares states in 1 rows, of which 2 have the same samples"),
            std::string::npos)
      << bound();
  file.groups[0].roles = {.context = 2};
  EXPECT_EQ(bound(), "no error");
  file.groups[0].devices[1].second = 3;
  EXPECT_NE(bound().find("is context 2 with unequal weights"), std::string::npos) << bound();
  file.groups[0].devices[1].second = 1;
  file.groups[0].roles = {.context = 3};
  EXPECT_NE(bound().find("is context 3 on 2 rows of devices, which it does not divide"),
            std::string::npos)
      << bound();
  file.groups[0].roles = {.expert = 2, .context = 2};
  EXPECT_NE(bound().find("is expert 2 on 1 rows of devices, which it does not divide"),
            std::string::npos)
      << bound();
  file.groups[0].roles = {.tensor = 2};
  file.groups[0].mode = Mode::ReplicatePs;
  EXPECT_NE(bound().find("in mode replicate-ps"), std::string::npos) << bound();
}

TEST(BadStrategyFile, OtherFormatsAndNewerVersions) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_strategy(text, "s.json");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(
      message(R"({"format": "stratoscope-plan", "version": 1})"),
      "s.json: format: is \"stratoscope-plan\"; give a file of format \"stratoscope-strategy\"");
  EXPECT_EQ(message(R"({"format": "stratoscope-strategy", "version": 2, "new": 1})"),
            "s.json: version: is 2, newer than this program reads; update the program, or give "
            "version 1");
  EXPECT_EQ(message("").substr(0, 16), "s.json: is empty");
  EXPECT_EQ(message("x").substr(0, 24), "s.json: line 1, column 1");
}

TEST(Restoring, BringsGroupsOfItsOwnBack) {
  const toy::Problem p, finer(4, 3);
  Strategy strategy;
  strategy.grouping = std::make_shared<const Grouping>(finer.grouping);
  for (std::size_t g = 0; g < 3; ++g) strategy.groups.emplace_back(decision_on_device(DeviceId(g)));
  strategy.priorities.assign(p.graph->op_count(), 2);
  const NamedStrategy named = parse_strategy(
      strategy_json(name_strategy(strategy, *p.graph, *strategy.grouping, *p.cluster)), "test");
  const Rebound back = restore_strategy(named, *p.graph, p.grouping, *p.cluster, p.times);
  EXPECT_TRUE(back.unmatched.empty());
  EXPECT_EQ(back.strategy, strategy);
  EXPECT_EQ(back.strategy.digest(), strategy.digest());
  ASSERT_NE(back.strategy.grouping, nullptr);
  EXPECT_EQ(back.strategy.grouping->digest(), strategy.grouping->digest());
}

TEST(Restoring, KeepsTheProblemsGroupsWhereTheyAreTheSame) {
  const toy::Problem p;
  Strategy strategy;
  for (std::size_t g = 0; g < 4; ++g) strategy.groups.emplace_back(decision_on_device(DeviceId(g)));
  const NamedStrategy named = name_strategy(strategy, *p.graph, p.grouping, *p.cluster);
  EXPECT_EQ(restore_strategy(named, *p.graph, p.grouping, *p.cluster, p.times).strategy, strategy);
  // Costs that have changed since put the groups into another order.
  std::vector<Nanos> slower = p.times;
  for (std::size_t i = 0; i < slower.size(); ++i) slower[i] = Nanos(static_cast<std::int64_t>(i));
  const Grouping turned(*p.graph, p.group_of, slower);
  const Rebound back = restore_strategy(named, *p.graph, turned, *p.cluster, p.times);
  EXPECT_EQ(back.strategy.grouping, nullptr);
  EXPECT_TRUE(back.unmatched.empty());
  for (std::size_t i = 0; i < p.graph->op_count(); ++i) {
    EXPECT_EQ(back.strategy.groups[turned.group_of(OpId(i))],
              strategy.groups[p.grouping.group_of(OpId(i))]);
  }
}

TEST(Restoring, BringsNamesGivenByHandBack) {
  const toy::Problem p;
  Strategy plain;
  for (std::size_t g = 0; g < 4; ++g) plain.groups.emplace_back(decision_on_device(DeviceId(g)));
  Strategy strategy = plain;
  strategy.grouping =
      std::make_shared<const Grouping>(p.grouping.renamed(GroupId(2), "the slow part"));
  EXPECT_NE(strategy, plain);
  EXPECT_NE(strategy.digest(), plain.digest());
  const std::string json =
      strategy_json(name_strategy(strategy, *p.graph, *strategy.grouping, *p.cluster));
  NamedStrategy named = parse_strategy(json, "test");
  const Rebound back = restore_strategy(named, *p.graph, p.grouping, *p.cluster, p.times);
  EXPECT_EQ(back.strategy, strategy);
  EXPECT_EQ(back.strategy.digest(), strategy.digest());
  ASSERT_NE(back.strategy.grouping, nullptr);
  EXPECT_EQ(back.strategy.grouping->group(GroupId(2)).name, "the slow part");
  // A name that is taken, or no name at all, is left; and one of ops that are apart by now.
  for (const std::string& bad : {p.grouping.group(GroupId(1)).name, std::string("two\nlines")}) {
    named.groups[2].name = bad;
    EXPECT_EQ(restore_strategy(named, *p.graph, p.grouping, *p.cluster, p.times).strategy, plain);
  }
  named = parse_strategy(json, "test");
  const toy::Problem finer(4, 3);
  EXPECT_FALSE(finer.grouping.find("the slow part").valid());
  const Rebound other = bind_strategy(named, *p.graph, finer.grouping, *p.cluster, p.times);
  EXPECT_EQ(other.strategy.groups.size(), finer.grouping.size());
}

TEST(Restoring, BindsByNameWhereNoOpsAreListed) {
  const toy::Problem p;
  Strategy strategy;
  for (std::size_t g = 0; g < 4; ++g) strategy.groups.emplace_back(decision_on_device(DeviceId(g)));
  NamedStrategy named = name_strategy(strategy, *p.graph, p.grouping, *p.cluster);
  for (NamedGroup& group : named.groups) group.ops.clear();
  EXPECT_EQ(restore_strategy(named, *p.graph, p.grouping, *p.cluster, p.times).strategy, strategy);
}

TEST(Restoring, OfAnotherModelSaysOnceWhatIsMissing) {
  const toy::Problem p, larger(5, 5);
  Strategy strategy;
  for (std::size_t g = 0; g < 4; ++g) strategy.groups.emplace_back(decision_on_device(DeviceId(g)));
  NamedStrategy named = name_strategy(strategy, *p.graph, p.grouping, *p.cluster);
  named.groups[0].ops.push_back("nobody");
  const Rebound back =
      restore_strategy(named, *larger.graph, larger.grouping, *larger.cluster, larger.times);
  ASSERT_NE(back.strategy.grouping, nullptr);
  EXPECT_NO_THROW(validate(back.strategy, *back.strategy.grouping, *larger.cluster));
  std::size_t said = 0;
  for (const std::string& line : back.unmatched) said += line.find("\"nobody\"") != line.npos;
  EXPECT_EQ(said, 1u);
}

}  // namespace
}  // namespace strato
