// Schedules of pipelines whose stages have several chunks: chunks found from strategies, closed
// forms of time and memory, orders as their papers have them, and tables by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/error.h"
#include "core/program/lower/pipeline.h"
#include "core/program/lower/pipeline_order.h"
#include "tests/core/program/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

using toy::Bench;

// All but the passes of layers takes next to no time: a nanosecond, the least there is. They take
// so many times a million that no sum of the others makes one.
constexpr std::int64_t kUnit = 1'000'000;
class PassCosts : public toy::Costs {
 public:
  using Costs::Costs;
  std::int64_t forward = 0, inputs = 0, weights = 0;  // units a sample
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const std::string& name = graph_->op(op).name;
    if (name == "f1" || name == "gw1" || name == "seed" || name[0] == 'u') return {};
    if (name[0] == 'f') return Nanos(kUnit * forward * samples);
    return Nanos(kUnit * (name.starts_with("gx") ? inputs : weights) * samples);
  }
  Nanos transfer(const Path&, Bytes) const override { return {}; }
  Nanos local_move(GpuTypeId, Bytes) const override { return {}; }
};

// Chunks one after the other, on the stages that are given: a layer each, and before the first one
// another that takes no time, so that it has a gradient of its input, too.
struct Looped {
  Looped(std::vector<int> stages_of_chunks, std::int64_t batch_)
      : stages(std::move(stages_of_chunks)),
        batch(batch_),
        bench(toy::training_chain(batch, static_cast<int>(stages.size()) + 1, 5),
              toy::cluster(1, 1 + *std::ranges::max_element(stages)),
              toy::layer_groups(static_cast<int>(stages.size()) + 1, 2)) {}
  Strategy strategy(MicroBatches micro_batches) const {
    Strategy made = bench.everywhere(Mode::ReplicateAllReduce, {0});
    for (std::size_t chunk = 0; chunk < stages.size(); ++chunk)
      made.groups[bench.group("f" + std::to_string(chunk + 2))] =
          Bench::decision(Mode::ReplicateAllReduce, {stages[chunk]});
    made.micro_batches = std::move(micro_batches);
    return made;
  }
  // Of passes that take so many units a sample.
  Timeline run(const MicroBatches& micro_batches, std::array<std::int64_t, 3> times) {
    const auto costs = std::make_shared<PassCosts>(bench.graph, bench.cluster);
    costs->forward = times[0], costs->inputs = times[1], costs->weights = times[2];
    Lowering lowering(bench.graph, bench.grouping, bench.cluster, costs);
    LowerOptions options;
    options.verify = true;
    return bench.simulator.simulate(
        std::make_shared<const Program>(lowering.lower(strategy(micro_batches), options)));
  }
  ScheduleTable table_of(const MicroBatches& micro_batches) const {
    Tables tables(bench.graph, bench.grouping, bench.cluster, bench.costs, micro_batches.count);
    Placement placement(tables);
    placement.place(strategy(micro_batches));
    const Pipeline pipeline(tables, placement, micro_batches);
    ScheduleTable table(pipeline.chunks().stages().size());
    for (const ScheduleCell& cell : pipeline.cells())
      table[at(pipeline.chunks().stage_of_chunk(cell.chunk))].push_back(cell);
    return table;
  }
  MicroBatches by_hand(std::vector<std::string> rows) const {
    MicroBatches made{1, PipelineSchedule::ByHand, parse_schedule_rows(rows)};
    made.count = micro_batch_count(made.table);
    return made;
  }

  std::vector<int> stages;
  std::int64_t batch;
  Bench bench;
};

std::vector<int> loops(int stages, int chunks) {
  std::vector<int> result;
  for (int i = 0; i < stages * chunks; ++i) result.push_back(i % stages);
  return result;
}

std::vector<int> shape_of_v(int stages) {
  std::vector<int> result;
  for (int i = 0; i < stages; ++i) result.push_back(i);
  for (int i = stages; i-- > 0;) result.push_back(i);
  return result;
}

std::string text_of(const ScheduleTable& table) {
  return fmt::format("{}", fmt::join(schedule_rows(table), "\n"));
}

// Of the step, to the nanosecond but for tasks of one.
std::int64_t units_of(const Timeline& timeline) {
  const std::int64_t units = timeline.step_time.value / kUnit;
  EXPECT_LE(timeline.step_time.value - units * kUnit, std::ssize(timeline.program->tasks));
  return units;
}

const std::vector<std::array<std::int64_t, 3>> kTimes = {
    {10, 10, 10}, {10, 12, 8}, {10, 10, 4}, {7, 13, 11}};

TEST(PipelineChunks, AreWhatStagesComputeBetweenVisits) {
  for (const int chunks : {1, 2, 3}) {
    Looped looped(loops(3, chunks), 6);
    Tables tables(looped.bench.graph, looped.bench.grouping, looped.bench.cluster,
                  looped.bench.costs, 3);
    Placement placement(tables);
    placement.place(looped.strategy({3}));
    const Chunks found(tables, placement, true);
    ASSERT_EQ(found.stages().size(), 3u);
    ASSERT_EQ(found.count(), std::size_t(3 * chunks));
    const auto ops = [&](const ScheduleCell& cell) {
      std::set<std::string> names;
      for (const OpId op : found.passes()[Chunks::pass_of(cell)].ops)
        names.insert(looped.bench.graph->op(op).name);
      return names;
    };
    for (int chunk = 1; chunk < 3 * chunks; ++chunk) {
      EXPECT_EQ(found.stage_of_chunk(chunk), chunk % 3);
      const std::string layer = std::to_string(chunk + 2);
      EXPECT_EQ(ops({chunk, PassKind::Forward}), std::set{"f" + layer});
      const bool last = chunk + 1 == 3 * chunks;
      EXPECT_EQ(ops({chunk, PassKind::Backward}),
                last ? std::set<std::string>({"seed", "gx" + layer}) : std::set{"gx" + layer});
      EXPECT_EQ(ops({chunk, PassKind::Weights}), std::set{"gw" + layer});
    }
    EXPECT_EQ(ops({0, PassKind::Backward}), std::set<std::string>());  // nobody waits for it
    EXPECT_EQ(ops({0, PassKind::Weights}), (std::set<std::string>{"gw1", "gw2", "gx2"}));
  }
}

// Two ways cross between two devices: neither has been visited before the other.
TEST(PipelineChunks, OfStagesThatWaitForEachOtherAreJoined) {
  toy::Model model(8);
  const TensorId x = model.input("x", 4);
  const TensorId a = model.layer("a1", {x}, 4), b = model.layer("b1", {x}, 4);
  const TensorId c = model.layer("a2", {b}, 4);
  model.layer("b2", {a}, 4);
  model.layer("end", {c}, 4);
  Bench bench(std::move(model).build(), toy::cluster(1, 3),
              {{"a1", 0}, {"a2", 0}, {"b1", 1}, {"b2", 1}, {"end", 2}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
  strategy.groups[bench.group("b1")] = Bench::decision(Mode::ReplicateAllReduce, {1});
  strategy.groups[bench.group("end")] = Bench::decision(Mode::ReplicateAllReduce, {2});
  strategy.micro_batches.count = 4;
  Tables tables(bench.graph, bench.grouping, bench.cluster, bench.costs, 4);
  Placement placement(tables);
  placement.place(strategy);
  const Chunks found(tables, placement, false);
  EXPECT_EQ(found.count(), 2u);
  EXPECT_EQ(found.stage_of(DeviceId(0)), found.stage_of(DeviceId(1)));
  for (const std::string_view name : kPipelineSchedules) {
    strategy.micro_batches.schedule = *pipeline_schedule_from(name);
    bench.lower(strategy);
  }
}

TEST(PipelineSchedules, BubblesAreThoseOfThePapersToTheNanosecond) {
  for (const auto& [p, v, m] : std::vector<std::array<int, 3>>{
           {2, 1, 4}, {4, 1, 8}, {4, 1, 12}, {2, 2, 4}, {4, 2, 8}, {4, 3, 8}, {3, 3, 9}}) {
    Looped looped(loops(p, v), 3 * m);
    for (const auto& [f, b, w] : kTimes) {
      const std::int64_t pass = 3 * (f + b + w);  // of three samples
      for (const auto schedule : {PipelineSchedule::Gpipe, PipelineSchedule::OneFOneB,
                                  PipelineSchedule::Interleaved, PipelineSchedule::ZbH1}) {
        const std::int64_t filled = schedule == PipelineSchedule::ZbH1 ? w + std::min(f, w) : 0;
        const std::int64_t bubble = (p - 1) * (pass - 3 * filled);
        const Timeline timeline = looped.run({m, schedule}, {f, b, w});
        EXPECT_EQ(units_of(timeline), m * v * pass + bubble)
            << name_of(schedule) << " " << p << " " << v << " " << m << ", " << f << " " << b;
      }
    }
  }
}

// What is left is the way of the first micro-batch to the deepest stage.
TEST(PipelineSchedules, ZeroBubbleVHasNone) {
  for (const int p : {2, 3, 4, 6})
    for (const int m : {2 * p, 3 * p}) {
      Looped looped(shape_of_v(p), m);
      const auto bubble = [&](PipelineSchedule schedule) {
        return units_of(looped.run({m, schedule}, {10, 10, 10})) - m * 2 * 30;
      };
      EXPECT_EQ(bubble(PipelineSchedule::ZbV), (p - 1) * 10) << p << " " << m;
      EXPECT_LE(bubble(PipelineSchedule::DualPipeV), p * 10) << p << " " << m;
    }
}

// At most so many chunks have had their forward pass, and not all of their backward pass.
TEST(PipelineSchedules, ChunksUnderWayAreThoseOfThePapers) {
  const auto most = [](PipelineSchedule schedule, const StagePlace& place) {
    const MicroBatches micro_batches{24, schedule};
    const PassKind last = splits_backward(micro_batches) ? PassKind::Weights : PassKind::Backward;
    int under_way = 0, peak = 0;
    for (const ScheduleCell& cell : stage_order(micro_batches, place)) {
      const int weight = place.is_in_v && place.depth + 1 == place.stages ? 2 : 1;
      under_way += cell.pass == PassKind::Forward ? weight : cell.pass == last ? -weight : 0;
      peak = std::max(peak, under_way);
    }
    EXPECT_EQ(under_way, 0);
    return peak;
  };
  for (const int p : {1, 2, 4})
    for (const int v : {1, 2, 3})
      for (int s = 0; s < p; ++s) {
        const StagePlace place{p, s, v};
        EXPECT_EQ(most(PipelineSchedule::Gpipe, place), 24 * v);
        EXPECT_EQ(most(PipelineSchedule::OneFOneB, place), p - s + (v - 1) * p);
        EXPECT_EQ(most(PipelineSchedule::Interleaved, place),
                  v == 1 ? p - s : 2 * (p - s) - 1 + (v - 1) * p);
        EXPECT_EQ(most(PipelineSchedule::ZbH1, place), v * p);
      }
  for (const int p : {2, 4})
    for (int s = 0; s < p; ++s) {
      const StagePlace place{p, s, s + 1 < p ? 2 : 1, true};
      EXPECT_EQ(most(PipelineSchedule::ZbV, place), 2 * p);
      EXPECT_LE(most(PipelineSchedule::DualPipeV, place), 2 * p + 2);
    }
}

// Activations of a stage are what its chunks keep for their weights. Beside them is what has come
// before its turn, or is on its way, and with late weights the gradients that they wait with.
TEST(PipelineSchedules, MemoryIsThatOfTheChunksUnderWay) {
  const int m = 32, p = 4;
  Looped looped(loops(p, 2), m);
  const auto peak = [&](PipelineSchedule schedule, int stage) {
    return looped.run({m, schedule}, kTimes[0]).devices[DeviceId(at(stage))].peak.value;
  };
  const std::int64_t kept = 4 * 5;   // the input of a layer
  for (int s = 1; s + 1 < p; ++s) {  // the deepest keeps what the loss needs, too
    const std::int64_t all = peak(PipelineSchedule::Gpipe, s);
    for (const auto& [schedule, under_way] :
         {std::pair(PipelineSchedule::OneFOneB, 2 * p - s),
          std::pair(PipelineSchedule::Interleaved, 3 * p - 2 * s - 1),
          std::pair(PipelineSchedule::ZbH1, 2 * p + s)}) {
      const std::int64_t fewer = (all - peak(schedule, s)) / kept;
      EXPECT_NEAR(fewer, 2 * m - under_way, 4) << name_of(schedule) << " " << s;
    }
  }
}

TEST(PipelineSchedules, OrdersAreThoseOfThePapers) {
  const auto order = [](const std::vector<int>& stages, int m, PipelineSchedule schedule) {
    return text_of(Looped(stages, m).table_of({m, schedule}));
  };
  EXPECT_EQ(order(loops(2, 2), 4, PipelineSchedule::Interleaved),
            "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3\n"
            "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
  EXPECT_EQ(order(loops(3, 1), 4, PipelineSchedule::ZbH1),
            "0F0 0F1 0F2 0B0 0W0 0F3 0B1 0W1 0B2 0W2 0B3 0W3\n"
            "1F0 1F1 1B0 1F2 1B1 1W0 1F3 1B2 1W1 1B3 1W2 1W3\n"
            "2F0 2B0 2F1 2B1 2F2 2B2 2W0 2F3 2B3 2W1 2W2 2W3");
  EXPECT_EQ(order(loops(2, 2), 3, PipelineSchedule::Gpipe),
            "0F0 0F1 0F2 2F0 2F1 2F2 2B0 2B1 2B2 0B0 0B1 0B2\n"
            "1F0 1F1 1F2 3F0 3F1 3F2 3B0 3B1 3B2 1B0 1B1 1B2");
  EXPECT_EQ(order(shape_of_v(2), 3, PipelineSchedule::ZbV),
            "0F0 0F1 0F2 2F0 2B0 2W0 2F1 2B1 2W1 0B0 0W0 2F2 2B2 2W2 0B1 0W1 0B2 0W2\n"
            "1F0 1F1 1B0 1W0 1F2 1B1 1W1 1B2 1W2");
}

// Where stages do not have as many chunks, or micro-batches are no multiple of the stages.
TEST(PipelineSchedules, OfAnyShapeGoOn) {
  std::mt19937 random(5);
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  for (int i = 0; i < 60; ++i) {
    std::vector<int> stages;
    for (int chunk = 2 + below(8); chunk-- > 0;) stages.push_back(below(4));
    const int m = 2 + below(9);
    Looped looped(stages, m);
    for (const std::string_view name : kPipelineSchedules) {
      SCOPED_TRACE(fmt::format("{} on {}, {}", name, fmt::join(stages, " "), m));
      const MicroBatches micro_batches{m, *pipeline_schedule_from(name)};
      const ScheduleTable table = looped.table_of(micro_batches);
      EXPECT_NO_THROW(check_table(table, m));
      EXPECT_GT(looped.run(micro_batches, kTimes[1]).step_time, Nanos());
    }
  }
}

TEST(ScheduleTables, SayWhatTheirSchedulesDo) {
  for (const std::vector<int>& stages : {loops(2, 2), shape_of_v(3), std::vector{0, 1, 2, 0}})
    for (const std::string_view name : kPipelineSchedules) {
      Looped looped(stages, 6);
      const MicroBatches named{6, *pipeline_schedule_from(name)};
      if (named.schedule == PipelineSchedule::AsReady) continue;
      const ScheduleTable table = looped.table_of(named);
      EXPECT_EQ(parse_schedule_rows(schedule_rows(table)), table);
      const auto a = looped.bench.lower(looped.strategy(named)),
                 b = looped.bench.lower(looped.strategy({6, PipelineSchedule::ByHand, table}));
      ASSERT_EQ(a->tasks.size(), b->tasks.size());
      const auto time = [&](const std::shared_ptr<const Program>& program) {
        return looped.bench.simulator.simulate(program).step_time;
      };
      EXPECT_EQ(time(a), time(b)) << name;
    }
}

// PyTorch's: cells apart by commas, empty where a rank waits; a B without W is both.
TEST(ScheduleTables, AreReadAsPyTorchWritesThem) {
  const ScheduleTable plain = parse_schedule_csv("0F0,0F1,,0B0,0B1\r\n,1F0,1B0,1F1,1B1\n\n", "s");
  EXPECT_EQ(text_of(plain), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1");
  EXPECT_FALSE(splits_backward(plain));
  EXPECT_EQ(micro_batch_count(plain), 2);
  const ScheduleTable split = parse_schedule_csv("0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1B1,1W0,1W1", "s");
  EXPECT_TRUE(splits_backward(split));
  EXPECT_EQ(text_of(split), "0F0 0F1 0B0 0W0 0B1 0W1\n1F0 1B0 1F1 1B1 1W0 1W1");
  for (const char* wrong : {"0F", "F0", "0X1", "0F0x", "-1F0", "0F99999999999", "0SEND_F1", "0f0"})
    EXPECT_NE(message_of([&] {
                parse_schedule_csv(std::string("0F0,0B0\n1F0,") + wrong, "file.csv");
              }).find(std::string("file.csv: row 2, column 2: \"") + wrong),
              std::string::npos)
        << wrong;
}

TEST(ScheduleTables, WhatDoesNotFitIsRefusedWithItsPlace) {
  Looped looped({0, 1, 0}, 4);
  const std::string row = "0F0 0F1 2F0 2B0 0B0 2F1 2B1 0B1", other = "1F0 1F1 1B0 1B1";
  const auto refusal = [&](std::vector<std::string> rows) {
    return message_of([&] { looped.bench.lower(looped.strategy(looped.by_hand(rows))); });
  };
  looped.bench.lower(looped.strategy(looped.by_hand({row, other})));
  const auto expect = [&](const std::vector<std::string>& rows, const std::string& text) {
    EXPECT_NE(refusal(rows).find(text), std::string::npos) << refusal(rows);
  };
  expect({row, "1F0 1F1 1B0"}, "row 2: has no cell 1B1");
  expect({row, "1F0 1F1 1B0 1B1 1F0"}, "row 2, cell 5 (\"1F0\"): is there twice");
  expect({row, "1F0 1F1 1B1 1B0"}, "row 2, cell 4 (\"1B0\"): comes after a later micro-batch");
  expect({row, other + " 2F0"}, "row 2, cell 5 (\"2F0\"): is of a chunk of row 1");
  expect({row, "3F0 3F1 3B0 3B1"}, "row 2: has the cell 3F0 of a chunk that is not its stage's");
  expect({"0F0 0F1 0B0 0B1", other}, "row 1: has no cell 2F0");
  expect({row}, "row 2: is missing: the strategy makes 2 stages");
  expect({row, other, "5F0 5F1 5B0 5B1"}, "row 3: is of no stage");
  expect({row, ""}, "row 2: has no cell");
  expect({"0B0 0F0 0F1 2F0 2B0 2F1 2B1 0B1", other},
         "cannot go on: 0B0 waits for 0F0, which comes after 0B0");
  expect({"0F0 2F0 0F1 2F1 2B0 0B0 2B1 0B1", "1F1 1F0 1B0 1B1"}, "later micro-batch");
  expect({"0F0 2F0 2B0 0B0 0F1 2F1 2B1 0B1", "1F0 1F1 1B0 1B1"},
         "0B0 waits for 1B0, which comes after 1F1; 1F1 waits for 0F1, which comes after 0B0");
  Strategy strategy = looped.strategy(looped.by_hand({row, other}));
  strategy.micro_batches.count = 4;
  EXPECT_NE(message_of([&] { looped.bench.lower(strategy); }).find("has no cell"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              validate(strategy, *looped.bench.grouping, *looped.bench.cluster);
            }).find("has no cell"),
            std::string::npos);
  strategy.micro_batches.count = 1;
  EXPECT_NO_THROW(looped.bench.lower(strategy));  // of one micro-batch it means nothing
}

// Whatever is done to a table: it runs, or is refused in words.
TEST(ScheduleTables, TamperedOnesRunOrAreRefused) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int ran = 0, refused = 0;
  for (int i = 0; i < 600; ++i) {
    Looped looped(i % 2 == 0 ? loops(2, 2) : shape_of_v(3), 4);
    const std::string_view name = kPipelineSchedules[1 + below(kPipelineSchedules.size() - 1)];
    ScheduleTable table = looped.table_of({4, *pipeline_schedule_from(name)});
    for (std::size_t times = 1 + below(3); times-- > 0;) {
      auto& row = table[below(table.size())];
      if (row.empty()) continue;
      const std::size_t a = below(row.size()), b = below(row.size());
      switch (below(8)) {
        case 0:
          row.erase(row.begin() + std::ptrdiff_t(a));
          break;
        case 1:
          row.push_back(row[a]);
          break;
        case 2:
          row[a].chunk = static_cast<std::int32_t>(below(6));
          break;
        case 3:
          row[a].micro = static_cast<std::int32_t>(below(5));
          break;
        case 4:
          row[a].pass = static_cast<PassKind>(below(3));
          break;
        case 5:
          std::swap(table[below(table.size())], row);
          break;
        default:
          std::swap(row[std::min(a, row.size() - 1)], row[std::min(a + 1 + b % 2, row.size() - 1)]);
      }
    }
    try {
      looped.bench.run(looped.strategy({4, PipelineSchedule::ByHand, table}));
      ++ran;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("schedule, row"), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(ran, 30);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace strato
