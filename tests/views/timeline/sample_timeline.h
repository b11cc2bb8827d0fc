// Made-up timelines for tests, pictures and benchmarks: a random program, simulated, so that it
// obeys every rule.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/value/graph.h"
#include "core/sim/engine/simulate.h"

namespace strato::test {

inline std::shared_ptr<const Graph> chain_graph(int ops) {
  GraphBuilder builder("chain", 8);
  Tensor input;
  input.name = "x";
  input.role = TensorRole::Input;
  input.shape = {8, 16};
  TensorId last = builder.add_tensor(input);
  for (int i = 0; i < ops; ++i) {
    Tensor output;
    output.name = "t" + std::to_string(i);
    output.shape = {8, 16};
    const TensorId made = builder.add_tensor(output);
    Op op;
    op.name = "layer" + std::to_string(i) + "/Relu";
    op.type = "Relu";
    op.inputs = {last};
    op.outputs = {made};
    op.phase = i < ops / 2 ? Phase::Forward : Phase::Backward;
    builder.add_op(op);
    last = made;
  }
  return std::make_shared<const Graph>(std::move(builder).build());
}

// `machines` machines of `each` devices, all equal.
inline std::shared_ptr<const Cluster> even_cluster(int machines, int each) {
  const std::string text = R"({"format":"stratoscope-cluster","version":1,"name":"even",
    "machines":[{"name":"m","count":)" +
                           std::to_string(machines) + R"(,
      "gpus":[{"type":"V100-SXM2-16GB","count":)" +
                           std::to_string(each) + R"(}],
      "fabric":{"kind":"nvlink2","bandwidth_GBps":100,"latency_us":2},
      "nic":{"kind":"100GbE","bandwidth_GBps":12.5,"latency_us":5}}],
    "network":{"latency_us":1}})";
  return std::make_shared<const Cluster>(parse_cluster(text, "even", GpuCatalogue::bundled()));
}

inline std::shared_ptr<const Timeline> random_timeline(std::shared_ptr<const Graph> graph,
                                                       std::shared_ptr<const Cluster> cluster,
                                                       int tasks, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  auto program = std::make_shared<Program>();
  program->graph = graph;
  program->cluster = cluster;
  const std::size_t devices = cluster->device_count();
  for (int t = 0; t < tasks; ++t) {
    Task task;
    task.op = OpId(below(graph->op_count()));
    task.device = DeviceId(below(devices));
    task.duration = Nanos(static_cast<std::int64_t>(200 + below(20'000)));
    const std::size_t pick = below(10);
    std::vector<ResourceId> resources;
    if (pick < 7 || devices < 2) {
      task.kind = pick == 0 ? TaskKind::Update : pick == 1 ? TaskKind::Concat : TaskKind::Compute;
      if (task.kind == TaskKind::Concat) task.tensor = graph->op(task.op).outputs[0];
      resources = {program->compute_stream(task.device)};
    } else if (pick < 9) {
      task.kind = TaskKind::Transfer;
      task.tensor = graph->op(task.op).outputs[0];
      task.target = DeviceId((task.device.index() + 1 + below(devices - 1)) % devices);
      task.bytes = Bytes(1 << 20);
      for (const LinkId link : cluster->path(task.device, task.target).links)
        resources.push_back(program->link(link));
    } else {
      task.kind = TaskKind::AllReduce;
      task.tensor = graph->op(task.op).outputs[0];
      task.device = DeviceId(0);
      task.bytes = Bytes(4 << 20);
      for (std::size_t d = 0; d < devices; ++d)
        resources.push_back(program->communication_stream(DeviceId(d)));
    }
    std::sort(resources.begin(), resources.end());
    for (const ResourceId resource : resources) program->resources.push(resource);
    program->resources.end_row();
    if (t > 0 && below(3) == 0)
      program->dependencies.push(
          TaskId(static_cast<std::size_t>(t) - 1 -
                 below(std::min<std::size_t>(static_cast<std::size_t>(t), 40))));
    program->dependencies.end_row();
    if (task.kind == TaskKind::Compute) {
      program->writes.push(program->buffers.next_id());
      program->buffers.push_back({graph->op(task.op).outputs[0], task.device,
                                  Bytes(static_cast<std::int64_t>(1 + below(400)) << 20)});
    }
    program->writes.end_row();
    program->reads.end_row();
    program->tasks.push_back(task);
  }
  for (std::size_t d = 0; d < devices; ++d) {
    program->residents.push_back({TensorId(0), DeviceId(d), Bytes(4'000'000'000)});
  }
  return std::make_shared<const Timeline>(Simulator().simulate(program));
}

inline std::shared_ptr<const Timeline> sample(int tasks, unsigned seed) {
  return random_timeline(chain_graph(40), even_cluster(2, 4), tasks, seed);
}

}  // namespace strato::test
