// The engine that takes the simulated time: durations, buffers, memory.
#include <gtest/gtest.h>

#include <chrono>

#include "core/plugin/load/plugin_registry.h"
#include "tests/core/graph/model_kit.h"
#include "tests/message_of.h"
#include "tests/paths.h"

namespace strato {
namespace {

using Clock = std::chrono::steady_clock;

const PluginRegistry& registry() {
  static const PluginRegistry shipped({std::string(kBuildFolder) + "/plugins"});
  return shipped;
}

std::shared_ptr<const Graph> line() {
  ModelKit kit(4);
  kit.op("Relu", {kit.op("MatMul", {kit.input("x", {4, 256}), kit.weight("w", {256, 512})})});
  return std::make_shared<const Graph>(kit.build());
}

// The two ops, on samples [0, 2), `duration` each.
std::shared_ptr<const RankProgram> half_of(const Graph& graph, Nanos duration) {
  RankProgram program;
  const Part half = Part::samples(0, 2);
  const Op &product = graph.op(OpId(0)), &relu = graph.op(OpId(1));
  program.values.push_back({product.inputs[0], half, true});
  program.values.push_back({product.inputs[1], {}, true});
  program.values.push_back({product.outputs[0], half, false});
  program.values.push_back({relu.outputs[0], half, false});
  const auto add = [&](OpId op, std::vector<ValueId> reads, ValueId write, ValueId release) {
    Instruction instruction;
    instruction.op = op;
    instruction.part = half;
    instruction.duration = duration;
    program.instructions.push_back(instruction);
    program.reads.push_row(reads);
    program.writes.push_row(std::span(&write, 1));
    program.releases.push_row(std::span(&release, 1));
    program.waits.end_row();
    program.members.end_row();
    program.cuts.end_row();
  };
  add(OpId(0), {ValueId(0), ValueId(1)}, ValueId(2), ValueId(0));
  add(OpId(1), {ValueId(2)}, ValueId(3), ValueId(2));
  return std::make_shared<const RankProgram>(std::move(program));
}

std::unique_ptr<RankExecution> prepared(Nanos duration) {
  const auto graph = line();
  return registry().rank_engine("replay")->prepare(graph, half_of(*graph, duration), {});
}

std::int64_t time_of(RankExecution& execution, std::size_t instruction) {
  const auto start = Clock::now();
  execution.run(instruction);
  return (Clock::now() - start) / std::chrono::nanoseconds(1);
}

// The machine may be busy, so one try of very many has to be in time: on an idle one each is, by 1
// us or so. What the engine itself adds, it adds to each.
template <typename Try>
bool once_within(std::int64_t duration, std::int64_t allowance, Try&& attempt) {
  const auto patience = Clock::now() + std::chrono::seconds(60);
  do {
    const std::int64_t time = attempt();
    EXPECT_GE(time, duration);
    if (time <= duration + allowance) return true;
  } while (Clock::now() < patience);
  return false;
}

TEST(Replay, AnInstructionTakesItsTime) {
  for (const std::int64_t duration : {2'000, 50'000, 500'000, 3'000'000}) {
    const auto execution = prepared(Nanos(duration));
    execution->begin_step(1);
    execution->run(0);
    int step = 1;
    EXPECT_TRUE(once_within(duration, 50'000, [&] {
      execution->begin_step(++step);
      return time_of(*execution, 0);
    })) << duration;
  }
}

// What one is late the next makes good: twenty of 20 us take 400 us.
TEST(Replay, LatenessDoesNotAddUp) {
  const auto execution = prepared(Nanos(20'000));
  int step = 0;
  EXPECT_TRUE(once_within(400'000, 80'000, [&] {
    execution->begin_step(++step);
    const auto start = Clock::now();
    for (int n = 0; n < 10; ++n) {
      execution->run(0);
      execution->run(1);
    }
    return std::int64_t{(Clock::now() - start) / std::chrono::nanoseconds(1)};
  }));
}

TEST(Replay, BuffersHaveTheRealSizes) {
  const auto execution = prepared(Nanos(10));
  execution->begin_step(1);
  EXPECT_EQ(execution->memory(ValueId(0)).size(), 2U * 256 * 4);
  EXPECT_EQ(execution->memory(ValueId(1)).size(), 256U * 512 * 4);
  execution->run(0);
  EXPECT_EQ(execution->memory(ValueId(2)).size(), 2U * 512 * 4);
  const std::int64_t residents = 2 * 256 * 4 + 256 * 512 * 4, made = 2 * 512 * 4;
  EXPECT_EQ(execution->peak_memory(), Bytes(residents + made));
  execution->run(1);
  execution->release(ValueId(2));
  execution->release(ValueId(3));
  execution->run(0);
  EXPECT_EQ(execution->peak_memory(), Bytes(residents + 2 * made));
}

TEST(Replay, KeepsWhatIsWrittenToResidents) {
  const auto execution = prepared(Nanos(10));
  const std::string elements(256 * 512 * 4, 'x');
  execution->write(ValueId(1), elements);
  execution->release(ValueId(1));  // lives on
  EXPECT_EQ(execution->read(ValueId(1)), elements);
  EXPECT_NE(message_of([&] { execution->write(ValueId(1), "short"); }).find("instead of"),
            std::string::npos);
  EXPECT_FALSE(execution->loss().has_value());
}

TEST(Replay, RefusesADeviceThatIsNotThere) {
  const auto graph = line();
  EngineOptions options;
  options.device = "cuda";
  EXPECT_NE(message_of([&] {
              registry().rank_engine("replay")->prepare(graph, half_of(*graph, Nanos(1)), options);
            }).find("there is no device \"cuda\""),
            std::string::npos);
  EXPECT_TRUE(registry().engine("replay")->devices().empty());  // nothing to profile
}

}  // namespace
}  // namespace strato
