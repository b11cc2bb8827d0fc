#include "core/search/local/memory_estimate.h"

#include <algorithm>
#include <functional>

#include "core/base/at.h"

namespace strato {

MemoryEstimate::MemoryEstimate(const Problem& problem)
    : problem_(problem), needs_(problem.grouping->size()), along_(groups_along(*problem.grouping)) {
  const Graph& graph = *problem.graph;
  std::vector<bool> counted(graph.tensors().size(), false);
  const auto kept_by = [&](TensorId input) {  // whoever reads it first keeps it
    if (!input.valid() || counted[input.index()]) return 0.0;
    const Tensor& tensor = graph.tensor(input);
    const double copies = tensor.role == TensorRole::Parameter        ? 2  // and its gradient
                          : tensor.role == TensorRole::OptimizerState ? 1
                                                                      : 0;
    counted[input.index()] = copies > 0;
    return copies * static_cast<double>(tensor.bytes().value);
  };
  for (std::size_t o = 0; o < graph.op_count(); ++o) {
    const Op& op = graph.op(OpId(o));
    double kept = 0, made = 0;
    for (TensorId input : op.inputs) kept += kept_by(input);
    for (TensorId output : op.outputs)
      if (output.valid()) made += static_cast<double>(graph.tensor(output).bytes().value);
    Need& need = needs_[problem.grouping->group_of(OpId(o))];
    need.kept += kept;
    need.activations += made / 2;  // about half of all ops are forward ones
    need.largest = std::max(need.largest, kept + made);
  }
}

double MemoryEstimate::bytes(GroupId group, const Decision& decision) const {
  const Need& need = needs_[group];
  const auto n = static_cast<double>(decision.devices.size());
  if (decision.mode == Mode::Duplicate) return need.kept + need.activations;
  if (decision.mode == Mode::ModelParallel)
    return std::max((need.kept + need.activations) / n, need.largest);
  return need.kept + need.activations / n;
}

double MemoryEstimate::capacity(DeviceId device) const {
  return static_cast<double>(problem_.cluster->gpu(device).memory.value);
}

double MemoryEstimate::fullness(GroupId group, const Decision& decision,
                                std::span<const double> loads) const {
  const double more = bytes(group, decision);
  double fullest = 0;
  for (const DeviceShare& share : decision.devices)
    fullest = std::max(
        fullest, (loads[share.device.index()] + more) / std::max(capacity(share.device), 1.0));
  return fullest;
}

void MemoryEstimate::add(GroupId group, const Decision& decision,
                         std::vector<double>& loads) const {
  const double more = bytes(group, decision);
  for (const DeviceShare& share : decision.devices) loads[share.device.index()] += more;
}

// Walks along the graph and goes on to the next bin when this one has its part of all bytes.
ActionVector MemoryEstimate::pack(std::span<const std::int32_t> bins,
                                  std::span<const Decision> actions, double alive) const {
  const auto device_of = [&](std::int32_t bin) { return actions[at(bin)].devices.front().device; };
  const auto need_of = [&](GroupId group) {
    return needs_[group].kept + alive * needs_[group].activations;
  };
  double room = 0, all = 0;
  for (std::int32_t bin : bins) room += capacity(device_of(bin));
  for (GroupId group : along_) all += need_of(group);
  ActionVector result(needs_.size(), bins.front());
  std::size_t bin = 0;
  double before = 0, end = capacity(device_of(bins[0])) / room * all;
  for (GroupId group : along_) {
    const double middle = before + need_of(group) / 2;
    while (middle > end && bin + 1 < bins.size())
      end += capacity(device_of(bins[++bin])) / room * all;
    result[group.index()] = bins[bin];
    before += need_of(group);
  }
  return result;
}

std::vector<ActionVector> MemoryEstimate::packings(std::span<const Decision> actions) const {
  std::vector<std::int32_t> single;  // actions on one device
  for (std::size_t a = 0; a < actions.size(); ++a)
    if (actions[a].devices.size() == 1) single.push_back(static_cast<std::int32_t>(a));
  const auto device_of = [&](std::int32_t a) { return actions[at(a)].devices.front().device; };
  std::ranges::stable_sort(single, {}, device_of);
  const auto repeated = std::ranges::unique(single, {}, device_of);
  single.erase(repeated.begin(), repeated.end());
  std::vector<std::int32_t> largest = single;
  std::ranges::stable_sort(largest, std::greater(),
                           [&](std::int32_t a) { return capacity(device_of(a)); });
  std::vector<ActionVector> result;
  const double smallest = largest.empty() ? 0 : capacity(device_of(largest.back()));
  for (std::size_t count = single.size(); count >= 2; count = (count + 1) / 2) {
    std::vector<std::int32_t> bins(largest.begin(),
                                   largest.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(bins, {}, device_of);  // neighbours along the graph stay in one machine
    for (double alive : {1.0, 0.0, 0.3}) {
      const ActionVector packing = pack(bins, actions, alive);
      ActionVector split = packing;  // the large ones
      for (std::size_t g = 0; g < split.size(); ++g)
        if (needs_[GroupId(g)].activations > smallest / 4) split[g] = 0;
      for (ActionVector one : {packing, split})
        if (std::ranges::find(result, one) == result.end()) result.push_back(std::move(one));
    }
    if (count == 2) break;
  }
  return result;
}

}  // namespace strato
