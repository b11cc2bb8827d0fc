#include "core/sim/explain/what_if.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "core/base/parallel.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/explain/critical_path.h"

namespace strato {
namespace {

using What = WhatIf::What;

// Speeds that are tried: a tenth less time, or none; both are exact in integers.
enum class Speed : std::uint8_t { Faster, Free };
Nanos part_left(Nanos time, Speed speed) {
  return speed == Speed::Faster ? time - time / 10 : Nanos(0);
}

// A task's bandwidth part when one of its links is faster.
Nanos bandwidth_left(const Program& program, TaskId id, LinkId faster, Speed speed) {
  const Task& task = program.tasks[id];
  const Nanos moving = task.duration - task.latency;
  double others = 0, mine = 0;  // seconds a byte
  for (ResourceId resource : program.resources[id.index()]) {
    if (!program.is_link(resource)) continue;
    const LinkId link = program.link_of(resource);
    const double pace = 1 / program.cluster->links()[link].bandwidth;
    double& slowest = link == faster ? mine : others;
    slowest = std::max(slowest, pace);
  }
  if (mine == 0 || mine < others) return moving;
  const Nanos limit = nanos_from(static_cast<double>(moving.value) * (others / mine));
  return std::max(part_left(moving, speed), std::min(moving, limit));
}

bool computes(const Task& task, OpId op) {
  return task.op == op && (task.kind == TaskKind::Compute || task.kind == TaskKind::Update);
}

bool uses(const Program& program, TaskId id, ResourceId resource) {
  const auto resources = program.resources[id.index()];
  return std::binary_search(resources.begin(), resources.end(), resource);
}

bool concerns(const Program& program, TaskId id, const WhatIf& change) {
  const Task& task = program.tasks[id];
  const bool moves = is_communication(task.kind);
  switch (change.what) {
    case What::Op:
      return computes(task, change.op);
    case What::Device:
      return !moves && task.device == change.device;
    case What::GpuType:
      return !moves && program.cluster->device(task.device).type == change.gpu;
    case What::Devices:
      return !moves;
    case What::Link:
      return moves && uses(program, id, program.link(change.link));
    case What::Network:
    case What::Latency:
      return moves;
  }
  return false;
}

Nanos latency_left(const Task& task, const WhatIf& change, Speed speed) {
  return change.what == What::Latency ? part_left(task.latency, speed) : task.latency;
}

Nanos shorter(const Program& program, TaskId id, const WhatIf& change, Speed speed) {
  const Task& task = program.tasks[id];
  if (!concerns(program, id, change)) return task.duration;
  if (!is_communication(task.kind)) return part_left(task.duration, speed);
  if (change.what == What::Latency)
    return latency_left(task, change, speed) + task.duration - task.latency;
  return task.latency + (change.what == What::Link
                             ? bandwidth_left(program, id, change.link, speed)
                             : part_left(task.duration - task.latency, speed));
}

// Simulates one change after another on its own copy of the program.
class Workshop {
 public:
  explicit Workshop(const Timeline& timeline)
      : original_(*timeline.program),
        options_(timeline.options),
        cluster_(std::make_shared<Cluster>(*original_.cluster)),
        program_(std::make_shared<Program>(original_)) {
    program_->cluster = cluster_;
  }

  Nanos step_time(const WhatIf& change, Speed speed) {
    for (std::size_t i = 0; i < original_.tasks.size(); ++i) {
      Task& task = program_->tasks[TaskId(i)];
      task.duration = std::max(Nanos(1), shorter(original_, TaskId(i), change, speed));
      task.latency = latency_left(original_.tasks[TaskId(i)], change, speed);
    }
    if (options_.fair_links) widen_links(change, speed);
    simulator_.simulate(program_, options_, timeline_);
    return timeline_.step_time;
  }

 private:
  // Shared fairly, links have a capacity beside the durations of what uses them.
  void widen_links(const WhatIf& change, Speed speed) {
    const auto& links = original_.cluster->links();
    for (std::size_t l = 0; l < links.size(); ++l) {
      const bool wider =
          change.what == What::Network || (change.what == What::Link && change.link == LinkId(l));
      const double factor = !wider ? 1 : speed == Speed::Faster ? 1 / 0.9 : 1e9;
      // The copy is ours and not const; nothing else of a cluster depends on this in a simulation.
      const_cast<Link&>(cluster_->links()[LinkId(l)]).bandwidth =
          links[LinkId(l)].bandwidth * factor;
    }
  }

  const Program& original_;
  SimulateOptions options_;
  std::shared_ptr<Cluster> cluster_;
  std::shared_ptr<Program> program_;
  Simulator simulator_;
  Timeline timeline_;
};

void ask_ops(const Timeline& timeline, std::size_t count, std::vector<WhatIf>& questions) {
  const Program& program = *timeline.program;
  std::map<OpId, Nanos> on_path;
  for (const CriticalStep& step : critical_path(timeline)) {
    const Task& task = program.tasks[step.task];
    if (computes(task, task.op))
      on_path[task.op] += timeline.tasks[step.task].end - timeline.tasks[step.task].start;
  }
  std::vector<std::pair<OpId, Nanos>> ops(on_path.begin(), on_path.end());
  std::ranges::stable_sort(ops, std::greater(), &std::pair<OpId, Nanos>::second);
  if (ops.size() > count) ops.resize(count);
  for (const auto& [op, time] : ops)
    questions.push_back({.what = What::Op, .op = op, .name = program.graph->op(op).name});
}

std::vector<bool> used_resources(const Program& program) {
  std::vector<bool> used(program.resource_count());
  for (std::size_t i = 0; i < program.tasks.size(); ++i)
    for (ResourceId resource : program.resources[i]) used[resource.index()] = true;
  return used;
}

void ask_devices(const Program& program, const std::vector<bool>& used,
                 std::vector<WhatIf>& questions) {
  const Cluster& cluster = *program.cluster;
  std::set<GpuTypeId> types;
  std::size_t devices = 0;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (!used[program.compute_stream(DeviceId(d)).index()]) continue;
    const Device& device = cluster.device(DeviceId(d));
    questions.push_back({.what = What::Device, .device = DeviceId(d), .name = device.name});
    types.insert(device.type);
    ++devices;
  }
  if (types.size() > 1)
    for (GpuTypeId type : types)
      questions.push_back(
          {.what = What::GpuType, .gpu = type, .name = "all " + cluster.gpu_types()[type].name});
  if (devices > 1) questions.push_back({.what = What::Devices, .name = "all devices"});
}

void ask_links(const Program& program, const std::vector<bool>& used,
               std::vector<WhatIf>& questions) {
  bool any = false;
  for (const LinkId link : program.cluster->links().ids()) {
    if (!used[program.link(link).index()]) continue;
    questions.push_back(
        {.what = What::Link, .link = link, .name = program.cluster->links()[link].name});
    any = true;
  }
  if (!any) return;
  questions.push_back({.what = What::Network, .name = "the network"});
  questions.push_back({.what = What::Latency, .name = "latencies"});
}

}  // namespace

std::vector<WhatIf> what_if(const Timeline& timeline, const WhatIfOptions& options,
                            std::stop_token stop) {
  std::vector<WhatIf> questions;
  const std::vector<bool> used = used_resources(*timeline.program);
  ask_ops(timeline, options.ops, questions);
  if (options.devices) ask_devices(*timeline.program, used, questions);
  if (options.links) ask_links(*timeline.program, used, questions);

  const std::size_t runs = 2 * questions.size();
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t workers = std::clamp<std::size_t>(
      options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores, 1,
      std::max<std::size_t>(runs, 1));
  parallel_for(workers, static_cast<int>(workers), [&](std::size_t worker) {
    Workshop workshop(timeline);
    for (std::size_t run = worker; run < runs && !stop.stop_requested(); run += workers) {
      WhatIf& asked = questions[run / 2];
      const Speed speed = run % 2 == 0 ? Speed::Faster : Speed::Free;
      (speed == Speed::Faster ? asked.faster : asked.free) = workshop.step_time(asked, speed);
    }
  });
  if (stop.stop_requested()) return {};
  std::ranges::stable_sort(questions, {},
                           [](const WhatIf& each) { return std::pair(each.free, each.faster); });
  return questions;
}

}  // namespace strato
