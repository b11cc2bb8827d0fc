#include "plugins/planners/search/exact/formulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/search/evaluate/actions.h"

namespace strato::exact {
namespace {

constexpr double kHorizon = 1000;
constexpr double kFree = LinearProgram::kInfinity;

}  // namespace

std::vector<std::vector<DeviceId>> equal_devices(const Cluster& cluster) {
  std::vector<std::vector<DeviceId>> classes;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const DeviceId device(d);
    const auto found = std::ranges::find_if(classes, [&](const auto& members) {
      return can_be_exchanged(cluster, std::span(&members.front(), 1), std::span(&device, 1));
    });
    if (found == classes.end())
      classes.push_back({device});
    else
      found->push_back(device);
  }
  return classes;
}

Formulation::Formulation(const Instance& instance, Nanos horizon)
    : instance_(instance),
      nodes_(static_cast<NodeIndex>(instance.dag.size())),
      devices_(instance.cluster.device_count()),
      scale_(kHorizon / static_cast<double>(std::max<std::int64_t>(horizon.value, 1))),
      horizon_(scaled(horizon)),
      classes_(instance.dag),
      equal_devices_(equal_devices(instance.cluster)) {
  find_distances();
  find_reachable();
  add_columns();
  add_placement_rows();
  add_memory_rows();
  add_symmetry_rows();
  for (NodeIndex i = 0; i < nodes_; ++i)
    for (const DagEdge& edge : instance_.dag.successors(i)) add_edge_rows(i, edge);
  add_order_rows();
  add_makespan_rows();
}

double Formulation::time(NodeIndex node, std::size_t device) const {
  return scaled(instance_.dag.time(node, instance_.cluster.device(DeviceId(device)).type));
}

bool Formulation::compete(NodeIndex a, NodeIndex b, std::size_t device) const {
  return time(a, device) > 0 && time(b, device) > 0;
}

void Formulation::find_distances() {
  std::vector<double> shortest(at(nodes_), kFree);
  for (NodeIndex i = 0; i < nodes_; ++i)
    for (std::size_t d = 0; d < devices_; ++d)
      shortest[at(i)] = std::min(shortest[at(i)], time(i, d));
  head_.assign(at(nodes_), 0);
  tail_.assign(at(nodes_), 0);
  for (NodeIndex i = 0; i < nodes_; ++i)
    for (const DagEdge& edge : instance_.dag.successors(i))
      head_[at(edge.node)] = std::max(head_[at(edge.node)], head_[at(i)] + shortest[at(i)]);
  for (NodeIndex i = nodes_; i-- > 0;)
    for (const DagEdge& edge : instance_.dag.successors(i))
      tail_[at(i)] = std::max(tail_[at(i)], shortest[at(edge.node)] + tail_[at(edge.node)]);
}

void Formulation::find_reachable() {
  reaches_.assign(at(nodes_), std::vector<char>(at(nodes_), 0));
  for (NodeIndex i = nodes_; i-- > 0;)
    for (const DagEdge& edge : instance_.dag.successors(i)) {
      reaches_[at(i)][at(edge.node)] = 1;
      for (NodeIndex j = edge.node; j < nodes_; ++j)
        if (reaches_[at(edge.node)][at(j)] != 0) reaches_[at(i)][at(j)] = 1;
    }
}

void Formulation::add_columns() {
  placements_ = placement(static_cast<std::int32_t>(classes_.nodes.size()), 0);
  for (int c = 0; c < placements_; ++c) program_.add_column(0, 1);
  for (NodeIndex a = 0; a < nodes_; ++a)
    for (NodeIndex b = a + 1; b < nodes_; ++b) {
      bool may_compete = false;
      for (std::size_t d = 0; d < devices_; ++d) may_compete = may_compete || compete(a, b, d);
      if (reaches_[at(a)][at(b)] != 0 || !may_compete) continue;
      orders_.push_back({a, b, program_.add_column(0, 1)});
      orders_.push_back({b, a, program_.add_column(0, 1)});
    }
  program_.integers = first_start_ = program_.columns();
  double least = 0;
  for (NodeIndex i = 0; i < nodes_; ++i) {
    const double earliest = std::min(head_[at(i)], horizon_);
    program_.add_column(earliest, std::max(horizon_ - tail_[at(i)], earliest));
    least = std::max(least, head_[at(i)]);
  }
  makespan_ = program_.add_column(least, horizon_, 1);
}

LinearProgram::Terms Formulation::after_finish(int column, NodeIndex node) const {
  LinearProgram::Terms terms{{column, 1}, {start(node), -1}};
  for (std::size_t d = 0; d < devices_; ++d)
    terms.emplace_back(placement_of(node, d), -time(node, d));
  return terms;
}

void Formulation::add_placement_rows() {
  for (int c = 0; c < placements_; c += static_cast<int>(devices_)) {
    LinearProgram::Terms terms;
    for (std::size_t d = 0; d < devices_; ++d) terms.emplace_back(c + static_cast<int>(d), 1);
    program_.add_constraint(std::move(terms), 1, 1);
  }
}

// Memory is counted in parts of the device's. A class that is larger than a device is never there.
void Formulation::add_memory_rows() {
  std::vector<Bytes> memory(classes_.nodes.size());
  Bytes all;
  for (NodeIndex i = 0; i < nodes_; ++i) {
    memory[at(classes_.of_node[at(i)])] += instance_.dag.memory(i);
    all += instance_.dag.memory(i);
  }
  for (std::size_t d = 0; d < devices_; ++d) {
    const Bytes capacity = instance_.cluster.gpu(DeviceId(d)).memory;
    if (all <= capacity) continue;
    LinearProgram::Terms terms;
    for (std::size_t c = 0; c < memory.size(); ++c) {
      const int column = placement(static_cast<std::int32_t>(c), d);
      if (memory[c] > capacity) program_.upper[at(column)] = 0;
      if (memory[c].value > 0) terms.emplace_back(column, memory[c] / capacity);
    }
    program_.add_constraint(std::move(terms), -kFree, 1);
  }
}

void Formulation::add_symmetry_rows() {
  const auto classes = static_cast<std::int32_t>(classes_.nodes.size());
  for (const std::vector<DeviceId>& equal : equal_devices_)
    for (std::size_t k = 1; k < equal.size(); ++k)
      for (std::int32_t c = 0; c < classes; ++c) {
        LinearProgram::Terms terms{{placement(c, equal[k].index()), -1}};
        for (std::int32_t earlier = 0; earlier < c; ++earlier)
          terms.emplace_back(placement(earlier, equal[k - 1].index()), 1);
        program_.add_constraint(std::move(terms), 0, kFree);
      }
}

void Formulation::add_edge_rows(NodeIndex from, const DagEdge& edge) {
  program_.add_constraint(after_finish(start(edge.node), from), 0, kFree);
  if (classes_.of_node[at(from)] == classes_.of_node[at(edge.node)]) return;
  for (std::size_t d = 0; d < devices_; ++d) {
    LinearProgram::Terms terms = after_finish(start(edge.node), from);
    double longest = 0;
    for (std::size_t e = 0; e < devices_; ++e) {
      const double transfer = scaled(instance_.transfers.time(edge.edge, DeviceId(d), DeviceId(e)));
      longest = std::max(longest, transfer);
      terms.emplace_back(placement_of(edge.node, e), -transfer);
    }
    if (longest == 0) continue;
    terms.emplace_back(placement_of(from, d), -longest);
    program_.add_constraint(std::move(terms), -longest, kFree);
  }
}

void Formulation::add_order_rows() {
  for (std::size_t k = 0; k < orders_.size(); k += 2) {
    const auto [first, second, column] = orders_[k];
    const int back = orders_[k + 1].column;
    program_.add_constraint({{column, 1}, {back, 1}}, 0, 1);
    const bool together = classes_.of_node[at(first)] == classes_.of_node[at(second)];
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!compete(first, second, d)) continue;
      LinearProgram::Terms terms{{column, 1}, {back, 1}, {placement_of(first, d), -1}};
      if (!together) terms.emplace_back(placement_of(second, d), -1);
      program_.add_constraint(std::move(terms), together ? 0 : -1, kFree);
    }
  }
  for (const auto& [first, second, column] : orders_) {
    // f[i] is at most horizon - tail(i), s[j] at least head(j).
    const double m = std::max(0.0, horizon_ - tail_[at(first)] - head_[at(second)]);
    LinearProgram::Terms terms = after_finish(start(second), first);
    terms.emplace_back(column, -m);
    program_.add_constraint(std::move(terms), -m, kFree);
  }
}

void Formulation::add_makespan_rows() {
  for (NodeIndex i = 0; i < nodes_; ++i)
    program_.add_constraint(after_finish(makespan_, i), tail_[at(i)], kFree);
  for (std::size_t d = 0; d < devices_; ++d) {
    LinearProgram::Terms terms{{makespan_, 1}};
    for (NodeIndex i = 0; i < nodes_; ++i) terms.emplace_back(placement_of(i, d), -time(i, d));
    program_.add_constraint(std::move(terms), 0, kFree);
  }
}

std::vector<double> Formulation::solution_of(const Schedule& schedule) const {
  std::vector<std::size_t> rank(devices_), next(equal_devices_.size(), 0);
  for (std::size_t k = 0; k < equal_devices_.size(); ++k)
    for (const DeviceId device : equal_devices_[k]) rank[device.index()] = k;
  std::map<DeviceId, DeviceId> renamed;
  std::vector<double> solution(at(program_.columns()), 0);
  for (NodeIndex i = 0; i < nodes_; ++i) {  // classes are numbered by their first nodes
    const DeviceId device = schedule.device[at(i)];
    const std::size_t k = rank[device.index()];
    if (!renamed.contains(device)) renamed[device] = equal_devices_[k][next[k]++];
    solution[at(placement_of(i, renamed[device].index()))] = 1;
    solution[at(start(i))] = scaled(schedule.start[at(i)]);
  }
  const auto takes_time = [&](NodeIndex node) {
    return schedule.start[at(node)] < schedule.finish[at(node)];
  };
  for (const auto& [first, second, column] : orders_)
    if (takes_time(first) && takes_time(second) &&
        schedule.device[at(first)] == schedule.device[at(second)] &&
        schedule.start[at(first)] < schedule.start[at(second)])
      solution[at(column)] = 1;
  solution.back() = scaled(schedule.makespan);
  return solution;
}

Formulation::Choice Formulation::choice_of(std::span<const double> solution) const {
  Choice choice;
  for (NodeIndex i = 0; i < nodes_; ++i) {
    const auto places = solution.subspan(at(placement_of(i, 0)), devices_);
    choice.device.emplace_back(std::ranges::max_element(places) - places.begin());
  }
  choice.order.resize(at(nodes_));
  std::iota(choice.order.begin(), choice.order.end(), 0);
  std::ranges::stable_sort(choice.order, {},
                           [&](NodeIndex node) { return solution[at(start(node))]; });
  return choice;
}

Nanos Formulation::bound_of(double objective) const {
  constexpr double kTolerance = 1e-6;
  const double nanos = objective * (1 - kTolerance) / scale_;
  return Nanos(static_cast<std::int64_t>(std::floor(std::max(0.0, nanos))));
}

}  // namespace strato::exact
