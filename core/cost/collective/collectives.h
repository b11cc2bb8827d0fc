// Plans of collectives, how one can go through a cluster, and the cheapest of them at a size.
// Private to core/cost.
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
//   direction. Broadcast and reduce go over one tree, rooted at the first member. Where machines
//   have several members, NCCL's trees are between machines alone: that is hierarchical.
// Hierarchical (members in several machines, several in some): by leaders: reduce inside machines
//   to one member each, the collective among these, broadcast inside; by all members, where every
//   machine has equally many: reduce-scatter inside, the collective among those of equal position
//   for their part each, all of them at once, all-gather inside. Between machines a ring or a tree.
// Pairwise (all-to-all): each member sends every other one its 1/n^2 of the tensor, in n-1 rounds.
//   Hierarchical: inside machines first, each to the member of the position that its parts go to,
//   then among those of equal position (NCCL's PXN, 2022): fewer messages between machines.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
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

// The plans of one algorithm alone; nothing where it does not apply (a tree for all-gather, or of
// several members in a machine).
std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices,
                                             CollectiveAlgorithm algorithm);

// Parent of each rank in a binary tree over `ranks` ranks in order, of depth ceil(log2(ranks)):
// rank 0 is the root (-1) and has one child, every other rank at most two; odd ranks are leaves.
std::vector<int> binary_tree(int ranks);

// The other tree of the pair: that over the mirrored order (even number of ranks) or the order
// moved by one (odd), in which the leaves of the first are inner nodes.
std::vector<int> twin_tree(int ranks);

// Prices collectives on a cluster, from a table that fills itself. Plans depend on the kind and the
// members alone; they are made once and kept (up to some 64 MB of them; beyond that they are made
// anew each time). Safe from any thread, without locks: entries are only ever added, at the head of
// a bucket's list.
class Collectives {
 public:
  explicit Collectives(std::shared_ptr<const Cluster> cluster);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // `scale`: the share of the links' bandwidth that collectives reach.
  CollectiveCost cost(Collective kind, std::span<const DeviceId> devices, Bytes bytes,
                      double scale = 1) const;

 private:
  struct Entry;
  const Entry* find(std::uint64_t hash, Collective kind, std::span<const DeviceId> devices) const;
  const Entry* keep(std::unique_ptr<Entry> entry) const;

  std::shared_ptr<const Cluster> cluster_;
  mutable std::vector<std::atomic<Entry*>> buckets_;
  mutable std::atomic<std::size_t> kept_bytes_ = 0;
};

}  // namespace strato
