#include "core/program/value/offload.h"

#include <algorithm>
#include <iterator>

#include "core/program/value/tables.h"

namespace strato {
namespace {

// By the backward pass, as it is or through views.
bool is_read_backward(const Graph& graph, TensorId tensor) {
  return std::ranges::any_of(graph.consumers(tensor), [&](OpId reader) {
    if (graph.op(reader).phase == Phase::Backward) return true;
    if (graph.op(reader).phase != Phase::Forward || !is_alias(graph, reader) ||
        viewed(graph, reader) != tensor)
      return false;
    return std::ranges::any_of(graph.op(reader).outputs,
                               [&](TensorId output) { return is_read_backward(graph, output); });
  });
}

bool makes_activations(const Graph& graph, OpId op) {
  if (graph.op(op).phase != Phase::Forward || is_alias(graph, op)) return false;
  const auto& outputs = graph.op(op).outputs;
  return std::ranges::none_of(outputs,
                              [&](TensorId output) {
                                return graph.tensor(output).batch.kind == BatchKind::Partial;
                              }) &&
         std::ranges::any_of(outputs,
                             [&](TensorId output) { return is_read_backward(graph, output); });
}

bool has_state(const Graph& graph, OpId op) {
  return graph.op(op).phase == Phase::Update &&
         std::ranges::any_of(graph.op(op).inputs, [&](TensorId input) {
           return input.valid() && graph.tensor(input).role == TensorRole::OptimizerState;
         });
}

// Of what the first op of the backward pass reads, and its views.
bool is_read_first(const Graph& graph, OpId op) {
  const auto first = std::ranges::find(graph.ops(), Phase::Backward, &Op::phase);
  return first != graph.ops().end() && std::ranges::any_of(first->inputs, [&](TensorId input) {
           return input.valid() && graph.tensor(root_of(graph, input)).producer == op;
         });
}

}  // namespace

std::optional<Offload> offload_from(std::string_view name) {
  const auto at = std::ranges::find(kOffload, name);
  if (at == kOffload.end()) return std::nullopt;
  return static_cast<Offload>(at - kOffload.begin());
}

bool may_offload(const Graph& graph, OpId op) {
  return makes_activations(graph, op) || has_state(graph, op);
}

std::vector<OpId> kept_ones(const std::vector<OpId>& offloaded,
                            const std::vector<OpId>& recomputed) {
  std::vector<OpId> result;
  std::ranges::set_difference(offloaded, recomputed, std::back_inserter(result));
  return result;
}

bool has_host_memory(const Cluster& cluster) {
  for (const DeviceId device : cluster.devices().ids())
    if (cluster.path_to_host(device).links.empty()) return false;
  return true;
}

std::vector<OpId> offloaded_ops(const Graph& graph, Offload which) {
  std::vector<OpId> result;
  const bool states = which == Offload::States || which == Offload::All;
  const bool activations = which == Offload::Activations || which == Offload::All;
  for (const OpId op : graph.ops().ids())
    if ((states && has_state(graph, op)) ||
        (activations && makes_activations(graph, op) && !is_read_first(graph, op)))
      result.push_back(op);
  return result;
}

bool may_try_hosts(const Cluster& cluster) {
  constexpr std::size_t kMostDevices = 256;
  return cluster.device_count() <= kMostDevices && has_host_memory(cluster);
}

}  // namespace strato
