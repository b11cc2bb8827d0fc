// Small problems with known answers, and an evaluator with a closed form.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "core/base/digest.h"
#include "core/base/parallel.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/build/graph_builder.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/planner.h"
#include "core/search/api/problem.h"
#include "core/search/tree/search_tree.h"
#include "tests/paths.h"

namespace strato::toy {

inline std::shared_ptr<const Cluster> sample_cluster(const std::string& name) {
  return std::make_shared<const Cluster>(
      read_cluster(std::string(kSourceFolder) + "/sample_graphs/clusters/" + name + ".json",
                   GpuCatalogue::bundled()));
}

// `fast` V100s in one machine and `slow` machines of one GTX 1080 Ti.
// `hosts`: machines have memory of their own, and a way there.
inline std::shared_ptr<const Cluster> small_cluster(int fast, int slow, bool hosts = false) {
  const std::string host =
      hosts
          ? R"("host_link": {"bandwidth_GBps": 12, "latency_us": 4}, "host_memory_bytes": 100000000000, )"
          : "";
  std::string json =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "toy", "machines": [
    {"name": "fast", "gpus": [{"type": "V100-SXM2-32GB", "count": )" +
      std::to_string(fast) + "}], " + host +
      R"("fabric": {"bandwidth_GBps": 150, "latency_us": 2}, "nic": {"bandwidth_GBps": 10, "latency_us": 5}})";
  if (slow > 0)
    json += R"(, {"name": "slow", "count": )" + std::to_string(slow) +
            R"(, "gpus": [{"type": "GTX-1080-Ti", "count": 1}], )" + host +
            R"(
        "fabric": {"bandwidth_GBps": 12, "latency_us": 4}, "nic": {"bandwidth_GBps": 10, "latency_us": 5}})";
  json += R"(], "network": {"latency_us": 1}})";
  return std::make_shared<const Cluster>(parse_cluster(json, "toy", GpuCatalogue::bundled()));
}

// A chain of matrix products (with parameters) and activations on `batch` samples, one op group a
// layer when grouped by hand.
// From `widths`[i] to `widths`[i + 1].
inline Graph chain(const std::vector<std::int64_t>& widths, std::int64_t batch) {
  GraphBuilder builder("chain", batch);
  TensorId at = builder.add_tensor({.name = "x",
                                    .role = TensorRole::Input,
                                    .shape = {batch, widths[0]},
                                    .producer = {},
                                    .batch = {},
                                    .data = {}});
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::int64_t width = widths[i + 1];
    const std::string n = std::to_string(i);
    const TensorId w = builder.add_tensor({.name = "w" + n,
                                           .role = TensorRole::Parameter,
                                           .shape = {widths[i], width},
                                           .producer = {},
                                           .batch = {},
                                           .data = {}});
    const TensorId y = builder.add_tensor(
        {.name = "y" + n, .shape = {batch, width}, .producer = {}, .batch = {}, .data = {}});
    const TensorId z = builder.add_tensor(
        {.name = "z" + n, .shape = {batch, width}, .producer = {}, .batch = {}, .data = {}});
    Op product;
    product.name = "product" + n;
    product.type = "MatMul";
    product.inputs = {at, w};
    product.outputs = {y};
    builder.add_op(product);
    Op relu;
    relu.name = "relu" + n;
    relu.type = "Relu";
    relu.inputs = {y};
    relu.outputs = {z};
    builder.add_op(relu);
    at = z;
  }
  return std::move(builder).build();
}

inline Graph chain(int layers, std::int64_t batch, std::int64_t width) {
  return chain(std::vector<std::int64_t>(static_cast<std::size_t>(layers) + 1, width), batch);
}

// One that no planner comes upon by itself.
inline Decision odd_decision() { return {Mode::ReplicatePs, {{DeviceId(1), 2}, {DeviceId(6), 5}}}; }

// The forward chain, its layers as op groups.
inline Problem chain_problem(std::shared_ptr<const Cluster> cluster, int layers,
                             std::int64_t batch = 8, std::int64_t width = 256) {
  Problem problem;
  problem.graph = std::make_shared<const Graph>(chain(layers, batch, width));
  problem.cluster = std::move(cluster);
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  std::vector<std::int32_t> group_of;
  for (const Op& op : problem.graph->ops())
    group_of.push_back(std::stoi(op.name.substr(op.name.find_first_of("0123456789"))));
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  return problem;
}

// Milliseconds (1 to 2) of a decision in a separable landscape: a fixed scramble of group, mode and
// devices.
inline std::int64_t scrambled_cost(std::size_t group, const Decision& decision) {
  Hasher hasher;
  hasher.number(group).number(decision.mode);
  for (const DeviceShare& share : decision.devices)
    hasher.number(share.device.value()).number(share.weight);
  return 1'000'000 + static_cast<std::int64_t>(hasher.finish().low % 1'000'000);
}

class FakeEvaluator : public Evaluator {
 public:
  using Formula = std::function<Score(const Strategy&)>;
  FakeEvaluator(const Cluster& cluster, Formula formula, int threads = 1)
      : Evaluator(cluster), formula_(std::move(formula)), threads_(threads) {}

  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<Score> scores(strategies.size());
    parallel_for(strategies.size(), threads_,
                 [&](std::size_t i) { scores[i] = formula_(*strategies[i]); });
    count += static_cast<std::int64_t>(strategies.size());
    return scores;
  }
  std::int64_t count = 0;

 private:
  Formula formula_;
  int threads_;
};

inline Score separable(const Strategy& strategy) {
  Score score;
  score.feasible = true;
  for (std::size_t g = 0; g < strategy.groups.size(); ++g)
    score.step_time += Nanos(scrambled_cost(g, *strategy.groups[GroupId(g)]));
  return score;
}

}  // namespace strato::toy
