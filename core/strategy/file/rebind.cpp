#include "core/strategy/file/rebind.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/strategy/value/expert_check.h"

namespace strato {
namespace {

constexpr std::int32_t kNone = -1;

// Calls take(item, op) for the items of a list whose op is in the graph, and tells in a line of the
// others. Returns how many there were.
template <class Items, class NameOf, class Take>
std::size_t bind_ops(std::string_view list, const Items& items, NameOf name_of, const Graph& graph,
                     std::vector<std::string>& unmatched, Take take) {
  std::vector<std::string_view> missing;
  for (const auto& item : items) {
    const std::string& name = std::invoke(name_of, item);
    if (const OpId op = graph.find_op(name); op.valid())
      take(item, op);
    else
      missing.push_back(name);
  }
  if (!missing.empty())
    unmatched.push_back(fmt::format("{}: {} of its {} ops are not in the model, such as \"{}\"",
                                    list, missing.size(), items.size(), missing.front()));
  return items.size() - missing.size();
}

// The file's group that names each op of the graph. Reports names that the graph lacks.
std::vector<std::int32_t> file_groups_of_ops(const NamedStrategy& named, const Graph& graph,
                                             std::vector<std::string>& unmatched) {
  std::vector<std::int32_t> result(graph.op_count(), kNone);
  std::int32_t index = 0;
  for (const NamedGroup& group : named.groups) {
    bind_ops(fmt::format("group \"{}\"", group.name), group.ops, std::identity(), graph, unmatched,
             [&](const std::string&, OpId op) { result[op.index()] = index; });
    ++index;
  }
  return result;
}

class Binder {
 public:
  Binder(const NamedStrategy& named, const Graph& graph, const Grouping& grouping,
         const Cluster& cluster, std::span<const Nanos> op_times)
      : named_(named), graph_(graph), grouping_(grouping), cluster_(cluster), op_times_(op_times) {
    file_group_of_ = file_groups_of_ops(named, graph, result_.unmatched);
  }

  Rebound bind() {
    bind_devices();
    result_.strategy.groups.resize(grouping_.size());
    for (std::size_t i = 0; i < grouping_.size(); ++i) bind_group(GroupId(i));
    report_groups_without_match();
    for (const GroupId group : result_.strategy.groups.ids())
      if (const std::optional<Decision>& decision = result_.strategy.groups[group])
        check_experts(*decision, grouping_.group(group).ops, graph_,
                      fmt::format("group \"{}\"", grouping_.group(group).name));
    bind_splits();
    return std::move(result_);
  }

 private:
  void bind_devices() {
    for (const NamedGroup& group : named_.groups) {
      std::optional<Decision>& decision = decisions_.emplace_back();
      if (!group.mode) continue;
      const std::size_t dropped = missing_devices_.size();
      decision = Decision{*group.mode, bind_shares(group.devices), group.roles};
      if (!decision->devices.empty()) {
        if (missing_devices_.size() > dropped)
          keep_rows(*decision, group.name);
        else
          check_rows(*decision, fmt::format("group \"{}\"", group.name));
        continue;
      }
      decision.reset();
      say("group \"{}\": none of its devices is in the cluster, left undecided", group.name);
    }
  }

  // Without the devices that are missing there may be no whole rows.
  void keep_rows(Decision& decision, const std::string& group) {
    const MeshRoles wanted = decision.roles;
    drop_meaningless_roles(decision);
    if (decision.roles.tensor != wanted.tensor)
      say("group \"{}\": its devices are no whole rows of {}, tensor parallelism dropped", group,
          wanted.tensor);
    if (decision.roles.expert != wanted.expert)
      say("group \"{}\": {} does not divide its rows of devices, expert parallelism dropped", group,
          wanted.expert);
    if (decision.roles.context != wanted.context)
      say("group \"{}\": {} does not divide its rows of devices, context parallelism dropped",
          group, wanted.context);
    if (decision.roles.states != wanted.states)
      say("group \"{}\": its rows of devices cannot share states, each keeps all", group);
  }

  // Devices that are named go before those that their device group stands for. Reports each name
  // that the cluster lacks once.
  std::vector<DeviceShare> bind_shares(const NamedShares& devices) {
    std::map<DeviceId, std::int32_t> weights;
    for (const auto& [name, weight] : devices)
      if (const DeviceId device = cluster_.find_device(name); device.valid())
        weights[device] = weight;
    for (const auto& [name, weight] : devices) {
      if (cluster_.find_device(name).valid()) continue;
      if (const DeviceGroupId all = cluster_.find_group(name); all.valid()) {
        for (const DeviceId device : cluster_.groups()[all].devices)
          weights.emplace(device, weight);
      } else if (missing_devices_.insert(name).second) {
        say("device \"{}\" is not in the cluster, dropped", name);
      }
    }
    std::vector<DeviceShare> shares;
    for (const auto& [device, weight] : weights) shares.push_back({device, weight});
    return shares;
  }

  void bind_splits() {
    std::vector<OpSplit>& splits = result_.strategy.splits;
    bind_ops("splits", named_.splits, &NamedSplit::op, graph_, result_.unmatched,
             [&](const NamedSplit& named, OpId op) {
               OpSplit split{op, named.axis, bind_shares(named.devices)};
               if (is_possible(split, named.op)) splits.push_back(std::move(split));
             });
    std::ranges::sort(splits, {}, &OpSplit::op);
    for (const GroupId group : result_.strategy.groups.ids())
      if (std::optional<Decision>& decision = result_.strategy.groups[group])
        share_states(*decision, group);
  }

  // As files of before had it: updates were split over the devices of their group, and parameters
  // perhaps gathered in each pass.
  void share_states(Decision& decision, GroupId group) {
    if (decision.mode != Mode::ReplicateAllReduce || decision.roles.states.stage > 0) return;
    if (!named_.gathers_each_pass && !is_mesh(decision)) return;
    std::vector<Bytes> shared;
    std::erase_if(result_.strategy.splits, [&](const OpSplit& split) {
      const Op& op = graph_.op(split.op);
      const bool alike = std::ranges::equal(split.parts, decision.devices, {}, &DeviceShare::device,
                                            &DeviceShare::device);
      if (!alike || op.phase != Phase::Update || grouping_.group_of(split.op) != group)
        return false;
      shared.push_back(graph_.tensor(op.inputs.front()).bytes());
      return true;
    });
    if (shared.empty()) return;
    const std::int32_t stage = named_.gathers_each_pass ? 3 : 1;
    decision.roles.states = {stage, 0, std::ranges::min(shared)};
    drop_meaningless_roles(decision);
  }

  bool is_possible(const OpSplit& split, const std::string& name) {
    const std::vector<SplitAxis> axes = split_axes(graph_, split.op);
    const bool divides = std::ranges::find(axes, split.axis, &SplitAxis::axis) != axes.end();
    if (!divides)
      say("split of \"{}\": axis {} does not divide it, dropped", name, split.axis);
    else if (split.parts.size() < 2)
      say("split of \"{}\": fewer than two of its devices are in the cluster, dropped", name);
    return divides && split.parts.size() >= 2;
  }

  void bind_group(GroupId id) {
    const OpGroup& group = grouping_.group(id);
    const std::map<std::int32_t, std::int64_t> time = time_by_file_group(group);
    const auto longest =
        std::ranges::max_element(time, {}, [](const auto& entry) { return entry.second; });
    const std::int32_t best = longest != time.end() ? longest->first : group_called(group.name);
    if (best == kNone) {
      say("group \"{}\" is not in the file, left undecided", group.name);
      return;
    }
    matched_.insert(best);
    result_.strategy.groups[id] = decisions_[at(best)];
    report_mixture(group, time, best);
  }

  // Never zero, so that ops without work (views) still count.
  std::map<std::int32_t, std::int64_t> time_by_file_group(const OpGroup& group) const {
    std::map<std::int32_t, std::int64_t> time;
    for (const OpId op : group.ops) {
      const std::int32_t file_group = file_group_of_[op.index()];
      if (file_group == kNone) continue;
      time[file_group] += op_times_.empty() ? 1 : op_times_[op.index()].value + 1;
    }
    return time;
  }

  std::int32_t group_called(const std::string& name) const {
    const auto found = std::ranges::find_if(named_.groups, [&](const NamedGroup& group) {
      return group.ops.empty() && group.name == name;
    });
    return found == named_.groups.end() ? kNone
                                        : static_cast<std::int32_t>(found - named_.groups.begin());
  }

  void report_mixture(const OpGroup& group, const std::map<std::int32_t, std::int64_t>& time,
                      std::int32_t best) {
    bool mixed = false;
    for (const auto& [file_group, nanos] : time) {
      matched_.insert(file_group);
      mixed |= decisions_[at(file_group)] != decisions_[at(best)];
    }
    if (mixed)
      say("group \"{}\" has ops of {} groups of the file, takes the decision of \"{}\"", group.name,
          time.size(), named_.groups[at(best)].name);
  }

  void report_groups_without_match() {
    for (std::size_t i = 0; i < named_.groups.size(); ++i) {
      const NamedGroup& group = named_.groups[i];
      if (!group.ops.empty() || matched_.contains(static_cast<std::int32_t>(i))) continue;
      say("group \"{}\" of the file lists no ops and no op group has its name", group.name);
    }
  }

  template <class... Values>
  void say(fmt::format_string<Values...> text, Values&&... values) {
    result_.unmatched.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const NamedStrategy& named_;
  const Graph& graph_;
  const Grouping& grouping_;
  const Cluster& cluster_;
  std::span<const Nanos> op_times_;
  std::vector<std::int32_t> file_group_of_;         // one per op
  std::vector<std::optional<Decision>> decisions_;  // one per group of the file
  std::set<std::int32_t> matched_;
  std::set<std::string_view> missing_devices_;  // reported already
  Rebound result_;
};

// The priorities of all ops; none when the graph has none of the order's ops.
std::vector<std::int32_t> bind_order(const NamedOrder& order, const Graph& graph,
                                     std::vector<std::string>& unmatched) {
  std::vector<std::int32_t> priorities(graph.op_count(), order.others);
  const std::size_t found = bind_ops(
      "order", order.ops, [](const auto& op) -> const std::string& { return op.first; }, graph,
      unmatched, [&](const auto& named, OpId op) { priorities[op.index()] = named.second; });
  if (found == 0 && !order.ops.empty()) priorities.clear();
  return priorities;
}

// The group of an op that the file does not name: of one that belongs to it or comes before it.
std::int32_t neighbours_group(const Graph& graph, const Op& op,
                              std::span<const std::int32_t> group_of) {
  if (op.forward.valid() && group_of[op.forward.index()] != kNone)
    return group_of[op.forward.index()];
  for (const TensorId input : op.inputs) {
    if (!input.valid()) continue;
    const OpId producer = graph.tensor(input).producer;
    if (producer.valid() && group_of[producer.index()] != kNone) return group_of[producer.index()];
  }
  return kNone;
}

// The same sets of ops, whatever their order and names.
bool divide_alike(const Grouping& a, const Grouping& b) {
  return a.size() == b.size() && std::ranges::all_of(a.groups(), [&](const OpGroup& group) {
           return b.group(b.group_of(group.ops.front())).ops == group.ops;
         });
}

// Names that a person gave to groups that are there as they were. One that is taken by now is left.
Grouping with_names(Grouping grouping, const NamedStrategy& named, const Graph& graph) {
  for (const NamedGroup& group : named.groups) {
    if (!group.renamed || group.ops.empty() || group.name.empty()) continue;
    const OpId first = graph.find_op(group.ops.front());
    if (!first.valid()) continue;
    const GroupId id = grouping.group_of(first);
    const bool same = grouping.group(id).ops.size() == group.ops.size() &&
                      std::ranges::all_of(group.ops, [&](const std::string& name) {
                        const OpId op = graph.find_op(name);
                        return op.valid() && grouping.group_of(op) == id;
                      });
    try {
      if (same) grouping = grouping.renamed(id, group.name);
    } catch (const InputError&) {
      continue;
    }
  }
  return grouping;
}

}  // namespace

Rebound bind_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& grouping,
                      const Cluster& cluster, std::span<const Nanos> op_times) {
  CHECK(op_times.empty() || op_times.size() == graph.op_count(), "one time for each op");
  Rebound result = Binder(named, graph, grouping, cluster, op_times).bind();
  result.strategy.bucket = named.bucket;
  result.strategy.micro_batches = named.micro_batches;
  const auto bind_list = [&](const char* what, const std::vector<std::string>& names,
                             std::vector<OpId>& ops) {
    bind_ops(what, names, std::identity(), graph, result.unmatched,
             [&](const std::string&, OpId op) { ops.push_back(op); });
    std::ranges::sort(ops);
  };
  bind_list("duplicated", named.duplicated, result.strategy.duplicated);
  bind_list("recomputed", named.recomputed, result.strategy.recomputed);
  bind_list("offloaded", named.offloaded, result.strategy.offloaded);
  bind_variables(named.variables, graph, grouping, cluster, result);
  if (named.order) result.strategy.priorities = bind_order(*named.order, graph, result.unmatched);
  return result;
}

RestoredGrouping restore_grouping(const NamedStrategy& named, const Graph& graph,
                                  std::span<const Nanos> op_times) {
  RestoredGrouping result;
  std::vector<std::int32_t> group_of = file_groups_of_ops(named, graph, result.unmatched);
  const auto extra = static_cast<std::int32_t>(named.groups.size());
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] != kNone) continue;
    group_of[i] = neighbours_group(graph, graph.op(OpId(i)), group_of);
    if (group_of[i] == kNone) group_of[i] = extra;
    if (++unknown == 1)
      result.unmatched.push_back(
          fmt::format("op \"{}\" is not in the file", graph.op(OpId(i)).name));
  }
  if (unknown > 1) result.unmatched.back() += fmt::format(", nor are {} more", unknown - 1);
  result.grouping = with_names(Grouping(graph, group_of, op_times), named, graph);
  return result;
}

Rebound bind_strategy(const NamedStrategy& named, const Graph& graph,
                      const RestoredGrouping& restored, const Cluster& cluster,
                      std::span<const Nanos> op_times) {
  Rebound result = bind_strategy(named, graph, restored.grouping, cluster, op_times);
  for (const std::string& line : restored.unmatched)  // both report ops that the model lacks
    if (std::ranges::find(result.unmatched, line) == result.unmatched.end())
      result.unmatched.push_back(line);
  return result;
}

Rebound restore_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& problems,
                         const Cluster& cluster, std::span<const Nanos> op_times) {
  if (!named.names_ops()) return bind_strategy(named, graph, problems, cluster, op_times);
  RestoredGrouping restored = restore_grouping(named, graph, op_times);
  if (divide_alike(restored.grouping, problems))
    restored.grouping = with_names(problems, named, graph);
  const bool own = !(restored.grouping == problems);
  Rebound result = bind_strategy(named, graph, restored, cluster, op_times);
  if (own)
    result.strategy.grouping = std::make_shared<const Grouping>(std::move(restored.grouping));
  return result;
}

}  // namespace strato
