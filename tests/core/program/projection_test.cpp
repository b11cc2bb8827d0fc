// The parts that the projection of a program onto ranks is made of.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/program/draft/rank_draft.h"
#include "core/program/project/buffer_values.h"
#include "core/program/value/program_task.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using Indices = std::vector<LastWriters::Index>;

Part slice(std::int32_t begin, std::int32_t end) { return Part::slice(0, begin, end); }

Indices before(const LastWriters& writers, ValueId value, const Part* slice) {
  Indices found;
  writers.visit_before(value, slice, [&](LastWriters::Index writer) { found.push_back(writer); });
  return found;
}

TEST(LastWriters, TellSlicesApart) {
  LastWriters writers;
  for (int i = 0; i < 2; ++i) writers.add_value();
  const ValueId value(1);
  const Part low = slice(0, 4), high = slice(4, 8), middle = slice(3, 5);
  EXPECT_EQ(before(writers, value, nullptr), Indices());
  writers.set(value, nullptr, 1);
  writers.set(value, &low, 2);
  writers.set(value, &high, 3);
  EXPECT_TRUE(writers.has_slices(value));
  EXPECT_EQ(writers.of(value), 1u);
  EXPECT_EQ(before(writers, value, &low), (Indices{1, 2}));
  EXPECT_EQ(before(writers, value, &high), (Indices{1, 3}));
  EXPECT_EQ(before(writers, value, &middle), (Indices{1, 2, 3}));
  EXPECT_EQ(before(writers, value, nullptr), (Indices{1, 2, 3}));
  writers.set(value, &low, 4);
  EXPECT_EQ(before(writers, value, &low), (Indices{1, 4}));
  writers.set(value, nullptr, 5);
  EXPECT_FALSE(writers.has_slices(value));
  EXPECT_EQ(before(writers, value, &middle), (Indices{5}));
  EXPECT_EQ(before(writers, ValueId(0), nullptr), Indices());
}

// Adds instructions to the program.
auto adder(RankProgram& program) {
  return [&program](Stream stream, std::vector<ValueId> reads, std::vector<ValueId> writes) {
    Instruction what;
    what.stream = stream;
    program.instructions.push_back(what);
    program.reads.push_row(reads);
    program.writes.push_row(writes);
  };
}

// A value is made, reduced while something else is computed, and read.
TEST(StreamOrder, WaitsAndReleases) {
  RankProgram program;
  const auto add = adder(program);
  program.values.resize(3);
  add(Stream::Compute, {}, {ValueId(0)});
  add(Stream::Communication, {ValueId(0)}, {ValueId(1)});
  add(Stream::Compute, {}, {ValueId(2)});
  add(Stream::Compute, {ValueId(1), ValueId(2)}, {});
  order_streams(program, {{3, 1}, {1, 0}, {3, 2}, {1, 0}}, IdVector<ValueId, ValueId>(3));
  const auto row = [](const auto& rows, std::size_t i) {
    std::vector<std::size_t> all;
    for (const auto each : rows[i]) all.push_back(static_cast<std::size_t>(each));
    return all;
  };
  using Row = std::vector<std::size_t>;
  EXPECT_EQ(row(program.waits, 0), Row());
  EXPECT_EQ(row(program.waits, 1), Row{0});
  EXPECT_EQ(row(program.waits, 2), Row());
  EXPECT_EQ(row(program.waits, 3), Row{1});  // the compute stream is in order by itself
  EXPECT_EQ(std::vector(program.releases[1].begin(), program.releases[1].end()),
            std::vector{ValueId(0)});
  EXPECT_EQ(std::vector(program.releases[3].begin(), program.releases[3].end()),
            (std::vector{ValueId(1), ValueId(2)}));
}

// Two streams read a value. That one of them has ended says nothing about the other: what waits for
// the one does not wait for the other just to release the value.
TEST(StreamOrder, CommunicationStreamsKnowNothingOfEachOther) {
  RankProgram program;
  const auto add = adder(program);
  program.values.resize(3);
  add(Stream::Compute, {}, {ValueId(0)});
  add(Stream::Communication, {ValueId(0)}, {ValueId(1)});
  add(Stream::TensorCommunication, {ValueId(0)}, {ValueId(2)});
  add(Stream::Compute, {ValueId(2)}, {});
  add(Stream::Compute, {ValueId(1)}, {});
  order_streams(program, {{1, 0}, {2, 0}, {3, 2}, {4, 1}}, IdVector<ValueId, ValueId>(3));
  using Row = std::vector<std::uint32_t>;
  const auto waits = [&](std::size_t i) {
    return Row(program.waits[i].begin(), program.waits[i].end());
  };
  EXPECT_EQ(waits(1), Row{0});
  EXPECT_EQ(waits(2), Row{0});  // though one that was started before waited for it
  EXPECT_EQ(waits(3), Row{2});
  EXPECT_EQ(waits(4), Row{1});
  EXPECT_EQ(std::vector(program.releases[4].begin(), program.releases[4].end()),
            (std::vector{ValueId(0), ValueId(1)}));
}

TEST(TaskParts, AreInTheTensorsKindOfTheBatch) {
  const auto graph = toy::training_chain(6, 2, 4);
  const auto tensor = [&](const std::string& name) {
    for (std::size_t i = 0; i < graph->tensor_count(); ++i)
      if (graph->tensor(TensorId(i)).name == name) return TensorId(i);
    return TensorId();
  };
  EXPECT_TRUE(is_trained(*graph, tensor("w1")));
  EXPECT_FALSE(is_trained(*graph, tensor("x")));
  EXPECT_EQ(samples_part(*graph, tensor("w1"), 0, 2), Part());
  EXPECT_EQ(samples_part(*graph, tensor("x"), 0, 2), Part::samples(0, 2));
  EXPECT_EQ(samples_part(*graph, tensor("x"), 0, 6), Part());
  EXPECT_EQ(samples_part(*graph, tensor("gw1:0"), 0, 2), Part::partial_sum(0, 2));
  EXPECT_EQ(range_along(*graph, tensor("x"), {}, 1), (AxisRange{1, 0, 4}));
  EXPECT_EQ(range_along(*graph, tensor("x"), Part::samples(2, 3), kBatchAxis),
            (AxisRange{kBatchAxis, 2, 3}));
}

TEST(TaskParts, OfAnUnevenShareAndWhatItReads) {
  toy::Bench bench(toy::training_chain(6, 1, 4), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}, {1, 2}));
  const ProgramTask at{*program, toy::find(*program, "gw1 @", 1)};
  ASSERT_TRUE(at.id.valid());
  EXPECT_EQ(program->part_of(at.task()), Part::samples(2, 6));
  for (const Part& part : input_parts(at)) EXPECT_EQ(part, Part::samples(2, 6));
  EXPECT_EQ(program->parts[program->buffers[at.writes().front()].part], Part::partial_sum(2, 6));
  const AxisRange all{kBatchAxis, 0, 6};
  EXPECT_TRUE(make_up({{kBatchAxis, 2, 6}, {kBatchAxis, 0, 2}}, all));
  EXPECT_FALSE(make_up({{kBatchAxis, 2, 6}}, all));
  EXPECT_FALSE(make_up({{kBatchAxis, 0, 2}}, all));
}

TEST(Residents, SayTheirParts) {
  toy::Bench bench(toy::training_chain(6, 1, 4), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const TensorId weight = bench.graph->op(bench.graph->find_op("u1")).inputs[0];
  const TensorId input = bench.graph->op(bench.graph->find_op("f1")).inputs[0];
  const TensorId made = bench.graph->op(bench.graph->find_op("f1")).outputs[0];
  const auto parts = [&](TensorId tensor, int device) {
    std::vector<Part> result;
    for (const Resident& resident : program->residents_of(tensor, DeviceId(device)))
      result.push_back(program->part_of(resident));
    return result;
  };
  EXPECT_EQ(parts(weight, 0), std::vector{Part()});
  EXPECT_EQ(parts(input, 0), std::vector{Part::samples(0, 3)});
  EXPECT_EQ(parts(input, 1), std::vector{Part::samples(3, 6)});
  EXPECT_TRUE(parts(made, 0).empty());
}

TEST(MemberBuffers, AreThoseOfTheMember) {
  toy::Bench bench(toy::training_chain(6, 1, 4), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const ProgramTask at{*program, toy::find(*program, "AllReduce")};
  ASSERT_TRUE(at.id.valid());
  const MemberBuffers read(*program, at.reads());
  for (const DeviceId member : {DeviceId(0), DeviceId(1)})
    EXPECT_EQ(program->buffers[read.one_of(at, member, "one")].device, member);
  EXPECT_TRUE(read.of(DeviceId(7)).empty());
  EXPECT_THROW(read.one_of(at, DeviceId(7), "none"), InvariantError);
}

TEST(RankDrafts, AreOfDevicesThatHaveTasks) {
  toy::Bench bench(toy::training_chain(6, 1, 4), toy::cluster(1, 4));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {1, 3}));
  RankDrafts all(*program, {}), one(*program, DeviceId(3)), none(*program, DeviceId(2));
  EXPECT_TRUE(all.wanted(DeviceId(1)));
  EXPECT_FALSE(one.wanted(DeviceId(1)));
  EXPECT_EQ(std::move(all).finish().size(), 2u);
  const std::vector<RankProgram> ranks = std::move(one).finish();
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].rank, 1);
  EXPECT_EQ(ranks[0].device, DeviceId(3));
  EXPECT_TRUE(std::move(none).finish().empty());
}

}  // namespace
}  // namespace strato
