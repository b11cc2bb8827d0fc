// What is chosen for variables, carried out one variable after the other.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/strategy/value/variable_check.h"
#include "views/models/variable_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

const Tensor& edited_variable(const Graph& graph, OpId update) {
  return graph.tensor(parameter_of(graph, update));
}

std::vector<DeviceId> replicas_of(const Strategy& strategy, const Problem& problem, OpId update) {
  std::vector<DeviceId> replicas;
  if (const auto& decision = strategy.groups[problem.grouping->group_of(update)])
    for (const DeviceShare& share : decision->devices) replicas.push_back(share.device);
  return replicas;
}

std::int64_t extent_along(const Tensor& variable, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  return axis >= 0 && at < variable.shape.size() ? variable.shape[at] : 1;
}

constexpr std::int64_t kMostAsked = 4096;  // parts; more are as wrong as one too many

bool has_stations(const SyncPart& part) { return !part.stations.empty(); }

// What servers hold so far, but for these variables; and takes more.
class ServerLoads {
 public:
  ServerLoads(const Strategy& strategy, const Problem& problem, std::span<const OpId> except)
      : cluster_(*problem.cluster) {
    std::vector<OpId> left_out(except.begin(), except.end());
    std::ranges::sort(left_out);
    for (const VariableSync& variable : strategy.variables) {
      if (std::ranges::binary_search(left_out, variable.update)) continue;
      const std::int64_t bytes = bytes_of_part(problem, variable);
      for (const SyncPart& part : variable.parts)
        if (part.synchroniser == Synchroniser::Ps) add(part.server, bytes);
    }
  }

  static std::int64_t bytes_of_part(const Problem& problem, const VariableSync& variable) {
    const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(1, variable.parts.size()));
    return edited_variable(*problem.graph, variable.update).bytes().value / parts;
  }

  // The device that holds least, of several in the machine that does.
  DeviceId take(std::span<const DeviceId> from, std::int64_t bytes) {
    const auto load = [&](DeviceId device) {
      return std::pair(loads_[device], machines_[cluster_.device(device).machine]);
    };
    const DeviceId least =
        *std::ranges::min_element(from, [&](DeviceId a, DeviceId b) { return load(a) < load(b); });
    add(least, bytes);
    return least;
  }

  void add(DeviceId device, std::int64_t bytes) {
    put_on(device, std::max<std::int64_t>(1, bytes));
    added_.emplace_back(device, std::max<std::int64_t>(1, bytes));
  }

  std::size_t mark() const { return added_.size(); }
  void take_back_to(std::size_t mark) {
    for (; added_.size() > mark; added_.pop_back())
      put_on(added_.back().first, -added_.back().second);
  }

 private:
  void put_on(DeviceId device, std::int64_t bytes) {
    loads_[device] += bytes;
    machines_[cluster_.device(device).machine] += bytes;
  }

  std::vector<std::pair<DeviceId, std::int64_t>> added_;
  const Cluster& cluster_;
  std::map<MachineId, std::int64_t> machines_;
  std::map<DeviceId, std::int64_t> loads_;
};

std::vector<DeviceId> stations_for(const Problem& problem, std::span<const DeviceId> replicas,
                                   DeviceId server) {
  std::map<MachineId, std::vector<DeviceId>> machines;
  for (const DeviceId device : replicas)
    machines[problem.cluster->device(device).machine].push_back(device);
  std::vector<DeviceId> stations;
  for (const auto& [machine, devices] : machines)
    if (devices.size() > 1 && machine != problem.cluster->device(server).machine)
      stations.push_back(devices.front());
  std::ranges::sort(stations);
  return stations;
}

// Validation of one variable's entry, as if the strategy had no other: what is wrong with it alone.
class AloneCheck {
 public:
  AloneCheck(const Strategy& strategy, const Problem& problem) : problem_(problem) {
    alone_.groups = strategy.groups;
  }

  QString why_invalid(const VariableSync& sync) {
    alone_.variables = {sync};
    try {
      validate_variables(alone_, *problem_.grouping, *problem_.cluster);
      validate_variables(alone_, *problem_.graph);
    } catch (const InputError& error) {
      return QStringLiteral("%1; %2").arg(text(error.problem()), text(error.remedy()));
    }
    return {};
  }

 private:
  const Problem& problem_;
  Strategy alone_;
};

// One variable's change, step by step. Strict: as it was asked for, valid or not.
class SyncEdit {
 public:
  enum class As { Asked, FarAsItGoes };

  // One of `updates`, which are all changed alike.
  SyncEdit(const Strategy& strategy, const Problem& problem, OpId update,
           std::span<const OpId> updates, As as)
      : strategy_(strategy),
        problem_(problem),
        updates_(updates),
        variable_(edited_variable(*problem.graph, update)),
        replicas_(replicas_of(strategy, problem, update)),
        strict_(as == As::Asked) {
    const VariableSync* known = sync_of(strategy, update);
    sync_ = known ? *known : sync_as_group(strategy, problem, update);
  }

  VariableSync apply(const SyncChoice& choice, ServerLoads& loads) {
    const bool divided = choice.parts || choice.axis || choice.partition;
    if (choice.partition)
      divide_by(*choice.partition);
    else if (divided)
      divide_along(choice.parts, choice.axis);
    chosen_.assign(sync_.parts.size(), choice.only.empty());
    for (const int part : choice.only)
      if (part >= 0 && static_cast<std::size_t>(part) < chosen_.size())
        chosen_[static_cast<std::size_t>(part)] = true;
    servers_before_.clear();
    for (const SyncPart& part : sync_.parts) servers_before_.push_back(part.server);
    if (choice.servers) set_synchroniser(Synchroniser::Ps);
    if (choice.synchroniser) set_synchroniser(*choice.synchroniser);
    if (choice.encoding) encode(choice);
    if (choice.merge_group) merge(*choice.merge_group);
    if (choice.sequence) order(*choice.sequence);
    const bool balance =
        (choice.servers && choice.servers->empty()) || divided || choice.synchroniser;
    place(choice.servers.value_or(std::vector<DeviceId>()), balance, loads);
    set_stations(choice);
    if (choice.staleness) sync_.staleness = *choice.staleness;
    const bool served = std::ranges::find(sync_.parts, Synchroniser::Ps, &SyncPart::synchroniser) !=
                        sync_.parts.end();
    if (!served && !choice.staleness) sync_.staleness = 0;
    return sync_;
  }

 private:
  template <class Change>
  void change(Change&& change_part) {
    for (std::size_t i = 0; i < sync_.parts.size(); ++i)
      if (chosen_[i]) change_part(sync_.parts[i]);
  }

  void divide_by(std::vector<std::int32_t> partition) {
    if (!strict_) partition.resize(variable_.shape.size(), 1);
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < partition.size(); ++axis) {
      std::int64_t most = kMostAsked / count;
      if (!strict_) most = std::min(most, extent_along(variable_, static_cast<int>(axis)));
      partition[axis] = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(partition[axis], 1, std::max<std::int64_t>(1, most)));
      count *= partition[axis];
    }
    strato::divide(sync_, std::move(partition));
  }

  // All parts along one axis.
  void divide_along(std::optional<int> parts, std::optional<int> axis) {
    sync_.partition.clear();
    const auto rank = static_cast<int>(variable_.shape.size());
    if (axis) sync_.axis = strict_ ? *axis : std::clamp(*axis, 0, std::max(0, rank - 1));
    const auto wanted =
        parts ? static_cast<std::int64_t>(*parts) : static_cast<std::int64_t>(sync_.parts.size());
    std::int64_t most = std::max<std::int64_t>(1, extent_along(variable_, sync_.axis));
    if (strict_) most = std::max(most + 1, kMostAsked);
    const SyncPart first = sync_.parts.front();
    sync_.parts.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, most)), first);
  }

  void set_synchroniser(Synchroniser synchroniser) {
    change([&](SyncPart& part) {
      if (part.synchroniser == synchroniser) return;
      const Encoding encoding = part.encoding;
      part = {};
      part.synchroniser = synchroniser;
      part.encoding = encoding;
    });
  }

  // A group has one encoding: what others of it are not given leaves it.
  void encode(const SyncChoice& choice) {
    const Encoding encoding = *choice.encoding;
    const bool merges = encoding == Encoding::None || encoding == Encoding::Half;
    change([&](SyncPart& part) {
      const bool together = merges && choice.only.empty() && all_chosen(part.merge_group);
      if (part.encoding != encoding && !together) part.merge_group = -1;
      part.encoding = encoding;
    });
  }

  bool all_chosen(std::int32_t group) const {
    return std::ranges::all_of(strategy_.variables, [&](const VariableSync& other) {
      const auto member = [&](const SyncPart& part) { return part.merge_group == group; };
      return std::ranges::none_of(other.parts, member) ||
             (std::ranges::find(updates_, other.update) != updates_.end() &&
              is_synchronised(strategy_, problem_, other.update));
    });
  }

  void merge(std::int32_t group) {
    change([&](SyncPart& part) {
      if (part.synchroniser != Synchroniser::AllReduce) return;
      part.merge_group = std::max(-1, group);
      if (part.merge_group < 0) return;
      if (const SyncPart* member = member_of(group)) {  // a group is sent in one way
        part.encoding = member->encoding;
        part.sequence = member->sequence;
      } else {
        part.sequence.clear();
      }
    });
  }

  const SyncPart* member_of(std::int32_t group) const {
    for (const VariableSync& other : strategy_.variables) {
      if (other.update == sync_.update) continue;
      for (const SyncPart& part : other.parts)
        if (part.merge_group == group) return &part;
    }
    return nullptr;
  }

  void order(const std::vector<DeviceId>& sequence) {
    change([&](SyncPart& part) {
      if (part.synchroniser == Synchroniser::AllReduce) part.sequence = sequence;
    });
  }

  void place(const std::vector<DeviceId>& servers, bool balance, ServerLoads& loads) {
    const std::int64_t bytes = ServerLoads::bytes_of_part(problem_, sync_);
    const auto stays = [&](std::size_t i) {
      return !chosen_[i] || (servers.empty() && !balance && sync_.parts[i].server.valid());
    };
    for (std::size_t i = 0; i < sync_.parts.size(); ++i)
      if (sync_.parts[i].server.valid() && stays(i)) loads.add(sync_.parts[i].server, bytes);
    std::size_t turn = 0;
    for (std::size_t i = 0; i < sync_.parts.size(); ++i) {
      SyncPart& part = sync_.parts[i];
      const bool without = part.synchroniser == Synchroniser::Ps && !part.server.valid();
      if (part.synchroniser != Synchroniser::Ps || (stays(i) && !without)) continue;
      part.server =
          servers.empty() ? loads.take(replicas_, bytes) : servers[turn++ % servers.size()];
    }
  }

  // A two-level part stays one, with the stations that its server asks for.
  void set_stations(const SyncChoice& choice) {
    for (std::size_t i = 0; i < sync_.parts.size(); ++i) {
      SyncPart& part = sync_.parts[i];
      if (part.synchroniser != Synchroniser::Ps) {
        part.stations.clear();
      } else if (chosen_[i] && choice.stations_at) {
        part.stations = *choice.stations_at;
        std::ranges::sort(part.stations);
      } else if ((chosen_[i] && choice.stations) ||
                 (has_stations(part) && part.server != servers_before_[i])) {
        const bool two_level = !chosen_[i] || choice.stations.value_or(true);
        part.stations =
            two_level ? stations_for(problem_, replicas_, part.server) : std::vector<DeviceId>();
      }
    }
  }

  const Strategy& strategy_;
  const Problem& problem_;
  const std::span<const OpId> updates_;
  const Tensor& variable_;
  const std::vector<DeviceId> replicas_;
  const bool strict_;
  VariableSync sync_;
  std::vector<char> chosen_;  // by part
  std::vector<DeviceId> servers_before_;
};

void put(std::vector<VariableSync>& variables, VariableSync sync) {
  const auto at = std::ranges::lower_bound(variables, sync.update, {}, &VariableSync::update);
  if (at != variables.end() && at->update == sync.update) {
    *at = std::move(sync);
  } else {
    variables.insert(at, std::move(sync));
  }
}

// A merge group is one message: an order that some of its members were given is that of all.
void order_whole_groups(std::vector<VariableSync>& variables, std::span<const OpId> updates,
                        const std::vector<DeviceId>& sequence) {
  std::set<std::int32_t> ordered;
  for (const VariableSync& variable : variables)
    if (std::ranges::find(updates, variable.update) != updates.end())
      for (const SyncPart& part : variable.parts)
        if (part.merge_group >= 0 && part.sequence == sequence) ordered.insert(part.merge_group);
  if (ordered.empty()) return;
  for (VariableSync& variable : variables)
    for (SyncPart& part : variable.parts)
      if (ordered.contains(part.merge_group)) part.sequence = sequence;
}

}  // namespace

Strategy with_sync(const Strategy& strategy, const Problem& problem, std::span<const OpId> updates,
                   const SyncChoice& choice, QStringList* refused) {
  using As = SyncEdit::As;
  Strategy result = strategy;
  ServerLoads loads(strategy, problem, updates);
  AloneCheck check(strategy, problem);
  for (const OpId update : updates) {
    if (!is_synchronised(strategy, problem, update)) continue;
    const std::size_t before = loads.mark();
    VariableSync sync = SyncEdit(result, problem, update, updates, As::Asked).apply(choice, loads);
    if (const QString why = check.why_invalid(sync); !why.isEmpty()) {
      if (refused)
        *refused << QStringLiteral("%1 %2").arg(text(edited_variable(*problem.graph, update).name),
                                                why);
      loads.take_back_to(before);
      sync = SyncEdit(result, problem, update, updates, As::FarAsItGoes).apply(choice, loads);
      if (!check.why_invalid(sync).isEmpty()) continue;
    }
    put(result.variables, std::move(sync));
  }
  if (choice.sequence) order_whole_groups(result.variables, updates, *choice.sequence);
  return result;
}

QString why_invalid(const Strategy& strategy, const Problem& problem) {
  try {
    validate_variables(strategy, *problem.grouping, *problem.cluster);
    validate_variables(strategy, *problem.graph);
  } catch (const InputError& error) {
    return text(error.what());
  }
  return {};
}

QString why_not_encoded(const Strategy& strategy, const Problem& problem,
                        std::span<const OpId> updates, Encoding encoding,
                        const std::vector<int>& only) {
  SyncChoice choice;
  choice.only = only;
  choice.encoding = encoding;
  ServerLoads loads(strategy, problem, updates);
  AloneCheck check(strategy, problem);
  QString why;
  for (const OpId update : updates) {
    if (!is_synchronised(strategy, problem, update)) continue;
    why = check.why_invalid(
        SyncEdit(strategy, problem, update, updates, SyncEdit::As::Asked).apply(choice, loads));
    if (why.isEmpty()) return {};
  }
  return why;
}

}  // namespace strato
