#include "core/sim/explain/column_exchanges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/program/value/collective.h"
#include "core/program/value/program_task.h"
#include "core/program/value/tables.h"
#include "core/sim/timeline/spans.h"

namespace strato {
namespace {

// A parameter, or what an update reads.
bool is_of_variable(const Graph& graph, TensorId tensor) {
  return graph.tensor(tensor).role == TensorRole::Parameter ||
         std::ranges::any_of(graph.consumers(tensor),
                             [&](OpId reader) { return graph.op(reader).phase == Phase::Update; });
}

// Are samples swapped for experts, or the other way round?
bool is_of_experts(const Program& program, TaskId id) {
  const Task& task = program.tasks[id];
  if (task.kind != TaskKind::AllToAll) return false;
  const auto is_of_samples = [&](BufferId buffer) {
    return joined_axis(program.part_of(buffer), program.part_of(task)) == kBatchAxis;
  };
  return is_of_samples(program.reads[id.index()][0]) ||
         is_of_samples(program.writes[id.index()][0]);
}

class Columns {
 public:
  explicit Columns(const Program& program) : program_(program) {
    for (const Task& task : program.tasks)
      if (task.kind == TaskKind::Compute) computed_.emplace(task.op, task.device);
  }

  bool exchange(TaskId id) const {
    const Task& task = program_.tasks[id];
    const bool sums = task.kind == TaskKind::AllReduce || task.kind == TaskKind::ReduceScatter;
    const bool brings = task.kind == TaskKind::AllGather || task.kind == TaskKind::AllToAll ||
                        is_among_makers(task);
    if (is_of_experts(program_, id)) return false;
    return (sums && program_.stream_of(id) == Stream::TensorCommunication) ||
           (brings && reads_slice(id) && !is_of_variable(*program_.graph, task.tensor));
  }

 private:
  bool reads_slice(TaskId id) const {
    return std::ranges::any_of(program_.reads[id.index()], [&](BufferId buffer) {
      return !program_.part_of(buffer).cuts().empty();
    });
  }
  bool is_among_makers(const Task& task) const {
    if (task.kind != TaskKind::Transfer) return false;
    const Graph& graph = *program_.graph;
    const OpId maker = graph.tensor(root_of(graph, task.tensor)).producer;
    return computed_.contains({maker, task.device}) && computed_.contains({maker, task.target});
  }

  const Program& program_;
  std::set<std::pair<OpId, DeviceId>> computed_;
};

template <class IsExchange>
ColumnExchanges exchanges_of(const Timeline& timeline, const IsExchange& is_exchange) {
  const Program& program = *timeline.program;
  ColumnExchanges result;
  IdVector<DeviceId, std::vector<Span>> exchanging(program.cluster->device_count());
  for (const TaskId id : program.tasks.ids()) {
    if (!is_exchange(id)) continue;
    ++result.tasks;
    std::vector<DeviceId> devices = all_members_of(program, id);
    if (devices.empty()) devices = {program.tasks[id].device};
    if (const DeviceId target = program.tasks[id].target; target.valid()) devices.push_back(target);
    for (const DeviceId device : devices)
      exchanging[device].push_back({timeline.tasks[id].start, timeline.tasks[id].end});
  }
  if (result.tasks == 0) return result;
  IdVector<DeviceId, std::vector<Span>> computing(exchanging.size());
  for (const TaskId id : program.tasks.ids())
    if (!is_communication(program.tasks[id].kind))
      computing[program.tasks[id].device].push_back(
          {timeline.tasks[id].start, timeline.tasks[id].end});
  std::int64_t devices = 0;
  for (const DeviceId device : exchanging.ids()) {
    if (exchanging[device].empty()) continue;
    const Spans spans = united(std::move(exchanging[device]));
    result.taken += length(spans);
    result.exposed += length(spans) - overlap(spans, united(std::move(computing[device])));
    ++devices;
  }
  result.taken = result.taken / devices;
  result.exposed = result.exposed / devices;
  return result;
}

}  // namespace

ColumnExchanges column_exchanges(const Timeline& timeline) {
  const Columns columns(*timeline.program);
  return exchanges_of(timeline, [&](TaskId id) { return columns.exchange(id); });
}

ColumnExchanges host_copies(const Timeline& timeline) {
  return exchanges_of(timeline,
                      [&](TaskId id) { return is_host_copy(timeline.program->tasks[id].kind); });
}

ColumnExchanges expert_exchanges(const Timeline& timeline) {
  return exchanges_of(timeline, [&](TaskId id) { return is_of_experts(*timeline.program, id); });
}

}  // namespace strato
