// What the graph view draws: the op groups of a problem, or one step down into some of them or into
// some ops, with the groups around. Pure data made from a problem, on any thread; placement and
// overlays are filled in apart, since they change with every edit while the layout stays.
#pragma once

#include <QString>
#include <array>
#include <memory>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"
#include "views/graph/graph_layout.h"

namespace strato {

// A node is a group, a bundle of neighbouring groups, a scope of one group's ops, an op, or a group
// beside the opened part (boundary; without a group: all those that are too many to show).
struct GraphNode {
  GroupId group;                // of an op and a scope: the group that they are in
  OpId op;                      // of an op node
  std::vector<OpId> ops;        // of a scope, ascending
  std::vector<GroupId> groups;  // of a bundle, ascending
  bool boundary = false;
  bool frame = false;  // opened in place: its parts lie on it (see in_place.h)
  QString name, detail, tooltip;
  double share = 0;                // of all compute time (groups), of the opened ops' (scopes, ops)
  std::array<double, 4> phases{};  // shares of its time by Phase; sum to 1 but of a boundary
  int equals = 1;                  // nodes of this level that are the same block, this one included
  int block = -1;                  // equal for those; -1: not looked for

  bool is_group() const { return group.valid() && !boundary && !op.valid() && ops.empty(); }
  bool can_open() const { return !op.valid() && (group.valid() || !groups.empty()); }
};

struct GraphEdge {
  int from, to;
  Bytes bytes;  // along the arrow
  Bytes back;   // against it, e.g. gradients; 0: a plain arrow
};

struct GraphContent {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  QString note;  // e.g. that not all edges are shown
};

inline constexpr std::size_t kMostNodes = 1000, kMostEdges = 3000;
inline constexpr std::size_t kMostBoundary = 24;  // on each side
inline constexpr std::size_t kFewOps = 48;        // so many are shown without their scopes

// What is opened: some groups (none: all), or some ops of one group.
struct GraphLevel {
  QString name;  // in the path
  std::vector<GroupId> groups;
  GroupId group;
  std::vector<OpId> ops;              // ascending; empty: a level of groups
  std::vector<OpId> opened_ops = {};  // of the scope that it opens; empty: all of the group
};
// What a node opens; a group opens into all its ops.
GraphLevel level_of(const GraphNode& node, const Grouping& grouping);
// The same in other groups of the same graph: of the group that most of its ops are in.
GraphLevel level_in(GraphLevel level, const Grouping& before, const Grouping& now);
// Its ops: of a group and a bundle all of them; of a boundary none.
std::vector<OpId> ops_of(const GraphNode& node, const Grouping& grouping);

// mean_op_times() of the problem: `known`, or made now.
using OpTimes = std::shared_ptr<const std::vector<Nanos>>;
OpTimes op_times_of(const Problem& problem, OpTimes known);

// `op_times`: see mean_op_times. At most kMostNodes nodes beside the boundary (more are bundled)
// and kMostEdges edges, the heaviest; edges between groups are one for both directions, drawn the
// way that the forward pass flows. Equal blocks are marked.
GraphContent content_of(const Problem& problem, const GraphLevel& level,
                        const std::vector<Nanos>& op_times, std::size_t most = kMostNodes);

// Parts of a node's fill: which device groups share it, and how much each has.
struct PlacementStripe {
  DeviceGroupId device_group;
  double share;  // sums to 1
};
std::vector<PlacementStripe> stripes_of(const Decision& decision, const Cluster& cluster);

LayoutRequest layout_request(const GraphContent& content, FlowDirection direction);

}  // namespace strato
