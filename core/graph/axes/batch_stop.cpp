#include "core/graph/axes/batch_stop.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato {
namespace {

constexpr double kWorthTelling = 0.1;

// By tensor: the op for whose sake it is Whole; an invalid id: for none's.
using Stops = IdVector<TensorId, OpId>;

// An op that reads what another one mixed is stopped by that one, else by itself if it reads
// samples; in either case it makes no samples.
OpId stop_of(const Graph& graph, OpId id, const Stops& stops) {
  OpId stop;
  bool reads_samples = false;
  for (const TensorId input : graph.op(id).inputs) {
    if (!input.valid()) continue;
    reads_samples = reads_samples || graph.tensor(input).batch.kind != BatchKind::Whole;
    const OpId earlier = stops[input];
    if (earlier.valid() && (!stop.valid() || earlier < stop)) stop = earlier;
  }
  return stop.valid() || !reads_samples ? stop : id;
}

}  // namespace

std::optional<BatchStop> batch_stop(const Graph& graph) {
  if (graph.batch() < 2) return std::nullopt;
  Stops stops(graph.tensor_count());
  IdVector<OpId, double> stopped(graph.op_count(), 0.0);
  double all = 0;
  for (const OpId id : graph.ops().ids()) {
    const Op& op = graph.op(id);
    if (op.phase == Phase::Update) continue;
    all += op.work.flops;
    if (op.split != Splittability::None) continue;
    const OpId stop = stop_of(graph, id, stops);
    if (!stop.valid()) continue;
    stopped[stop] += op.work.flops;
    for (const TensorId output : op.outputs) stops[output] = stop;
  }
  const auto most = std::ranges::max_element(stopped);
  if (most == stopped.end() || *most <= 0) return std::nullopt;
  return BatchStop{OpId(static_cast<std::size_t>(most - stopped.begin())), *most / all};
}

std::string describe_batch_stop(const Graph& graph) {
  const std::optional<BatchStop> stop = batch_stop(graph);
  if (!stop || stop->share < kWorthTelling) return {};
  const Op& op = graph.op(stop->op);
  return fmt::format(
      "{:.0f} % of the work cannot be divided by samples: they are no longer apart behind op "
      "\"{}\" ({})",
      stop->share * 100, op.name, op.type);
}

}  // namespace strato
