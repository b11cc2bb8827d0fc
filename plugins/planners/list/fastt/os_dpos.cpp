#include "plugins/planners/list/fastt/os_dpos.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/at.h"

namespace strato::fastt {
namespace {

class Splitter {
 public:
  Splitter(const Problem& problem, Plan& plan, const SplitOptions& options,
           const std::stop_token& stop)
      : problem_(problem), plan_(plan), options_(options), stop_(stop) {}

  int run() {
    Dpos& dpos = *plan_.dpos;
    std::vector<NodeIndex> path = scheduled_critical_path(dpos);
    std::ranges::stable_sort(path, std::greater(),
                             [&](NodeIndex node) { return dpos.finish(node) - dpos.start(node); });
    int failures = 0, taken = 0;
    for (const NodeIndex node : path) {
      if (stop_.stop_requested() || placed_ >= options_.trials) break;
      if (!dpos.dag().has(node)) continue;  // its op is in slices now
      best_.reset();
      least_ = Nanos::max();
      try_all(node);
      if (!best_) continue;  // cannot be split
      const bool better = least_ < dpos.makespan();
      plan_.trials.push_back({best_->op, best_->axis, best_->parts, least_, better});
      if (better) {
        take();
        ++taken;
        failures = 0;
      } else if (failures++ >= options_.patience) {
        break;
      }
    }
    return taken;
  }

 private:
  void try_all(NodeIndex node) {
    if (!is_whole(node)) return;
    const NodeInfo& info = plan_.graph.nodes[at(node)];
    const int most = static_cast<int>(plan_.dpos->devices().size());
    if (splits_along_batch(*problem_.graph, info.op))
      for (int parts = 2; parts <= most && !stop_.stop_requested(); ++parts)
        if (auto split = split_batch(problem_, plan_.graph.nodes, *plan_.dpos, node, parts))
          try_one(std::move(*split));
    if (!options_.axes || problem_.graph->op(info.op).phase == Phase::Update) return;
    for (const SplitAxis& axis : split_axes(*problem_.graph, info.op)) try_axis(info.op, axis);
  }

  bool is_whole(NodeIndex node) const {  // a copy of an op that is not in parts
    const Role role = plan_.graph.nodes[at(node)].role;
    return role == Role::Replica || role == Role::Single;
  }

  void try_axis(OpId op, const SplitAxis& axis) {
    const std::vector<NodeIndex>& replicas = plan_.graph.of_op[op];
    if (!std::ranges::all_of(replicas, [&](NodeIndex replica) { return is_whole(replica); }))
      return;
    const Tensor& made = problem_.graph->tensor(problem_.graph->op(op).outputs.front());
    const std::int64_t extent = made.shape[at(axis.axis)];
    const auto most =
        std::min<std::int64_t>(extent, static_cast<std::int64_t>(plan_.dpos->devices().size()));
    for (int parts = 2; parts <= most && !stop_.stop_requested(); ++parts)
      try_one(split_axis(problem_, plan_.graph.nodes, *plan_.dpos, replicas, axis, parts));
  }

  void try_one(Split split) {
    const Dpos::EditedSchedule trial =
        plan_.dpos->trial(split.edit, std::min(least_, plan_.dpos->makespan()));
    placed_ += trial.placed + trial.ranked;
    if (plan_.dpos->fits() && !trial.fits) return;
    if (best_ && trial.makespan >= least_) return;
    least_ = trial.makespan;
    best_ = std::move(split);
  }

  void take() {
    plan_.dpos->take(best_->edit);
    std::vector<NodeIndex>& of_op = plan_.graph.of_op[best_->op];
    for (const NodeIndex node : best_->edit.removed) std::erase(of_op, node);
    for (const NodeInfo& info : best_->added) {
      if (info.role == Role::Part || info.role == Role::Slice)
        of_op.push_back(static_cast<NodeIndex>(plan_.graph.nodes.size()));
      plan_.graph.nodes.push_back(info);
    }
    if (best_->axis != kBatchAxis) plan_.split_axis[best_->op] = best_->axis;
  }

  const Problem& problem_;
  Plan& plan_;
  const SplitOptions& options_;
  const std::stop_token& stop_;
  std::optional<Split> best_;
  Nanos least_;
  std::size_t placed_ = 0;
};

}  // namespace

Plan make_plan(const Problem& problem, std::size_t replicas, const DposOptions& options) {
  Plan plan;
  plan.graph = replica_graph(problem, replicas);
  plan.dpos = std::make_unique<Dpos>(plan.graph.dag, *problem.cluster, *problem.cost, options);
  plan.split_axis.assign(problem.graph->op_count(), kBatchAxis);
  return plan;
}

int os_dpos(const Problem& problem, Plan& plan, const SplitOptions& options,
            const std::stop_token& stop) {
  return Splitter(problem, plan, options, stop).run();
}

std::vector<NodeIndex> scheduled_critical_path(const Dpos& dpos) {
  std::vector<Nanos> rank(dpos.dag().size());
  const auto at = [&](NodeIndex node) -> Nanos& { return rank[static_cast<std::size_t>(node)]; };
  const auto order = dpos.order();
  NodeIndex node = -1;
  for (std::size_t i = order.size(); i-- > 0;) {
    Nanos after;
    for (const EditableDag::Half& half : dpos.dag().successors(order[i]))
      after = std::max(after, dpos.transfer(half, dpos.device(order[i]), dpos.device(half.node)) +
                                  at(half.node));
    at(order[i]) = after + (dpos.finish(order[i]) - dpos.start(order[i]));
    if (node < 0 || at(order[i]) >= at(node)) node = order[i];
  }
  std::vector<NodeIndex> path;
  while (node >= 0) {
    path.push_back(node);
    NodeIndex next = -1;
    for (const EditableDag::Half& half : dpos.dag().successors(node))
      if (next < 0 || at(half.node) > at(next) || (at(half.node) == at(next) && half.node < next))
        next = half.node;
    node = next;
  }
  return path;
}

double Bound::ratio() const { return least > Nanos() ? finish / least : finish > Nanos() ? 0 : 1; }

Bound bound_of(const Dpos& dpos) {
  Bound bound;
  bound.finish = dpos.makespan();
  std::vector<Nanos> work(dpos.dag().size()), transfers(dpos.dag().size());
  Nanos all;
  const auto order = dpos.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeIndex node = order[i];
    Nanos shortest = Nanos::max(), work_after, transfers_after;
    for (const DeviceId device : dpos.devices())
      shortest = std::min(shortest, dpos.time(node, device));
    for (const EditableDag::Half& half : dpos.dag().successors(node)) {
      const auto next = at(half.node);
      work_after = std::max(work_after, work[next]);
      transfers_after = std::max(transfers_after, dpos.longest_transfer(half) + transfers[next]);
    }
    all += shortest;
    work[at(node)] = shortest + work_after;
    transfers[at(node)] = transfers_after;
    bound.least = std::max(bound.least, shortest + work_after);
    bound.longest_transfers = std::max(bound.longest_transfers, transfers_after);
  }
  const auto devices = static_cast<std::int64_t>(dpos.devices().size());
  bound.least = std::max(bound.least, Nanos((all.value + devices - 1) / devices));
  return bound;
}

std::vector<PlanResult::Fact> facts(const Bound& bound) {
  const auto milliseconds = [](Nanos time) {
    return fmt::format("{:.3f} ms", to_seconds(time) * 1e3);
  };
  return {{"DPOS finish time (its own cost model)", milliseconds(bound.finish)},
          {"w_opt is at least", milliseconds(bound.least)},
          {"C_max", milliseconds(bound.longest_transfers)},
          {"Theorem 1 with that w_opt: 2 w_opt + C_max",
           milliseconds(bound.least * 2 + bound.longest_transfers)},
          {"guaranteed: at most", fmt::format("{:.2f} w_opt", bound.ratio())}};
}

}  // namespace strato::fastt
