#include "plugins/planners/list/baechi/earliest_task_first.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/list/placement.h"

namespace strato::baechi {
namespace {

using Why = PlanningSteps::Why;
using Rank = std::int32_t;

// The ready nodes of one device, as (time, rank); a smaller rank is preferred. Those with a time up
// to the device's idle moment count as equal.
class Arrivals {
 public:
  void add(Nanos time, Rank rank) { later_.emplace(time, rank); }

  // The first that could start when nothing does before `idle` (which never shrinks), and when.
  // `is_gone(rank)`: it can be forgotten.
  template <class IsGone>
  std::optional<std::pair<Nanos, Rank>> first(Nanos idle, IsGone&& is_gone) {
    while (!later_.empty() && (later_.top().first <= idle || is_gone(later_.top().second))) {
      if (!is_gone(later_.top().second)) there_.push(later_.top().second);
      later_.pop();
    }
    while (!there_.empty() && is_gone(there_.top())) there_.pop();
    if (!there_.empty()) return std::pair(idle, there_.top());
    if (!later_.empty()) return later_.top();
    return std::nullopt;
  }

 private:
  template <class T>
  using Heap = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Heap<std::pair<Nanos, Rank>> later_;
  Heap<Rank> there_;
};

struct DeviceQueue {
  Arrivals arrivals;    // by when a node's inputs are on this device
  Arrivals everywhere;  // by when they are on all devices
  Arrivals instant;     // of nodes that take no time here: they wait for inputs only
  Nanos idle;           // from then on
  Nanos held;           // for the favourite child until then; idle or earlier: not held
  Rank child = -1;      // held for it
  std::optional<Nanos> child_arrival;  // once it is ready

  bool is_held() const { return held > idle; }
};

class EarliestTaskFirst {
 public:
  EarliestTaskFirst(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                    double memory, std::span<const Nanos> levels, const Favourites* favourites,
                    PlanningSteps* steps)
      : dag_(dag),
        transfers_(transfers),
        favourites_(favourites),
        steps_(steps),
        scheduling_(dag, transfers, cluster, {.insert = false, .memory = memory}),
        node_at_(by_level(levels)),
        rank_(dag.size()),
        missing_(dag.size()),
        members_(at(dag.colocation_count())),
        queues_(cluster.device_count()) {
    if (steps != nullptr)
      steps->ranking = {"b-level (for ties)",
                        {levels.begin(), levels.end()},
                        node_at_,
                        critical_path(dag, levels)};
    for (std::size_t place = 0; place < node_at_.size(); ++place)
      rank_[at(node_at_[place])] = static_cast<Rank>(place);
    for (const NodeIndex node : dag.nodes()) {
      missing_[at(node)] = static_cast<std::int32_t>(dag.predecessors(node).size());
      if (dag.colocation(node) >= 0) members_[at(dag.colocation(node))].push_back(node);
    }
  }

  Schedule schedule() && {
    for (const NodeIndex node : dag_.nodes())
      if (missing_[at(node)] == 0) enqueue(node);
    for (std::size_t count = 0; count < dag_.size(); ++count) place(next());
    return std::move(scheduling_).finished();
  }

 private:
  struct Choice {
    NodeIndex node = -1;
    DeviceId device;
    Nanos start;
    Why why = Why::EarliestStart;
  };

  // Its inputs are known: every device that may have it gets to see it.
  void enqueue(NodeIndex node) {
    const auto demanded = scheduling_.demanded(node);
    arrivals_.clear();
    for (std::size_t d = 0; d < queues_.size(); ++d)
      if (const DeviceId device(d); !demanded || *demanded == device)
        arrivals_.emplace_back(scheduling_.inputs_at(node, device), device);
    const Nanos everywhere = std::ranges::max(arrivals_).first;
    for (const auto& [arrival, device] : arrivals_) add(node, device, arrival, everywhere);
  }

  void add(NodeIndex node, DeviceId device, Nanos arrival, Nanos everywhere) {
    DeviceQueue& queue = queues_[device.index()];
    const Rank rank = rank_[at(node)];
    if (queue.child == rank) queue.child_arrival = arrival;
    if (is_instant(node, device)) {
      queue.instant.add(arrival, rank);
      return;
    }
    queue.arrivals.add(arrival, rank);
    if (favourites_ != nullptr) queue.everywhere.add(everywhere, rank);
  }

  bool is_instant(NodeIndex node, DeviceId device) const {
    return scheduling_.time_on(node, device) <= Nanos();
  }

  // Tells whether a device can forget a ready node: it is placed, has to be elsewhere, or has no
  // room there, now and ever. One that has room nowhere is to be placed at once.
  bool is_gone(Rank rank, DeviceId device) {
    const NodeIndex node = node_at_[at(rank)];
    if (may_get(device, node)) return false;
    if (!scheduling_.is_placed(node) && !scheduling_.demanded(node) && !has_room_somewhere(node))
      homeless_.push_back(node);
    return true;
  }

  bool may_get(DeviceId device, NodeIndex node) const {
    return !scheduling_.is_placed(node) && scheduling_.has_room(node, device);
  }

  bool has_room_somewhere(NodeIndex node) const {
    for (std::size_t d = 0; d < queues_.size(); ++d)
      if (scheduling_.has_room(node, DeviceId(d))) return true;
    return false;
  }

  // Less is better. Of equal devices one that is not held for another node.
  auto key(const Choice& choice) const {
    const bool favourite = choice.why == Why::FavouriteParent;
    const bool intrudes = !favourite && queues_[choice.device.index()].is_held();
    const Nanos time = scheduling_.time_on(choice.node, choice.device);
    return std::tuple(choice.start, !favourite, rank_[at(choice.node)], intrudes, time,
                      choice.device);
  }

  Choice next() {
    Choice best;
    for (std::size_t d = 0; d < queues_.size(); ++d) {
      const Choice choice = first_on(DeviceId(d));
      if (choice.node >= 0 && (best.node < 0 || key(choice) < key(best))) best = choice;
    }
    while (!homeless_.empty()) {
      const NodeIndex node = homeless_.back();
      homeless_.pop_back();
      if (scheduling_.is_placed(node)) continue;
      const auto demanded = scheduling_.demanded(node);
      return {node, demanded.value_or(scheduling_.emptiest()), {}, Why::BestEffort};
    }
    CHECK(best.node >= 0, "a ready node is in no queue");
    return best;
  }

  Choice first_on(DeviceId device) {
    DeviceQueue& queue = queues_[device.index()];
    const auto gone = [&](Rank rank) { return is_gone(rank, device); };
    if (queue.child >= 0 && !may_get(device, node_at_[at(queue.child)])) release(queue);
    Choice best;
    const auto consider = [&](const std::optional<std::pair<Nanos, Rank>>& entry, Nanos from,
                              Why why = Why::EarliestStart) {
      if (!entry) return;
      const Choice choice{node_at_[at(entry->second)], device, std::max(entry->first, from), why};
      if (best.node < 0 || key(choice) < key(best)) best = choice;
    };
    if (queue.child_arrival) {
      const bool instant = is_instant(node_at_[at(queue.child)], device);
      consider(std::pair(*queue.child_arrival, queue.child), instant ? Nanos() : queue.idle,
               Why::FavouriteParent);
    }
    consider(queue.instant.first(Nanos(-1), gone), {});
    if (queue.is_held()) {
      const auto urgent = queue.everywhere.first(queue.idle, gone);
      if (urgent && urgent->first < queue.held) {
        consider(urgent, queue.idle);
        return best;
      }
    }
    consider(queue.arrivals.first(queue.idle, gone), std::max(queue.idle, queue.held));
    return best;
  }

  void release(DeviceQueue& queue) {
    queue.child = -1;
    queue.child_arrival.reset();
    queue.held = queue.idle;
  }

  void place(const Choice& choice) {
    const bool decides = !scheduling_.demanded(choice.node).has_value();
    place_and_record(scheduling_, choice.node, choice.device, decides ? choice.why : Why::Colocated,
                     steps_ != nullptr ? &steps_->steps : nullptr);
    DeviceQueue& queue = queues_[choice.device.index()];
    if (!is_instant(choice.node, choice.device)) {
      queue.idle = scheduling_.finish(choice.node);
      release(queue);
    }
    if (favourites_ != nullptr) hold_for_child_of(choice.node, queue);
    if (decides && dag_.colocation(choice.node) >= 0) gather(dag_.colocation(choice.node));
    for (const DagEdge& edge : dag_.successors(choice.node))
      if (--missing_[at(edge.node)] == 0) enqueue(edge.node);
  }

  void hold_for_child_of(NodeIndex node, DeviceQueue& queue) {
    const NodeIndex child = favourites_->child[at(node)];
    if (child < 0 || (queue.is_held() && queue.child != rank_[at(node)])) return;
    release(queue);
    for (const DagEdge& edge : dag_.successors(node))
      if (edge.node == child)
        queue.held = std::max(queue.idle, scheduling_.finish(node)) + transfers_.mean(edge.edge);
    queue.child = rank_[at(child)];
  }

  // The ready nodes of a group whose device was decided just now: other devices may have forgotten
  // them, and so may this one.
  void gather(std::int32_t group) {
    for (const NodeIndex node : members_[at(group)])
      if (missing_[at(node)] == 0 && !scheduling_.is_placed(node)) enqueue(node);
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Favourites* favourites_;
  PlanningSteps* steps_;
  Scheduling scheduling_;
  std::vector<NodeIndex> node_at_;  // by rank
  std::vector<Rank> rank_;
  std::vector<std::int32_t> missing_;            // inputs that are not placed, by node
  std::vector<std::vector<NodeIndex>> members_;  // by co-location group
  std::vector<DeviceQueue> queues_;
  std::vector<NodeIndex> homeless_;
  std::vector<std::pair<Nanos, DeviceId>> arrivals_;  // of one node, where it may be
};

}  // namespace

Schedule earliest_task_first(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                             double memory, std::span<const Nanos> b_levels,
                             const Favourites* favourites, PlanningSteps* steps) {
  return EarliestTaskFirst(dag, transfers, cluster, memory, b_levels, favourites, steps).schedule();
}

}  // namespace strato::baechi
