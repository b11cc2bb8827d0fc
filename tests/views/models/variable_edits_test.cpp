// What edits of variables' synchronisation make of a strategy, and the table that shows them.
#include "views/models/variable_edits.h"

#include <set>

#include "core/search/evaluate/baselines.h"
#include "core/strategy/value/variable_check.h"
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
  std::vector<SyncChoice> choices(18);
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
  choices[12].encoding = Encoding::SufficientFactors;
  choices[13].encoding = Encoding::LowRank;
  choices[14].staleness = 2;
  choices[15].only = {1};
  choices[15].servers = std::vector<DeviceId>{DeviceId(0)};
  choices[16].sequence = std::vector<DeviceId>{DeviceId(1), DeviceId(0)};
  choices[17].only = {0};
  choices[17].stations_at = std::vector<DeviceId>{DeviceId(0), DeviceId(1)};
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

TEST_F(VariableEdits, AMergeGroupThatIsEncodedAsAWholeStays) {
  open_lenet();
  const std::vector<OpId> updates = all();
  SyncChoice half, exact, join, top;
  half.encoding = Encoding::Half;
  exact.encoding = Encoding::None;
  top.encoding = Encoding::TopK;
  join.merge_group = 5;
  const auto groups = [](const Strategy& strategy) {
    return std::ranges::count_if(strategy.variables, [](const VariableSync& variable) {
      return variable.parts[0].merge_group == 5;
    });
  };
  const auto merged = std::span(updates).first(3);
  const Strategy joined = with_sync(shown(), problem(), merged, join);
  ASSERT_EQ(groups(joined), 3);
  Strategy strategy = with_sync(joined, problem(), updates, half);
  check(strategy);
  EXPECT_EQ(groups(strategy), 3);
  EXPECT_EQ(groups(with_sync(strategy, problem(), merged, exact)), 3);
  strategy = with_sync(joined, problem(), merged.first(2), half);  // the third one stays exact
  check(strategy);
  EXPECT_EQ(groups(strategy), 1);
  EXPECT_EQ(sync_of(strategy, updates[2])->parts[0].encoding, Encoding::None);
  strategy = with_sync(joined, problem(), merged, top);
  check(strategy);
  EXPECT_EQ(groups(strategy), 0) << "it is gathered";
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

// One part after the other; what is not said of a part stays.
TEST_F(VariableEdits, PartsAreEditedOneByOne) {
  open_lenet();
  const OpId update = all()[0];
  const auto one = std::span(&update, 1);
  SyncChoice three, server, half, ordered;
  three.parts = 3;
  server.only = {1};
  server.servers = std::vector<DeviceId>{DeviceId(1)};
  half.only = {0, 2, 77, -1};  // parts that are not there are left out
  half.encoding = Encoding::Half;
  ordered.only = {2};
  ordered.sequence = std::vector<DeviceId>{DeviceId(1), DeviceId(0)};
  QStringList refused;
  Strategy strategy = with_sync(shown(), problem(), one, three, &refused);
  for (const SyncChoice& choice : {server, half, ordered})
    strategy = with_sync(strategy, problem(), one, choice, &refused);
  check(strategy);
  EXPECT_TRUE(refused.isEmpty()) << refused.join('\n').toStdString();
  const std::vector<SyncPart>& parts = sync_of(strategy, update)->parts;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].synchroniser, Synchroniser::Ps);
  EXPECT_EQ(parts[1].server, DeviceId(1));
  EXPECT_EQ(parts[0].synchroniser, Synchroniser::AllReduce);
  EXPECT_EQ(parts[0].encoding, Encoding::Half);
  EXPECT_EQ(parts[1].encoding, Encoding::None);
  EXPECT_TRUE(parts[0].sequence.empty());
  EXPECT_EQ(parts[2].sequence, (std::vector<DeviceId>{DeviceId(1), DeviceId(0)}));
  std::int64_t next = 0;
  const Shape& shape = problem().graph->tensor(parameter_of(*problem().graph, update)).shape;
  for (std::size_t i = 0; i < 3; ++i) {
    const AxisRange range = part_box(*sync_of(strategy, update), shape, i).first();
    EXPECT_EQ(range.begin, next);
    EXPECT_LT(range.begin, range.end);
    next = range.end;
  }
  EXPECT_EQ(next, shape[0]);
}

TEST_F(VariableEdits, AVariableIsDividedAlongTwoAxes) {
  open_lenet();
  const OpId update = all()[0];
  const auto one = std::span(&update, 1);
  SyncChoice choice;
  choice.synchroniser = Synchroniser::Ps;
  choice.partition = {2, 3};
  Strategy strategy = with_sync(shown(), problem(), one, choice);
  check(strategy);
  const VariableSync* sync = sync_of(strategy, update);
  ASSERT_EQ(sync->parts.size(), 6u);
  EXPECT_TRUE(partition_words(*sync, *problem().graph).startsWith("2 × 3"));
  EXPECT_TRUE(sync_words(strategy, problem(), update).contains("6 parts (2 × 3"));
  EXPECT_EQ(partition_from(partition_words(*sync, *problem().graph)).at(1), 3);
  // Another axis alone takes them all.
  choice = {};
  choice.axis = 1;
  strategy = with_sync(strategy, problem(), one, choice);
  check(strategy);
  EXPECT_TRUE(sync_of(strategy, update)->partition.empty());
  EXPECT_EQ(sync_of(strategy, update)->axis, 1);
  choice = {};
  choice.partition = {2, 100000};
  QStringList refused;
  strategy = with_sync(strategy, problem(), one, choice, &refused);
  check(strategy);
  EXPECT_EQ(refused.size(), 1);
  for (const char* wrong : {"", "2 x", "a", "2 x 0", "-1", "2.5", "99999999999"})
    EXPECT_TRUE(partition_from(wrong).empty()) << wrong;
  for (const char* right : {"2x3", " 2 X 3 ", "2, 3", "2 × 3", "2 3", "2*3"})
    EXPECT_EQ(partition_from(right), (std::vector<std::int32_t>{2, 3})) << right;
}

TEST_F(VariableEdits, WhatCannotBeIsToldWithItsReason) {
  open_lenet();
  const OpId update = all()[0];
  const auto one = std::span(&update, 1);
  const auto refused_of = [&](const SyncChoice& choice) {
    QStringList refused;
    check(with_sync(shown(), problem(), one, choice, &refused));
    return refused;
  };
  SyncChoice choice;
  choice.parts = 4000;
  EXPECT_TRUE(refused_of(choice).join("").contains("4000 parts"));
  choice = {};
  choice.encoding = Encoding::SparseRows;
  EXPECT_TRUE(refused_of(choice).join("").contains("sparse rows"));
  EXPECT_FALSE(why_not_encoded(shown(), problem(), all(), Encoding::SparseRows).isEmpty());
  EXPECT_TRUE(why_not_encoded(shown(), problem(), all(), Encoding::Half).isEmpty());
  choice = {};
  choice.sequence = std::vector<DeviceId>{DeviceId(1)};  // misses a replica
  EXPECT_TRUE(refused_of(choice).join("").contains("misses replica"));
  choice.sequence = std::vector<DeviceId>{DeviceId(1), DeviceId(1)};
  EXPECT_TRUE(refused_of(choice).join("").contains("repeats"));
  choice = {};
  choice.servers = std::vector<DeviceId>{DeviceId(99)};  // outside of the cluster
  EXPECT_EQ(refused_of(choice).size(), 1);
  choice = {};
  choice.synchroniser = Synchroniser::Ps;
  choice.staleness = -3;
  EXPECT_EQ(refused_of(choice).size(), 1);
  choice.synchroniser = Synchroniser::AllReduce;
  choice.staleness = 2;
  EXPECT_EQ(refused_of(choice).size(), 1);
}

TEST_F(VariableEdits, StalenessIsOfServersAndGoesWithThem) {
  open_lenet();
  const OpId update = all()[0];
  const auto one = std::span(&update, 1);
  SyncChoice stale, reduced;
  stale.synchroniser = Synchroniser::Ps;
  stale.staleness = 2;
  reduced.synchroniser = Synchroniser::AllReduce;
  Strategy strategy = with_sync(shown(), problem(), one, stale);
  check(strategy);
  EXPECT_EQ(sync_of(strategy, update)->staleness, 2);
  EXPECT_TRUE(sync_words(strategy, problem(), update).contains("2 step"));
  strategy = with_sync(strategy, problem(), one, reduced);
  check(strategy);
  EXPECT_EQ(sync_of(strategy, update)->staleness, 0);
}

TEST_F(VariableEdits, StationsByHandStayUntilTheServerMoves) {
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  ImportOptions import;
  import.batch = 32;
  session_.open_model(sample("models/lenet.onnx"), import, {});
  session_.settle();
  const OpId update = all()[0];
  const auto one = std::span(&update, 1);
  const Cluster& cluster = *problem().cluster;
  std::size_t elsewhere = 0;
  while (cluster.device(DeviceId(elsewhere)).machine == cluster.device(DeviceId(0)).machine)
    ++elsewhere;
  SyncChoice server, stations, encoding, moved;
  server.servers = std::vector<DeviceId>{DeviceId(0)};
  stations.stations_at = std::vector<DeviceId>{DeviceId(elsewhere)};
  encoding.encoding = Encoding::Half;
  moved.servers = stations.stations_at;
  Strategy strategy = with_sync(shown(), problem(), one, server);
  strategy = with_sync(strategy, problem(), one, stations);
  strategy = with_sync(strategy, problem(), one, encoding);
  check(strategy);
  EXPECT_EQ(sync_of(strategy, update)->parts[0].stations, *stations.stations_at);
  strategy = with_sync(strategy, problem(), one, moved);
  check(strategy);
  for (const DeviceId station : sync_of(strategy, update)->parts[0].stations)
    EXPECT_NE(cluster.device(station).machine, cluster.device(DeviceId(elsewhere)).machine);
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
