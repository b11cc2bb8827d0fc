// Plans of collectives: how one can go through a cluster. Private to this folder.
//
// A plan is linear in the size: time = latency + bytes * nanos_per_byte. It is made of phases that
// follow each other; in a phase, transfers run at once and in a pipeline, so that the phase's time
// per byte is that of its busiest directed link: what crosses it over its bandwidth.
//
// Ring (n members in ascending order, machine after machine; t: greatest latency of a hop):
//   all-reduce sends 2(n-1)/n of the tensor over every hop in 2(n-1) steps of t; all-gather and
//   reduce-scatter half of that; broadcast and reduce send all of it along the ring in n-1 steps.
// Tree (all-reduce, broadcast, reduce): the double binary tree of NCCL 2.4 (Sanders, Speck, Traeff,
//   "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009): each of two
//   trees carries half of the tensor up and down, an inner node of one is a leaf of the other.
//   About 2 ceil(log2 n) latencies, and at most twice the tensor over a member's port in each
//   direction. Broadcast and reduce go over one tree, rooted at the first member.
// Hierarchical (members in several machines, several in some): by leaders: reduce inside machines
//   to one member each, the collective among these, broadcast inside; by all members, where every
//   machine has equally many: reduce-scatter inside, the collective among those of equal position
//   for their part each, all of them at once, all-gather inside. Between machines a ring or a tree.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/cost/value/cost_model.h"

namespace strato {

struct CollectivePlan {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;
  Nanos latency;
  double nanos_per_byte = 0;
  std::vector<LinkId> links;                               // ascending
  double until = std::numeric_limits<double>::infinity();  // cheapest of all up to this many bytes
};

// Those that are the cheapest at some size, from small to large: ascending by latency and `until`,
// descending by nanos_per_byte. `devices` ascending, at least two.
std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices);

// The plans of one algorithm alone, for tests; nothing where it does not apply (a tree for
// all-gather).
std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices,
                                             CollectiveAlgorithm algorithm);

// Parent of each rank in a binary tree over `ranks` ranks in order, of depth ceil(log2(ranks)):
// rank 0 is the root and has one child, every other rank at most two; odd ranks are leaves. -1:
// none.
std::vector<int> binary_tree(int ranks);

// The other tree of the pair: that over the mirrored order (even number of ranks) or the order
// moved by one (odd), in which the leaves of the first are inner nodes.
std::vector<int> twin_tree(int ranks);

}  // namespace strato
