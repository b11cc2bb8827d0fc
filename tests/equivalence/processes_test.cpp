// A plan's result on worker processes is one process's: parameters and optimizer state after three
// steps, for random strategies over five small nets, on 2 to 8 processes that meet through Gloo.
//
// $STRATOSCOPE_STRATEGIES says how many (tests/equivalence/run --full: 200). SGD and momentum are
// computed in floats. Adam is computed in doubles: it divides gradients by their size, so that in
// floats the rounding of zero makes a whole step.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_result.h"
#include "core/program/project/rank_programs.h"
#include "core/program/project/ring_order.h"
#include "core/program/rank/rank_program.h"
#include "tests/plugins/engines/rank/by_hand.h"
#include "tests/plugins/engines/rank/net_problem.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/launchers/launcher_test.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

constexpr double kLimit = 1e-5;
constexpr int kShort = 7;  // strategies
constexpr std::int64_t kBatch = 7, kBatchOfMany = 8;

int strategy_count() {
  const char* text = std::getenv("STRATOSCOPE_STRATEGIES");
  return text == nullptr ? kShort : std::atoi(text);
}

// Two machines, or one, of GPUs of two types.
std::shared_ptr<const Cluster> cluster_of(std::uint64_t devices) {
  const auto machine = [](const std::string& name, const std::string& gpu, std::uint64_t count) {
    return R"({"name":")" + name + R"(","gpus":[{"type":")" + gpu + R"(","count":)" +
           std::to_string(count) +
           R"(}],"fabric":{"kind":"pcie3x16","bandwidth_GBps":12,"latency_us":4},)" +
           R"("nic":{"kind":"100GbE","bandwidth_GBps":12.5,"latency_us":6}})";
  };
  const std::uint64_t first = (devices + 1) / 2;
  const std::string machines =
      machine("a", "GTX-1080-Ti", first) + "," + machine("b", "V100-SXM2-32GB", devices - first);
  return std::make_shared<const Cluster>(
      parse_cluster(R"({"format":"stratoscope-cluster","version":1,"name":"two","machines":[)" +
                        machines + R"(],"network":{"latency_us":1}})",
                    "two.json", GpuCatalogue::bundled()));
}

using MakeStrategy = std::function<Strategy(const RandomProblem&, Random&)>;

// One that at least two devices take part in.
Job random_job(const std::shared_ptr<const Graph>& graph, Random& random,
               const MakeStrategy& strategy = any_strategy) {
  for (;;) {
    const RandomProblem problem = problem_of(graph, random, cluster_of(2 + random.below(7)));
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const Strategy chosen = complete(strategy(problem, random), *problem.cluster);
    const Program program = lowering.lower(chosen);
    Job job;
    job.programs = rank_programs(program, random_order(program, random));
    const RingOrders rings = ring_orders(program, chosen);
    for (RankProgram& rank : job.programs.ranks) order_rings(rank, rings);
    if (job.programs.ranks.size() < 2) continue;
    job.graph = job.programs.graph;
    job.name = "equivalence";
    for (const RankProgram& rank : job.programs.ranks) {
      job.devices.push_back(problem.cluster->device(rank.device).name);
      job.machines.push_back(0);
    }
    job.options.engine = "torch";
    job.options.steps = kSteps;
    job.options.seed = kSeed;
    job.options.learning_rate = kRate;
    job.options.keep_parameters = true;
    return job;
  }
}

struct Worst {
  double parameters = 0, states = 0;
};

// Of a .npy file: after the magic, the version and a header whose size is in two bytes.
std::string elements_of(const std::filesystem::path& npy) {
  const std::string bytes = read_file(npy);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(bytes.at(i)) & 0xff; };
  return bytes.substr(10 + byte(8) + 256 * byte(9));
}

// Beside the largest element of the tensor; at least beside what one step may change, since some
// are nothing but the rounding of zero (a bias before a normalisation).
double difference(const std::vector<double>& found, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  return worst / std::max(largest(expected), kRate);
}

void compare(const std::filesystem::path& checkpoint, const Reference& reference, Worst& worst,
             double limit) {
  std::map<std::string, std::string> files;
  const Json index = Json::parse(read_file(checkpoint / "index.json"));
  for (const Json& tensor : index["tensors"]) files[tensor["name"]] = tensor["file"];
  for (std::size_t i = 0; i < reference.graph->tensor_count(); ++i) {
    const Tensor& tensor = reference.graph->tensor(TensorId(i));
    if (!is_trained(tensor.role)) continue;
    ASSERT_TRUE(files.contains(tensor.name)) << tensor.name;
    const auto found = values_of(elements_of(checkpoint / files[tensor.name]), tensor.type);
    const auto& expected = reference.elements[TensorId(i)];
    ASSERT_EQ(found.size(), expected.size()) << tensor.name;
    const double off = difference(found, expected);
    if (tensor.role != TensorRole::Parameter) {
      worst.states = std::max(worst.states, off);
      continue;
    }
    EXPECT_LE(off, limit) << tensor.name;
    worst.parameters = std::max(worst.parameters, off);
  }
}

// Strategies have each optimizer in turn.
std::vector<SmallNet> nets_of(std::int64_t batch, int strategy) {
  const auto optimizer = static_cast<Optimizer>(strategy % 3);
  return small_nets(batch, optimizer, optimizer == Optimizer::Adam ? DataType::F64 : DataType::F32);
}

class Equivalence : public LauncherTest {
 protected:
  Equivalence() : LauncherTest("local", 1) {}

  void run_and_compare(const Reference& reference, Random& random,
                       const MakeStrategy& strategy = any_strategy, double limit = kLimit) {
    const Job random_one = random_job(reference.graph, random, strategy);
    const TemporaryFolder at;
    stage_job(at / "job", random_one);
    const auto ranks = static_cast<int>(random_one.programs.ranks.size());
    const auto launched =
        launcher->launch({at / "job", STRATO_WORKER, ranks, random_one.machines, {}});
    events_of(*launched);
    ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
    compare(at / "job" / ("checkpoint-" + std::to_string(kSteps)), reference, worst, limit);
    processes += ranks;
  }

  Worst worst;
  int processes = 0;
};

// Partitioned, two-level, merged, ordered and sparse synchronisation of single variables.
TEST_F(Equivalence, HoweverVariablesAreSynchronised) {
  Random random(12);
  for (int i = 0; i < strategy_count(); ++i) {
    const auto nets = nets_of(kBatch, i);
    const SmallNet& net = nets[static_cast<std::size_t>(i) % nets.size()];
    SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
    run_and_compare(Reference(net.graph), random, [](const RandomProblem& problem, Random& any) {
      return any_synchronisation(problem, any, Messages::Exact);
    });
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d synchronisations on %d processes: parameters differ by %.2g at most\n",
              strategy_count(), processes, worst.parameters);
}

// Against the loop by hand: each variable's gradients are applied as late as it is stale.
TEST_F(Equivalence, StaleVariablesAreAsLateAsTheySay) {
  Random random(14);
  const int count = (strategy_count() + 2) / 3;
  std::size_t late = 0;
  for (int i = 0; i < count; ++i) {
    const auto optimizer = static_cast<Optimizer>(i % 3);
    const auto nets = small_nets(kBatch, optimizer, DataType::F64);
    const SmallNet& net = nets[static_cast<std::size_t>(i + 2) % nets.size()];
    SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
    Reference reference(net.graph);
    run_and_compare(reference, random, [&](const RandomProblem& problem, Random& any) {
      const Strategy strategy = stale_strategy(problem, any);
      const auto lateness = lateness_of(problem, strategy);
      late += lateness.size();
      ByHand by_hand(net.graph, optimizer, lateness);
      for (int step = 0; step < kSteps; ++step) by_hand.run_step();
      by_hand.put_into(reference.elements);
      return strategy;
    });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(late, 0u);
  std::printf("%d strategies with %zu stale variables: parameters differ by %.2g at most\n", count,
              late, worst.parameters);
}

// Not Adam: it makes steps of any size from the rounding of small gradients.
TEST_F(Equivalence, GradientsOf16BitsDifferByLittle) {
  constexpr double kHalves = 1e-2;
  Random random(13);
  const int count = (strategy_count() + 2) / 3;
  for (int i = 0; i < count; ++i) {
    const auto nets = small_nets(kBatch, static_cast<Optimizer>(i % 2), DataType::F32);
    const SmallNet& net = nets[static_cast<std::size_t>(i + 1) % nets.size()];
    SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
    run_and_compare(
        Reference(net.graph), random,
        [](const RandomProblem& problem, Random& any) {
          return any_synchronisation(problem, any, Messages::Half);
        },
        kHalves);
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d synchronisations by halves: parameters differ by %.2g at most\n", count,
              worst.parameters);
}

TEST_F(Equivalence, WorkersTrainAsOneProcessUnderAnyStrategy) {
  const auto start = std::chrono::steady_clock::now();
  const int count = strategy_count();
  Random random(11);
  for (int i = 0; i < count; ++i) {
    const auto nets = nets_of(kBatch, i);
    const SmallNet& net = nets[static_cast<std::size_t>(i) % nets.size()];
    SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
    run_and_compare(Reference(net.graph), random);
    if (testing::Test::HasFailure()) return;
  }
  std::printf(
      "%d strategies on %d processes in %.0f s: parameters differ by %.2g at most, optimizer "
      "states by %.2g\n",
      count, processes,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
      worst.parameters, worst.states);
}

// Gradients add up over micro-batches, whatever the stages that a strategy makes.
TEST_F(Equivalence, InMicroBatches) {
  Random random(15);
  const int count = (strategy_count() + 1) / 2;
  std::size_t net = 0;
  for (int i = 0; i < count; ++i) {
    const auto nets = nets_of(kBatchOfMany, i);
    do net = (net + 1) % nets.size();
    while (has_batch_norm(*nets[net].graph));
    SCOPED_TRACE(nets[net].name + ", strategy " + std::to_string(i));
    run_and_compare(Reference(nets[net].graph), random,
                    [](const RandomProblem& problem, Random& any) {
                      return in_micro_batches(problem, any_strategy(problem, any), any);
                    });
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d strategies in micro-batches on %d processes: parameters differ by %.2g at most\n",
              count, processes, worst.parameters);
}

// Rows that share the batch, columns that compute each op together, experts divided over rows.
TEST_F(Equivalence, OnMeshes) {
  Random random(16);
  const int count = (strategy_count() + 1) / 2;
  std::size_t net = 0;
  for (int i = 0; i < count; ++i) {
    const auto nets = nets_of(kBatchOfMany, i);
    const auto mixture = std::ranges::find(nets, "mixture", &SmallNet::name);
    const SmallNet& of = i % 2 == 0 ? *mixture : nets[net++ % nets.size()];
    SCOPED_TRACE(of.name + ", strategy " + std::to_string(i));
    run_and_compare(Reference(of.graph), random, [&](const RandomProblem& problem, Random& any) {
      Strategy strategy = on_meshes(problem, any);
      if (i % 2 == 0) strategy = with_experts(problem, strategy, any).value_or(strategy);
      if (i % 3 == 1) strategy = with_shared_states(problem, strategy, any);
      const bool several = i % 3 > 0 && !has_batch_norm(*of.graph);
      return several ? in_micro_batches(problem, strategy, any) : strategy;
    });
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d strategies with meshes on %d processes: parameters differ by %.2g at most\n",
              count, processes, worst.parameters);
}

// ---- a run that was interrupted goes on from its checkpoint as if nothing had been

int newest_checkpoint(const std::filesystem::path& folder, std::int64_t steps) {
  for (std::int64_t step = steps; step > 0; --step) {
    if (std::filesystem::exists(folder / ("checkpoint-" + std::to_string(step)) / "index.json"))
      return static_cast<int>(step);
  }
  return 0;
}

// All tensors' bytes, by name.
std::map<std::string, std::string> trained(const std::filesystem::path& checkpoint) {
  std::map<std::string, std::string> all;
  const Json index = Json::parse(read_file(checkpoint / "index.json"));
  for (const Json& tensor : index["tensors"])
    all[tensor["name"]] = elements_of(checkpoint / tensor["file"].get<std::string>());
  return all;
}

class Interrupted : public LauncherTest {
 protected:
  static constexpr int kLast = 8;

  Interrupted() : LauncherTest("local", 1) {}

  std::unique_ptr<LaunchedJob> launch_at(const std::filesystem::path& at, const Job& of) {
    stage_job(at, of);
    return launcher->launch(
        {at, STRATO_WORKER, static_cast<int>(of.programs.ranks.size()), of.machines, {}});
  }
  // Kills a rank somewhere behind the second step, when the first one's checkpoint is there.
  static void kill_one(LaunchedJob& launched, const std::filesystem::path& at, Random& random) {
    const auto steps = 2 + random.below(kLast - 3);
    for (std::uint64_t i = 0; i < steps; ++i) wait_for(launched, JobEvent::Kind::Step);
    const auto until =
        std::chrono::steady_clock::now() + random.below(8) * std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < until) continue;
    const auto workers = workers_of(at);
    if (workers.empty()) return;
    const auto victim =
        std::next(workers.begin(), static_cast<std::ptrdiff_t>(random.below(workers.size())));
    ::kill(victim->second, SIGKILL);
    events_of(launched);
  }
};

TEST_F(Interrupted, RunsEndWithTheSameBits) {
  Random random(3);
  const int rounds = std::max(2, strategy_count() / 8);
  for (int round = 0; round < rounds; ++round) {
    const auto nets = small_nets(kBatch, static_cast<Optimizer>((round + 1) % 3), DataType::F32);
    const SmallNet& net = nets[static_cast<std::size_t>(round + 2) % nets.size()];
    SCOPED_TRACE(net.name + ", round " + std::to_string(round));
    Job of = random_job(net.graph, random, round % 2 == 0 ? any_strategy : stale_strategy);
    of.options.steps = kLast;
    of.options.checkpoint_every = 1;
    const TemporaryFolder at;
    const auto last = [&](const char* name) {
      return at / name / ("checkpoint-" + std::to_string(kLast));
    };
    events_of(*launch_at(at / "whole", of));
    kill_one(*launch_at(at / "broken", of), at / "broken", random);
    const int newest = newest_checkpoint(at / "broken", kLast);
    ASSERT_GT(newest, 0);
    if (newest < kLast) {
      of.options.resume = "checkpoint-" + std::to_string(newest);
      const auto again = launch_at(at / "broken", of);
      events_of(*again);
      ASSERT_EQ(again->state(), JobState::Finished) << again->problem();
    }
    EXPECT_EQ(trained(last("broken")), trained(last("whole"))) << "from step " << newest;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace strato
