// Rank programs of small problems, written out, and what the checker says of those that cannot end.
#include "core/program/rank/rank_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/graph/train/training_graph.h"
#include "core/program/project/rank_programs.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

RankPrograms ranks_of(toy::Bench& bench, const Strategy& strategy) {
  const Timeline timeline = bench.run(strategy);
  RankPrograms ranks = rank_programs(*timeline.program, execution_order(timeline));
  check_termination(ranks, "toy");
  return ranks;
}

// "all-reduce gw1:0 whole with m0:1 <8 |7 -8": reads 8, writes nothing, waits for #7, releases 8.
std::vector<std::string> listing(const RankPrograms& ranks, std::size_t rank,
                                 const Cluster& cluster) {
  const RankProgram& program = ranks.ranks[rank];
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    std::string line = describe_instruction(
        ranks, rank, i, [&](DeviceId device) { return cluster.device(device).name; });
    line = line.substr(line.find(": ") + 2);
    const auto add = [&](const char* sign, const auto& row) {
      for (const auto id : row) line += " " + std::string(sign) + std::to_string(id.value());
    };
    add("<", program.reads[i]);
    add(">", program.writes[i]);
    for (const std::uint32_t wait : program.waits[i]) line += " |" + std::to_string(wait);
    add("-", program.releases[i]);
    for (const std::int32_t cut : program.cuts[i]) line += " /" + std::to_string(cut);
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

// gw2 is reduced while gx2 and gw1 are still computed.
TEST(RankProgram, OfUnevenDataParallelism) {
  toy::Bench bench(toy::training_chain(6, 2, 4), toy::cluster(1, 2));
  const RankPrograms ranks =
      ranks_of(bench, bench.everywhere(Mode::ReplicateAllReduce, {0, 1}, {1, 2}));
  EXPECT_EQ(
      listing(ranks, 1, *bench.cluster),
      (Lines{"compute f1 samples [2,6) <0 <1 >2", "compute f2 samples [2,6) <2 <3 >4",
             "compute seed samples [2,6) <4 >5 -4", "compute gw2 samples [2,6) <5 <2 >6 -2",
             "compute gx2 samples [2,6) <5 <3 >7 -5", "all-reduce gw2:0 whole with m0:0 <6 |3",
             "compute gw1 samples [2,6) <7 <0 >8 -7", "all-reduce gw1:0 whole with m0:0 <8 |6",
             "update u2 whole <3 <6 |5 -6", "update u1 whole <1 <8 |7 -8"}));
  const RankProgram& rank = ranks.ranks[1];
  EXPECT_EQ(describe(rank.values[ValueId(6)].part), "the sum over samples [2,6)");
  EXPECT_TRUE(rank.values[ValueId(0)].resident);
  EXPECT_EQ(describe(rank.values[ValueId(0)].part), "samples [2,6)");
}

// The new value of w2 arrives where the old one is, after gx2 has read that.
TEST(RankProgram, OfAParameterServer) {
  toy::Bench bench(toy::training_chain(6, 2, 4), toy::cluster(1, 2));
  const RankPrograms ranks = ranks_of(bench, bench.everywhere(Mode::ReplicatePs, {0, 1}));
  const Lines lines = listing(ranks, 0, *bench.cluster);
  EXPECT_EQ(lines[5], "send gw2:0 the sum over samples [0,3) to m0:1 <6 |3 -6");
  EXPECT_EQ(lines[7], "receive gw1:0 the sum over samples [3,6) from m0:1 >9");
  EXPECT_EQ(lines[8], "sum gw1:0 whole <8 <9 >10 |7 -8 -9");
  EXPECT_EQ(lines[9], "receive w2 whole from m0:1 >3 |4");
  EXPECT_EQ(lines[11], "send w1 whole to m0:1 <1 |10");
}

// A view's bytes are sent as they are; where something else is made of it, it is an instruction.
TEST(RankProgram, OfViews) {
  ModelKit kit(4);
  const TensorId relu = kit.op("Relu", {kit.input("x", {4, 2, 3})});
  kit.op("MatMul", {kit.op("Flatten", {relu}), kit.weight("w", {6, 5})});
  toy::Bench bench(std::make_shared<const Graph>(kit.build()), toy::cluster(1, 2),
                   {{"Relu0", 0}, {"Flatten1", 0}, {"MatMul2", 1}});
  Strategy strategy;
  strategy.groups = {toy::Bench::decision(Mode::Duplicate, {0}),
                     toy::Bench::decision(Mode::Duplicate, {1})};
  RankPrograms ranks = ranks_of(bench, strategy);
  EXPECT_EQ(listing(ranks, 0, *bench.cluster),
            (Lines{"compute Relu0 whole <0 >1", "send Relu0:0 whole to m0:1 <1 |0 -1"}));
  EXPECT_EQ(listing(ranks, 1, *bench.cluster)[0], "receive Flatten1:0 whole from m0:0 >0");
  strategy.groups = {toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1}, {1, 3}),
                     toy::Bench::decision(Mode::Duplicate, {0, 1})};
  ranks = ranks_of(bench, strategy);
  EXPECT_EQ(listing(ranks, 1, *bench.cluster),
            (Lines{"compute Relu0 samples [1,4) <0 >1", "view Flatten1 samples [1,4) <1 >2",
                   "all-gather Flatten1:0 whole with m0:0 <2 >3 |1 -1 -2 /0 /1 /4",
                   "compute MatMul2 whole <3 <4 >5 |2 -3 -5"}));
}

// A view that is sent is made early: not after f2, which the send does not need.
TEST(RankProgram, MakesViewsOfCommunicationAtOnce) {
  toy::Model model(4);
  const TensorId f1 = model.layer("f1", {model.input("x", 8)}, 8);
  const TensorId view = model.activation("v:0", {4, 8});
  model.op("v", "Identity", {f1}, view);
  model.layer("f2", {f1}, 8);
  model.layer("f3", {view}, 8);
  toy::Bench bench(std::move(model).build(), toy::cluster(1, 2),
                   {{"f1", 0}, {"v", 0}, {"f2", 0}, {"f3", 1}});
  Strategy strategy;
  strategy.groups = {toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1}),
                     toy::Bench::decision(Mode::Duplicate, {0, 1})};
  const RankPrograms ranks = ranks_of(bench, strategy);
  const Lines lines = listing(ranks, 0, *bench.cluster);
  EXPECT_TRUE(lines[0].starts_with("compute f1")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("view v")) << lines[1];
}

// The gradients of scale and bias have one axis, the data's gradient has four.
TEST(RankProgram, FurtherOutputsOfASplitOpAreGatheredAlongTheirOwnAxis) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 3, 2, 2});
  const TensorId y =
      kit.op("BatchNormalization", {x, kit.weight("scale", {3}), kit.weight("bias", {3}),
                                    kit.weight("mean", {3}), kit.weight("var", {3})});
  kit.op("Conv", {y, kit.weight("w", {5, 3, 1, 1})});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  toy::Bench bench(graph, toy::cluster(1, 2));
  Strategy strategy = bench.everywhere(Mode::Duplicate, {0, 1});
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < graph->op_count(); ++i) {
    const auto axes = split_axes(*graph, OpId(i));
    if (!graph->op(OpId(i)).type.starts_with("BatchNormalization") || axes.empty()) continue;
    outputs = std::max(outputs, graph->op(OpId(i)).outputs.size());
    strategy.splits.push_back({OpId(i), axes.front().axis, {{DeviceId(0), 1}, {DeviceId(1), 2}}});
  }
  ASSERT_GE(outputs, 2u);
  const RankPrograms ranks = ranks_of(bench, strategy);
  const Lines lines = listing(ranks, 0, *bench.cluster);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.starts_with("concat scale/grad whole") ||
                                   line.starts_with("concat bias/grad whole");
                          }),
            2);
}

TEST(RankProgram, NamesTheTaskThatReadsWhatIsNotThere) {
  toy::Bench bench(toy::training_chain(6, 2, 4), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicatePs, {0, 1}));
  Program program = *timeline.program;
  const TaskId sum = toy::find(program, "Sum gw2:0");
  ASSERT_TRUE(sum.valid());
  Rows<BufferId> reads;  // one term is lost
  for (std::size_t i = 0; i < program.tasks.size(); ++i)
    reads.push_row(i == sum.index() ? program.reads[i].first(1) : program.reads[i]);
  program.reads = reads;
  try {
    rank_programs(program, execution_order(timeline));
    FAIL() << "a sum without one of its terms";
  } catch (const InvariantError& error) {
    EXPECT_NE(std::string(error.what()).find("Sum gw2:0"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("gap"), std::string::npos) << error.what();
  }
}

// Each of two servers has a half of a parameter: what one does with its own does not wait for the
// half that arrives from the other, whichever order the tasks have.
TEST(RankProgram, SlicesOfOneParameterDoNotWaitForEachOther) {
  ModelKit kit(4);
  kit.op("MatMul", {kit.input("x", {4, 8}), kit.weight("w", {8, 6})});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  toy::Bench bench(graph, toy::cluster(1, 2));
  TensorId weight;
  for (std::size_t t = 0; t < graph->tensors().size(); ++t)
    if (graph->tensor(TensorId(t)).name == "w") weight = TensorId(t);
  const OpId update = graph->update_of(weight);
  const auto server = [](int device) {
    return SyncPart{Synchroniser::Ps, Encoding::None, DeviceId(device), {}, -1, {}};
  };
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.variables = {{update, 0, {server(0), server(1)}}};
  const Timeline timeline = bench.run(strategy);
  const Program& program = *timeline.program;
  // In the order of the tasks, and with every transfer of a new value as soon as it may be.
  std::vector<TaskId> order = execution_order(timeline), early;
  for (const bool first : {false, true}) {
    early.clear();
    std::vector<char> done(program.tasks.size(), 0);
    while (early.size() < order.size()) {
      TaskId next;
      for (const TaskId task : order) {
        if (done[task.index()] != 0) continue;
        if (!std::ranges::all_of(program.dependencies[task.index()],
                                 [&](TaskId before) { return done[before.index()] != 0; }))
          continue;
        const bool arrives = program.tasks[task].kind == TaskKind::Transfer &&
                             program.tasks[task].target == DeviceId(0);
        if (!next.valid() || (first && arrives)) next = task;
      }
      done[next.index()] = 1;
      early.push_back(next);
    }
    const RankPrograms ranks = rank_programs(program, early);
    check_termination(ranks, "toy");
    for (const RankProgram& rank : ranks.ranks) {
      std::size_t halves = 0;
      for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
        const Part& part = rank.instructions[i].part;
        if (!part.is_slice()) continue;
        ++halves;
        for (const std::uint32_t wait : rank.waits[i]) {
          const Part& other = rank.instructions[wait].part;
          EXPECT_TRUE(!other.is_slice() || other == part)
              << "rank " << rank.rank << ": " << i << " waits for " << wait;
        }
      }
      EXPECT_GE(halves, 3u);  // an update, what it sends, what arrives
    }
  }
}

TEST(RankProgram, RefusesOrdersThatAreNone) {
  toy::Bench bench(toy::training_chain(6, 1, 4), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  std::vector<TaskId> order = execution_order(timeline);
  std::vector<TaskId> other(order.rbegin(), order.rend());
  EXPECT_THROW(rank_programs(*timeline.program, other), InvariantError);
  other = order;
  other.back() = other.front();
  EXPECT_THROW(rank_programs(*timeline.program, other), InvariantError);
  other.pop_back();
  EXPECT_THROW(rank_programs(*timeline.program, other), InvariantError);
}

TEST(ExecutionOrder, IsByStartAndKeepsDependencies) {
  toy::Bench bench(toy::training_chain(6, 3, 4), toy::cluster(2, 2));
  Timeline timeline = bench.run(bench.everywhere(Mode::ReplicatePs, {0, 1, 2, 3}));
  const std::vector<TaskId> order = execution_order(timeline);
  ASSERT_EQ(order.size(), timeline.tasks.size());
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LT(std::pair(timeline.tasks[order[i - 1]].start, order[i - 1]),
              std::pair(timeline.tasks[order[i]].start, order[i]));
  // A measured timeline need not be in order: everything seems to start at once, or backwards.
  for (const std::int64_t step : {0, -1}) {
    for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
      timeline.tasks[TaskId(i)].start = Nanos(step * static_cast<std::int64_t>(i));
    EXPECT_NO_THROW(rank_programs(*timeline.program, execution_order(timeline)));
  }
}

// ---- programs that cannot end

Instruction moved(InstructionKind kind, int task, DeviceId peer = {}) {
  Instruction what;
  what.kind = kind;
  what.stream = Stream::Communication;
  what.task = TaskId(static_cast<std::size_t>(task));
  what.peer = peer;
  return what;
}

// Ranks that send parameters of `widths` elements to each other.
class HandMade {
 public:
  explicit HandMade(std::size_t ranks, std::vector<std::int64_t> widths = {4, 4, 8}) {
    toy::Model model(2);
    for (std::size_t i = 0; i < widths.size(); ++i)
      model.parameter("p" + std::to_string(i), widths[i]);
    programs_.graph = std::move(model).build();
    for (std::size_t r = 0; r < ranks; ++r) {
      RankProgram program;
      program.rank = static_cast<int>(r);
      program.device = DeviceId(r);
      for (std::size_t i = 0; i < widths.size(); ++i)
        program.values.push_back({TensorId(i), {}, true});
      programs_.ranks.push_back(program);
    }
  }

  void send(int task, std::size_t from, std::size_t to, std::size_t value = 0) {
    add(from, moved(InstructionKind::Send, task, DeviceId(to)), {ValueId(value)}, {});
  }
  void receive(int task, std::size_t from, std::size_t to, std::size_t value = 0) {
    add(to, moved(InstructionKind::Receive, task, DeviceId(from)), {}, {ValueId(value)});
  }
  void reduce(int task, std::size_t rank, std::vector<DeviceId> members, std::size_t value = 0) {
    add(rank, moved(InstructionKind::AllReduce, task), {ValueId(value)}, {}, std::move(members));
  }
  void compute(std::size_t rank, std::vector<std::uint32_t> waits) {
    Instruction what = moved(InstructionKind::Sum, 99);
    what.stream = Stream::Compute;
    add(rank, what, {ValueId(0)}, {ValueId(1)}, {}, std::move(waits));
  }
  std::string problem() const {
    return message_of([&] { check_termination(programs_, "job.json"); });
  }

 private:
  void add(std::size_t rank, const Instruction& what, std::vector<ValueId> reads,
           std::vector<ValueId> writes, std::vector<DeviceId> members = {},
           std::vector<std::uint32_t> waits = {}) {
    RankProgram& program = programs_.ranks[rank];
    program.instructions.push_back(what);
    program.reads.push_row(reads);
    program.writes.push_row(writes);
    program.members.push_row(members);
    program.waits.push_row(waits);
    program.releases.end_row();
    program.cuts.end_row();
  }
  RankPrograms programs_;
};

TEST(Termination, TwoThatSendFirst) {
  HandMade ranks(2);
  ranks.send(0, 0, 1);
  ranks.receive(1, 1, 0, 1);
  ranks.send(1, 1, 0, 1);
  ranks.receive(0, 0, 1);
  EXPECT_EQ(ranks.problem(),
            "job.json: rank 1 #1: receive p0 whole from rank 0: waits for itself: rank 0 #1: "
            "receive p1 whole from rank 1 after #0; rank 1 #1: receive p0 whole from rank 0 after "
            "#0; plan again, and stage the job anew");
}

TEST(Termination, ARing) {
  HandMade ranks(3);
  for (std::size_t r = 0; r < 3; ++r) ranks.send(static_cast<int>(r), r, (r + 1) % 3);
  for (std::size_t r = 0; r < 3; ++r) ranks.receive(static_cast<int>((r + 2) % 3), (r + 2) % 3, r);
  const std::string problem = ranks.problem();
  for (const char* part : {"waits for itself", "rank 0 #1: receive p0 whole from rank 2 after #0",
                           "rank 1 #1: receive p0 whole from rank 0 after #0",
                           "rank 2 #1: receive p0 whole from rank 1 after #0"})
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
}

TEST(Termination, CollectivesInAnotherOrder) {
  HandMade ranks(3);
  const std::vector<DeviceId> all = {DeviceId(0), DeviceId(1), DeviceId(2)};
  const std::vector<DeviceId> some = {DeviceId(0), DeviceId(1)};
  ranks.reduce(0, 0, all);
  ranks.reduce(1, 0, some, 1);
  ranks.reduce(1, 1, some, 1);
  ranks.reduce(0, 1, all);
  ranks.reduce(0, 2, all);
  EXPECT_NE(ranks.problem().find("waits for itself"), std::string::npos);
  HandMade others(2);
  others.reduce(0, 0, some);
  others.reduce(1, 0, some, 1);
  others.reduce(1, 1, some, 1);
  others.reduce(0, 1, some);
  EXPECT_NE(others.problem().find("is not its counterpart"), std::string::npos);
}

TEST(Termination, WhatWaitsForALaterOne) {
  HandMade ranks(2);
  ranks.compute(0, {1});
  ranks.send(0, 0, 1);
  ranks.receive(0, 0, 1);
  EXPECT_EQ(ranks.problem(), "no error");
  HandMade others(2);
  others.compute(0, {1});
  others.compute(0, {});
  others.receive(0, 1, 0);
  others.send(0, 1, 0);
  EXPECT_NE(others.problem().find("waits for itself"), std::string::npos);
}

TEST(Termination, WhatHasNoCounterpart) {
  HandMade missing(2);
  missing.send(0, 0, 1);
  missing.send(1, 0, 1, 1);
  missing.receive(0, 0, 1);
  EXPECT_NE(missing.problem().find("rank 0 #1: send p1 whole to rank 1: has no counterpart"),
            std::string::npos)
      << missing.problem();
  HandMade nowhere(1);
  nowhere.send(0, 0, 7);
  EXPECT_NE(nowhere.problem().find("to device 7: has no counterpart"), std::string::npos);
  HandMade tensors(2);
  tensors.send(0, 0, 1, 0);
  tensors.receive(0, 0, 1, 1);
  EXPECT_NE(tensors.problem().find("is not its counterpart"), std::string::npos);
  HandMade tasks(2);
  tasks.send(0, 0, 1);
  tasks.receive(1, 0, 1);
  EXPECT_NE(tasks.problem().find("is not its counterpart"), std::string::npos);
  HandMade absent(3);
  absent.reduce(0, 0, {DeviceId(0), DeviceId(1), DeviceId(2)});
  absent.reduce(0, 1, {DeviceId(0), DeviceId(1), DeviceId(2)});
  EXPECT_NE(absent.problem().find("device 2 takes no part in it"), std::string::npos);
}

}  // namespace
}  // namespace strato
