// Exported PyTorch folders under torchrun, and what the project's own engine makes of the same
// plans on one device.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"
#include "tests/paths.h"
#include "tests/plugins/engines/rank/net_problem.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/plugins/exporters/export_kit.h"
#include "tests/python.h"

namespace strato {

inline void torchrun(int processes, std::vector<std::string> script,
                     const TemporaryFolder& folder) {
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
  std::filesystem::path folder;
  std::ptrdiff_t again = 0;  // tasks that compute what was computed before
};

// By name, of one device after some steps; elements in the tensor's type.
inline std::map<std::string, std::string> reference_of(const std::shared_ptr<const Graph>& graph,
                                                       int steps = kSteps) {
  const auto execution = prepared(graph, kRate, kSeed);
  for (int step = 0; step < steps; ++step) execution->run_step();
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < graph->tensor_count(); ++i) {
    const Tensor& tensor = graph->tensor(TensorId(i));
    if (tensor.role == TensorRole::Parameter) values[tensor.name] = execution->read(TensorId(i));
  }
  return values;
}

// The largest difference, relative to the largest number where that is more than 1.
template <class T>
double difference(const std::string& found, const std::string& expected) {
  const auto a = numbers<T>(found), b = numbers<T>(expected);
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double scale = 1, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = apart <= largest ? largest : apart;  // also of one number and none
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
  }
  return largest / scale;
}

// By name, what the folder has trained.
inline std::map<std::string, std::string> kept_by(const Trained& run) {
  const std::filesystem::path kept = run.folder.string() + ".kept";
  const Json names = Json::parse(read_file(kept / "names.json"));
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < names.size(); ++i)
    values[names[i]] = read_file(kept / (std::to_string(i) + ".bin"));
  return values;
}

// By parameter that the folder has trained, how far it is from that of one device, in units of what
// rounding may do.
inline std::map<TensorId, double> differences(const Trained& run) {
  const auto expected = reference_of(run.graph);
  std::map<TensorId, double> result;
  for (const auto& [name, found] : kept_by(run)) {
    for (std::size_t t = 0; t < run.graph->tensor_count(); ++t) {
      const Tensor& tensor = run.graph->tensor(TensorId(t));
      if (tensor.name != name || tensor.role != TensorRole::Parameter) continue;
      result[TensorId(t)] = tensor.type == DataType::F64
                                ? difference<double>(found, expected.at(tensor.name)) / 1e-9
                                : difference<float>(found, expected.at(tensor.name)) / 1e-5;
    }
  }
  return result;
}

inline void expect_trained(const Trained& run) {
  SCOPED_TRACE(run.name);
  const std::map<TensorId, double> found = differences(run);
  for (const auto& [parameter, difference] : found)
    EXPECT_LE(difference, 1) << run.graph->tensor(parameter).name;
  for (std::size_t t = 0; t < run.graph->tensor_count(); ++t) {
    if (run.graph->update_of(TensorId(t)).valid()) {
      EXPECT_TRUE(found.contains(TensorId(t))) << run.graph->tensor(TensorId(t)).name;
    }
  }
}

inline RandomProblem on_toy_cluster(std::shared_ptr<const Graph> graph, int fast, int slow,
                                    Random& random) {
  return problem_of(std::move(graph), random, toy::small_cluster(fast, slow, true));
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
    const std::filesystem::path folder = folder_ / std::to_string(runs_.size());
    for (const auto& [file, content] : files) {
      std::filesystem::create_directories(folder);
      write_file(folder / file, content);
    }
    const auto again =
        std::ranges::count(plan.outcome.timeline->program->tasks, true, &Task::again);
    runs_.push_back({problem.graph, std::move(name), folder, again});
    return true;
  }

  // Tries strategies until one is for so many ranks.
  template <class Make>
  void add_some(int ranks, const std::string& name, Make make) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const auto [problem, strategy] = make();
      if (add(problem, strategy, ranks, name)) return;
    }
    FAIL() << "no plan of " << name << " is for " << ranks << " ranks";
  }

  void train(int ranks) {
    std::vector<std::string> script = {
        std::string(kSourceFolder) + "/tests/plugins/exporters/run_folders.py",
        "--steps 3 --seed 5 --learning-rate 0.02"};
    for (const Trained& run : runs_) script.push_back(run.folder);
    torchrun(ranks, std::move(script), folder_);
  }

  void train_and_compare(int ranks) {
    train(ranks);
    if (HasFailure()) return;
    for (const Trained& run : runs_) expect_trained(run);
  }

  TemporaryFolder folder_;
  std::vector<Trained> runs_;
};

}  // namespace strato
