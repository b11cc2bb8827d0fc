#include "app/worker/step_runner.h"

#include <gtest/gtest.h>

#include <future>
#include <new>
#include <random>
#include <semaphore>
#include <thread>

#include "app/worker/communicator.h"
#include "tests/app/worker/fakes.h"
#include "tests/app/worker/hand_program.h"
#include "tests/message_of.h"

namespace strato::worker {
namespace {

const Shape kShape = {4, 6};
const std::vector<DeviceId> kDevices = {DeviceId(0), DeviceId(1), DeviceId(2)};

struct Rank {
  Rank(const std::shared_ptr<const Graph>& graph, const HandProgram& hand, Hub& hub)
      : program(hand.program()),
        execution(*graph, program),
        transport(hub, program.rank),
        runner(*graph, program, kDevices, execution, transport) {}
  std::future<void> start() {
    return std::async(std::launch::async, [this] { runner.run(); });
  }

  RankProgram program;
  FakeExecution execution;
  FakeTransport transport;
  StepRunner runner;
};

TEST(StepRunner, RunsTheComputeStreamInOrderStepAfterStep) {
  const auto graph = graph_of(1, kShape);
  Hub hub(1);
  Rank rank(graph, HandProgram(0, 1).compute().compute().compute(), hub);
  rank.runner.run();
  rank.runner.run();
  EXPECT_EQ(rank.execution.ran(), (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(rank.runner.ended(), 6u);
  const auto spans = rank.runner.spans();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_LE(spans[i].start, spans[i].end);
    if (i > 0) {
      EXPECT_LE(spans[i - 1].end, spans[i].start);
    }
  }
  EXPECT_EQ(rank.runner.step().start, spans.front().start);
  EXPECT_EQ(rank.runner.step().end, spans.back().end);
}

TEST(StepRunner, WhatIsOnADeviceGoesThroughNoTransportOfTheHosts) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  FakeTransport transport(hub, 0);
  const auto make = [&](const HandProgram& hand) {
    const RankProgram program = hand.program();
    FakeDevice device(*graph, program);
    StepRunner(*graph, program, kDevices, device, transport);
  };
  make(HandProgram(0, 1).compute({.writes = {0}}));  // it talks to nobody
  EXPECT_EQ(message_of([&] { make(HandProgram(0, 1).send(1, 7, {.reads = {0}})); }), kOutOfReach);
}

TEST(StepRunner, AnEmptyProgramEndsAtOnce) {
  const auto graph = graph_of(1, kShape);
  Hub hub(1);
  Rank rank(graph, HandProgram(0, 1), hub);
  rank.runner.run();
  EXPECT_EQ(rank.runner.step().end, 0);
}

TEST(StepRunner, WhatIsReceivedIsThereWhenItIsWaitedFor) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  Rank sender(graph,
              HandProgram(0, 1).compute({.writes = {0}}).send(1, 7, {.reads = {0}, .waits = {0}}),
              hub);
  Rank receiver(
      graph, HandProgram(1, 1).receive(0, 7, {.writes = {0}}).compute({.reads = {0}, .waits = {0}}),
      hub);
  float seen = 0;
  float next = 0;
  sender.execution.on_run = [&](std::size_t) { sender.execution.floats(0)[5] = ++next; };
  receiver.execution.on_run = [&](std::size_t) { seen = receiver.execution.floats(0)[5]; };
  for (int step = 1; step <= 50; ++step) {
    auto other = sender.start();
    receiver.runner.run();
    other.get();
    EXPECT_EQ(seen, static_cast<float>(step));
  }
}

TEST(StepRunner, NamesTheInstructionThatTheMemoryDoesNotSufficeFor) {
  const auto graph = graph_of(1, kShape);
  Hub hub(1);
  Rank rank(graph, HandProgram(0, 1).compute().compute({.reads = {0}}), hub);
  rank.execution.on_run = [](std::size_t instruction) {
    if (instruction == 1) throw std::bad_alloc();
  };
  const std::string message = message_of([&] { rank.runner.run(); });
  EXPECT_NE(message.find("instruction 1 ("), std::string::npos) << message;
  EXPECT_NE(message.find("its tensors of 96 bytes"), std::string::npos) << message;
}

// Both send before they receive, and a send is done only when it is received.
TEST(StepRunner, ASendHoldsUpNoLaterReceive) {
  const auto graph = graph_of(2, kShape);
  Hub hub(2);
  Rank a(graph, HandProgram(0, 2).send(1, 1, {.reads = {0}}).receive(1, 2, {.writes = {1}}), hub);
  Rank b(graph, HandProgram(1, 2).send(0, 2, {.reads = {0}}).receive(0, 1, {.writes = {1}}), hub);
  for (int step = 0; step < 20; ++step) {
    auto other = a.start();
    b.runner.run();
    other.get();
  }
}

TEST(StepRunner, ComputingGoesOnWhileATransferIsUnderWay) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  hub.hold(true);
  Rank sender(graph, HandProgram(0, 1).send(1, 1, {.reads = {0}}).compute().compute(), hub);
  Rank receiver(graph, HandProgram(1, 1).receive(0, 1, {.writes = {0}}), hub);
  // The transfer goes on only once both are computed.
  sender.execution.on_run = [&](std::size_t instruction) {
    if (instruction == 2) hub.hold(false);
  };
  auto other = receiver.start();
  sender.runner.run();
  other.get();
  EXPECT_EQ(sender.execution.ran(), (std::vector<std::size_t>{1, 2}));
  EXPECT_GE(sender.runner.spans()[0].end, sender.runner.spans()[1].end);
}

TEST(StepRunner, ACommunicationWaitsForAnEarlierOneThatItNeeds) {
  const auto graph = graph_of(2, kShape);
  Hub hub(3);
  Rank first(graph, HandProgram(0, 1).send(1, 1, {.reads = {0}}), hub);
  Rank middle(
      graph,
      HandProgram(1, 1).receive(0, 1, {.writes = {0}}).send(2, 2, {.reads = {0}, .waits = {0}}),
      hub);
  Rank last(graph, HandProgram(2, 1).receive(1, 2, {.writes = {0}}), hub);
  for (int step = 1; step <= 20; ++step) {
    first.execution.floats(0)[0] = static_cast<float>(step);
    auto one = first.start(), two = middle.start();
    last.runner.run();
    one.get();
    two.get();
    EXPECT_EQ(last.execution.floats(0)[0], static_cast<float>(step));
  }
}

TEST(StepRunner, ReleasesOnceAStepAndOnlyWhatIsDone) {
  const auto graph = graph_of(2, kShape);
  Hub hub(2);
  hub.hold(true);
  Rank sender(
      graph,
      HandProgram(0, 2).send(1, 1, {.reads = {0}, .releases = {0}}).compute({.releases = {1}}),
      hub);
  Rank receiver(graph, HandProgram(1, 1).receive(0, 1, {.writes = {0}}), hub);
  std::vector<std::size_t> before;
  auto other = receiver.start();
  auto run = sender.start();
  while (sender.execution.released().empty()) std::this_thread::yield();
  before = sender.execution.released();
  hub.hold(false);
  run.get();
  other.get();
  EXPECT_EQ(before, std::vector<std::size_t>{1});
  EXPECT_EQ(sender.execution.released(), (std::vector<std::size_t>{1, 0}));
}

TEST(StepRunner, AllReduceInPlaceAndIntoAnother) {
  const auto graph = graph_of(2, kShape);
  Hub hub(2);
  const auto program = [](int rank) {
    HandProgram hand(rank, 2);
    hand.collective(InstructionKind::AllReduce, 1, {.reads = {0}, .members = {0, 1}});
    hand.collective(InstructionKind::AllReduce, 2,
                    {.reads = {0}, .writes = {1}, .waits = {0}, .members = {0, 1}});
    return hand;
  };
  Rank a(graph, program(0), hub), b(graph, program(1), hub);
  a.execution.floats(0)[3] = 1;
  b.execution.floats(0)[3] = 2;
  auto other = a.start();
  b.runner.run();
  other.get();
  for (Rank* rank : {&a, &b}) {
    EXPECT_EQ(rank->execution.floats(0)[3], 3);
    EXPECT_EQ(rank->execution.floats(1)[3], 6);
  }
}

Part columns(std::int32_t begin, std::int32_t end) { return Part::slice(1, begin, end); }

// Uneven pieces along the second axis: they have gaps in the whole.
TEST(StepRunner, AllGatherAndReduceScatterOfPiecesWithGaps) {
  const auto graph = graph_of(3, kShape);
  Hub hub(2);
  const auto program = [](int rank) {
    HandProgram hand(rank, 3);
    hand.part(0, rank == 0 ? columns(0, 2) : columns(2, 6));
    hand.part(2, rank == 0 ? columns(0, 2) : columns(2, 6));
    hand.collective(InstructionKind::AllGather, 1,
                    {.reads = {0}, .writes = {1}, .members = {0, 1}, .cuts = {0, 2, 6}});
    hand.collective(
        InstructionKind::ReduceScatter, 2,
        {.reads = {1}, .writes = {2}, .waits = {0}, .members = {0, 1}, .cuts = {0, 2, 6}});
    return hand;
  };
  Rank a(graph, program(0), hub), b(graph, program(1), hub);
  for (std::size_t i = 0; i < 8; ++i) a.execution.floats(0)[i] = 100 + static_cast<float>(i);
  for (std::size_t i = 0; i < 16; ++i) b.execution.floats(0)[i] = 200 + static_cast<float>(i);
  auto other = a.start();
  b.runner.run();
  other.get();
  for (Rank* rank : {&a, &b}) {
    const auto whole = rank->execution.floats(1);
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t column = 0; column < 6; ++column) {
        const std::size_t expected =
            column < 2 ? 100 + row * 2 + column : 200 + row * 4 + (column - 2);
        EXPECT_EQ(whole[row * 6 + column], static_cast<float>(expected));
      }
    }
  }
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(a.execution.floats(2)[i], 2 * (100 + static_cast<float>(i)));
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(b.execution.floats(2)[i], 2 * (200 + static_cast<float>(i)));
}

// Uneven rows before, uneven columns after: what stays and what travels have gaps.
TEST(StepRunner, AllToAllOfRowsForColumns) {
  const auto graph = graph_of(2, kShape);
  Hub hub(2);
  const auto rows = [](std::int32_t begin, std::int32_t end) { return Part::slice(0, begin, end); };
  const auto program = [&](int rank) {
    HandProgram hand(rank, 2);
    hand.part(0, rank == 0 ? rows(0, 1) : rows(1, 4));
    hand.part(1, rank == 0 ? columns(0, 2) : columns(2, 6));
    hand.collective(InstructionKind::AllToAll, 1,
                    {.reads = {0}, .writes = {1}, .members = {0, 1}, .cuts = {0, 1, 4, 0, 2, 6}});
    return hand;
  };
  Rank a(graph, program(0), hub), b(graph, program(1), hub);
  const auto element = [](std::size_t row, std::size_t column) {
    return static_cast<float>(10 * row + column);
  };
  for (std::size_t column = 0; column < 6; ++column) {
    a.execution.floats(0)[column] = element(0, column);
    for (std::size_t row = 1; row < 4; ++row)
      b.execution.floats(0)[(row - 1) * 6 + column] = element(row, column);
  }
  auto other = a.start();
  b.runner.run();
  other.get();
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 6; ++column)
      EXPECT_EQ(column < 2 ? a.execution.floats(1)[row * 2 + column]
                           : b.execution.floats(1)[row * 4 + column - 2],
                element(row, column));
}

// A copy goes out, the device's value is overwritten, and the copy comes back; nobody is talked to.
TEST(StepRunner, WhatGoesToTheHostComesBack) {
  const auto graph = graph_of(3, kShape);
  Hub hub(1);
  HandProgram hand(0, 3);
  hand.compute({.writes = {0}})
      .host_copy(InstructionKind::Offload, {.reads = {0}, .writes = {1}, .waits = {0}})
      .compute({.writes = {0}, .waits = {1}})
      .host_copy(InstructionKind::Fetch, {.reads = {1}, .writes = {2}, .waits = {1, 2}})
      .compute({.reads = {2}, .waits = {3}});
  Rank rank(graph, hand, hub);
  float made = 0, seen = 0;
  rank.execution.on_run = [&](std::size_t i) {
    if (i == 0) rank.execution.floats(0)[5] = ++made;
    if (i == 2) rank.execution.floats(0)[5] = -1;
    if (i == 4) seen = rank.execution.floats(2)[5];
  };
  for (int step = 1; step <= 50; ++step) {
    rank.runner.run();
    EXPECT_EQ(seen, static_cast<float>(step));
  }
  const RankProgram program = hand.program();
  FakeTransport transport(hub, 0);
  FakeDevice device(*graph, program);
  EXPECT_NO_THROW(StepRunner(*graph, program, kDevices, device, transport));
}

TEST(StepRunner, WhatTheEngineThrowsIsThrownThoughATransferWaits) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  Rank rank(graph, HandProgram(0, 1).receive(1, 1, {.writes = {0}}).compute().compute(), hub);
  rank.execution.on_run = [](std::size_t) { throw InputError("", "op", "out of memory", ""); };
  EXPECT_THROW(rank.runner.run(), InputError);
  EXPECT_TRUE(rank.execution.ran().empty());
  hub.break_down("the job has ended");  // so that the runner can go
}

TEST(StepRunner, WhatTheTransportThrowsIsAPeerFailure) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  Rank rank(graph, HandProgram(0, 1).receive(1, 1, {.writes = {0}}).compute({.waits = {0}}), hub);
  auto run = rank.start();
  hub.break_down("rank 1 has gone");
  try {
    run.get();
    FAIL() << "ended";
  } catch (const PeerFailure& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 has gone"), std::string::npos);
  }
  EXPECT_TRUE(rank.execution.ran().empty());
}

TEST(StepRunner, AMachineWithoutMemoryIsNoFailureOfAPeer) {
  EXPECT_THROW(on_transport([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(on_transport([]() -> int { throw std::runtime_error("gone"); }), PeerFailure);
}

TEST(StepRunner, CanBeStoppedWhereverItWaits) {
  const auto graph = graph_of(1, kShape);
  Hub hub(2);
  Rank rank(graph, HandProgram(0, 1).receive(1, 1, {.writes = {0}}).compute({.waits = {0}}), hub);
  auto run = rank.start();
  rank.runner.stop();
  EXPECT_THROW(run.get(), Stopped);
  EXPECT_THROW(rank.runner.run(), Stopped);
  hub.break_down("the job has ended");
}

// Tokens travel round three ranks by random ways, in an order that all share; each rank adds its
// own part on the compute stream.
TEST(StepRunner, ManyTransfersInARandomOrderAllArrive) {
  constexpr std::size_t kHops = 300;
  const auto graph = graph_of(1, {1});
  std::mt19937 random(7);
  std::vector<HandProgram> hands;
  for (int rank = 0; rank < 3; ++rank) hands.emplace_back(rank, 1);
  std::size_t at = 0;
  for (std::size_t hop = 0; hop < kHops; ++hop) {
    const auto last = [&](std::size_t rank) {
      const auto count = hands[rank].program().instructions.size();
      return count == 0 ? std::vector<std::uint32_t>{}
                        : std::vector<std::uint32_t>{static_cast<std::uint32_t>(count - 1)};
    };
    const std::size_t to = (at + 1 + random() % 2) % 3;
    hands[at].compute({.reads = {0}, .writes = {0}, .waits = last(at)});
    hands[at].send(to, hop, {.reads = {0}, .waits = last(at)});
    hands[to].receive(at, hop, {.writes = {0}, .waits = last(to)});
    at = to;
  }
  Hub hub(3);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (const HandProgram& hand : hands) ranks.push_back(std::make_unique<Rank>(graph, hand, hub));
  for (const auto& rank : ranks)
    rank->execution.on_run = [&execution = rank->execution](std::size_t) {
      ++execution.floats(0)[0];
    };
  ranks[0]->execution.floats(0)[0] = 0;
  std::vector<std::future<void>> runs;
  for (const auto& rank : ranks) runs.push_back(rank->start());
  for (auto& run : runs) run.get();
  EXPECT_EQ(ranks[at]->execution.floats(0)[0], static_cast<float>(kHops));
}

TEST(StepRunner, CostsLittleBesideTheInstructions) {
  constexpr std::size_t kCount = 20'000;
  const auto graph = graph_of(1, kShape);
  Hub hub(1);
  HandProgram hand(0, 1);
  for (std::size_t i = 0; i < kCount; ++i) hand.compute();
  const RankProgram program = hand.program();
  struct Nothing final : RankExecution {
    void begin_step(std::int64_t) override {}
    void run(std::size_t) override {}
    std::span<std::byte> memory(ValueId) override { return {}; }
    void release(ValueId) override {}
    std::string read(ValueId) const override { return ""; }
    void write(ValueId, const std::string&) override {}
    std::optional<double> loss() const override { return std::nullopt; }
    Bytes peak_memory() const override { return Bytes(0); }
  } nothing;
  FakeTransport transport(hub, 0);
  StepRunner runner(*graph, program, kDevices, nothing, transport);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int step = 0; step < 5; ++step) {
    runner.run();
    best = std::min(best, runner.step().end - runner.step().start);
  }
  const double each = static_cast<double>(best) / kCount;
  RecordProperty("nanoseconds_an_instruction", std::to_string(each));
  std::printf("%.0f ns an instruction\n", each);
  EXPECT_LT(each, 3000);
}

// Who reduces in the order of a ring tells the transport so, and a transport hears the ascending
// order otherwise.
TEST(Communicator, HandsOnTheOrderOfARing) {
  const auto graph = graph_of(2, {4, 6});
  const std::vector<DeviceId> devices = {DeviceId(0), DeviceId(1), DeviceId(2)};
  HandProgram hand(1, 2);
  hand.collective(InstructionKind::AllReduce, 7, {.reads = {0}, .members = {1, 2, 0}});
  hand.collective(InstructionKind::AllReduce, 8, {.reads = {1}, .members = {0, 1, 2}});
  Hub hub(3);
  FakeExecution execution(*graph, hand.program());
  FakeTransport transport(hub, 1);
  Communicator communicator(*graph, hand.program(), devices, execution, transport);
  EXPECT_EQ(communicator.lane(0), communicator.lane(1)) << "they end in their order";
  for (const std::size_t i : {0u, 1u}) communicator.issue(i);
  EXPECT_TRUE(hub.meets.contains({"reduce7,1,2,0", 0}));
  EXPECT_TRUE(hub.meets.contains({"reduce8,0,1,2", 0}));
}

// The same members on two streams: neither waits for the other, and the transport is told.
TEST(Communicator, CollectivesOfTwoStreamsHaveLanesOfTheirOwn) {
  const auto graph = graph_of(2, kShape);
  HandProgram hand(0, 2);
  const auto reduce = [&](std::size_t tag, Stream stream) {
    hand.collective(InstructionKind::AllReduce, tag, {.reads = {0}, .members = {0, 1}}, stream);
  };
  reduce(7, Stream::Communication);
  reduce(8, Stream::TensorCommunication);
  reduce(9, Stream::Communication);
  Hub hub(2);
  FakeExecution execution(*graph, hand.program());
  FakeTransport transport(hub, 0);
  Communicator communicator(*graph, hand.program(), kDevices, execution, transport);
  EXPECT_EQ(communicator.lane_count(), 2u);
  EXPECT_NE(communicator.lane(0), communicator.lane(1));
  EXPECT_EQ(communicator.lane(0), communicator.lane(2));
  for (const std::size_t i : {0u, 1u}) communicator.issue(i);
  EXPECT_EQ(transport.streams_by_tag.at(7), Stream::Communication);
  EXPECT_EQ(transport.streams_by_tag.at(8), Stream::TensorCommunication);
}

}  // namespace
}  // namespace strato::worker
