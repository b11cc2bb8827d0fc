// What the graph view draws: the op groups of a problem, or the ops of one group with the groups
// around it. Pure data made from a snapshot; placement is filled in apart, since it changes with
// every edit while the layout stays.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "core/search/problem.h"
#include "core/strategy/strategy.h"
#include "views/graph/graph_layout.h"

namespace strato {

struct GraphNode {
  GroupId group;          // of a group node, and of an op its own group
  OpId op;                // of an op node
  bool boundary = false;  // a neighbouring group beside the opened one
  QString name, detail, tooltip;
  double share = 0;  // of all compute time (groups), of the group's (ops)
  Phase phase = Phase::Forward;
};

struct GraphEdge {
  int from, to;
  Bytes bytes;  // along the arrow
  Bytes back;   // against it, e.g. gradients; 0: a plain arrow
};

struct GraphContent {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  QString note;  // e.g. that only a part is shown
};

inline constexpr std::size_t kMostNodes = 1000;

// Both directions between two groups are one edge, drawn the way that the forward pass flows.
GraphContent content_of_groups(const Problem& problem);
// `op_times`: see mean_op_times; the longest kMostNodes ops when there are more.
GraphContent content_of_group(const Problem& problem, GroupId group,
                              const std::vector<Nanos>& op_times, std::size_t most = kMostNodes);

// Parts of a node's fill: which device groups share it, and how much each has.
struct PlacementStripe {
  DeviceGroupId device_group;
  double share;  // sums to 1
};
std::vector<PlacementStripe> stripes_of(const Decision& decision, const Cluster& cluster);

LayoutRequest layout_request(const GraphContent& content, FlowDirection direction);

}  // namespace strato
