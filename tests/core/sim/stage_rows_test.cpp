// Pipelines as rows of cells and bubbles, with closed forms.
#include "core/sim/pipeline/stage_rows.h"

#include <gtest/gtest.h>

#include "core/sim/explain/stage_waits.h"
#include "core/sim/pipeline/ideal_schedule.h"
#include "core/strategy/value/schedule_csv.h"
#include "tests/core/program/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

constexpr std::int64_t kPass = 1'000'000;  // ns of a sample

// A pass of a stage takes kPass a sample, forward and backward, times its number where stages are
// unequal; a transfer `wire`; all else is next to nothing.
class RowCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  std::int64_t wire = 1;
  bool unequal = false;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const std::string& name = graph_->op(op).name;
    const bool is_pass = name[0] == 'f' || name.starts_with("gx") || name == "gw1";
    const std::int64_t times = unequal ? name.back() - '0' : 1;
    return Nanos(is_pass ? kPass * times * samples : 1);
  }
  Nanos transfer(const Path&, Bytes) const override { return Nanos(wire); }
};

class RowsOfStages : public testing::Test {
 protected:
  static constexpr std::int64_t kBatch = 8;
  explicit RowsOfStages(int stages = 4)
      : stages_(stages),
        bench(toy::training_chain(kBatch, stages, 5), toy::cluster(1, stages),
              toy::layer_groups(stages)),
        costs(std::make_shared<RowCosts>(bench.graph, bench.cluster)) {}

  Strategy staged(const MicroBatches& micro_batches, const std::vector<std::vector<int>>& devices) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
    for (int stage = 0; stage < stages_; ++stage)
      strategy.groups[bench.group("f" + std::to_string(stage + 1))] =
          toy::Bench::decision(Mode::ReplicateAllReduce, devices[static_cast<std::size_t>(stage)]);
    strategy.micro_batches = micro_batches;
    return strategy;
  }
  StagePlan plan_of(const Strategy& strategy) {
    return {bench.graph, bench.grouping, bench.cluster, costs, strategy};
  }
  Timeline run(const Strategy& strategy) {
    Lowering lowering(bench.graph, bench.grouping, bench.cluster, costs);
    return bench.simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
  }
  static std::string names(const StageRow& row) {
    std::string text;
    for (const StageCell& cell : row.cells) text += (text.empty() ? "" : " ") + name_of(cell.cell);
    return text;
  }

  int stages_;
  toy::Bench bench;
  std::shared_ptr<RowCosts> costs;
};

const std::vector<std::vector<int>> kOneEach = {{0}, {1}, {2}, {3}};

TEST_F(RowsOfStages, CellsComeInTheOrderOfTheSchedule) {
  for (const auto schedule : {PipelineSchedule::Gpipe, PipelineSchedule::OneFOneB}) {
    const Strategy strategy = staged({4, schedule}, kOneEach);
    const StagePlan plan = plan_of(strategy);
    const StageRows rows = stage_rows(run(strategy), plan);
    ASSERT_EQ(rows.rows.size(), 4u);
    ASSERT_EQ(plan.table().size(), 4u);
    for (std::size_t row = 0; row < 4; ++row)
      EXPECT_EQ(names(rows.rows[row]), schedule_rows(plan.table())[row]);
  }
}

// The cells, what occupies a device otherwise, and the bubbles between are the step.
TEST_F(RowsOfStages, CellsAndBubblesAreTheStep) {
  const Strategy strategy = staged({4, PipelineSchedule::OneFOneB}, kOneEach);
  const Timeline timeline = run(strategy);
  const StageRows rows = stage_rows(timeline, plan_of(strategy));
  const std::vector<StageWait> waits = stage_waits(timeline);
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    Nanos sum = rows.rows[row].waits() + length(rows.rows[row].once);
    for (const StageCell& cell : rows.rows[row].cells) sum += cell.end - cell.begin;
    EXPECT_EQ(rows.rows[row].waits(), waits[row].all());
    EXPECT_NEAR(static_cast<double>(sum.value), static_cast<double>(timeline.step_time.value), 100);
    Nanos since;
    for (const StageBubble& bubble : rows.rows[row].bubbles) {
      EXPECT_GE(bubble.begin, since);
      EXPECT_LT(bubble.begin, bubble.end);
      since = bubble.end;
    }
  }
  EXPECT_NEAR(rows.bubble(), 3.0 / (4 + 3), 1e-3);  // (p - 1) / (m + p - 1)
}

TEST_F(RowsOfStages, BubblesSayWhatTheyWaitFor) {
  const Strategy strategy = staged({4, PipelineSchedule::Gpipe}, kOneEach);
  const StageRows rows = stage_rows(run(strategy), plan_of(strategy));
  const StageBubble& fills = rows.rows[1].bubbles.front();
  EXPECT_EQ(fills.begin, Nanos(0));
  EXPECT_EQ(fills.cause, BubbleCause::Pass);
  EXPECT_EQ(fills.from, 0);
  EXPECT_EQ(fills.awaited_cell, ScheduleCell{});
  EXPECT_EQ(fills.next, (ScheduleCell{1, PassKind::Forward, 0}));
  // Before its first backward pass the first stage waits for that of the second.
  const auto longest =
      std::ranges::max_element(rows.rows[0].bubbles, {},
                               [](const StageBubble& bubble) { return bubble.end - bubble.begin; });
  EXPECT_EQ(longest->cause, BubbleCause::Pass);
  EXPECT_EQ(longest->from, 1);
  EXPECT_EQ(longest->awaited_cell, (ScheduleCell{1, PassKind::Backward, 0}));
  EXPECT_EQ(rows.rows[3].bubbles.back().cause, BubbleCause::End);
  EXPECT_EQ(rows.rows[3].bubbles.back().from, 0);
}

TEST_F(RowsOfStages, WhatIsOnItsWayIsToldApart) {
  costs->wire = kPass / 2;
  const Strategy strategy = staged({4, PipelineSchedule::Gpipe}, kOneEach);
  const StageRows rows = stage_rows(run(strategy), plan_of(strategy));
  const std::vector<StageBubble>& bubbles = rows.rows[1].bubbles;
  ASSERT_GE(bubbles.size(), 2u);
  EXPECT_EQ(bubbles[0].cause, BubbleCause::Pass);
  EXPECT_EQ(bubbles[1].cause, BubbleCause::Transfer);
  EXPECT_EQ(bubbles[1].end - bubbles[1].begin, Nanos(kPass / 2));
  EXPECT_EQ(bubbles[1].from, 0);
}

TEST_F(RowsOfStages, IdealsAreWithoutTransfersAndWithEqualStages) {
  costs->wire = 3 * kPass;
  costs->unequal = true;
  const Strategy strategy = staged({4, PipelineSchedule::OneFOneB}, kOneEach);
  const StagePlan plan = plan_of(strategy);
  const StageRows rows = stage_rows(this->run(strategy), plan);
  const PassTimes times = pass_times(rows, plan);
  const PassesLength own = ideal_schedule(plan.table(), plan, times);
  const PassesLength equal = ideal_schedule(plan.table(), plan, equal_times(times));
  EXPECT_NEAR(equal.bubble, 3.0 / (4 + 3), 1e-3);
  EXPECT_GT(own.bubble, equal.bubble + 0.05);
  const PassesLength run = passes_as_run(rows, plan, times);
  EXPECT_GT(run.bubble, own.bubble + 0.05);
  EXPECT_NEAR(run.bubble, rows.bubble(), 1e-3) << "updates take next to nothing";
}

TEST_F(RowsOfStages, DevicesOfAStageAreOneRow) {
  const Strategy strategy =
      staged({4, PipelineSchedule::OneFOneB}, {{0, 1}, {0, 1}, {2, 3}, {2, 3}});
  const StageRows rows = stage_rows(run(strategy), plan_of(strategy));
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].devices.size(), 2u);
  EXPECT_EQ(rows.rows[0].cells.size(), 8u);
}

TEST_F(RowsOfStages, ChunksHaveCellsOfTheirOwn) {
  const Strategy strategy = staged({4, PipelineSchedule::Interleaved}, {{0}, {1}, {0}, {1}});
  const StagePlan plan = plan_of(strategy);
  const StageRows rows = stage_rows(run(strategy), plan);
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].chunks, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(names(rows.rows[1]), schedule_rows(plan.table())[1]);
}

// The order in which cells ran is one that the same strategy can have by hand.
TEST_F(RowsOfStages, WhatRanAsReadyIsATable) {
  const Strategy strategy = staged({4, PipelineSchedule::AsReady}, kOneEach);
  const StagePlan plan = plan_of(strategy);
  const ScheduleTable table = table_as_run(stage_rows(run(strategy), plan), plan);
  EXPECT_EQ(plan.order(by_hand(table, 4)), table);
  EXPECT_EQ(parse_schedule_csv(schedule_csv(table), "a.csv"), table);
}

TEST_F(RowsOfStages, OrdersThatCannotGoOnNameTheirCells) {
  const Strategy strategy = staged({2, PipelineSchedule::Gpipe}, kOneEach);
  const StagePlan plan = plan_of(strategy);
  ScheduleTable table = plan.table();
  std::swap(table[3][1], table[3][2]);  // its first backward pass before the second forward pass
  EXPECT_EQ(plan.order(by_hand(table, 2))[3], table[3]);
  table = plan.table();
  std::swap(table[0][1], table[0][2]);  // 0F0 0B0 0F1 0B1
  const std::string told = message_of([&] { plan.order(by_hand(table, 2)); });
  EXPECT_NE(told.find("0B0 waits for 1B0"), std::string::npos) << told;
  EXPECT_NE(told.find("which comes after 0B0"), std::string::npos) << told;
}

TEST_F(RowsOfStages, ThereAreNoneOfOneStageOrMicroBatch) {
  const Strategy together = staged({4, PipelineSchedule::OneFOneB},
                                   {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}});
  EXPECT_TRUE(stage_rows(run(together), plan_of(together)).rows.empty());
  const Strategy at_once = staged({}, kOneEach);
  EXPECT_TRUE(stage_rows(run(at_once), plan_of(at_once)).rows.empty());
  // Of another strategy's timeline, too.
  const Strategy staged_one = staged({4, PipelineSchedule::OneFOneB}, kOneEach);
  EXPECT_TRUE(stage_rows(run(at_once), plan_of(staged_one)).rows.empty());
}

}  // namespace
}  // namespace strato
