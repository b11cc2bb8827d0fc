#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/at.h"
#include "core/base/digest.h"
#include "core/base/disjoint_sets.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/learned/gdp/policy/network.h"

namespace strato::gdp {
namespace {

static_assert(kFamilies == static_cast<std::int64_t>(OpFamily::Other) + 1);

// A share of a whole on a scale of decades: 1 for all of it, 0 for a millionth and less.
float decades(double share) {
  return static_cast<float>(std::clamp(1 + std::log10(std::max(share, 1e-6)) / 6, 0.0, 1.0));
}
float root(double share) { return static_cast<float>(std::sqrt(std::clamp(share, 0.0, 4.0))); }

// Of the paths between devices.
struct Bandwidths {
  double mean = 1e12;         // bytes a second, over all pairs
  std::vector<double> share;  // by device: mean over all others, as a share of the best path
};

Bandwidths bandwidths_of(const Cluster& cluster) {
  const std::size_t devices = cluster.device_count();
  Bandwidths result;
  result.share.resize(devices, 0);
  double best = 1, sum = 0, pairs = 0;
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to) {
      if (from == to) continue;
      const double here = cluster.path(DeviceId(from), DeviceId(to)).bandwidth;
      best = std::max(best, here);
      result.share[from] += here / static_cast<double>(devices - 1);
      sum += here;
      ++pairs;
    }
  if (pairs > 0) result.mean = std::max(sum / pairs, 1.0);
  for (double& value : result.share) value /= best;
  return result;
}

struct UnitSums {
  double time = 0, memory = 0, in = 0, out = 0;  // seconds, bytes, seconds, seconds
  double sync = 0;                               // seconds to send its parameters
  int ops = 0, degree_in = 0, degree_out = 0;
};

class FeatureMaker {
 public:
  FeatureMaker(const Problem& problem, const Dag& dag, const Units& units)
      : problem_(problem), dag_(dag), units_(units) {}

  GraphFeatures make(const std::vector<Decision>& choices, int neighbours) {
    add_up();
    GraphFeatures features;
    features.units = units_.count;
    features.neighbours = neighbours;
    features.choices = static_cast<std::int32_t>(choices.size());
    put_units(features);
    put_neighbours(features);
    put_choices(features, choices);
    return features;
  }

 private:
  std::size_t unit(NodeIndex op) const { return at(units_.of_op[at(op)]); }

  void add_up() {
    between_.resize(sums_.size());
    for (NodeIndex op = 0; op < static_cast<NodeIndex>(dag_.size()); ++op) {
      UnitSums& mine = sums_[unit(op)];
      mine.time += to_seconds(weights_.node[at(op)]);
      mine.memory += static_cast<double>(dag_.memory(op).value);
      mine.sync += parameter_seconds(graph_.op(OpId(at(op))));
      ++mine.ops;
      for (const DagEdge& edge : dag_.successors(op)) {
        if (unit(edge.node) == unit(op)) continue;
        const double seconds = to_seconds(weights_.edge[at(edge.edge)]);
        mine.out += seconds;
        ++mine.degree_out;
        sums_[unit(edge.node)].in += seconds;
        ++sums_[unit(edge.node)].degree_in;
        between_[unit(op)][unit(edge.node)] += seconds;
        between_[unit(edge.node)][unit(op)] += seconds;
      }
    }
  }

  // The time to send the parameters that the op updates.
  double parameter_seconds(const Op& op) const {
    if (op.phase != Phase::Update) return 0;
    double bytes = 0;
    for (const TensorId input : op.inputs)
      if (input.valid() && graph_.tensor(input).role == TensorRole::Parameter)
        bytes += static_cast<double>(graph_.tensor(input).bytes().value);
    return bytes / bandwidths_.mean;
  }

  // These columns are the same for all units: whether the graph fits on the largest and the
  // smallest device and on all together, how many there are, and what synchronising would cost.
  std::vector<float> whole_graph(double time) const {
    double memory = 0, sync = 0, capacity = 1;
    std::vector<double> sizes;
    for (const Device& device : cluster_.devices()) {
      sizes.push_back(static_cast<double>(cluster_.gpu_types()[device.type].memory.value));
      capacity += sizes.back();
    }
    for (const UnitSums& sums : sums_) memory += sums.memory, sync += sums.sync;
    return {root(memory / std::ranges::max(sizes)), root(memory / std::ranges::min(sizes)),
            root(memory / capacity), decades(sync / time),
            static_cast<float>(std::min(2.0, std::log2(static_cast<double>(sizes.size())) / 4))};
  }

  void put_units(GraphFeatures& features) const {
    double time = 1e-12, memory = 1, all_memory = 1, time_before = 0, memory_before = 0;
    for (const UnitSums& sums : sums_) time += sums.time, all_memory += sums.memory;
    for (const GpuType& gpu : cluster_.gpu_types())
      memory = std::max(memory, static_cast<double>(gpu.memory.value));
    const std::vector<float> whole = whole_graph(time);
    const std::vector<Nanos> top = t_levels(dag_, weights_), bottom = b_levels(dag_, weights_);
    double longest = 1e-12;
    for (std::size_t i = 0; i < top.size(); ++i)
      longest = std::max(longest, to_seconds(top[i] + bottom[i]));
    for (std::size_t u = 0; u < sums_.size(); ++u) {
      const UnitSums& sums = sums_[u];
      const Op& op = graph_.op(units_.leader[u]);
      features.unit.resize(features.unit.size() + kFamilies, 0.0F);
      features.unit.end()[static_cast<std::ptrdiff_t>(op.family) - kFamilies] = 1;
      put_shape(features.unit, op);
      const double before = to_seconds(top[units_.leader[u].index()]) / longest;
      const double behind = to_seconds(bottom[units_.leader[u].index()]) / longest;
      for (const float value :
           {decades(sums.time / time),
            root(sums.time / time * static_cast<double>(sums_.size()) / 4),
            decades(sums.memory / memory), root(sums.memory / memory), decades(sums.in / time),
            decades(sums.out / time), static_cast<float>(before), static_cast<float>(behind),
            static_cast<float>(
                std::min(2.0, std::log2(1.0 + sums.degree_in + sums.degree_out) / 5)),
            static_cast<float>(std::min(2.0, std::log2(1.0 + sums.ops) / 5)),
            decades(sums.sync / time), root(sums.sync / std::max(sums.time, 1e-12)),
            static_cast<float>(time_before / time), static_cast<float>(memory_before / all_memory)})
        features.unit.push_back(value);
      features.unit.insert(features.unit.end(), whole.begin(), whole.end());
      time_before += sums.time;
      memory_before += sums.memory;
      features.type.push_back(
          static_cast<std::int64_t>(digest_of(op.type).low % static_cast<std::uint64_t>(kTypes)));
    }
  }

  void put_shape(std::vector<float>& row, const Op& op) const {
    const Shape* shape = nullptr;
    for (const TensorId output : op.outputs)
      if (shape == nullptr && output.valid()) shape = &graph_.tensor(output).shape;
    for (std::size_t axis = 0; axis < kShapeColumns; ++axis) {
      const bool there = shape != nullptr && axis < shape->size();
      const double extent = there ? static_cast<double>((*shape)[axis]) : 0;
      row.push_back(static_cast<float>(std::min(2.0, std::log2(1 + extent) / 12)));
    }
  }

  void put_neighbours(GraphFeatures& features) const {
    const auto most = static_cast<std::size_t>(features.neighbours);
    for (const auto& row : between_) {
      std::vector<std::pair<double, std::int64_t>> nearest;  // largest first, ties by index
      for (const auto& [other, seconds] : row)
        nearest.emplace_back(-seconds, static_cast<std::int64_t>(other));
      const std::size_t kept = std::min(most, nearest.size());
      std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(kept),
                        nearest.end());
      for (std::size_t k = 0; k < most; ++k)
        features.adjacent.push_back(k < kept ? nearest[k].second : features.units);
    }
  }

  void put_choices(GraphFeatures& features, const std::vector<Decision>& choices) const {
    double fastest = 1e300, most_memory = 1, needed = 1;
    for (const UnitSums& sums : sums_) needed += sums.memory;
    for (const Nanos time : times_) fastest = std::min(fastest, to_seconds(time));
    for (const GpuType& gpu : cluster_.gpu_types())
      most_memory = std::max(most_memory, static_cast<double>(gpu.memory.value));
    for (const Decision& choice : choices) {
      const auto replicas = static_cast<double>(choice.devices.size());
      double slowest = 0, memory = 0, reach = 0;
      for (const DeviceShare& share : choice.devices) {
        slowest = std::max(slowest, to_seconds(times_[cluster_.device(share.device).type]));
        memory += static_cast<double>(cluster_.gpu(share.device).memory.value) / replicas;
        reach += bandwidths_.share[share.device.index()] / replicas;
      }
      const bool many = choice.devices.size() > 1;
      for (const double value :
           {replicas / static_cast<double>(cluster_.device_count()),
            std::max(fastest, 1e-12) / std::max(slowest, 1e-12), memory / most_memory, reach,
            many && choice.mode == Mode::ReplicateAllReduce ? 1.0 : 0.0,
            many && choice.mode == Mode::ReplicatePs ? 1.0 : 0.0, std::min(2.0, memory / needed)})
        features.choice.push_back(static_cast<float>(value));
    }
  }

  const Problem& problem_;
  const Dag& dag_;
  const Units& units_;
  const Graph& graph_ = *problem_.graph;
  const Cluster& cluster_ = *problem_.cluster;
  const TransferTimes transfers_{dag_, cluster_, *problem_.cost};
  const Weights weights_ = mean_weights(dag_, cluster_, transfers_);
  const IdVector<GpuTypeId, Nanos> times_ = graph_times(problem_);
  const Bandwidths bandwidths_ = bandwidths_of(cluster_);
  std::vector<UnitSums> sums_ = std::vector<UnitSums>(at(units_.count));
  std::vector<std::map<std::size_t, double>> between_;  // by unit: seconds by the other unit
};

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

}  // namespace

Units units_of(const Problem& problem, const Dag& dag, Colocate colocate) {
  const Graph& graph = *problem.graph;
  const std::size_t ops = graph.op_count();
  DisjointSets sets(ops);
  std::vector<std::int32_t> first(at(dag.colocation_count()), -1);
  for (std::size_t i = 0; i < ops; ++i) {
    const auto op = static_cast<std::int32_t>(i);
    if (const std::int32_t group = dag.colocation(op); group >= 0) {
      std::int32_t& of_group = first[at(group)];
      if (of_group < 0) of_group = op;
      sets.join(of_group, op);
    }
    const OpId forward = graph.op(OpId(i)).forward;
    if (colocate == Colocate::Gradients && forward.valid()) sets.join(forward.value(), op);
  }
  Units units;
  std::vector<std::int32_t> number(ops, -1);
  for (std::size_t i = 0; i < ops; ++i) {
    std::int32_t& mine = number[at(sets.root(static_cast<std::int32_t>(i)))];
    if (mine < 0) {
      mine = units.count++;
      units.leader.emplace_back(i);
    }
    OpId& leader = units.leader[at(mine)];
    if (!is_forward(graph.op(leader)) && is_forward(graph.op(OpId(i)))) leader = OpId(i);
    units.of_op.push_back(mine);
  }
  return units;
}

GraphFeatures features_of(const Problem& problem, const Dag& dag, const Units& units,
                          const std::vector<Decision>& choices, int neighbours) {
  return FeatureMaker(problem, dag, units).make(choices, neighbours);
}

}  // namespace strato::gdp
