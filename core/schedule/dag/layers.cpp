#include "core/schedule/dag/layers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

bool is_parameter(const Graph& graph, TensorId tensor) {
  return tensor.valid() && graph.tensor(tensor).role == TensorRole::Parameter;
}

// Finds layers op by op: their numbers are those of their first ops until the end.
class LayerFinder {
 public:
  explicit LayerFinder(const Graph& graph) : graph_(graph), layer_(graph.op_count(), -1) {
    first_reader_.assign(graph.tensor_count(), -1);
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      if (is_forward(graph.op(OpId(i)))) layer_[i] = forward_layer(i);
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      if (layer_[i] < 0) layer_[i] = backward_layer(i);
  }

  Layers take() && {
    Layers layers;
    std::vector<std::int32_t> number(layer_.size(), -1);
    for (std::int32_t& layer : layer_) {
      std::int32_t& mine = number[at(layer)];
      if (mine < 0) mine = layers.count++;
      layers.of_op.push_back(mine);
    }
    return layers;
  }

 private:
  std::int32_t forward_layer(std::size_t op) {
    std::int32_t shared = -1, before = -1;
    bool reads_parameter = false;
    for (const TensorId input : graph_.op(OpId(op)).inputs) {
      if (!input.valid()) continue;
      if (is_parameter(graph_, input)) {
        reads_parameter = true;
        std::int32_t& first = first_reader_[input.index()];
        if (first < 0) first = static_cast<std::int32_t>(op);
        if (shared < 0 && first != static_cast<std::int32_t>(op)) shared = layer_[at(first)];
      } else if (const OpId producer = graph_.tensor(input).producer; producer.valid()) {
        before = std::max(before, layer_[producer.index()]);
      }
    }
    if (shared >= 0) return shared;
    return reads_parameter || before < 0 ? static_cast<std::int32_t>(op) : before;
  }

  std::int32_t backward_layer(std::size_t op) const {
    const OpId forward = graph_.op(OpId(op)).forward;
    if (forward.valid() && layer_[forward.index()] >= 0) return layer_[forward.index()];
    for (const TensorId input : graph_.op(OpId(op)).inputs)
      if (input.valid() && graph_.tensor(input).producer.valid())
        return layer_[graph_.tensor(input).producer.index()];
    return static_cast<std::int32_t>(op);
  }

  const Graph& graph_;
  std::vector<std::int32_t> layer_, first_reader_;
};

// The sequence that is cut: layers with their work, and the bytes of activations that a cut before
// each crosses.
struct Sequence {
  std::vector<double> work_before, bytes_across;  // by place of a cut, 0 .. layers
};

Sequence sequence_of(const Problem& problem, const Layers& layers) {
  const Graph& graph = *problem.graph;
  const std::size_t count = at(layers.count);
  Sequence sequence{std::vector<double>(count + 1, 0), std::vector<double>(count + 2, 0)};
  const std::vector<Nanos> times = mean_op_times(graph, *problem.cluster, *problem.cost);
  for (std::size_t i = 0; i < times.size(); ++i)
    sequence.work_before[at(layers.of_op[i]) + 1] += static_cast<double>(times[i].value);
  std::partial_sum(sequence.work_before.begin(), sequence.work_before.end(),
                   sequence.work_before.begin());
  std::vector<double>& bytes = sequence.bytes_across;
  for (std::size_t t = 0; t < graph.tensor_count(); ++t) {
    const OpId producer = graph.tensor(TensorId(t)).producer;
    if (!producer.valid() || !is_forward(graph.op(producer))) continue;
    std::int32_t low = layers.of_op[producer.index()], high = low;
    for (const OpId reader : graph.consumers(TensorId(t))) {
      if (!is_forward(graph.op(reader))) continue;
      low = std::min(low, layers.of_op[reader.index()]);
      high = std::max(high, layers.of_op[reader.index()]);
    }
    const auto size = static_cast<double>(graph.tensor(TensorId(t)).bytes().value);
    bytes[at(low) + 1] += size;
    bytes[at(high) + 1] -= size;
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return sequence;
}

// Chooses, of the cuts from `first` to `last` that are near enough to `target`, the one that the
// fewest bytes cross; where none is, the nearest.
std::size_t best_cut(const Sequence& sequence, std::size_t first, std::size_t last, double target,
                     double slack) {
  const auto off = [&](std::size_t cut) { return std::abs(sequence.work_before[cut] - target); };
  const auto better = [&](std::size_t a, std::size_t b) {
    const bool a_near = off(a) <= slack, b_near = off(b) <= slack;
    if (a_near != b_near) return a_near;
    if (a_near && sequence.bytes_across[a] != sequence.bytes_across[b])
      return sequence.bytes_across[a] < sequence.bytes_across[b];
    return off(a) < off(b);
  };
  std::size_t best = first;
  for (std::size_t cut = first + 1; cut <= last; ++cut)
    if (better(cut, best)) best = cut;
  return best;
}

// The block of each layer.
std::vector<std::int32_t> in_blocks(const Problem& problem, const Layers& layers,
                                    std::span<const double> speeds) {
  constexpr double kSlack = 0.2;  // of a block's share: how far a person moves a cut to save bytes
  const std::size_t count = at(layers.count);
  CHECK(!speeds.empty() && speeds.size() <= count, "blocks without a layer");
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const Sequence sequence = sequence_of(problem, layers);
  std::vector<std::int32_t> block_of(count);
  std::size_t from = 0;
  double target = 0;
  for (std::size_t block = 0; block < speeds.size(); ++block) {
    const double share = sequence.work_before.back() * speeds[block] / all;
    target += share;
    const std::size_t others = speeds.size() - block - 1;  // each gets a layer
    const std::size_t to =
        others == 0 ? count : best_cut(sequence, from + 1, count - others, target, kSlack * share);
    std::fill(block_of.begin() + static_cast<std::ptrdiff_t>(from),
              block_of.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int32_t>(block));
    from = to;
  }
  return block_of;
}

// The device of each layer, a block each.
std::vector<DeviceId> blocks_on_devices(const Problem& problem, const Layers& layers) {
  const auto times = graph_times(problem);
  const std::vector<DeviceId> devices = devices_for(*problem.cluster, times, at(layers.count));
  std::vector<double> speeds;
  for (const DeviceId device : devices)
    speeds.push_back(1 / std::max(1e-9, to_seconds(times[problem.cluster->device(device).type])));
  std::vector<DeviceId> device_of;
  for (const std::int32_t block : in_blocks(problem, layers, speeds))
    device_of.push_back(devices[at(block)]);
  return device_of;
}

std::vector<int> forward_readers(const Graph& graph) {
  std::vector<int> readers(graph.tensor_count(), 0);
  for (const Op& op : graph.ops()) {
    if (!is_forward(op)) continue;
    for (const TensorId input : op.inputs)
      if (is_parameter(graph, input)) ++readers[input.index()];
  }
  return readers;
}

// Marks the forward ops that step through a sequence.
std::vector<bool> recurrent_ops(const Graph& graph) {
  constexpr int kSteps = 4;  // readers of one parameter; a tied embedding has two
  const std::vector<int> readers = forward_readers(graph);
  std::vector<bool> recurrent(graph.op_count());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    if (!is_forward(op) || op.family == OpFamily::Embedding) continue;
    recurrent[i] =
        op.family == OpFamily::Recurrent || std::ranges::any_of(op.inputs, [&](TensorId input) {
          return input.valid() && readers[input.index()] >= kSteps;
        });
  }
  return recurrent;
}

// The device of each layer, layer by layer; those that are neither recurrent nor embeddings form
// one stage with the others around them, unless they are much work behind a recurrent one.
std::vector<DeviceId> round_robin(const Problem& problem, const Layers& layers) {
  constexpr double kMuch = 0.02;  // of the whole work
  const Graph& graph = *problem.graph;
  enum Kind : char { Little, Much, Embedding, Recurrent };
  const Sequence sequence = sequence_of(problem, layers);
  std::vector<Kind> kind(at(layers.count), Little);
  for (std::size_t l = 0; l < kind.size(); ++l)
    if (sequence.work_before[l + 1] - sequence.work_before[l] >=
        kMuch * sequence.work_before.back())
      kind[l] = Much;
  const std::vector<bool> recurrent = recurrent_ops(graph);
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (!is_forward(graph.op(OpId(i)))) continue;
    Kind& mine = kind[at(layers.of_op[i])];
    if (graph.op(OpId(i)).family == OpFamily::Embedding) mine = std::max(mine, Embedding);
    if (recurrent[i]) mine = Recurrent;
  }
  std::vector<DeviceId> device_of;
  std::int64_t stage = 0;
  bool started = false;  // what comes before the first one belongs to it
  Kind current = Little;
  for (const Kind layer : kind) {
    if (layer >= Embedding || (layer == Much && current != Much)) {
      if (started) ++stage;
      started = true;
      current = layer;
    }
    device_of.emplace_back(stage % static_cast<std::int64_t>(problem.cluster->device_count()));
  }
  return device_of;
}

}  // namespace

Layers layers_of(const Graph& graph) { return LayerFinder(graph).take(); }

bool is_recurrent(const Problem& problem) {
  const Graph& graph = *problem.graph;
  const std::vector<Nanos> times = mean_op_times(graph, *problem.cluster, *problem.cost);
  const std::vector<bool> recurrent = recurrent_ops(graph);
  Nanos all, some;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!is_forward(graph.op(OpId(i)))) continue;
    all += times[i];
    if (recurrent[i]) some += times[i];
  }
  return some.value > 0 && some * 2 >= all;
}

std::vector<DeviceId> devices_for(const Cluster& cluster, const IdVector<GpuTypeId, Nanos>& times,
                                  std::size_t parts) {
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  std::ranges::stable_sort(devices, {}, [&](DeviceId d) { return times[cluster.device(d).type]; });
  devices.resize(std::min(devices.size(), parts));
  std::ranges::sort(devices);
  return devices;
}

std::vector<std::int32_t> layer_blocks(const Problem& problem, std::span<const double> speeds) {
  const Layers layers = layers_of(*problem.graph);
  const std::vector<std::int32_t> of_layer = in_blocks(problem, layers, speeds);
  std::vector<std::int32_t> result;
  for (const std::int32_t layer : layers.of_op) result.push_back(of_layer[at(layer)]);
  return result;
}

std::vector<DeviceId> expert_devices(const Problem& problem) {
  const Layers layers = layers_of(*problem.graph);
  const std::vector<DeviceId> of_layer =
      is_recurrent(problem) ? round_robin(problem, layers) : blocks_on_devices(problem, layers);
  std::vector<DeviceId> result;
  for (const std::int32_t layer : layers.of_op) result.push_back(of_layer[at(layer)]);
  return result;
}

}  // namespace strato
