// Placement and schedule of a dag as a mixed-integer program in the style of Pesto (Hafeez et al.
// 2021, "Towards optimal placement and scheduling of DNN operations with Pesto", section 3).
//
//   x[c,d]  1: the nodes of placement class c (a co-location group, or one node) are on device d
//   o[i,j]  1: node i ends before j starts; for nodes that may share a device and are unordered
//   s[i]    start of node i;  f[i] = s[i] + sum over d of its time there x x[i,d]
//   C       makespan: minimised
//
//   sum of x[c,d] over d = 1;  sum of memory(c) x[c,d] over c <= capacity(d)
//   s[j] >= f[i] + sum over e of t(d,e) x[j,e] - (longest t(d,.)) (1 - x[i,d])   edge i -> j; any d
//   o[i,j] + o[j,i] >= x[i,d] + x[j,d] - 1;  s[j] >= f[i] - M (1 - o[i,j])
//   C >= f[i] + tail(i);  C >= work of each device
//   x[c,d'] <= sum over earlier classes c' of x[c',d]   d, d' neighbours among equal devices
//
// Transfers cost time but occupy nothing, as in the schedules of core/schedule/list (Pesto also
// queues them on links); nodes without time there (views) do not occupy a device. M comes from
// longest paths before and behind the nodes and the makespan of a known schedule. Times are scaled,
// so that this makespan is 1,000.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/at.h"
#include "core/linear/solver.h"
#include "plugins/planners/search/exact/list_schedules.h"

namespace strato::exact {

// The program of one dag on one cluster, and what its columns say.
class Formulation {
 public:
  // Covers all schedules that take no longer than `horizon`.
  Formulation(const Instance& instance, Nanos horizon);

  const LinearProgram& program() const { return program_; }
  int placements() const { return placements_; }  // columns, the first ones

  // A schedule as a solution (devices renamed among equals, as the program wants them), and what
  // a solution says: devices, and the order in which nodes start.
  std::vector<double> solution_of(const Schedule& schedule) const;
  struct Choice {
    std::vector<DeviceId> device;  // by node
    std::vector<NodeIndex> order;  // by start, as far as that is topological
  };
  Choice choice_of(std::span<const double> solution) const;
  double scaled(Nanos time) const { return static_cast<double>(time.value) * scale_; }
  Nanos bound_of(double objective) const;  // rounded down, but for the solver's tolerance

 private:
  struct Order {
    NodeIndex first, second;
    int column;
  };
  int placement(std::int32_t place, std::size_t device) const {
    return place * static_cast<int>(devices_) + static_cast<int>(device);
  }
  int placement_of(NodeIndex node, std::size_t device) const {
    return placement(classes_.of_node[at(node)], device);
  }
  int start(NodeIndex node) const { return first_start_ + node; }
  double time(NodeIndex node, std::size_t device) const;
  bool compete(NodeIndex a, NodeIndex b, std::size_t device) const;  // both take time there
  void find_distances();
  void find_reachable();
  void add_columns();
  void add_placement_rows();
  void add_memory_rows();
  void add_symmetry_rows();
  void add_edge_rows(NodeIndex from, const DagEdge& edge);
  void add_order_rows();
  void add_makespan_rows();
  // What `column` is above the end of the node.
  LinearProgram::Terms after_finish(int column, NodeIndex node) const;

  const Instance instance_;
  const NodeIndex nodes_;
  const std::size_t devices_;
  const double scale_, horizon_;
  const PlacementClasses classes_;
  const std::vector<std::vector<DeviceId>> equal_devices_;
  std::vector<double> head_, tail_;  // longest paths with shortest times, before and behind a node
  std::vector<std::vector<char>> reaches_;
  std::vector<Order> orders_;
  int placements_ = 0, first_start_ = 0, makespan_ = 0;
  LinearProgram program_;
};

// Devices that can be exchanged: of one type, and with the same paths to all others. Each
// ascending.
std::vector<std::vector<DeviceId>> equal_devices(const Cluster& cluster);

}  // namespace strato::exact
