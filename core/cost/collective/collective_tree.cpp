#include "core/cost/collective/collective_tree.h"

#include <algorithm>

namespace strato {
namespace {

struct Direction {
  bool up, down;
};

// Sends `volume` over every edge in the directions asked for. Returns the latency of the deepest
// path.
Nanos send_over(PlanBuilder& plan, const std::vector<int>& parents,
                const std::vector<DeviceId>& members, double volume, Direction direction) {
  const Cluster& cluster = plan.cluster();
  Nanos deepest;
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    if (parents[rank] < 0) continue;
    const DeviceId parent = members[static_cast<std::size_t>(parents[rank])];
    if (direction.up) plan.send(members[rank], parent, volume);
    if (direction.down) plan.send(parent, members[rank], volume);
    Nanos way;
    for (std::size_t at = rank; parents[at] >= 0; at = static_cast<std::size_t>(parents[at])) {
      const DeviceId above = members[static_cast<std::size_t>(parents[at])];
      if (direction.up) way += cluster.path(members[at], above).latency;
      if (direction.down) way += cluster.path(above, members[at]).latency;
    }
    deepest = std::max(deepest, way);
  }
  return deepest;
}

}  // namespace

// A rank's lowest bit tells its height: clearing it and setting the next one leads up.
std::vector<int> binary_tree(int ranks) {
  std::vector<int> parents(static_cast<std::size_t>(ranks), -1);
  for (int rank = 1; rank < ranks; ++rank) {
    const int bit = rank & -rank;
    const int up = (rank ^ bit) | (bit << 1);
    parents[static_cast<std::size_t>(rank)] = up < ranks ? up : rank ^ bit;
  }
  return parents;
}

std::vector<int> twin_tree(int ranks) {
  const std::vector<int> tree = binary_tree(ranks);
  std::vector<int> twin(tree.size(), -1);
  const auto moved = [ranks](int rank) {
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
  };
  for (int rank = 0; rank < ranks; ++rank) {
    const int parent = tree[static_cast<std::size_t>(rank)];
    if (parent >= 0) twin[static_cast<std::size_t>(moved(rank))] = moved(parent);
  }
  return twin;
}

Nanos send_over_trees(PlanBuilder& plan, Collective kind, const std::vector<DeviceId>& members,
                      double share) {
  const auto ranks = static_cast<int>(members.size());
  if (ranks < 2) return Nanos();
  if (kind != Collective::AllReduce) {
    const Direction direction = {kind == Collective::Reduce, kind == Collective::Broadcast};
    return send_over(plan, binary_tree(ranks), members, share, direction);
  }
  const Nanos one = send_over(plan, binary_tree(ranks), members, share / 2, {true, true});
  return std::max(one, send_over(plan, twin_tree(ranks), members, share / 2, {true, true}));
}

}  // namespace strato
