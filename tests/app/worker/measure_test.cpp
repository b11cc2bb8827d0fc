// Measuring by several ranks: threads of this process, with a transport between them and an engine
// whose ops take what they are told.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "app/worker/communicator.h"
#include "app/worker/measure_messages.h"
#include "app/worker/measure_session.h"
#include "app/worker/session.h"
#include "core/cost/value/profile.h"
#include "core/launch/job/run_files.h"
#include "core/launch/measure/measure_job.h"
#include "tests/app/worker/fakes.h"
#include "tests/core/program/toy.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

// How often, and how many at a time, a graph was measured.
struct Log {
  std::atomic<int> now{0}, most{0};
  std::mutex mutex;
  std::multiset<std::pair<std::int64_t, int>> prepared;  // batch, rank
};

class FakeSteps final : public Execution {
 public:
  FakeSteps(std::shared_ptr<const Graph> graph, Log& log, Nanos each)
      : graph_(std::move(graph)), log_(log), each_(each) {
    log_.most = std::max(log_.most.load(), ++log_.now);
  }
  ~FakeSteps() override { --log_.now; }
  bool run_step(std::span<Nanos> times, std::stop_token stop) override {
    for (Nanos& time : times) time = each_ * graph_->batch();
    now_ += Nanos(1'000'000'000);  // one step is enough
    return !stop.stop_requested();
  }
  std::string read(TensorId) const override { return ""; }
  void write(TensorId, const std::string&) override {}
  void keep(TensorId) override {}
  Nanos now() const override { return now_; }
  Bytes peak_memory() const override { return Bytes(100 * graph_->batch()); }

 private:
  std::shared_ptr<const Graph> graph_;
  Log& log_;
  Nanos each_, now_;
};

class FakeEngine final : public Engine {
 public:
  FakeEngine(Log& log, int rank) : log_(log), rank_(rank) {}
  std::int64_t refused_batch = -1;

  std::vector<EngineDevice> devices() const override {
    return {{"cpu", "a slow one", Bytes(std::int64_t{1} << 40)}};
  }
  std::string software() const override { return "fakes 1.0"; }
  bool supports(const Graph&, OpId) const override { return true; }
  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph> graph,
                                     const EngineOptions&) const override {
    if (graph->batch() == refused_batch) throw InputError("", "op conv", "is too large", "");
    const std::lock_guard lock(log_.mutex);
    log_.prepared.emplace(graph->batch(), rank_);
    return std::make_unique<FakeSteps>(graph, log_, Nanos(10));
  }

 private:
  Log& log_;
  int rank_;
};

class Measuring : public ::testing::Test {
 protected:
  static constexpr int kRanks = 3;

  Measuring() {
    staged.job =
        make_measure_job(*toy::cluster(1, kRanks), "toy",
                         {toy::training_chain(12, 2, 8), toy::training_chain(6, 2, 8)}, {});
    staged.job.options.largest = Bytes(1 << 16);
    staged.job.options.budget = 20s;
    staged.job.options.repetitions = 2;
    staged.digest = "d";
    for (int rank = 0; rank < kRanks; ++rank) {
      digests.push_back(staged.digest);
      engines.push_back(std::make_unique<FakeEngine>(log, rank));
    }
  }

  // What each rank threw; empty: nothing.
  std::vector<std::string> run() {
    std::vector<std::string> errors(kRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] { errors[static_cast<std::size_t>(rank)] = run_rank(rank); });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }
  MeasureResult result() { return read_measure_result(folder.path()); }

  Log log;
  StagedMeasureJob staged;
  std::vector<std::string> digests;
  std::vector<std::unique_ptr<FakeEngine>> engines;
  TemporaryFolder folder;
  Hub hub{kRanks};

 private:
  std::string run_rank(int rank) {
    StagedMeasureJob own = staged;
    own.digest = digests[static_cast<std::size_t>(rank)];
    FakeTransport transport(hub, rank);
    Events events(-1);
    const Engine* engine =
        own.job.graphs.empty() ? nullptr : engines[static_cast<std::size_t>(rank)].get();
    try {
      MeasureSession({own, rank, folder.path(), engine, nullptr, transport, events}).run();
    } catch (const OtherRankFailure& error) {
      hub.break_down("rank " + std::to_string(error.rank()) + " is gone");
      return "rank " + std::to_string(error.rank()) + ": " + error.what();
    } catch (const std::exception& error) {
      hub.break_down("somebody is gone");
      return error.what();
    }
    return "";
  }
};

// What a library throws leaves the rank in the middle of an op, and the guard asks on how far it
// is.
TEST(MeasuringAlone, IsWatchedAsLongAsItsSessionIsThere) {
  class Broken final : public Engine {
   public:
    std::vector<EngineDevice> devices() const override {
      return {{"cpu", "a broken one", Bytes(std::int64_t{1} << 40)}};
    }
    std::string software() const override { return "broken"; }
    bool supports(const Graph&, OpId) const override { return true; }
    std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph>,
                                       const EngineOptions&) const override {
      throw std::runtime_error("cannot go on");
    }
  };
  StagedMeasureJob staged;
  staged.job = make_measure_job(*toy::cluster(1, 1), "toy", {toy::training_chain(12, 2, 8)}, {});
  staged.job.options.timeout = 1s;
  staged.job.options.budget = 10ms;
  const TemporaryFolder folder;
  const Broken engine;
  Hub hub(1);
  FakeTransport transport(hub, 0);
  Events events(-1);
  std::promise<int> status;
  Guard guard({folder.path(), 0, false, 1ms}, events, [&](int with) { status.set_value(with); });
  MeasureSession session({staged, 0, folder.path(), &engine, nullptr, transport, events, &guard});
  EXPECT_THROW(session.run(), std::runtime_error);
  EXPECT_EQ(status.get_future().get(), kFailed);
  EXPECT_NE(find_failure(folder.path())->text.find("hung in measuring a training step"),
            std::string::npos);
}

TEST_F(Measuring, MessagesOnADeviceGoThroughNoTransportOfTheHosts) {
  const RankProgram program;
  FakeDevice device(*staged.job.graphs[0], program);
  FakeTransport transport(hub, 0);
  Events events(-1);
  const auto make = [&] {
    MeasureSession({staged, 0, folder.path(), engines[0].get(), &device, transport, events});
  };
  EXPECT_EQ(message_of(make), kOutOfReach);
  staged.job.probes.clear();  // ops alone send nothing from there
  EXPECT_NO_THROW(make());
}

TEST_F(Measuring, MeasuresEachOpOnceAndEveryPairAndSet) {
  EXPECT_EQ(run(), std::vector<std::string>(kRanks));
  const MeasureResult measured = result();
  EXPECT_EQ(measured.notes, std::vector<std::string>());
  // One GPU type, one machine: each batch size by one rank, and never two at a time.
  EXPECT_EQ(log.prepared.size(), 2u);
  EXPECT_EQ(log.most, 1);
  std::set<std::string> signatures, expected;
  const Graph& graph = *staged.job.graphs[0];
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (!graph.op(OpId(i)).view) expected.insert(op_signature(graph, OpId(i)));
  }
  for (const OpProfile& op : measured.profile.ops) {
    signatures.insert(op.signature);
    EXPECT_EQ(op.gpu, staged.job.ranks[0].gpu);
    for (const OpMeasurement& point : op.measurements) EXPECT_EQ(point.time.value % 60, 0);
  }
  EXPECT_EQ(signatures, expected);
  EXPECT_EQ(measured.profile.transfers.size(), 6u);
  EXPECT_EQ(measured.profile.collectives.size(), 3u);
  for (const TransferProfile& pair : measured.profile.transfers) {
    ASSERT_EQ(pair.measurements.size(), 7u);  // 1 KB to 64 KB
    EXPECT_EQ(pair.measurements.front().bytes, Bytes(1024));
    EXPECT_EQ(pair.measurements.back().bytes, Bytes(1 << 16));
    for (const SizedMeasurement& point : pair.measurements) EXPECT_GE(point.repetitions, 3);
  }
  EXPECT_EQ(measured.profile.memory.size(), 2u);
  EXPECT_NE(measured.profile.name.find("toy, measured by 3 ranks on 1 machine"), std::string::npos)
      << measured.profile.name;
  EXPECT_EQ(measured.profile.software, "fakes 1.0, gloo");
}

// Work on weights alone has one measurement, that beside the largest batch.
TEST_F(Measuring, WhatDoesNotFollowTheBatchIsMeasuredOnce) {
  run();
  const Graph& graph = *staged.job.graphs[0];
  std::set<std::string> level;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (!graph.op(OpId(i)).view && !follows_batch(graph, OpId(i)))
      level.insert(op_signature(graph, OpId(i)));
  }
  ASSERT_FALSE(level.empty());
  for (const OpProfile& op : result().profile.ops) {
    const bool follows = !level.contains(op.signature);
    EXPECT_EQ(op.measurements.size(), follows ? 2u : 1u) << op.signature;
    if (follows) continue;
    EXPECT_EQ(op.measurements[0].time, Nanos(120));
  }
}

TEST_F(Measuring, EveryGpuTypeIsMeasuredByRanksOfItsOwn) {
  staged.job.ranks[1].gpu = "H100";
  EXPECT_EQ(run(), std::vector<std::string>(kRanks));
  EXPECT_EQ(log.prepared.size(), 4u);
  EXPECT_EQ(log.prepared.count({12, 1}), 1u);
  EXPECT_EQ(log.prepared.count({6, 1}), 1u);
  EXPECT_EQ(log.most, 1);
  std::set<std::string> gpus;
  for (const OpProfile& op : result().profile.ops) gpus.insert(op.gpu);
  EXPECT_EQ(gpus, (std::set<std::string>{"H100", staged.job.ranks[0].gpu}));
}

TEST_F(Measuring, WithoutAModelMeasuresCommunicationAlone) {
  staged.job.graphs.clear();
  EXPECT_EQ(run(), std::vector<std::string>(kRanks));
  EXPECT_TRUE(result().profile.ops.empty());
  EXPECT_EQ(result().profile.transfers.size(), 6u);
}

TEST_F(Measuring, ABatchThatTheDeviceRefusesIsLeftOutWithItsReason) {
  for (auto& engine : engines) engine->refused_batch = 12;
  EXPECT_EQ(run(), std::vector<std::string>(kRanks));
  const MeasureResult measured = result();
  ASSERT_EQ(measured.notes.size(), 1u);
  EXPECT_EQ(
      measured.notes[0].find("batch 12 on GTX-1080-Ti is not measured: op conv: is too large"), 0u)
      << measured.notes[0];
  // What does not follow the batch comes from the largest that was measured.
  std::size_t level = 0;
  for (const OpProfile& op : measured.profile.ops) {
    ASSERT_EQ(op.measurements.size(), 1u);
    level += op.measurements[0].samples == 1 ? 1 : 0;
    EXPECT_EQ(op.measurements[0].time, Nanos(60));
  }
  EXPECT_GT(level, 0u);
}

TEST_F(Measuring, NoOpAtAllIsAFailureWithItsReason) {
  staged.job.graphs.pop_back();
  for (auto& engine : engines) engine->refused_batch = 12;
  EXPECT_NE(run()[0].find("no op could be measured: batch 12"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "profile.json"));
}

TEST_F(Measuring, TheBudgetEndsItAndTheNotesSayWhatIsMissing) {
  staged.job.graphs.clear();
  staged.job.options.budget = 30ms;
  staged.job.options.largest = Bytes(1 << 22);
  EXPECT_EQ(run(), std::vector<std::string>(kRanks));
  const MeasureResult measured = result();
  const std::size_t probes =
      measured.profile.transfers.size() + measured.profile.collectives.size();
  EXPECT_GE(probes, 1u);
  EXPECT_LT(measured.seconds, 5);  // one probe may end later; a busy machine may be slow
  ASSERT_FALSE(measured.notes.empty());
  EXPECT_NE(measured.notes[0].find("are not measured"), std::string::npos);
  for (const TransferProfile& pair : measured.profile.transfers)
    EXPECT_GE(pair.measurements.size(), 2u);
}

TEST_F(Measuring, ARankWithAnotherJobIsNamed) {
  digests[2] = "another";
  EXPECT_NE(run()[0].find("rank 2: has another measurement job"), std::string::npos);
}

TEST_F(Measuring, ARankThatGoesEndsTheOthers) {
  staged.job.options.largest = Bytes(1 << 20);
  staged.job.options.budget = 600s;
  std::thread end([&] {
    while (log.prepared.empty()) std::this_thread::yield();
    hub.break_down("rank 1 is lost: its connection broke");
  });
  const auto errors = run();
  end.join();
  for (const std::string& error : errors)
    EXPECT_EQ(error.find("rank 1 is lost") == std::string::npos &&
                  error.find("somebody is gone") == std::string::npos,
              false)
        << error;
}

TEST(MeasureMessages, AreRefusedWhenTheyAreCut) {
  OpsReply reply;
  reply.problem = "why";
  reply.measured.step.batch = 12;
  reply.measured.ops = {{"Relu(...)", true, 3, {12, Nanos(5), Nanos(1), 7}}};
  const std::string whole = pack(reply);
  const OpsReply read = unpack_ops(whole);
  EXPECT_EQ(read.problem, "why");
  EXPECT_EQ(read.measured.ops[0].signature, "Relu(...)");
  EXPECT_EQ(read.measured.ops[0].measurement.time, Nanos(5));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(message_of([&] { unpack_ops(whole.substr(0, size)); }).find("cut off"),
              std::string::npos);
  }
  const std::string greeting = pack(MeasureGreeting{"1", "d", "h", "cpu", Bytes(1), Bytes(2)});
  EXPECT_EQ(unpack_greeting(greeting).largest, Bytes(2));
  for (std::size_t size = 0; size < greeting.size(); ++size)
    EXPECT_NE(message_of([&] { unpack_greeting(greeting.substr(0, size)); }), "no error");
  const std::string points = pack({{Bytes(1), Nanos(2), Nanos(3), 4}});
  EXPECT_NE(message_of([&] { unpack_points(points.substr(1)); }).find("cut off"),
            std::string::npos);
}

}  // namespace
}  // namespace strato::worker
