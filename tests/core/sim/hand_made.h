// Programs made by hand, task by task: any resources, any durations.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/sim/engine/simulate.h"
#include "tests/core/program/toy.h"

namespace strato::toy {

// Two machines of three GPUs: "a" with 2 GB/s to the network, "b" with 4 GB/s; 8 GB/s inside.
inline std::shared_ptr<const Cluster> uneven_cluster() {
  const auto machine = [](const char* name, const char* nic) {
    return std::string(R"({"name":")") + name +
           R"(","gpus":[{"type":"GTX-1080-Ti","count":3}],)"
           R"("fabric":{"bandwidth_GBps":8,"latency_us":0},"nic":{"bandwidth_GBps":)" +
           nic + R"(,"latency_us":0}})";
  };
  return std::make_shared<const Cluster>(parse_cluster(
      R"({"format":"stratoscope-cluster","version":1,"name":"uneven","machines":[)" +
          machine("a", "2") + "," + machine("b", "4") + R"(],"network":{"latency_us":0}})",
      "uneven.json", GpuCatalogue::bundled()));
}

struct Extra {
  std::vector<TaskId> after = {};
  std::int64_t latency = 0;
  std::int32_t priority = 0;
  std::int32_t issue = 0;
};

class HandMade {
 public:
  HandMade() : HandMade(uneven_cluster()) {}
  explicit HandMade(std::shared_ptr<const Cluster> cluster) {
    program_.graph = training_chain(1, 1, 8);
    program_.cluster = std::move(cluster);
  }

  TaskId compute(int device, std::int64_t duration, const Extra& extra = {}) {
    return add(TaskKind::Compute, {program_.compute_stream(at(device))}, duration, extra);
  }
  TaskId transfer(int from, int to, std::int64_t duration, const Extra& extra = {}) {
    return add(TaskKind::Transfer, links(from, to), duration, extra);
  }
  // Around the members in their order.
  TaskId ring(const std::vector<int>& members, std::int64_t duration, const Extra& extra = {}) {
    std::vector<ResourceId> resources;
    for (std::size_t i = 0; i < members.size(); ++i) {
      resources.push_back(program_.communication_stream(at(members[i])));
      for (const ResourceId link : links(members[i], members[(i + 1) % members.size()]))
        resources.push_back(link);
    }
    return add(TaskKind::AllReduce, resources, duration, extra);
  }
  TaskId on_links(std::vector<ResourceId> resources, std::int64_t duration,
                  const Extra& extra = {}) {
    return add(TaskKind::Broadcast, std::move(resources), duration, extra);
  }
  std::vector<ResourceId> links(int from, int to) const {
    std::vector<ResourceId> result;
    for (const LinkId link : program_.cluster->path(at(from), at(to)).links)
      result.push_back(program_.link(link));
    return result;
  }

  void issue_after_transfers() { program_.issues_after_transfers = true; }

  const Program& program() const { return program_; }
  Timeline run(const SimulateOptions& options) const {
    return Simulator().simulate(std::make_shared<const Program>(program_), options);
  }
  Timeline exclusive() const { return run({}); }
  Timeline fair() const { return run({.priorities = true, .fair_links = true}); }

 private:
  static DeviceId at(int device) { return DeviceId(static_cast<std::size_t>(device)); }
  TaskId add(TaskKind kind, std::vector<ResourceId> resources, std::int64_t duration,
             const Extra& extra) {
    Task task;
    task.kind = kind;
    task.op = OpId(0);
    task.tensor = TensorId(0);
    task.device = DeviceId(0);
    task.duration = Nanos(duration);
    task.latency = Nanos(extra.latency);
    task.priority = extra.priority;
    task.issue = extra.issue;
    std::sort(resources.begin(), resources.end());
    resources.erase(std::unique(resources.begin(), resources.end()), resources.end());
    for (const ResourceId resource : resources) program_.resources.push(resource);
    program_.resources.end_row();
    for (const TaskId before : extra.after) program_.dependencies.push(before);
    program_.dependencies.end_row();
    program_.writes.end_row();
    program_.reads.end_row();
    program_.tasks.push_back(task);
    return TaskId(program_.tasks.size() - 1);
  }
  Program program_;
};

}  // namespace strato::toy
