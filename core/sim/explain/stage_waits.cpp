#include "core/sim/explain/stage_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/disjoint_sets.h"
#include "core/program/value/collective.h"
#include "core/sim/explain/spans.h"

namespace strato {
namespace {

constexpr std::int32_t kNoStage = -1;

// Which devices are one stage: those that compute an op of the micro-batches together, and those
// that wait for each other within a pass.
class StageFinder {
 public:
  explicit StageFinder(const Program& program)
      : program_(program),
        devices_(program.cluster->device_count()),
        is_repeated_(program.graph->op_count()),
        computed_on_(program.graph->op_count()) {
    for (const Task& task : program.tasks)
      if (task.kind == TaskKind::Compute && task.micro > 0) is_repeated_[task.op] = 1;
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::Compute) continue;
      DeviceId& first = computed_on_[task.op];
      if (!first.valid()) first = task.device;
      if (is_pass(task)) devices_.join(first.value(), task.device.value());
    }
    while (join_cycles()) {
    }
  }

  bool is_pass(const Task& task) const {
    return task.kind == TaskKind::Compute && is_repeated_[task.op] != 0;
  }
  // By device; kNoStage: it has no part in any pass.
  IdVector<DeviceId, std::int32_t> stages() {
    IdVector<DeviceId, std::int32_t> result(program_.cluster->device_count(), kNoStage);
    for (const Task& task : program_.tasks)
      if (is_pass(task)) result[task.device] = devices_.root(task.device.value());
    return result;
  }

 private:
  // 2 * stage + backward
  std::size_t pass_of(OpId op) {
    const bool backward = program_.graph->op(op).phase == Phase::Backward;
    return 2 * at(devices_.root(computed_on_[op].value())) + backward;
  }

  // By pass those that read what it makes; views hand on what they see.
  std::vector<std::set<std::size_t>> readers() {
    const Graph& graph = *program_.graph;
    std::vector<std::set<std::size_t>> readers(2 * program_.cluster->device_count());
    IdVector<OpId, std::set<std::size_t>> made_by(graph.op_count());
    for (const OpId op : made_by.ids()) {
      std::set<std::size_t> from;
      for (const TensorId input : graph.op(op).inputs)
        if (input.valid() && graph.tensor(input).producer.valid())
          from.insert(made_by[graph.tensor(input).producer].begin(),
                      made_by[graph.tensor(input).producer].end());
      if (is_repeated_[op] != 0) {
        const std::size_t own = pass_of(op);
        for (const std::size_t pass : from)
          if (pass != own) readers[pass].insert(own);
        if (own % 2 == 1) readers[own - 1].insert(own);
        made_by[op] = {own};
      } else if (!computed_on_[op].valid()) {
        made_by[op] = std::move(from);
      }
    }
    return readers;
  }

  // Makes one stage of those whose passes wait for each other. Were there any?
  bool join_cycles() {
    const std::vector<std::set<std::size_t>> readers = this->readers();
    std::vector<std::size_t> passes;  // those that somebody reads from, which are few
    for (std::size_t pass = 0; pass < readers.size(); ++pass)
      if (!readers[pass].empty()) passes.push_back(pass);
    std::map<std::size_t, std::set<std::size_t>> reached;
    for (const std::size_t from : passes) {
      std::vector<std::size_t> next(readers[from].begin(), readers[from].end());
      while (!next.empty()) {
        const std::size_t pass = next.back();
        next.pop_back();
        if (reached[from].insert(pass).second)
          next.insert(next.end(), readers[pass].begin(), readers[pass].end());
      }
    }
    bool joined = false;
    for (const std::size_t a : passes)
      for (const std::size_t b : reached[a]) {
        if (a / 2 == b / 2 || !reached[b].contains(a)) continue;
        devices_.join(static_cast<std::int32_t>(a / 2), static_cast<std::int32_t>(b / 2));
        joined = true;
      }
    return joined;
  }

  const Program& program_;
  DisjointSets devices_;
  IdVector<OpId, char> is_repeated_;
  IdVector<OpId, DeviceId> computed_on_;  // the first device
};

// What a device does, and when its part of the passes begins and ends.
struct DeviceWork {
  std::vector<Span> occupied;
  Nanos first = Nanos::max(), last;
};

IdVector<DeviceId, DeviceWork> work_of(const Timeline& timeline, const StageFinder& finder,
                                       const IdVector<DeviceId, std::int32_t>& stages) {
  const Program& program = *timeline.program;
  IdVector<DeviceId, DeviceWork> work(stages.size());
  for (const TaskId id : program.tasks.ids()) {
    const Task& task = program.tasks[id];
    const Span span{timeline.tasks[id].start, timeline.tasks[id].end};
    std::vector<DeviceId> devices = members_of(program, id);
    if (devices.empty()) devices = {task.device};
    if (task.target.valid()) devices.push_back(task.target);
    const std::int32_t stage = stages[devices.front()];
    const auto is_here = [&](DeviceId device) { return stages[device] == stage; };
    if (is_communication(task.kind) && !std::ranges::all_of(devices, is_here)) continue;
    for (const DeviceId device : devices) {
      work[device].occupied.push_back(span);
      if (!finder.is_pass(task)) continue;
      work[device].first = std::min(work[device].first, span.begin);
      work[device].last = std::max(work[device].last, span.end);
    }
  }
  return work;
}

}  // namespace

std::vector<StageWait> stage_waits(const Timeline& timeline) {
  const Program& program = *timeline.program;
  if (program.micro_batches < 2) return {};
  StageFinder finder(program);
  const IdVector<DeviceId, std::int32_t> stages = finder.stages();
  const IdVector<DeviceId, DeviceWork> work = work_of(timeline, finder, stages);
  IdVector<DeviceId, StageWait> by_root(stages.size());
  std::vector<std::tuple<Nanos, DeviceId>> order;
  for (const DeviceId device : stages.ids()) {
    if (stages[device] == kNoStage) continue;
    const DeviceId root(static_cast<std::size_t>(stages[device]));
    StageWait& stage = by_root[root];
    stage.devices.push_back(device);
    const Spans occupied = united(work[device].occupied);
    const auto idle = [&](Nanos begin, Nanos end) {
      return end - begin - overlap(occupied, {{begin, end}});
    };
    stage.before += idle(Nanos(0), work[device].first);
    stage.between += idle(work[device].first, work[device].last);
    stage.after += idle(work[device].last, timeline.step_time);
    if (stage.devices.size() == 1) order.emplace_back(work[device].first, root);
    for (auto& [first, of] : order)
      if (of == root) first = std::min(first, work[device].first);
  }
  if (order.size() < 2) return {};
  std::ranges::sort(order);
  std::vector<StageWait> waits;
  for (const auto& [first, root] : order) {
    StageWait& stage = waits.emplace_back(std::move(by_root[root]));
    const auto count = static_cast<std::int64_t>(stage.devices.size());
    for (Nanos* time : {&stage.before, &stage.between, &stage.after}) *time = *time / count;
  }
  return waits;
}

}  // namespace strato
