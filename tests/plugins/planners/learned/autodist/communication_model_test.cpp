// The predefined communication model against closed forms, and what features keep of it.
#include "plugins/planners/learned/autodist/plan/communication_model.h"

#include "core/cost/model/measured_cost_model.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "plugins/planners/learned/autodist/search/ranker.h"
#include "plugins/planners/learned/autodist/search/sampler.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

TEST(CommunicationModel, AllReducesCostWhatTheCostModelSays) {
  const Ground ground(2, 2);
  const CommunicationModel model(ground.task);
  Nanos sum;
  for (const Variable& variable : ground.task.variables)
    sum +=
        ground.problem.cost->collective(Collective::AllReduce, ground.task.devices, variable.bytes)
            .duration;
  const Components z = model.of_plan(plain_plan(ground.task));
  EXPECT_NEAR(z[Volume] + z[Calls], to_seconds(sum), 1e-12);
  for (const std::size_t other : {ToServers, FromServers, ServerCalls, Local})
    EXPECT_EQ(z[other], 0);
}

TEST(CommunicationModel, OneMessageSavesLatencyAndSharesItself) {
  const Ground ground(2, 2);
  const CommunicationModel model(ground.task);
  const SyncPlan one = build("mirrored", ground.task, {});
  const CostSources none;
  const CollectiveCost whole = ground.problem.cost->collective(
      Collective::AllReduce, ground.task.devices, ground.task.bytes());
  const Components z = model.of_plan(one), plain = model.of_plan(plain_plan(ground.task));
  EXPECT_NEAR(z[Volume] + z[Calls], to_seconds(whole.duration), 1e-9);
  EXPECT_LT(z[Calls], plain[Calls] / 2);
  const std::vector<Components> each = model.of_variables(one);
  for (std::size_t v = 0; v < each.size(); ++v) {
    EXPECT_NEAR(each[v][Calls], to_seconds(whole.latency) / 6, 1e-12);
    const double share = static_cast<double>(ground.task.variables[v].bytes.value) /
                         static_cast<double>(ground.task.bytes().value);
    EXPECT_NEAR(each[v][Volume], share * to_seconds(whole.duration - whole.latency), 1e-9);
  }
}

TEST(CommunicationModel, AServerReceivesEveryReplicasGradient) {
  const Ground ground(1, 3);
  const CommunicationModel model(ground.task);
  const Components z = model.of_plan(build("ps", ground.task, {}));
  const Cluster& cluster = *ground.problem.cluster;
  double in = 0;
  for (std::size_t d = 1; d < 4; ++d)
    in += static_cast<double>(ground.task.bytes().value) /
          cluster.path(DeviceId(d), DeviceId(0)).bandwidth;
  EXPECT_NEAR(z[ToServers], in, 1e-9);
  EXPECT_NEAR(z[FromServers], in, 1e-9);
  EXPECT_EQ(z[Volume], 0);
  EXPECT_GT(z[ServerCalls], 0);
  EXPECT_GT(z[Local], 0);
}

TEST(CommunicationModel, BalancedServersShareTheTraffic) {
  const Ground ground(1, 3);
  const CommunicationModel model(ground.task);
  const double one = model.of_plan(build("ps", ground.task, {}))[ToServers];
  EXPECT_NEAR(model.of_plan(build("ps-partitioned", ground.task, {}))[ToServers], one / 4,
              one / 20);
}

TEST(CommunicationModel, StationsSendOnceForTheirMachine) {
  const Ground ground(4, 1);
  const CommunicationModel model(ground.task);
  SyncPlan plan = build("ps", ground.task, {});
  for (VariableSync& sync : plan) sync.parts[0].server = DeviceId(4);
  const double direct = model.of_plan(plan)[ToServers];
  for (VariableSync& sync : plan) sync.parts[0].stations = {DeviceId(0)};
  EXPECT_NEAR(model.of_plan(plan)[ToServers], direct / 4, direct / 100);
}

TEST(CommunicationModel, RowsAreLessThanTheWholeTable) {
  const Ground ground(lookup_problem(toy::small_cluster(1, 3), 100'000, 64));
  const CommunicationModel model(ground.task);
  BuilderOptions options;
  EXPECT_LT(model.seconds(build("allgather", ground.task, options)),
            model.seconds(build("horovod", ground.task, options)) / 5);
  SyncPlan served = build("ps-lb", ground.task, options);
  const double dense = model.of_plan(served)[ToServers];
  for (std::size_t v = 0; v < served.size(); ++v)
    if (ground.task.variables[v].sparse) served[v].parts[0].encoding = Encoding::SparseRows;
  EXPECT_LT(model.of_plan(served)[ToServers], dense / 5);
}

TEST(CommunicationModel, OneDeviceHasNothingToSend) {
  const Ground ground(1, 0);
  EXPECT_EQ(CommunicationModel(ground.task).seconds(plain_plan(ground.task)), 0);
}

TEST(Features, AreFiniteAndOfTheRightShape) {
  for (const auto& [fast, slow] : {std::pair(1, 0), {1, 3}, {3, 2}}) {
    const Ground ground(lookup_problem(toy::small_cluster(fast, slow), 5000, 64));
    const Featurizer featurizer(ground.task);
    Random random(1);
    for (int i = 0; i < 100; ++i) {
      const PlanFeatures features = featurizer.of(sample_plan(ground.task, {}, random));
      ASSERT_EQ(features.rows.size(), featurizer.row_count() * kFeatures);
      for (const float value : features.rows) {
        EXPECT_TRUE(std::isfinite(value));
        EXPECT_LT(std::abs(value), 50);
      }
      for (const float value : features.whole) EXPECT_TRUE(std::isfinite(value) && value >= 0);
    }
  }
}

TEST(Features, NeighboursShareARowWhereThereAreMany) {
  for (const int layers : {63, 64, 65, 100, 200}) {
    const Ground ground(make_problem(toy::chain(layers, 8, 16), toy::small_cluster(2, 1), {}));
    const Featurizer featurizer(ground.task);
    EXPECT_EQ(featurizer.row_count(), std::min<std::size_t>(layers, kMostRows));
    const PlanFeatures features = featurizer.of(plain_plan(ground.task));
    ASSERT_EQ(features.rows.size(), featurizer.row_count() * kFeatures);
    // All variables are alike: means of shapes are what each of them has.
    for (std::size_t row = 1; row < featurizer.row_count(); ++row)
      for (std::size_t f = 0; f < 5; ++f)
        EXPECT_NEAR(features.rows[row * kFeatures + f], features.rows[f], 1e-6);
  }
}

TEST(Features, DoNotDependOnLabelsOfMessages) {
  const Ground ground;
  const Featurizer featurizer(ground.task);
  SyncPlan plan = build("allreduce", ground.task, {.chunk = 2});
  const PlanFeatures before = featurizer.of(plan);
  for (VariableSync& sync : plan) sync.parts[0].merge_group = 40 - 3 * sync.parts[0].merge_group;
  EXPECT_EQ(featurizer.of(plan).rows, before.rows);
}

}  // namespace
}  // namespace strato::autodist
