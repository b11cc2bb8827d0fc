// The exported folder under torchrun: parameters after three steps are those of the project's own
// engine on one device.
#ifdef STRATO_TORCH
#include <cmath>
#include <set>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/export.h"
#include "core/strategy/value/variable_check.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"
#include "tests/paths.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/torch/gradient_cases.h"
#include "tests/plugins/exporters/export_kit.h"
#include "tests/property/random_model.h"
#include "tests/python.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

void torchrun(int processes, std::vector<std::string> script, const TemporaryFolder& folder) {
  const std::string master = free_master();
  // "-r 1 -t 1": torchrun 1.13 knows no other value with Python 3.11.
  std::vector<std::string> words = {"timeout",
                                    "240",
                                    python(),
                                    "-m",
                                    "torch.distributed.run",
                                    "--nnodes",
                                    "1",
                                    "--nproc_per_node",
                                    std::to_string(processes),
                                    "--master_addr",
                                    "127.0.0.1",
                                    "--master_port",
                                    master.substr(master.find(':') + 1),
                                    "-r",
                                    "1",
                                    "-t",
                                    "1",
                                    "--log_dir",
                                    folder / "log"};
  words.insert(words.end(), script.begin(), script.end());
  ASSERT_EQ(run_program(words, folder / "said"), 0) << read_file(folder / "said");
}

struct Trained {
  std::shared_ptr<const Graph> graph;
  std::string name;
  fs::path folder;
};

constexpr double kRate = 0.02;

// By name, of one device after three steps; elements in the tensor's type.
std::map<std::string, std::string> reference_of(const std::shared_ptr<const Graph>& graph) {
  const auto execution = prepared(graph, kRate, 5);
  for (int step = 0; step < 3; ++step) execution->run_step();
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < graph->tensor_count(); ++i) {
    const Tensor& tensor = graph->tensor(TensorId(i));
    if (tensor.role == TensorRole::Parameter) values[tensor.name] = execution->read(TensorId(i));
  }
  return values;
}

template <class T>
void expect_near(const std::string& found, const std::string& expected, double tolerance) {
  const auto a = numbers<T>(found), b = numbers<T>(expected);
  ASSERT_EQ(a.size(), b.size());
  double scale = 1;
  for (const T value : b) scale = std::max(scale, std::abs(static_cast<double>(value)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_NEAR(a[i], b[i], tolerance * scale) << "element " << i;
  }
}

void expect_trained(const Trained& run) {
  SCOPED_TRACE(run.name);
  const auto expected = reference_of(run.graph);
  const fs::path kept = run.folder.string() + ".kept";
  const Json names = Json::parse(read_file(kept / "names.json"));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i];
    SCOPED_TRACE(name);
    const std::string found = read_file(kept / (std::to_string(i) + ".bin"));
    for (std::size_t t = 0; t < run.graph->tensor_count(); ++t) {
      const Tensor& tensor = run.graph->tensor(TensorId(t));
      if (tensor.name != name || tensor.role != TensorRole::Parameter) continue;
      seen.insert(name);
      if (tensor.type == DataType::F64) {
        expect_near<double>(found, expected.at(name), 1e-9);
      } else {
        expect_near<float>(found, expected.at(name), 1e-5);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  for (std::size_t t = 0; t < run.graph->tensor_count(); ++t) {
    if (run.graph->update_of(TensorId(t)).valid()) {
      EXPECT_TRUE(seen.contains(run.graph->tensor(TensorId(t)).name));
    }
  }
}

RandomProblem on_toy_cluster(std::shared_ptr<const Graph> graph, int fast, int slow,
                             Random& random) {
  RandomProblem problem;
  problem.graph = std::move(graph);
  problem.cluster = toy::small_cluster(fast, slow);
  std::vector<std::int32_t> group_of(problem.graph->op_count());
  const std::uint64_t groups = 1 + random.below(4);
  for (std::int32_t& group : group_of) group = static_cast<std::int32_t>(random.below(groups));
  const std::vector<Nanos> times(problem.graph->op_count(), Nanos(1000));
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  return problem;
}

class Pytorch : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(python().empty())
        << "no python3 here has torch and numpy: app/setup installs them";
  }

  // Exports it; false when the plan is for another number of ranks.
  bool add(const RandomProblem& problem, const Strategy& strategy, int ranks, std::string name) {
    const Exportable plan({problem.graph, problem.grouping, problem.cluster, problem.cost},
                          strategy);
    auto files = exported_folder("pytorch", plan);
    if (Json::parse(files.at("graph.json"))["ranks"] != ranks) return false;
    const fs::path folder = folder_ / std::to_string(runs_.size());
    for (const auto& [file, content] : files) {
      fs::create_directories(folder);
      write_file(folder / file, content);
    }
    runs_.push_back({problem.graph, std::move(name), folder});
    return true;
  }

  void add_random(const std::shared_ptr<const Graph>& graph, int ranks, const std::string& name,
                  Random& random) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const RandomProblem problem = on_toy_cluster(graph, 2, ranks - 2, random);
      Strategy strategy = random.below(3) == 0 ? random_data_parallel(problem, random)
                                               : random_strategy(problem, random);
      strategy.splits = random_splits(problem, strategy, random);
      duplicate_batch_norm(*graph, strategy);
      if (add(problem, strategy, ranks, name)) return;
    }
  }

  void train_and_compare(int ranks) {
    std::vector<std::string> script = {
        std::string(kSourceFolder) + "/tests/plugins/exporters/run_folders.py",
        "--steps 3 --seed 5 --learning-rate 0.02"};
    for (const Trained& run : runs_) script.push_back(run.folder);
    torchrun(ranks, std::move(script), folder_);
    if (HasFailure()) return;
    for (const Trained& run : runs_) expect_trained(run);
  }

  TemporaryFolder folder_;
  std::vector<Trained> runs_;
};

TEST_F(Pytorch, EveryOpIsComputedAsByTheEngine) {
  Random random(1);
  for (const auto cases : {products_cases, windows_cases, elementwise_cases, normalizations_cases,
                           attention_cases, expert_cases, movement_cases, losses_cases}) {
    for (const GradientCase& each : cases()) {
      SmallModel model;
      each.result(model);
      const RandomProblem problem = on_toy_cluster(std::move(model).training(), 1, 0, random);
      Strategy strategy;
      strategy.groups.assign(problem.grouping->size(), decision_on_device(DeviceId(0)));
      ASSERT_TRUE(add(problem, strategy, 1, each.name));
    }
  }
  ASSERT_GT(runs_.size(), 100u);
  train_and_compare(1);
}

class PytorchRanks : public Pytorch, public testing::WithParamInterface<int> {};

TEST_P(PytorchRanks, TrainAsOneDeviceDoesUnderAnyStrategy) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    for (const SmallNet& net : small_nets(7, optimizer)) {
      add_random(net.graph, GetParam(), net.name, random);
    }
  }
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    Random own(seed);
    const RandomProblem problem = random_model_problem(own);
    add_random(std::make_shared<const Graph>(in_double(*problem.graph)), GetParam(),
               "seed " + std::to_string(seed), random);
  }
  ASSERT_GT(runs_.size(), 25u);
  train_and_compare(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Processes, PytorchRanks, testing::Values(2, 4));

// What a person does: the folder's own program, under torchrun, in single precision.
TEST_F(Pytorch, TheFolderRunsByItself) {
  const Exportable plan =
      lenet(Mode::ReplicateAllReduce,
            {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(2), 1}, {DeviceId(3), 1}});
  const fs::path folder = folder_ / "lenet";
  write_export(*registry().exporter("pytorch"), plan.input(), folder);
  torchrun(4,
           {folder / "train.py", "--steps", "3", "--seed", "5", "--learning-rate", "0.02", "--keep",
            folder.string() + ".kept"},
           folder_);
  if (HasFailure()) return;
  EXPECT_NE(read_file(folder_ / "said").find("step 3: loss "), std::string::npos);
  const std::string unpack =
      "import torch, json, sys\n"
      "values = torch.load(sys.argv[1] + '/parameters.pt')\n"
      "json.dump(list(values), open(sys.argv[1] + '/names.json', 'w'))\n"
      "for i, value in enumerate(values.values()):\n"
      "    open(f'{sys.argv[1]}/{i}.bin', 'wb').write(value.numpy().tobytes())\n";
  ASSERT_EQ(run_program({python(), "-c", unpack, folder.string() + ".kept"}, folder_ / "said"), 0)
      << read_file(folder_ / "said");
  expect_trained({plan.problem.graph, "lenet", folder});
}

// Factors of products travel as duplicated ops do, which the folder can.
TEST_F(Pytorch, WhatItsRanksCannotDoIsRefused) {
  const Exportable plain = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}});
  const Graph& graph = *plain.problem.graph;
  VariableSync variable;
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (!gradient_products(graph, OpId(i)).empty()) variable.update = OpId(i);
  ASSERT_TRUE(variable.update.valid());
  const auto problem = [&](Synchroniser synchroniser, Encoding encoding, int staleness) {
    Strategy strategy = plain.strategy;
    SyncPart part{synchroniser, encoding, {}, {}, -1, {}};
    if (synchroniser == Synchroniser::Ps) part.server = DeviceId(1);
    strategy.variables = {{variable.update, 0, {part}, staleness}};
    try {
      exported_folder("pytorch", Exportable(plain.problem, strategy));
    } catch (const InputError& error) {
      return error.problem();
    }
    return std::string("no error");
  };
  const std::string refused =
      "is synchronised in parts, encoded or stale, which train.py cannot do";
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 0), "no error");
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 1), refused);
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 2), refused);
  EXPECT_EQ(problem(Synchroniser::AllReduce, Encoding::LowRank, 0), refused);
  EXPECT_EQ(problem(Synchroniser::AllReduce, Encoding::SufficientFactors, 0), "no error");
}

TEST_F(Pytorch, AWrongNumberOfProcessesIsRefused) {
  const Exportable plan = lenet(Mode::ModelParallel, {{DeviceId(0), 1}, {DeviceId(1), 1}});
  const fs::path folder = folder_ / "lenet";
  write_export(*registry().exporter("pytorch"), plan.input(), folder);
  EXPECT_NE(run_program({python(), folder / "train.py"}, folder_ / "said"), 0);
  EXPECT_NE(read_file(folder_ / "said").find("torchrun"), std::string::npos);
}

}  // namespace
}  // namespace strato
#endif
