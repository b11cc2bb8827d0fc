#include "app/cli/study/strategy_summary.h"

#include <set>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

// Ops of a shard each, wherever they run; each (op, device) once.
std::set<std::pair<OpId, DeviceId>> placements(const Program& program) {
  std::set<std::pair<OpId, DeviceId>> placed;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)
      placed.insert({task.op, task.device});
  }
  return placed;
}

// A view of a tensor is the tensor: what is synchronised may be either of them.
TensorId behind_views(const Graph& graph, TensorId tensor) {
  while (graph.tensor(tensor).producer.valid()) {
    const Op& maker = graph.op(graph.tensor(tensor).producer);
    if (!maker.view || maker.inputs.empty() || !maker.inputs[0].valid()) break;
    tensor = maker.inputs[0];
  }
  return tensor;
}

enum How : int { AtServer = 1, ByCollective = 2 };

// How tensors are summed over devices: by a collective, or by sums on one device.
std::map<TensorId, int> summed(const Program& program) {
  std::map<TensorId, int> how;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::AllReduce || task.kind == TaskKind::ReduceScatter)
      how[behind_views(*program.graph, task.tensor)] |= ByCollective;
    if (task.kind == TaskKind::Sum) how[behind_views(*program.graph, task.tensor)] |= AtServer;
  }
  return how;
}

void count_gradients(const Program& program, StrategySummary& summary) {
  const Graph& graph = *program.graph;
  const std::map<TensorId, int> how = summed(program);
  double gradients = 0, bytes = 0;
  for (const Op& op : graph.ops()) {
    if (op.phase != Phase::Update) continue;
    for (const TensorId input : op.inputs) {
      if (!input.valid() || graph.tensor(input).role != TensorRole::Gradient) continue;
      const auto size = static_cast<double>(graph.tensor(input).bytes().value);
      ++gradients;
      bytes += size;
      const auto found = how.find(behind_views(graph, input));
      if (found == how.end()) continue;
      const bool collective = (found->second & ByCollective) != 0;
      (collective ? summary.allreduce : summary.ps) += 1;
      (collective ? summary.allreduce_bytes : summary.ps_bytes) += size;
    }
  }
  if (gradients == 0) return;
  summary.allreduce /= gradients;
  summary.ps /= gradients;
  if (bytes == 0) return;
  summary.allreduce_bytes /= bytes;
  summary.ps_bytes /= bytes;
}

}  // namespace

StrategySummary summarise(const Problem& problem, Strategy strategy) {
  strategy.bucket = Bytes(0);  // fused gradients would hide behind the first of their bucket
  const auto program = simulate_strategy(problem, strategy, false).program;
  StrategySummary summary;
  std::set<OpId> ops;
  for (const GpuType& type : problem.cluster->gpu_types()) summary.gpus[type.name] = 0;
  for (const auto& [op, device] : placements(*program)) {
    ops.insert(op);
    summary.gpus[problem.cluster->gpu(device).name] += 1;
  }
  for (auto& [type, count] : summary.gpus)
    if (!ops.empty()) count /= static_cast<double>(ops.size());
  count_gradients(*program, summary);
  return summary;
}

std::map<std::string, int> duplicated_types(const Problem& problem, const Strategy& strategy) {
  std::map<std::string, int> counts;
  for (const OpId op : strategy.duplicated) ++counts[problem.graph->op(op).type];
  return counts;
}

}  // namespace strato::cli
