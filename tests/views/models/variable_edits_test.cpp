// What edits of variables' synchronisation make of a strategy, and the table that shows them.
#include "views/models/variable_edits.h"

#include <set>

#include "core/search/baselines.h"
#include "core/strategy/variable_check.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "views/models/strategy_edits.h"
#include "views/models/variable_model.h"

namespace strato {
namespace {

class VariableEdits : public SessionTest {
 protected:
  void check(const Strategy& strategy) {
    validate(strategy, *problem().grouping, *problem().cluster);
    validate_variables(strategy, *problem().graph);
  }
  const Strategy& shown() { return session_.snapshot().strategy; }
  std::vector<OpId> all() { return variables_of(problem(), {}); }
};

TEST_F(VariableEdits, VariablesAreAllUpdatesLargestFirst) {
  open_lenet();
  const std::vector<OpId> updates = all();
  ASSERT_FALSE(updates.empty());
  Bytes sum, last = Bytes::max();
  for (const OpId update : updates) {
    const Bytes bytes = problem().graph->tensor(parameter_of(*problem().graph, update)).bytes();
    EXPECT_LE(bytes, last);
    last = bytes;
    sum += bytes;
  }
  EXPECT_EQ(sum, problem().graph->parameter_bytes());
  std::size_t by_groups = 0;
  for (std::size_t g = 0; g < problem().grouping->size(); ++g) {
    const GroupId group(g);
    by_groups += variables_of(problem(), std::span(&group, 1)).size();
  }
  EXPECT_EQ(by_groups, updates.size());
}

TEST_F(VariableEdits, ServersAreBalancedByBytes) {
  open_lenet();
  SyncChoice choice;
  choice.synchroniser = Synchroniser::Ps;
  const Strategy strategy = with_sync(shown(), problem(), all(), choice);
  check(strategy);
  EXPECT_EQ(strategy.variables.size(), all().size());
  std::map<DeviceId, std::int64_t> loads;
  std::int64_t most = 0;
  for (const VariableSync& variable : strategy.variables) {
    const std::int64_t bytes =
        problem().graph->tensor(parameter_of(*problem().graph, variable.update)).bytes().value;
    loads[variable.parts[0].server] += bytes;
    most = std::max(most, bytes);
  }
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_LE(std::abs(loads.begin()->second - loads.rbegin()->second), most);
}

TEST_F(VariableEdits, PartsStayWithinTheAxis) {
  open_lenet();
  SyncChoice choice;
  choice.synchroniser = Synchroniser::Ps;
  choice.parts = 1000;
  for (const int axis : {0, 1, 7, -3}) {
    choice.axis = axis;
    const Strategy strategy = with_sync(shown(), problem(), all(), choice);
    check(strategy);
    std::set<DeviceId> servers;
    for (const VariableSync& variable : strategy.variables)
      for (const SyncPart& part : variable.parts) servers.insert(part.server);
    EXPECT_EQ(servers.size(), 2u);  // spread
  }
}

// Any sequence of choices is a valid strategy.
TEST_F(VariableEdits, EveryChoiceAfterEveryOtherIsValid) {
  open_lenet();
  std::vector<SyncChoice> choices(12);
  choices[0].synchroniser = Synchroniser::Ps;
  choices[1].synchroniser = Synchroniser::AllReduce;
  choices[2].parts = 3;
  choices[3].axis = 1;
  choices[4].servers = std::vector<DeviceId>{DeviceId(1)};
  choices[5].servers = std::vector<DeviceId>{};
  choices[6].stations = true;
  choices[7].encoding = Encoding::Half;
  choices[8].encoding = Encoding::SparseRows;
  choices[9].encoding = Encoding::TopK;
  choices[10].merge_group = 2;
  choices[11].merge_group = -1;
  const std::vector<OpId> updates = all();
  const std::vector<OpId> some(updates.begin(), updates.begin() + 2);
  for (const SyncChoice& first : choices) {
    for (const SyncChoice& second : choices) {
      Strategy strategy = with_sync(shown(), problem(), updates, first);
      check(strategy);
      strategy = with_sync(strategy, problem(), some, second);
      check(strategy);
      strategy = with_sync(strategy, problem(), updates, first);
      check(strategy);
      EXPECT_EQ(with_sync_of_group(strategy, updates), shown());
    }
  }
}

TEST_F(VariableEdits, AMergeGroupIsSentInOneWay) {
  open_lenet();
  const std::vector<OpId> updates = all();
  SyncChoice half, join;
  half.encoding = Encoding::Half;
  join.merge_group = 5;
  Strategy strategy = with_sync(shown(), problem(), std::span(updates).first(1), half);
  strategy = with_sync(strategy, problem(), std::span(updates).first(1), join);
  strategy = with_sync(strategy, problem(), std::span(updates).subspan(1, 1), join);
  check(strategy);
  EXPECT_EQ(sync_of(strategy, updates[1])->parts[0].encoding, Encoding::Half);
  EXPECT_EQ(sync_words(strategy, problem(), updates[0]), "AllReduce, group 5");
}

TEST_F(VariableEdits, WhatIsNotReplicatedIsLeftAlone) {
  open_lenet();
  const Strategy alone = on_one_device(problem(), DeviceId(0));
  SyncChoice choice;
  choice.synchroniser = Synchroniser::Ps;
  EXPECT_EQ(with_sync(alone, problem(), all(), choice), alone);
  EXPECT_TRUE(sync_words(alone, problem(), all()[0]).startsWith("not synchronised"));
}

TEST_F(VariableEdits, Words) {
  open_lenet();
  const OpId update = all()[0];
  EXPECT_EQ(sync_words(shown(), problem(), update), "as the group: AllReduce");
  SyncChoice choice;
  choice.servers = std::vector<DeviceId>{DeviceId(0)};
  choice.parts = 2;
  choice.encoding = Encoding::TopK;
  const Strategy strategy = with_sync(shown(), problem(), std::span(&update, 1), choice);
  check(strategy);
  EXPECT_EQ(sync_words(strategy, problem(), update),
            QString("PS on %1, 2 parts along axis 0")
                .arg(QString::fromStdString(problem().cluster->device(DeviceId(0)).name)));
  EXPECT_EQ(encoding_words(strategy, update), "top 1 % (lossy)");
}

TEST_F(VariableEdits, StationsAreInOtherMachinesWithSeveralReplicas) {
  ProblemOptions options;
  options.grouping.max_groups = 8;
  ImportOptions import;
  import.batch = 32;
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.open_model(sample("models/lenet.onnx"), import, options);
  session_.settle();
  SyncChoice choice;
  choice.servers = std::vector<DeviceId>{DeviceId(0)};
  choice.stations = true;
  const Strategy strategy = with_sync(shown(), problem(), all(), choice);
  check(strategy);
  const SyncPart& part = strategy.variables[0].parts[0];
  SyncChoice parts;
  parts.synchroniser = Synchroniser::Ps;
  parts.parts = 7;
  const std::vector<OpId> updates = all();
  std::set<MachineId> machines;
  const Strategy divided = with_sync(shown(), problem(), std::span(updates).first(1), parts);
  for (const SyncPart& each : divided.variables[0].parts)
    machines.insert(problem().cluster->device(each.server).machine);
  EXPECT_EQ(machines.size(), 7u);       // each in another
  EXPECT_EQ(part.stations.size(), 6u);  // four machines of 1080 Ti, two of P100
  for (const DeviceId station : part.stations)
    EXPECT_NE(problem().cluster->device(station).machine,
              problem().cluster->device(DeviceId(0)).machine);
  EXPECT_TRUE(sync_words(strategy, problem(), strategy.variables[0].update).endsWith("two-level"));
}

TEST_F(VariableEdits, OtherDevicesOfAGroupDropItsSequences) {
  open_lenet();
  Strategy strategy = shown();
  const OpId update = all()[0];
  strategy.variables = {sync_as_group(strategy, problem(), update)};
  strategy.variables[0].parts[0].sequence = {DeviceId(1), DeviceId(0)};
  session_.edit(strategy, "ordered");
  EXPECT_EQ(shown().variables[0].parts[0].sequence.size(), 2u);
  const GroupId group = problem().grouping->group_of(update);
  session_.edit(with_device(shown(), std::span(&group, 1), DeviceId(1), false), "leave");
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_TRUE(shown().variables[0].parts[0].sequence.empty());
  session_.undo_stack().undo();
  EXPECT_EQ(shown().variables[0].parts[0].sequence.size(), 2u);
}

TEST_F(VariableEdits, WhatIsWrongIsRefused) {
  open_lenet();
  Strategy strategy = shown();
  strategy.variables = {sync_as_group(strategy, problem(), all()[0])};
  strategy.variables[0].axis = 9;
  strategy.variables[0].parts.resize(2);
  session_.edit(strategy, "wrong");
  EXPECT_EQ(failures_.size(), 1);
  EXPECT_TRUE(shown().variables.empty());
}

TEST_F(VariableEdits, TheTableFollows) {
  VariableModel model(session_);
  const QAbstractItemModelTester tester(&model, kFatal);
  EXPECT_EQ(model.rowCount(), 0);
  open_lenet();
  ASSERT_EQ(model.rowCount(), static_cast<int>(all().size()));
  EXPECT_EQ(model.by_hand(), 0);
  const OpId update = model.update_at(0);
  const QModelIndex cell = model.index(0, VariableModel::Synchronised);
  SyncChoice choice;
  choice.synchroniser = Synchroniser::Ps;
  session_.edit(with_sync(shown(), problem(), std::span(&update, 1), choice), "PS");
  EXPECT_TRUE(cell.data().toString().startsWith("PS on"));
  EXPECT_TRUE(cell.data(VariableModel::ByHandRole).toBool());
  EXPECT_EQ(model.by_hand(), 1);
  session_.undo_stack().undo();
  EXPECT_TRUE(cell.data().toString().startsWith("as the group"));
  const GroupId group = problem().grouping->group_of(update);
  session_.selection().select_groups({group});
  EXPECT_EQ(model.rowCount(),
            static_cast<int>(variables_of(problem(), std::span(&group, 1)).size()));
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.settle();
  EXPECT_EQ(model.rowCount(),
            static_cast<int>(variables_of(problem(), session_.selection().groups()).size()));
}

}  // namespace
}  // namespace strato
