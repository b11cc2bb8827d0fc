#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/cost/collective/collectives.h"

namespace strato {
namespace {

using Members = std::vector<DeviceId>;

// Adds up what a collective's phases put on the links.
class PlanBuilder {
 public:
  PlanBuilder(const Cluster& cluster, CollectiveAlgorithm algorithm) : cluster_(cluster) {
    plan_.algorithm = algorithm;
  }

  Nanos latency(DeviceId from, DeviceId to) const { return cluster_.path(from, to).latency; }

  // In this phase, `volume` tensors go from one device to another. Returns the latency of the path.
  Nanos send(DeviceId from, DeviceId to, double volume) {
    const Path path = cluster_.path(from, to);
    for (const LinkId link : path.links) sent_.emplace_back(link, volume);
    return path.latency;
  }

  // `latency`: of the longest chain of messages that wait for each other.
  void end_phase(Nanos latency) {
    // Volumes of a link are added up in the order in which they were sent.
    std::ranges::stable_sort(sent_, {}, &Sent::first);
    double slowest = 0;  // seconds per byte
    for (auto at = sent_.begin(); at != sent_.end();) {
      const LinkId link = at->first;
      double volume = 0;
      for (; at != sent_.end() && at->first == link; ++at) volume += at->second;
      slowest = std::max(slowest, volume / cluster_.links()[link].bandwidth);
      plan_.links.push_back(link);
    }
    sent_.clear();
    plan_.latency += latency;
    plan_.nanos_per_byte += slowest * 1e9;
  }

  CollectivePlan build() && {
    std::ranges::sort(plan_.links);
    plan_.links.erase(std::unique(plan_.links.begin(), plan_.links.end()), plan_.links.end());
    plan_.links.shrink_to_fit();
    return std::move(plan_);
  }

 private:
  using Sent = std::pair<LinkId, double>;
  const Cluster& cluster_;
  std::vector<Sent> sent_;  // in this phase
  CollectivePlan plan_;     // links of any phase, some more than once
};

// Each gives the latency of the whole; one member alone has nothing to do.
Nanos ring(PlanBuilder& plan, Collective kind, const Members& members, double share = 1) {
  if (members.size() < 2) return Nanos();
  const auto n = static_cast<std::int64_t>(members.size());
  const std::int64_t rounds = kind == Collective::AllReduce ? 2 : 1;
  double volume = 1;  // that crosses each hop, in tensors; 1: a pipeline along the ring
  if (kind != Collective::Broadcast && kind != Collective::Reduce)
    volume = static_cast<double>(rounds) * (static_cast<double>(n - 1) / static_cast<double>(n));
  Nanos hop;
  DeviceId last = members.back();
  for (const DeviceId member : members) {
    hop = std::max(hop, plan.send(last, member, volume * share));
    last = member;
  }
  return hop * (rounds * (n - 1));
}

// Sends from the first member along all others, or back.
Nanos chain(PlanBuilder& plan, const Members& members, double volume, bool back) {
  Nanos latency;
  for (std::size_t i = 1; i < members.size(); ++i)
    latency += back ? plan.send(members[i], members[i - 1], volume)
                    : plan.send(members[i - 1], members[i], volume);
  return latency;
}

// Sends `volume` over every edge of a tree in these directions. Returns the deepest path's latency.
Nanos send_over(PlanBuilder& plan, const std::vector<int>& parents, const Members& members,
                double volume, bool up, bool down) {
  Nanos deepest;
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    if (parents[rank] < 0) continue;
    const DeviceId parent = members[at(parents[rank])];
    if (up) plan.send(members[rank], parent, volume);
    if (down) plan.send(parent, members[rank], volume);
    Nanos way;
    for (std::size_t below = rank; parents[below] >= 0; below = at(parents[below])) {
      const DeviceId above = members[at(parents[below])];
      if (up) way += plan.latency(members[below], above);
      if (down) way += plan.latency(above, members[below]);
    }
    deepest = std::max(deepest, way);
  }
  return deepest;
}

// Each member sends each other one `volume` tensors.
Nanos pairwise(PlanBuilder& plan, const Members& members, double volume) {
  Nanos hop;
  for (const DeviceId from : members)
    for (const DeviceId to : members)
      if (from != to) hop = std::max(hop, plan.send(from, to, volume));
  return hop * (std::ssize(members) - 1);
}

bool has_tree(Collective kind) {
  return kind == Collective::AllReduce || kind == Collective::Broadcast ||
         kind == Collective::Reduce;
}

// Both trees, or one for broadcast and reduce, with `share` of the tensor. Returns the latency.
Nanos trees(PlanBuilder& plan, Collective kind, const Members& members, double share) {
  const auto ranks = static_cast<int>(members.size());
  if (ranks < 2) return Nanos();
  if (kind != Collective::AllReduce)
    return send_over(plan, binary_tree(ranks), members, share, kind == Collective::Reduce,
                     kind == Collective::Broadcast);
  const Nanos one = send_over(plan, binary_tree(ranks), members, share / 2, true, true);
  return std::max(one, send_over(plan, twin_tree(ranks), members, share / 2, true, true));
}

Nanos around(PlanBuilder& plan, Collective kind, const Members& members, double share, bool tree) {
  return tree ? trees(plan, kind, members, share) : ring(plan, kind, members, share);
}

std::vector<Members> by_machine(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::vector<Members> machines;
  for (const DeviceId device : devices) {
    const MachineId machine = cluster.device(device).machine;
    if (machines.empty() || cluster.device(machines.back().front()).machine != machine)
      machines.emplace_back();
    machines.back().push_back(device);
  }
  return machines;
}

class Hierarchy {
 public:
  Hierarchy(const Cluster& cluster, Collective kind, std::span<const DeviceId> devices)
      : cluster_(cluster),
        kind_(kind),
        devices_(static_cast<double>(devices.size())),
        machines_(by_machine(cluster, devices)) {}

  bool applies() const {
    return machines_.size() >= 2 &&
           std::ranges::any_of(machines_, [](const Members& m) { return m.size() >= 2; });
  }

  void append_to(std::vector<CollectivePlan>& plans) const {
    const bool even = std::ranges::all_of(
        machines_, [this](const Members& m) { return m.size() == machines_.front().size(); });
    if (kind_ == Collective::AllToAll) {
      if (even) plans.push_back(by_position());
      return;
    }
    const bool all = even && kind_ != Collective::Broadcast && kind_ != Collective::Reduce;
    for (const bool tree : {false, true}) {
      if (tree && !has_tree(kind_)) continue;
      plans.push_back(by_leaders(tree));
      if (all) plans.push_back(by_all(tree));
    }
  }

 private:
  // A phase inside all machines at once.
  template <class Inside>
  void inside(PlanBuilder& plan, const Inside& one) const {
    Nanos latency;
    for (const Members& members : machines_) latency = std::max(latency, one(members));
    plan.end_phase(latency);
  }

  // Towards the leaders, or from them: all of the tensor, or each member's own part.
  void to_leaders(PlanBuilder& plan, bool whole, bool back) const {
    inside(plan, [&](const Members& members) {
      const double others = static_cast<double>(members.size() - 1);
      return chain(plan, members, whole ? 1 : others / devices_, back);
    });
  }

  CollectivePlan by_leaders(bool tree) const {
    PlanBuilder plan(cluster_, CollectiveAlgorithm::Hierarchical);
    Members leaders;
    for (const Members& members : machines_) leaders.push_back(members.front());
    if (kind_ != Collective::Broadcast) to_leaders(plan, kind_ != Collective::AllGather, true);
    plan.end_phase(around(plan, kind_, leaders, 1, tree));
    if (kind_ != Collective::Reduce) to_leaders(plan, kind_ != Collective::ReduceScatter, false);
    return std::move(plan).build();
  }

  CollectivePlan by_all(bool tree) const {
    PlanBuilder plan(cluster_, CollectiveAlgorithm::Hierarchical);
    const auto ring_inside = [&](Collective kind) {
      inside(plan, [&](const Members& members) { return ring(plan, kind, members); });
    };
    if (kind_ != Collective::AllGather) ring_inside(Collective::ReduceScatter);
    const std::size_t positions = machines_.front().size();
    Nanos latency;
    for (std::size_t i = 0; i < positions; ++i) {
      Members across;
      for (const Members& members : machines_) across.push_back(members[i]);
      const double share = 1 / static_cast<double>(positions);
      latency = std::max(latency, around(plan, kind_, across, share, tree));
    }
    plan.end_phase(latency);
    if (kind_ != Collective::ReduceScatter) ring_inside(Collective::AllGather);
    return std::move(plan).build();
  }

  // An all-to-all inside machines, then among those of equal position.
  CollectivePlan by_position() const {
    PlanBuilder plan(cluster_, CollectiveAlgorithm::Hierarchical);
    const double part = 1 / (devices_ * devices_);
    const auto count = static_cast<double>(machines_.size());
    inside(plan, [&](const Members& members) { return pairwise(plan, members, part * count); });
    const std::size_t positions = machines_.front().size();
    Nanos latency;
    for (std::size_t i = 0; i < positions; ++i) {
      Members across;
      for (const Members& members : machines_) across.push_back(members[i]);
      latency = std::max(latency, pairwise(plan, across, part * static_cast<double>(positions)));
    }
    plan.end_phase(latency);
    return std::move(plan).build();
  }

  const Cluster& cluster_;
  Collective kind_;
  double devices_;
  std::vector<Members> machines_;
};

// Size at which `next`, of greater latency and less time per byte, becomes cheaper.
double crossing(const CollectivePlan& plan, const CollectivePlan& next) {
  return static_cast<double>((next.latency - plan.latency).value) /
         (plan.nanos_per_byte - next.nanos_per_byte);
}

// Leaves the lower envelope of the plans' lines.
void keep_cheapest(std::vector<CollectivePlan>& plans) {
  std::ranges::stable_sort(plans, {}, [](const CollectivePlan& plan) {
    return std::tie(plan.latency, plan.nanos_per_byte);
  });
  std::vector<CollectivePlan> kept;
  for (CollectivePlan& plan : plans) {
    if (!kept.empty() && plan.nanos_per_byte >= kept.back().nanos_per_byte) continue;
    while (kept.size() >= 2 && crossing(kept.back(), plan) <= kept[kept.size() - 2].until)
      kept.pop_back();
    if (!kept.empty()) kept.back().until = crossing(kept.back(), plan);
    kept.push_back(std::move(plan));
  }
  plans = std::move(kept);
}

}  // namespace

// A rank's lowest bit tells its height: clearing it and setting the next one leads up.
std::vector<int> binary_tree(int ranks) {
  std::vector<int> parents(at(ranks), -1);
  for (int rank = 1; rank < ranks; ++rank) {
    const int bit = rank & -rank, up = (rank ^ bit) | (bit << 1);
    parents[at(rank)] = up < ranks ? up : rank ^ bit;
  }
  return parents;
}

std::vector<int> twin_tree(int ranks) {
  const std::vector<int> tree = binary_tree(ranks);
  std::vector<int> twin(tree.size(), -1);
  const auto moved = [ranks](int rank) {
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
  };
  for (int rank = 0; rank < ranks; ++rank)
    if (tree[at(rank)] >= 0) twin[at(moved(rank))] = moved(tree[at(rank)]);
  return twin;
}

std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices,
                                             CollectiveAlgorithm algorithm) {
  CHECK(devices.size() >= 2, "a collective has at least two members");
  std::vector<CollectivePlan> plans;
  const Hierarchy hierarchy(cluster, kind, devices);
  if (algorithm == CollectiveAlgorithm::Hierarchical) {
    if (hierarchy.applies()) hierarchy.append_to(plans);
    return plans;
  }
  const bool tree = algorithm == CollectiveAlgorithm::Tree;
  if (tree && hierarchy.applies()) return plans;
  const bool by_pairs = algorithm == CollectiveAlgorithm::Pairwise;
  if ((tree && !has_tree(kind)) || by_pairs != (kind == Collective::AllToAll)) return plans;
  PlanBuilder plan(cluster, algorithm);
  const Members members(devices.begin(), devices.end());
  const auto count = static_cast<double>(members.size());
  plan.end_phase(by_pairs ? pairwise(plan, members, 1 / (count * count))
                          : around(plan, kind, members, 1, tree));
  plans.push_back(std::move(plan).build());
  return plans;
}

std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices) {
  std::vector<CollectivePlan> plans;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree, CollectiveAlgorithm::Hierarchical,
        CollectiveAlgorithm::Pairwise}) {
    std::ranges::move(collective_plans(cluster, kind, devices, algorithm),
                      std::back_inserter(plans));
  }
  keep_cheapest(plans);
  return plans;
}

}  // namespace strato
