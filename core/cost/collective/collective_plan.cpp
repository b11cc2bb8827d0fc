#include "core/cost/collective/collective_plan.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "core/base/error.h"
#include "core/cost/collective/collective_tree.h"
#include "core/cost/collective/plan_builder.h"

namespace strato {
namespace {

using Members = std::vector<DeviceId>;

// The volume that crosses each hop of a ring, in tensors, and the number of steps that follow each
// other.
struct Rounds {
  double volume;
  std::int64_t steps;
};

Rounds ring_rounds(Collective kind, std::size_t members) {
  const auto n = static_cast<std::int64_t>(members);
  const double part = static_cast<double>(n - 1) / static_cast<double>(n);
  switch (kind) {
    case Collective::AllReduce:
      return {2 * part, 2 * (n - 1)};
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return {part, n - 1};
    case Collective::Broadcast:
    case Collective::Reduce:
      return {1, n - 1};  // a pipeline along the ring
  }
  CHECK(false, "unknown collective");
}

// Each gives the latency of the whole; one member alone has nothing to do.
Nanos ring(PlanBuilder& plan, Collective kind, const Members& members, double share = 1) {
  if (members.size() < 2) return Nanos();
  const Rounds rounds = ring_rounds(kind, members.size());
  Nanos hop;
  DeviceId last = members.back();
  for (const DeviceId member : members) {
    hop = std::max(hop, plan.send(last, member, rounds.volume * share));
    last = member;
  }
  return hop * rounds.steps;
}

// Sends from the first member along all others, or back.
Nanos chain(PlanBuilder& plan, const Members& members, double volume, bool back) {
  Nanos latency;
  for (std::size_t i = 1; i < members.size(); ++i) {
    latency += back ? plan.send(members[i], members[i - 1], volume)
                    : plan.send(members[i - 1], members[i], volume);
  }
  return latency;
}

bool has_tree(Collective kind) {
  return kind == Collective::AllReduce || kind == Collective::Broadcast ||
         kind == Collective::Reduce;
}

Nanos around(PlanBuilder& plan, Collective kind, const Members& members, double share, bool tree) {
  return tree ? send_over_trees(plan, kind, members, share) : ring(plan, kind, members, share);
}

std::vector<Members> by_machine(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::vector<Members> machines;
  for (const DeviceId device : devices) {
    const MachineId machine = cluster.device(device).machine;
    if (machines.empty() || cluster.device(machines.back().front()).machine != machine) {
      machines.emplace_back();
    }
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
    return machines_.size() >= 2 && std::any_of(machines_.begin(), machines_.end(),
                                                [](const Members& m) { return m.size() >= 2; });
  }

  void append_to(std::vector<CollectivePlan>& plans) const {
    const bool all = even() && kind_ != Collective::Broadcast && kind_ != Collective::Reduce;
    for (const bool tree : {false, true}) {
      if (tree && !has_tree(kind_)) continue;
      plans.push_back(by_leaders(tree));
      if (all) plans.push_back(by_all(tree));
    }
  }

 private:
  bool even() const {
    return std::all_of(machines_.begin(), machines_.end(), [this](const Members& members) {
      return members.size() == machines_.front().size();
    });
  }

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
  std::stable_sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    return std::tie(a.latency, a.nanos_per_byte) < std::tie(b.latency, b.nanos_per_byte);
  });
  std::vector<CollectivePlan> kept;
  for (CollectivePlan& plan : plans) {
    if (!kept.empty() && plan.nanos_per_byte >= kept.back().nanos_per_byte) continue;
    while (kept.size() >= 2 && crossing(kept.back(), plan) <= kept[kept.size() - 2].until) {
      kept.pop_back();
    }
    if (!kept.empty()) kept.back().until = crossing(kept.back(), plan);
    kept.push_back(std::move(plan));
  }
  plans = std::move(kept);
}

}  // namespace

std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices,
                                             CollectiveAlgorithm algorithm) {
  CHECK(devices.size() >= 2, "a collective has at least two members");
  std::vector<CollectivePlan> plans;
  if (algorithm == CollectiveAlgorithm::Hierarchical) {
    const Hierarchy hierarchy(cluster, kind, devices);
    if (hierarchy.applies()) hierarchy.append_to(plans);
    return plans;
  }
  const bool tree = algorithm == CollectiveAlgorithm::Tree;
  if (tree && !has_tree(kind)) return plans;
  PlanBuilder plan(cluster, algorithm);
  plan.end_phase(around(plan, kind, Members(devices.begin(), devices.end()), 1, tree));
  plans.push_back(std::move(plan).build());
  return plans;
}

std::vector<CollectivePlan> collective_plans(const Cluster& cluster, Collective kind,
                                             std::span<const DeviceId> devices) {
  std::vector<CollectivePlan> plans;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree, CollectiveAlgorithm::Hierarchical}) {
    std::vector<CollectivePlan> more = collective_plans(cluster, kind, devices, algorithm);
    std::move(more.begin(), more.end(), std::back_inserter(plans));
  }
  keep_cheapest(plans);
  return plans;
}

}  // namespace strato
