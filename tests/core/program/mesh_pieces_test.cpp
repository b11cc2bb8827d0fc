// Columns that exchange in pieces (MeshRoles::pieces) wait for what products do not hide.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/program/value/collective.h"
#include "tests/core/program/perceptrons.h"

namespace strato {
namespace {

constexpr std::int64_t kPieceSamples = 2;
constexpr std::int32_t kPieceColumns = 4;
constexpr Nanos kPieceLatency(100);

// A collective takes 1 ns a byte, and its latency.
class PieceCosts final : public toy::NormCosts {
 public:
  using NormCosts::NormCosts;
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost = Costs::collective(kind, devices, bytes);
    cost.duration = kPieceLatency + Nanos(bytes.value * (kind == Collective::AllReduce ? 2 : 1));
    cost.latency = kPieceLatency;
    return cost;
  }
};

class InPieces : public testing::Test {
 protected:
  // Of what a row gathers or scatters between products, in the order of the tasks.
  std::vector<Task> exchanges(std::int32_t pieces) {
    const auto cluster = toy::cluster(1, kPieceColumns);
    const auto costs = std::make_shared<PieceCosts>(graph, cluster);
    costs->product = product;
    costs->norm = 1'000'000;
    Strategy strategy = toy::on_columns(kPieceColumns);
    strategy.groups.front()->roles.pieces = pieces;
    LowerOptions options;
    options.verify = true;
    const Program program =
        Lowering(graph, toy::one_group(*graph), cluster, costs).lower(strategy, options);
    std::vector<Task> found;
    for (const Task& task : program.tasks)
      if ((task.kind == TaskKind::AllGather || task.kind == TaskKind::ReduceScatter) &&
          task.bytes == kExchanged)
        found.push_back(task);
    return found;
  }

  static constexpr Bytes kExchanged{kPieceSamples * toy::kPositions * toy::kModel * 4};
  static constexpr Nanos kAll = kPieceLatency + Nanos(kExchanged.value);  // of an exchange
  const std::shared_ptr<const Graph> graph = toy::perceptrons(kPieceSamples).graph;
  std::int64_t product = 40'000;
};

TEST_F(InPieces, OfOnePieceAllIsWaitedFor) {
  const std::vector<Task> found = exchanges(1);
  ASSERT_GE(found.size(), 4u);  // behind b and before c, and their gradients
  for (const Task& task : found) EXPECT_EQ(task.duration, kAll);
}

// p pieces of c beside a product of g take max(c / p + g, c + g / p). A quarter of a product of
// 16 us, or of two, is shorter than an exchange: what is left of it shows.
TEST_F(InPieces, TheRestOfALongExchangeIsWaitedFor) {
  product = 16'000;
  const Nanos part(product / kPieceColumns);
  for (const Task& task : exchanges(2)) {
    const Nanos behind_one = kAll - part / 2, behind_two = kAll - part * 2 / 2;
    EXPECT_TRUE(task.duration == behind_one || task.duration == behind_two)
        << task.duration.value << " of " << kAll.value;
  }
}

TEST_F(InPieces, OfAShortExchangeTheFirstPieceIsWaitedFor) {
  product = 4'000'000;
  for (const Task& task : exchanges(4)) EXPECT_EQ(task.duration, kAll / 4);
}

// The steps of a ring are its pieces: more than these have a latency each.
TEST_F(InPieces, MorePiecesThanColumnsAddLatency) {
  product = 4'000'000;
  const std::int32_t pieces = 2 * kPieceColumns;
  for (const Task& task : exchanges(pieces))
    EXPECT_EQ(task.duration, (kAll + kPieceLatency) / pieces);
}

}  // namespace
}  // namespace strato
