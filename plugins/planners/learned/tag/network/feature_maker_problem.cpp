#include <array>
#include <limits>
#include <map>

#include "core/base/at.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"

namespace strato::tag {

DecisionPlaces places_of(const Decision& decision, const Cluster& cluster) {
  DecisionPlaces placement;
  placement.used.assign(cluster.groups().size(), 0);
  placement.share.assign(cluster.groups().size(), 0);
  std::int64_t weights = 0;
  for (const DeviceShare& share : decision.devices) weights += share.weight;
  for (const DeviceShare& share : decision.devices) {
    const DeviceGroupId group = cluster.device(share.device).group;
    placement.used[group.index()] += 1 / static_cast<float>(cluster.groups()[group].devices.size());
    placement.share[group.index()] +=
        static_cast<float>(share.weight) / static_cast<float>(weights);
  }
  return placement;
}

namespace {

class ProblemFeatureMaker {
 public:
  ProblemFeatureMaker(const Problem& problem, const std::vector<Decision>& actions)
      : problem_(problem), actions_(actions) {}

  std::shared_ptr<const ProblemFeatures> make() && {
    measure();
    fill_op_groups();
    fill_device_groups();
    fill_edges();
    fill_actions();
    return features_;
  }

 private:
  // Times and bandwidths that everything else is relative to.
  void measure() {
    const Cluster& cluster = *problem_.cluster;
    const std::size_t groups = problem_.grouping->size(), types = cluster.gpu_types().size();
    group_seconds_ = Table(groups, types);
    type_seconds_.assign(types, 0);
    for (std::size_t g = 0; g < groups; ++g)
      for (std::size_t t = 0; t < types; ++t) {
        Nanos sum;
        for (OpId op : problem_.grouping->group(GroupId(g)).ops)
          sum += problem_.cost->compute(op, GpuTypeId(t), problem_.graph->batch());
        group_seconds_.at(g, t) = static_cast<float>(to_seconds(sum));
        type_seconds_[t] += to_seconds(sum);
      }
    double throughput = 0;
    for (const Device& device : cluster.devices())
      throughput += 1 / std::max(type_seconds_[device.type.index()], 1e-9);
    scale_ = 1 / throughput;
    slowest_ = std::numeric_limits<double>::max();
    for (std::size_t a = 0; a < cluster.groups().size(); ++a)
      for (std::size_t b = 0; b < cluster.groups().size(); ++b)
        slowest_ = std::min(slowest_, cluster.bandwidth(DeviceGroupId(a), DeviceGroupId(b)));
  }
  // Mean over devices of a group's time.
  double relative_seconds(std::size_t group) const {
    double sum = 0;
    for (const Device& device : problem_.cluster->devices())
      sum += group_seconds_.at(group, device.type.index());
    return sum / static_cast<double>(problem_.cluster->device_count());
  }
  void fill_op_groups() {
    const Grouping& grouping = *problem_.grouping;
    const std::size_t n = grouping.size();
    double time = 0, parameters = 0, memory = std::numeric_limits<double>::max();
    for (const OpGroup& group : grouping.groups()) {
      time += to_seconds(group.compute_time);
      parameters += static_cast<double>(group.parameter_bytes.value);
    }
    for (const GpuType& type : problem_.cluster->gpu_types())
      memory = std::min(memory, static_cast<double>(type.memory.value));
    std::vector<double> in(n, 0), out(n, 0);
    for (const Grouping::Edge& edge : grouping.edges()) {
      out[edge.from.index()] += static_cast<double>(edge.bytes.value);
      in[edge.to.index()] += static_cast<double>(edge.bytes.value);
    }
    Table& op = features_->op = Table(n, kColumns.op);
    for (std::size_t g = 0; g < n; ++g) {
      const OpGroup& group = grouping.group(GroupId(g));
      const double seconds = to_seconds(group.compute_time);
      const auto bytes = static_cast<double>(group.parameter_bytes.value);
      const double synchronise = 2 * bytes / slowest_;
      const double compute = scale_ * part(seconds, time);
      op.at(g, 0) = log_ratio(seconds, time / static_cast<double>(n));
      op.at(g, 1) = log_ratio(bytes / slowest_, scale_);
      op.at(g, 2) = in_range(part(seconds, time), 0, 1);
      op.at(g, 3) = in_range(part(bytes, parameters), 0, 1);
      op.at(g, 4) = in_range(part(synchronise, synchronise + compute), 0, 1);
      op.at(g, 5) = in_range(4 * bytes / memory, 0, 2);
      op.at(g, 6) = log_ratio(in[g] / slowest_, scale_);
      op.at(g, 7) = log_ratio(out[g] / slowest_, scale_);
    }
  }
  void fill_device_groups() {
    const Cluster& cluster = *problem_.cluster;
    const std::size_t n = problem_.grouping->size(), m = cluster.groups().size();
    const double fastest = *std::ranges::min_element(type_seconds_);
    double resident = 0;
    for (const Tensor& tensor : problem_.graph->tensors())
      if (tensor.role == TensorRole::Parameter || tensor.role == TensorRole::OptimizerState)
        resident += static_cast<double>(tensor.bytes().value);
    Table& device = features_->device = Table(m, kColumns.device);
    Table& link = features_->link = Table(m * m, kColumns.link);
    Table& speed = features_->speed = Table(n, m);
    for (std::size_t d = 0; d < m; ++d) {
      const DeviceGroup& group = cluster.groups()[DeviceGroupId(d)];
      const std::size_t type = group.type.index();
      const auto memory = static_cast<double>(cluster.gpu_types()[group.type].memory.value);
      const auto count = static_cast<double>(group.devices.size());
      double outside = 0;
      for (std::size_t e = 0; e < m; ++e) {
        const double bandwidth = cluster.bandwidth(DeviceGroupId(d), DeviceGroupId(e));
        if (e != d) outside = std::max(outside, bandwidth);
        link.at(d * m + e, 0) = log_bandwidth(bandwidth);
        link.at(d * m + e, 1) = d == e ? 1 : 0;
        link.at(d * m + e, 2) = log_ratio(bandwidth, slowest_);
      }
      device.at(d, 0) = log_count(count);
      device.at(d, 1) = in_range(std::log2(std::max(memory / 1073741824.0, 1.0)) / 7, 0, 2);
      device.at(d, 2) = link.at(d * m + d, 0);
      device.at(d, 3) =
          in_range(std::log2(type_seconds_[type] / std::max(fastest, 1e-12)) / 4, 0, 2);
      device.at(d, 4) = in_range(count * scale_ / std::max(type_seconds_[type], 1e-9), 0, 1);
      device.at(d, 5) = in_range(part(2 * resident, memory), 0, 2);
      device.at(d, 6) = m > 1 ? log_bandwidth(outside) : 0;
      device.at(d, 7) = in_range(count / static_cast<double>(cluster.device_count()), 0, 1);
      for (std::size_t g = 0; g < n; ++g)
        speed.at(g, d) = log_ratio(group_seconds_.at(g, type), relative_seconds(g));
    }
  }
  void fill_edges() {
    const std::size_t n = problem_.grouping->size();
    std::map<std::pair<std::int32_t, std::int32_t>, std::array<double, 2>>
        edges;  // (target, source)
    std::vector<double> around(n, 0);
    for (const Grouping::Edge& edge : problem_.grouping->edges()) {
      const auto bytes = static_cast<double>(edge.bytes.value);
      if (edge.from == edge.to) continue;
      edges[{edge.to.value(), edge.from.value()}][0] += bytes;
      edges[{edge.from.value(), edge.to.value()}][1] += bytes;
      around[edge.from.index()] += bytes;
      around[edge.to.index()] += bytes;
    }
    for (std::size_t g = 0; g < n; ++g) {
      const auto id = static_cast<std::int32_t>(g);
      edges[{id, id}] = {0, 0};
    }
    features_->neighbours.resize(n);
    features_->op_op = Table(edges.size(), kColumns.op_op);
    for (std::size_t row = 0; const auto& [ends, bytes] : edges) {
      const auto& [target, source] = ends;
      const auto of = at(target);
      features_->targets.push_back(target);
      features_->sources.push_back(source);
      const double weight = part(bytes[0] + bytes[1], around[of]);
      if (target != source)
        features_->neighbours[of].push_back({source, static_cast<float>(weight)});
      features_->op_op.at(row, 0) = log_ratio(bytes[0] / slowest_, scale_);
      features_->op_op.at(row, 1) = log_ratio(bytes[1] / slowest_, scale_);
      features_->op_op.at(row, 2) = target == source ? 1 : 0;
      features_->op_op.at(row, 3) = in_range(weight, 0, 1);
      ++row;
    }
  }
  void fill_actions() {
    const std::size_t m = problem_.cluster->groups().size();
    const std::size_t count = actions_.size();
    features_->used = Table(count, m);
    features_->share = Table(count, m);
    features_->action = Table(count, kColumns.action);
    for (std::size_t a = 0; a < count; ++a) {
      const Decision& decision = actions_[a];
      const DecisionPlaces placement = places_of(decision, *problem_.cluster);
      std::ranges::copy(placement.used, features_->used.values.begin() + std::ptrdiff_t(a * m));
      std::ranges::copy(placement.share, features_->share.values.begin() + std::ptrdiff_t(a * m));
      features_->action.at(a, static_cast<std::size_t>(decision.mode)) = 1;
      features_->action.at(a, 4) = log_count(static_cast<double>(decision.devices.size()));
      const bool even = std::ranges::all_of(decision.devices, [&](const DeviceShare& share) {
        return share.weight == decision.devices.front().weight;
      });
      features_->action.at(a, 5) = even ? 0 : 1;
    }
  }

  const Problem& problem_;
  const std::vector<Decision>& actions_;
  std::vector<double> type_seconds_;  // whole graph, by GPU type
  Table group_seconds_;               // N x GPU types
  double scale_ = 1;                  // seconds of an ideal step: all work on all devices
  double slowest_ = 1;                // bandwidth of the slowest path
  const std::shared_ptr<ProblemFeatures> features_ = std::make_shared<ProblemFeatures>();
};

}  // namespace

std::shared_ptr<const ProblemFeatures> problem_features(const Problem& problem,
                                                        const std::vector<Decision>& actions) {
  return ProblemFeatureMaker(problem, actions).make();
}

}  // namespace strato::tag
