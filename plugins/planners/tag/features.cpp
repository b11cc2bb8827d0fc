#include "plugins/planners/tag/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/sim/timeline/feedback.h"

namespace strato::tag {
namespace {

float in_range(double value, double low, double high) {
  return static_cast<float>(std::clamp(value, low, high));
}

// log10(value / reference) / 4, from -1 (also for nothing at all) to 1.
float log_ratio(double value, double reference) {
  if (value <= 0 || reference <= 0) return -1;
  return in_range(std::log10(value / reference) / 4, -1, 1);
}

float log_bandwidth(double bytes_per_second) {
  return in_range(std::log10(std::max(bytes_per_second, 1.0) / 1e9) / 3, -1, 2);
}

float log_count(double count) { return in_range(std::log2(count) / 5, 0, 2); }

double part(double value, double of) { return of > 0 ? value / of : 0; }

}  // namespace

Digest digest_of(const Decision& decision) {
  Hasher hasher;
  hasher.number(decision.mode);
  for (const DeviceShare& share : decision.devices)
    hasher.number(share.device.value()).number(share.weight);
  return hasher.finish();
}

Digest digest_of(const std::vector<Decision>& actions) {
  Hasher hasher;
  for (const Decision& action : actions) hasher.digest(digest_of(action));
  return hasher.finish();
}

FeatureMaker::FeatureMaker(const Problem& problem, std::vector<Decision> actions)
    : problem_(problem),
      actions_(std::move(actions)),
      estimate_(problem),
      features_(std::make_shared<ProblemFeatures>()) {
  for (std::size_t a = 0; a < actions_.size(); ++a)
    index_.emplace(digest_of(actions_[a]), static_cast<std::int32_t>(a));
  measure();
  fill_op_groups();
  fill_device_groups();
  fill_edges();
  fill_actions();
}

// Times and bandwidths that everything else is relative to.
void FeatureMaker::measure() {
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

void FeatureMaker::fill_op_groups() {
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
  Table& op = features_->op = Table(n, kOpColumns);
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

void FeatureMaker::fill_device_groups() {
  const Cluster& cluster = *problem_.cluster;
  const std::size_t n = problem_.grouping->size(), m = cluster.groups().size();
  const double fastest = *std::ranges::min_element(type_seconds_);
  double resident = 0;
  for (const Tensor& tensor : problem_.graph->tensors())
    if (tensor.role == TensorRole::Parameter || tensor.role == TensorRole::OptimizerState)
      resident += static_cast<double>(tensor.bytes().value);
  Table& device = features_->device = Table(m, kDeviceColumns);
  Table& link = features_->link = Table(m * m, kLinkColumns);
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
    device.at(d, 3) = in_range(std::log2(type_seconds_[type] / std::max(fastest, 1e-12)) / 4, 0, 2);
    device.at(d, 4) = in_range(count * scale_ / std::max(type_seconds_[type], 1e-9), 0, 1);
    device.at(d, 5) = in_range(part(2 * resident, memory), 0, 2);
    device.at(d, 6) = m > 1 ? log_bandwidth(outside) : 0;
    device.at(d, 7) = in_range(count / static_cast<double>(cluster.device_count()), 0, 1);
    for (std::size_t g = 0; g < n; ++g)
      speed.at(g, d) = log_ratio(group_seconds_.at(g, type), relative_seconds(g));
  }
}

// Mean over devices of a group's time.
double FeatureMaker::relative_seconds(std::size_t group) const {
  double sum = 0;
  for (const Device& device : problem_.cluster->devices())
    sum += group_seconds_.at(group, device.type.index());
  return sum / static_cast<double>(problem_.cluster->device_count());
}

void FeatureMaker::fill_edges() {
  const std::size_t n = problem_.grouping->size();
  std::map<std::pair<std::int32_t, std::int32_t>, std::array<double, 2>> edges;  // (target, source)
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
  neighbours_.resize(n);
  features_->op_op = Table(edges.size(), kOpOpColumns);
  for (std::size_t row = 0; const auto& [ends, bytes] : edges) {
    const auto& [target, source] = ends;
    const auto of = static_cast<std::size_t>(target);
    features_->targets.push_back(target);
    features_->sources.push_back(source);
    const double weight = part(bytes[0] + bytes[1], around[of]);
    if (target != source) neighbours_[of].push_back({source, static_cast<float>(weight)});
    features_->op_op.at(row, 0) = log_ratio(bytes[0] / slowest_, scale_);
    features_->op_op.at(row, 1) = log_ratio(bytes[1] / slowest_, scale_);
    features_->op_op.at(row, 2) = target == source ? 1 : 0;
    features_->op_op.at(row, 3) = in_range(weight, 0, 1);
    ++row;
  }
}

FeatureMaker::Placement FeatureMaker::place(const Decision& decision) const {
  const Cluster& cluster = *problem_.cluster;
  Placement placement;
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
  if (const auto found = index_.find(digest_of(decision)); found != index_.end())
    placement.action = found->second;
  return placement;
}

void FeatureMaker::fill_actions() {
  const std::size_t n = problem_.grouping->size(), m = problem_.cluster->groups().size();
  const std::size_t count = actions_.size();
  features_->used = Table(count, m);
  features_->share = Table(count, m);
  features_->action = Table(count, kActionColumns);
  for (std::size_t a = 0; a < count; ++a) {
    const Decision& decision = actions_[a];
    const Placement placement = place(decision);
    std::ranges::copy(placement.used, features_->used.values.begin() + std::ptrdiff_t(a * m));
    std::ranges::copy(placement.share, features_->share.values.begin() + std::ptrdiff_t(a * m));
    features_->action.at(a, static_cast<std::size_t>(decision.mode)) = 1;
    features_->action.at(a, 4) = log_count(static_cast<double>(decision.devices.size()));
    const bool even = std::ranges::all_of(decision.devices, [&](const DeviceShare& share) {
      return share.weight == decision.devices.front().weight;
    });
    features_->action.at(a, 5) = even ? 0 : 1;
  }
  seconds_ = Table(n + 1, count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t g = 0; g < n; ++g)
      seconds_.at(g, a) = static_cast<float>(estimate_.group_seconds(GroupId(g), actions_[a]));
    seconds_.at(n, a) = static_cast<float>(estimate_.graph_seconds(actions_[a]));
  }
}

// How long the next group (at the root: the whole graph) would roughly take under each action.
void FeatureMaker::fill_times(StateFeatures& state, std::int32_t first, bool at_root) const {
  const std::size_t count = actions_.size();
  const std::size_t row = at_root ? seconds_.rows - 1 : static_cast<std::size_t>(state.next);
  const float* seconds = &seconds_.values[row * count];
  const double least = std::max<double>(*std::min_element(seconds, seconds + count), 1e-12);
  const double followed = first >= 0 ? std::max<double>(seconds[first], 1e-12) : least;
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t a) { return seconds[a]; });
  for (std::size_t place = 0; place < count; ++place)
    state.slice.at(static_cast<std::size_t>(order[place]), 1) =
        static_cast<float>(place) / static_cast<float>(count);
  for (std::size_t a = 0; a < count; ++a) {
    const double own = std::max<double>(seconds[a], 1e-12);
    state.slice.at(a, 0) = in_range(std::log10(own / least), 0, 2);
    state.slice.at(a, 2) = in_range(std::log10(own / followed), -2, 2);
    state.slice.at(a, 3) = static_cast<std::int32_t>(a) == first ? 1 : 0;
  }
}

// Whether the next group's data would be where its neighbours' are.
void FeatureMaker::fill_neighbourhood(StateFeatures& state,
                                      const std::vector<Placement>& placements) const {
  const std::size_t m = problem_.cluster->groups().size();
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    float alike = 0, stays = 0;
    for (const Neighbour& neighbour : neighbours_[static_cast<std::size_t>(state.next)]) {
      const Placement& there = placements[static_cast<std::size_t>(neighbour.group)];
      if (there.action == static_cast<std::int32_t>(a)) alike += neighbour.weight;
      float common = 0;
      for (std::size_t d = 0; d < m; ++d)
        common += std::min(there.share[d], features_->share.at(a, d));
      stays += neighbour.weight * common;
    }
    state.slice.at(a, 4) = in_range(alike, 0, 1);
    state.slice.at(a, 5) = in_range(stays, 0, 1);
  }
}

// How full and how idle the devices of an action are.
void FeatureMaker::fill_pressure(StateFeatures& state) const {
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    float fullest = 0, idle = 0;
    for (std::size_t d = 0; d < features_->device_groups(); ++d) {
      if (features_->used.at(a, d) > 0) fullest = std::max(fullest, state.device.at(d, 0));
      idle += features_->share.at(a, d) * state.device.at(d, 1);
    }
    state.slice.at(a, 6) = fullest;
    state.slice.at(a, 7) = in_range(idle, 0, 1);
  }
}

// Runtime feedback: part 3 of Table 1.
void FeatureMaker::fill_feedback(StateFeatures& state, const Score& score) const {
  if (score.feedback == nullptr) return;
  const Feedback& feedback = *score.feedback;
  const Cluster& cluster = *problem_.cluster;
  const double step = std::max(static_cast<double>(score.step_time.value), 1.0);
  for (std::size_t g = 0; g < feedback.groups.size(); ++g) {
    const Feedback::Group& group = feedback.groups[GroupId(g)];
    state.op.at(g, 4) = in_range(static_cast<double>(group.makespan.value) / step, 0, 1);
    state.op.at(g, 5) =
        in_range(static_cast<double>(group.idle_before_transfer.value) / step, 0, 1);
  }
  for (std::size_t d = 0; d < feedback.device_groups.size(); ++d) {
    const Feedback::DeviceGroupUse& use = feedback.device_groups[DeviceGroupId(d)];
    const Bytes memory = cluster.gpu_types()[cluster.groups()[DeviceGroupId(d)].type].memory;
    state.device.at(d, 0) = in_range(use.peak / memory, 0, 2);
    state.device.at(d, 1) = in_range(use.idle, 0, 1);
    state.device.at(d, 2) = use.peak > memory ? 1 : 0;
  }
  for (std::size_t i = 0; i < state.idle.size(); ++i)
    state.idle[i] = in_range(feedback.link_idle[i], 0, 1);
}

StateFeatures FeatureMaker::state(const PriorQuery& query) const {
  const std::size_t n = features_->op_groups(), m = features_->device_groups();
  CHECK(query.partial.groups.size() == n, "a partial strategy of this problem");
  const Strategy whole = complete(query.partial, *problem_.cluster);
  StateFeatures state;
  state.next = query.next.value();
  state.op = Table(n, kOpStateColumns);
  state.device = Table(m, kDeviceStateColumns);
  state.placement = Table(n * m, kPlacementColumns);
  state.slice = Table(actions_.size(), kSliceColumns);
  state.idle.assign(m * m, 0);
  std::vector<Placement> placements;
  bool at_root = true;
  for (std::size_t g = 0; g < n; ++g) {
    const Decision& decision = *whole.groups[GroupId(g)];
    const Placement& placement = placements.emplace_back(place(decision));
    const bool decided = query.partial.groups[GroupId(g)].has_value();
    at_root = at_root && !decided;
    state.op.at(g, static_cast<std::size_t>(decision.mode)) = 1;
    state.op.at(g, 6) = decided ? 1 : 0;
    state.op.at(g, 7) = g == query.next.index() ? 1 : 0;
    state.op.at(g, 8) = log_count(static_cast<double>(decision.devices.size()));
    for (std::size_t d = 0; d < m; ++d) {
      state.placement.at(g * m + d, 0) = placement.used[d] > 0 ? 1 : 0;
      state.placement.at(g * m + d, 1) = in_range(placement.used[d], 0, 1);
      state.placement.at(g * m + d, 2) = in_range(placement.share[d], 0, 1);
    }
  }
  fill_feedback(state, query.score);
  const bool synchronises = problem_.grouping->group(query.next).parameter_bytes.value > 0;
  for (const Decision& action : actions_)
    state.legal.push_back(at_root || synchronises || action.mode != Mode::ReplicatePs ? 1 : 0);
  fill_times(state, at_root ? -1 : placements.front().action, at_root);
  fill_neighbourhood(state, placements);
  fill_pressure(state);
  return state;
}

}  // namespace strato::tag
