#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "plugins/planners/learned/autodist/search/sampler.h"

namespace strato::autodist {
namespace {

// One plan being changed.
class PlanMove {
 public:
  PlanMove(const SyncTask& task, const SyncPlan& plan, const SamplerOptions& options,
           Random& random)
      : task_(task), plan_(plan), options_(options), random_(random) {}

  void make_one() {
    using Change = void (PlanMove::*)(std::size_t variable);
    static constexpr Change kChanges[] = {
        &PlanMove::configure_one, &PlanMove::configure_run, &PlanMove::cut_message,
        &PlanMove::join_messages, &PlanMove::leave_message, &PlanMove::merge_all_anew,
        &PlanMove::divide_anew,   &PlanMove::move_servers,  &PlanMove::shard_run};
    const std::size_t variable = heavy_variable();
    (this->*kChanges[random_.below(options_.sharded > 0 ? 9 : 8)])(variable);
  }
  SyncPlan take() { return std::move(plan_); }

 private:
  // By bytes, and now and then any.
  std::size_t heavy_variable() {
    if (random_.uniform() < 0.3) return random_.below(plan_.size());
    double left = random_.uniform() * static_cast<double>(task_.bytes().value);
    for (std::size_t v = 0; v < plan_.size(); ++v)
      if ((left -= static_cast<double>(task_.variables[v].bytes.value)) < 0) return v;
    return plan_.size() - 1;
  }

  bool is_served(std::size_t v) const { return plan_[v].parts[0].synchroniser == Synchroniser::Ps; }
  // Its parts reduced each on its own, or on servers that are chosen by load.
  void set(std::size_t v, NodeConfig sync) {
    plan_[v] = std::move(sync);
    place(v);
    for (std::size_t p = 0; p < plan_[v].parts.size(); ++p) {
      SyncPart& part = plan_[v].parts[p];
      part.merge_group = may_merge(plan_[v], part) ? next_group_++ : -1;
    }
  }
  void place(std::size_t v) {
    if (!is_served(v)) return;
    std::vector<SyncPart>& parts = plan_[v].parts;
    std::vector<SyncPart> own = std::exchange(parts, {});
    NodeLoads loads = loads_of(task_, plan_);
    parts = std::move(own);
    for (std::size_t p = 0; p < parts.size(); ++p)
      loads.place(parts[p], part_bytes(task_.variables[v], plan_[v], p), &random_);
  }

  void configure(std::size_t begin, std::size_t end) {
    const double servers = random_.uniform() < 0.5 ? 0 : 1;
    const double stations = random_.uniform() < 0.5 ? 0 : 1;
    const bool sharded = options_.sharded > 0 && random_.uniform() < 0.33;
    for (std::size_t v = begin; v < end; ++v)
      if (sharded && may_shard(task_.variables[v], options_))
        set(v, in_one(task_.variables[v], {}, true));
      else
        set(v, random_sync(task_, task_.variables[v], options_, servers, 0.5, stations, random_));
    if (servers == 0) join_run(begin, end);
  }
  void configure_one(std::size_t v) { configure(v, v + 1); }
  void configure_run(std::size_t) {
    const auto [begin, end] = any_run();
    configure(begin, end);
  }
  VariableRun any_run() {
    return random_run(plan_.size(), std::max<std::size_t>(2, plan_.size() / 4), random_);
  }
  // Replicas keep them in parts, or, where they do, no longer.
  void shard_run(std::size_t heavy) {
    const bool one = random_.uniform() < 0.5;
    const auto [begin, end] = one ? VariableRun{heavy, heavy + 1} : any_run();
    const bool sharded = one ? !plan_[heavy].sharded : random_.uniform() < 0.5;
    const Bytes size = one ? task_.variables[heavy].bytes : random_size(options_, random_);
    for (std::size_t v = begin; v < end; ++v) {
      const Variable& variable = task_.variables[v];
      const bool turns = sharded ? variable.bytes >= size && may_shard(variable, options_)
                                 : variable.bytes <= size;
      if (!turns || plan_[v].sharded == sharded) continue;
      set(v, sharded ? in_one(variable, {}, true)
                     : random_sync(task_, variable, options_, 0, 0.5, 0, random_));
    }
    if (!sharded) join_run(begin, end);
  }
  // The run's reduced parts travel as one message, or each on its own.
  void join_run(std::size_t begin, std::size_t end) {
    if (random_.uniform() < 0.5) return;
    for (std::size_t v = begin; v < end; ++v)
      if (task_.variables[v].type == task_.variables[begin].type) relabel(v, next_group_);
    ++next_group_;
  }

  void relabel(std::size_t v, std::int32_t group) {
    for (SyncPart& part : plan_[v].parts)
      if (part.merge_group >= 0) part.merge_group = group;
  }
  std::int32_t group_of(std::size_t v) const { return plan_[v].parts[0].merge_group; }
  // The nearest variable before (-1) or after (1) `v` in another message of the same type.
  std::size_t next_message(std::size_t v, int step) const {
    auto at = static_cast<std::int64_t>(v) + step;
    for (; at >= 0 && at < std::ssize(plan_); at += step) {
      const auto other = static_cast<std::size_t>(at);
      if (group_of(other) >= 0 && group_of(other) != group_of(v) &&
          task_.variables[other].type == task_.variables[v].type)
        return other;
    }
    return v;
  }
  // What the variables from `v` on send in the message `from` they send in `to`.
  void rename_message(std::size_t v, std::int32_t from, std::int32_t to) {
    for (; v < plan_.size(); ++v)
      for (SyncPart& part : plan_[v].parts)
        if (part.merge_group == from) part.merge_group = to;
  }
  void cut_message(std::size_t v) {
    if (group_of(v) >= 0) rename_message(v, group_of(v), next_group_++);
  }
  void join_messages(std::size_t v) {
    const std::size_t other = next_message(v, random_.below(2) == 0 ? -1 : 1);
    const std::int32_t from = group_of(other), to = group_of(v);
    if (from >= 0 && to >= 0) rename_message(0, from, to);
  }
  void leave_message(std::size_t) {
    const std::size_t v = random_.below(plan_.size());
    if (group_of(v) < 0) return;
    const std::size_t other = next_message(v, random_.below(2) == 0 ? -1 : 1);
    const bool alone = other == v || random_.uniform() < 0.3;
    relabel(v, alone ? next_group_++ : group_of(other));
  }
  // Between a thousandth of all bytes and all of them.
  void merge_all_anew(std::size_t) {
    const double part = std::exp(-random_.uniform() * std::log(1000.0));
    const double bytes = part * static_cast<double>(task_.bytes().value);
    merge_adjacent(task_, plan_, Bytes(static_cast<std::int64_t>(bytes) + 1), kAnyParts);
  }
  void divide_anew(std::size_t v) {
    SyncPart like = plan_[v].parts[0];
    like.merge_group = -1;
    for (int attempt = 0; attempt < 8; ++attempt) {
      NodeConfig sync = random_sync(task_, task_.variables[v], options_, is_served(v) ? 1 : 0, 0.7,
                                    like.stations.empty() ? 0 : 1, random_);
      if (sync.parts.size() == plan_[v].parts.size() && sync.axis == plan_[v].axis) continue;
      return set(v, std::move(sync));
    }
  }
  void move_servers(std::size_t v) {
    if (!is_served(v)) return configure_one(v);
    const bool turn = random_.uniform() < 0.5;
    for (SyncPart& part : plan_[v].parts) {
      const bool stations = part.stations.empty() == turn;
      if (!turn) part.server = task_.devices[random_.below(task_.devices.size())];
      part.stations = stations ? stations_for(task_, part.server) : std::vector<DeviceId>();
    }
  }

  const SyncTask& task_;
  SyncPlan plan_;
  const SamplerOptions& options_;
  Random& random_;
  std::int32_t next_group_ = next_group(plan_);
};

// From 0 again: with each crossing they would nearly double.
void recount_groups(SyncPlan& plan) {
  std::map<std::int32_t, std::int32_t> numbers;
  for (SyncPart& part : parts_of(plan))
    if (part.merge_group >= 0)
      part.merge_group =
          numbers.try_emplace(part.merge_group, static_cast<std::int32_t>(numbers.size()))
              .first->second;
}

}  // namespace

SyncPlan changed_plan(const SyncTask& task, const SyncPlan& plan, const SamplerOptions& options,
                      Random& random) {
  constexpr int kPatience = 20;
  SyncPlan result = plan;
  for (int attempt = 0; attempt < kPatience && !plan.empty() && result == plan; ++attempt) {
    PlanMove move(task, plan, options, random);
    do move.make_one();
    while (random.uniform() < 0.4);
    result = move.take();
  }
  return result;
}

SyncPlan crossed_plan(const SyncTask& task, const SyncPlan& plan, const SyncPlan& other,
                      Random& random) {
  SyncPlan result = plan;
  if (plan.empty()) return result;
  const std::int32_t apart = next_group(plan);
  const std::size_t begin = random.below(task.variables.size());
  const std::size_t end = begin + 1 + random.below(task.variables.size() - begin);
  for (std::size_t v = begin; v < end; ++v) {
    result[v] = other[v];
    for (SyncPart& part : result[v].parts)
      if (part.merge_group >= 0) part.merge_group += apart;
  }
  recount_groups(result);
  return result;
}

}  // namespace strato::autodist
