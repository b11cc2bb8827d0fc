#include "plugins/planners/list/celeritas/placing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/quantity_text.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"

namespace strato::celeritas {
namespace {

using Why = PlanningSteps::Why;

struct Choice {
  DeviceId device;
  Why why;
  std::string remark;
};

class Placer {
 public:
  Placer(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
         const PlacingOptions& options, std::vector<PlanningSteps::Step>* steps)
      : dag_(dag),
        transfers_(transfers),
        cluster_(cluster),
        options_(options),
        steps_(steps),
        scheduling_(dag, transfers, cluster, options.scheduling),
        current_(options.devices.front()) {}

  void place(NodeIndex node) {
    Choice choice = choose(node);
    std::vector<PlanningSteps::Candidate> candidates;
    if (steps_ != nullptr) candidates = candidates_of(scheduling_, node, cluster_);
    scheduling_.place(node, choice.device);
    moves_ += choice.why == Why::WorthMoving ? 1 : 0;
    // Order-Place goes on from where it was when a co-location group called a node elsewhere.
    if (options_.adjust || choice.why == Why::NextInOrder) current_ = choice.device;
    if (steps_ == nullptr) return;
    const Nanos finish = scheduling_.finish(node);
    const GpuTypeId gpu = cluster_.device(choice.device).type;
    steps_->push_back({node, choice.device, finish - dag_.time(node, gpu), finish, choice.why,
                       std::move(candidates), std::move(choice.remark)});
  }

  Placed finished() && { return {std::move(scheduling_).finished(), moves_}; }

 private:
  Choice choose(NodeIndex node) const {
    if (const auto device = scheduling_.demanded(node)) return {*device, Why::Colocated, {}};
    return options_.adjust ? adjusted(node) : next_in_order(node);
  }

  Choice next_in_order(NodeIndex node) const {
    for (auto at = std::ranges::find(options_.devices, current_); at != options_.devices.end();
         ++at)
      if (scheduling_.has_room(node, *at)) return {*at, Why::NextInOrder, {}};
    return {scheduling_.emptiest(), Why::BestEffort, {}};
  }

  Nanos earliest(NodeIndex node, DeviceId device) const {
    return options_.by_finish ? scheduling_.earliest_finish(node, device)
                              : scheduling_.earliest_start(node, device);
  }

  // Equation 8.
  Nanos back_cost(NodeIndex node, DeviceId from) const {
    Nanos cost;
    for (const DagEdge& edge : dag_.successors(node))
      cost = std::max(cost, transfers_.time(edge.edge, from, current_));
    return cost;
  }

  Choice adjusted(NodeIndex node) const {
    DeviceId best;
    Nanos best_time = Nanos::max();
    for (DeviceId device : options_.devices) {
      if (!scheduling_.has_room(node, device)) continue;
      const Nanos time = earliest(node, device);
      // The node stays on equal terms.
      if (time < best_time || (time == best_time && device == current_)) {
        best_time = time;
        best = device;
      }
    }
    if (!best.valid()) return {scheduling_.emptiest(), Why::BestEffort, {}};
    if (best == current_) return {best, Why::WithPrevious, {}};
    if (!scheduling_.has_room(node, current_))
      return {best, options_.by_finish ? Why::EarliestFinish : Why::EarliestStart, {}};
    const Nanos waiting = earliest(node, current_) - best_time;
    const Nanos back = back_cost(node, best);
    std::string remark;
    if (steps_ != nullptr)
      remark = "waiting costs " + time_text(waiting) + ", sending back " + time_text(back);
    if (waiting > back) return {best, Why::WorthMoving, std::move(remark)};
    return {current_, Why::WithPrevious, std::move(remark)};
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  const PlacingOptions& options_;
  std::vector<PlanningSteps::Step>* steps_;
  Scheduling scheduling_;
  DeviceId current_;  // of the node before; of Order-Place: that is being filled
  std::int64_t moves_ = 0;
};

}  // namespace

Placed place(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             std::span<const NodeIndex> order, const PlacingOptions& options,
             std::vector<PlanningSteps::Step>* steps) {
  Placer placer(dag, transfers, cluster, options, steps);
  for (NodeIndex node : order) placer.place(node);
  return std::move(placer).finished();
}

}  // namespace strato::celeritas
