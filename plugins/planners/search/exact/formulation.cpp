#include "plugins/planners/search/exact/formulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato::exact {
namespace {

constexpr double kHorizon = 1000;
constexpr double kFree = LinearProgram::kInfinity;

bool can_be_exchanged(const Cluster& cluster, DeviceId a, DeviceId b) {
  if (cluster.device(a).type != cluster.device(b).type) return false;
  const auto same = [&](DeviceId p, DeviceId q, DeviceId r, DeviceId s) {
    const Path& one = cluster.path(p, q);
    const Path& other = cluster.path(r, s);
    return one.bandwidth == other.bandwidth && one.latency == other.latency;
  };
  if (!same(a, b, b, a)) return false;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const DeviceId other(d);
    if (other == a || other == b) continue;
    if (!same(a, other, b, other) || !same(other, a, other, b)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::vector<DeviceId>> equal_devices(const Cluster& cluster) {
  std::vector<std::vector<DeviceId>> classes;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const auto found = std::ranges::find_if(classes, [&](const auto& members) {
      return can_be_exchanged(cluster, members.front(), DeviceId(d));
    });
    if (found == classes.end())
      classes.push_back({DeviceId(d)});
    else
      found->push_back(DeviceId(d));
  }
  return classes;
}

Formulation::Formulation(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                         Nanos horizon)
    : dag_(dag),
      transfers_(transfers),
      cluster_(cluster),
      node_count_(dag.size()),
      devices_(cluster.device_count()),
      scale_(kHorizon / static_cast<double>(std::max<std::int64_t>(horizon.value, 1))),
      horizon_(scaled(horizon)),
      equal_devices_(equal_devices(cluster)) {
  find_classes();
  find_distances();
  find_reachable();
  list_columns();
  add_placement_rows();
  add_memory_rows();
  add_symmetry_rows();
  for (std::size_t i = 0; i < node_count_; ++i)
    for (const DagEdge& edge : dag_.successors(static_cast<NodeIndex>(i)))
      add_edge_rows(static_cast<NodeIndex>(i), edge);
  add_order_rows();
  add_makespan_rows();
}

double Formulation::time(NodeIndex node, std::size_t device) const {
  return scaled(dag_.time(node, cluster_.device(DeviceId(device)).type));
}

// Numbered by their first nodes.
void Formulation::find_classes() {
  std::vector<std::int32_t> of_group(static_cast<std::size_t>(dag_.colocation_count()), -1);
  for (std::size_t i = 0; i < node_count_; ++i) {
    const std::int32_t group = dag_.colocation(static_cast<NodeIndex>(i));
    std::int32_t alone = -1;
    std::int32_t& mine = group < 0 ? alone : of_group[static_cast<std::size_t>(group)];
    if (mine < 0) mine = classes_++;
    class_of_.push_back(mine);
  }
}

void Formulation::find_distances() {
  const auto shortest = [&](std::size_t node) {
    double least = kFree;
    for (std::size_t d = 0; d < devices_; ++d)
      least = std::min(least, time(static_cast<NodeIndex>(node), d));
    return least;
  };
  head_.assign(node_count_, 0);
  tail_.assign(node_count_, 0);
  for (std::size_t i = 0; i < node_count_; ++i)
    for (const DagEdge& edge : dag_.successors(static_cast<NodeIndex>(i))) {
      double& head = head_[static_cast<std::size_t>(edge.node)];
      head = std::max(head, head_[i] + shortest(i));
    }
  for (std::size_t i = node_count_; i-- > 0;)
    for (const DagEdge& edge : dag_.successors(static_cast<NodeIndex>(i))) {
      const auto next = static_cast<std::size_t>(edge.node);
      tail_[i] = std::max(tail_[i], shortest(next) + tail_[next]);
    }
}

void Formulation::find_reachable() {
  reaches_.assign(node_count_, std::vector<char>(node_count_, 0));
  for (std::size_t i = node_count_; i-- > 0;)
    for (const DagEdge& edge : dag_.successors(static_cast<NodeIndex>(i))) {
      const auto next = static_cast<std::size_t>(edge.node);
      reaches_[i][next] = 1;
      for (std::size_t j = next; j < node_count_; ++j)
        if (reaches_[next][j] != 0) reaches_[i][j] = 1;
    }
}

void Formulation::list_columns() {
  placements_ = static_cast<int>(static_cast<std::size_t>(classes_) * devices_);
  int column = placements_;
  for (std::size_t i = 0; i < node_count_; ++i)
    for (std::size_t j = i + 1; j < node_count_; ++j) {
      const auto a = static_cast<NodeIndex>(i), b = static_cast<NodeIndex>(j);
      bool may_compete = false;
      for (std::size_t d = 0; d < devices_; ++d) may_compete = may_compete || compete(a, b, d);
      if (reaches_[i][j] != 0 || !may_compete) continue;
      orders_.push_back({a, b, column++});
      orders_.push_back({b, a, column++});
    }
  first_start_ = column;
  makespan_ = column + static_cast<int>(node_count_);
  program_.integers = first_start_;
  for (int c = 0; c < makespan_; ++c) program_.add_column(0, 1);
  program_.add_column(0, horizon_, 1);
  for (std::size_t i = 0; i < node_count_; ++i) {
    const auto at = static_cast<std::size_t>(start(static_cast<NodeIndex>(i)));
    program_.lower[at] = std::min(head_[i], horizon_);
    program_.upper[at] = std::max(horizon_ - tail_[i], program_.lower[at]);
  }
  for (std::size_t i = 0; i < node_count_; ++i)
    program_.lower.back() = std::max(program_.lower.back(), head_[i]);
}

void Formulation::add_finish(LinearProgram::Terms& terms, NodeIndex node, double sign) const {
  terms.emplace_back(start(node), sign);
  for (std::size_t d = 0; d < devices_; ++d)
    terms.emplace_back(placement(class_of_[static_cast<std::size_t>(node)], d),
                       sign * time(node, d));
}

void Formulation::add_placement_rows() {
  for (std::int32_t c = 0; c < classes_; ++c) {
    LinearProgram::Terms terms;
    for (std::size_t d = 0; d < devices_; ++d) terms.emplace_back(placement(c, d), 1);
    program_.add_constraint(std::move(terms), 1, 1);
  }
}

// Memory is counted in parts of the device's. A class that is larger than a device is never there.
void Formulation::add_memory_rows() {
  std::vector<Bytes> memory(static_cast<std::size_t>(classes_));
  Bytes all;
  for (std::size_t i = 0; i < node_count_; ++i) {
    memory[static_cast<std::size_t>(class_of_[i])] += dag_.memory(static_cast<NodeIndex>(i));
    all += dag_.memory(static_cast<NodeIndex>(i));
  }
  for (std::size_t d = 0; d < devices_; ++d) {
    const Bytes capacity = cluster_.gpu(DeviceId(d)).memory;
    if (all <= capacity) continue;
    LinearProgram::Terms terms;
    for (std::int32_t c = 0; c < classes_; ++c) {
      const Bytes needed = memory[static_cast<std::size_t>(c)];
      if (needed > capacity) program_.upper[static_cast<std::size_t>(placement(c, d))] = 0;
      if (needed.value > 0) terms.emplace_back(placement(c, d), needed / capacity);
    }
    program_.add_constraint(std::move(terms), -kFree, 1);
  }
}

void Formulation::add_symmetry_rows() {
  for (const std::vector<DeviceId>& equal : equal_devices_)
    for (std::size_t k = 1; k < equal.size(); ++k)
      for (std::int32_t c = 0; c < classes_; ++c) {
        LinearProgram::Terms terms{{placement(c, equal[k].index()), -1}};
        for (std::int32_t earlier = 0; earlier < c; ++earlier)
          terms.emplace_back(placement(earlier, equal[k - 1].index()), 1);
        program_.add_constraint(std::move(terms), 0, kFree);
      }
}

void Formulation::add_edge_rows(NodeIndex from, const DagEdge& edge) {
  const std::int32_t maker = class_of_[static_cast<std::size_t>(from)];
  const std::int32_t reader = class_of_[static_cast<std::size_t>(edge.node)];
  const auto row = [&] {
    LinearProgram::Terms terms{{start(edge.node), 1}};
    add_finish(terms, from, -1);
    return terms;
  };
  program_.add_constraint(row(), 0, kFree);
  if (maker == reader) return;
  for (std::size_t d = 0; d < devices_; ++d) {
    LinearProgram::Terms terms = row();
    double longest = 0;
    for (std::size_t e = 0; e < devices_; ++e) {
      const double transfer = scaled(transfers_.time(edge.edge, DeviceId(d), DeviceId(e)));
      longest = std::max(longest, transfer);
      terms.emplace_back(placement(reader, e), -transfer);
    }
    if (longest == 0) continue;
    terms.emplace_back(placement(maker, d), -longest);
    program_.add_constraint(std::move(terms), -longest, kFree);
  }
}

bool Formulation::compete(NodeIndex a, NodeIndex b, std::size_t device) const {
  return time(a, device) > 0 && time(b, device) > 0;
}

void Formulation::add_order_rows() {
  for (std::size_t k = 0; k < orders_.size(); k += 2) {
    const Order& there = orders_[k];
    const Order& back = orders_[k + 1];
    const std::int32_t a = class_of_[static_cast<std::size_t>(there.first)];
    const std::int32_t b = class_of_[static_cast<std::size_t>(there.second)];
    program_.add_constraint({{there.column, 1}, {back.column, 1}}, 0, 1);
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!compete(there.first, there.second, d)) continue;
      LinearProgram::Terms terms{{there.column, 1}, {back.column, 1}, {placement(a, d), -1}};
      if (a != b) terms.emplace_back(placement(b, d), -1);
      program_.add_constraint(std::move(terms), a == b ? 0 : -1, kFree);
    }
  }
  for (const Order& order : orders_) {
    // f[i] is at most horizon - tail(i), s[j] at least head(j).
    const double m = std::max(0.0, horizon_ - tail_[static_cast<std::size_t>(order.first)] -
                                       head_[static_cast<std::size_t>(order.second)]);
    LinearProgram::Terms terms{{start(order.second), 1}, {order.column, -m}};
    add_finish(terms, order.first, -1);
    program_.add_constraint(std::move(terms), -m, kFree);
  }
}

void Formulation::add_makespan_rows() {
  for (std::size_t i = 0; i < node_count_; ++i) {
    LinearProgram::Terms terms{{makespan_, 1}};
    add_finish(terms, static_cast<NodeIndex>(i), -1);
    program_.add_constraint(std::move(terms), tail_[i], kFree);
  }
  for (std::size_t d = 0; d < devices_; ++d) {
    LinearProgram::Terms terms{{makespan_, 1}};
    for (std::size_t i = 0; i < node_count_; ++i)
      terms.emplace_back(placement(class_of_[i], d), -time(static_cast<NodeIndex>(i), d));
    program_.add_constraint(std::move(terms), 0, kFree);
  }
}

std::vector<double> Formulation::solution_of(const Schedule& schedule) const {
  std::vector<std::size_t> rank(devices_), next(equal_devices_.size(), 0);
  for (std::size_t k = 0; k < equal_devices_.size(); ++k)
    for (const DeviceId device : equal_devices_[k]) rank[device.index()] = k;
  std::map<DeviceId, DeviceId> renamed;
  std::vector<double> solution(static_cast<std::size_t>(program_.columns()), 0);
  for (std::size_t i = 0; i < node_count_; ++i) {  // classes are numbered by their first nodes
    const std::size_t k = rank[schedule.device[i].index()];
    if (!renamed.contains(schedule.device[i]))
      renamed[schedule.device[i]] = equal_devices_[k][next[k]++];
    solution[static_cast<std::size_t>(
        placement(class_of_[i], renamed[schedule.device[i]].index()))] = 1;
    solution[static_cast<std::size_t>(start(static_cast<NodeIndex>(i)))] =
        scaled(schedule.start[i]);
  }
  for (const Order& order : orders_) {
    const auto first = static_cast<std::size_t>(order.first);
    const auto second = static_cast<std::size_t>(order.second);
    const bool takes_time = schedule.start[first] < schedule.finish[first] &&
                            schedule.start[second] < schedule.finish[second];
    if (takes_time && schedule.device[first] == schedule.device[second] &&
        schedule.start[first] < schedule.start[second])
      solution[static_cast<std::size_t>(order.column)] = 1;
  }
  solution.back() = scaled(schedule.makespan);
  return solution;
}

Formulation::Choice Formulation::choice_of(std::span<const double> solution) const {
  Choice choice;
  for (std::size_t i = 0; i < node_count_; ++i) {
    std::size_t best = 0;
    for (std::size_t d = 1; d < devices_; ++d)
      if (solution[static_cast<std::size_t>(placement(class_of_[i], d))] >
          solution[static_cast<std::size_t>(placement(class_of_[i], best))])
        best = d;
    choice.device.emplace_back(best);
  }
  choice.order.resize(node_count_);
  std::iota(choice.order.begin(), choice.order.end(), 0);
  std::ranges::stable_sort(choice.order, {}, [&](NodeIndex node) {
    return solution[static_cast<std::size_t>(start(node))];
  });
  return choice;
}

Nanos Formulation::bound_of(double objective) const {
  constexpr double kTolerance = 1e-6;
  const double nanos = objective * (1 - kTolerance) / scale_;
  return Nanos(static_cast<std::int64_t>(std::floor(std::max(0.0, nanos))));
}

}  // namespace strato::exact
