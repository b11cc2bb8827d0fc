#include "views/models/variable_edits.h"

#include <QStringList>
#include <algorithm>
#include <map>
#include <utility>

#include "core/strategy/variable_check.h"
#include "views/style/text.h"

namespace strato {
namespace {

const Tensor& variable_at(const Graph& graph, OpId update) {
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

// What servers hold so far, but for these variables; and takes more.
class ServerLoads {
 public:
  ServerLoads(const Strategy& strategy, const Problem& problem, std::span<const OpId> except)
      : cluster_(*problem.cluster) {
    for (const VariableSync& variable : strategy.variables) {
      if (std::ranges::find(except, variable.update) != except.end()) continue;
      const std::int64_t bytes = bytes_of_part(problem, variable);
      for (const SyncPart& part : variable.parts)
        if (part.synchroniser == Synchroniser::Ps) add(part.server, bytes);
    }
  }

  static std::int64_t bytes_of_part(const Problem& problem, const VariableSync& variable) {
    const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(1, variable.parts.size()));
    return variable_at(*problem.graph, variable.update).bytes().value / parts;
  }

  // The device that holds least, of several in the machine that does.
  DeviceId take(std::span<const DeviceId> from, std::int64_t bytes) {
    const auto load = [&](DeviceId device) {
      return std::pair(loads_[device], machines_[cluster_.device(device).machine]);
    };
    const DeviceId least =
        *std::ranges::min_element(from, [&](DeviceId a, DeviceId b) { return load(a) < load(b); });
    add(least, std::max<std::int64_t>(1, bytes));
    return least;
  }

 private:
  void add(DeviceId device, std::int64_t bytes) {
    loads_[device] += bytes;
    machines_[cluster_.device(device).machine] += bytes;
  }

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

// One variable's change, step by step.
class SyncEdit {
 public:
  SyncEdit(const Strategy& strategy, const Problem& problem, OpId update, ServerLoads& loads)
      : strategy_(strategy),
        problem_(problem),
        variable_(variable_at(*problem.graph, update)),
        replicas_(replicas_of(strategy, problem, update)),
        loads_(loads) {
    const VariableSync* known = sync_of(strategy, update);
    sync_ = known ? *known : sync_as_group(strategy, problem, update);
    two_level_ = std::ranges::any_of(sync_.parts,
                                     [](const SyncPart& part) { return !part.stations.empty(); });
  }

  VariableSync apply(const SyncChoice& choice) {
    const bool balance = (choice.servers && choice.servers->empty()) || choice.parts ||
                         choice.axis || choice.synchroniser;
    divide(choice.parts, choice.axis);
    if (choice.servers) set_synchroniser(Synchroniser::Ps);
    if (choice.synchroniser) set_synchroniser(*choice.synchroniser);
    if (choice.encoding) encode(*choice.encoding);
    if (choice.merge_group) merge(*choice.merge_group);
    place(choice.servers.value_or(std::vector<DeviceId>()), balance);
    if (choice.stations) two_level_ = *choice.stations;
    for (SyncPart& part : sync_.parts) {
      const bool ps = part.synchroniser == Synchroniser::Ps;
      part.stations = ps && two_level_ ? stations_for(problem_, replicas_, part.server)
                                       : std::vector<DeviceId>();
    }
    return sync_;
  }

 private:
  void divide(std::optional<int> parts, std::optional<int> axis) {
    const auto rank = static_cast<int>(variable_.shape.size());
    if (axis) sync_.axis = std::clamp(*axis, 0, std::max(0, rank - 1));
    const auto wanted =
        parts ? static_cast<std::int64_t>(*parts) : static_cast<std::int64_t>(sync_.parts.size());
    const std::int64_t most = std::max<std::int64_t>(1, extent_along(variable_, sync_.axis));
    const SyncPart first = sync_.parts.front();
    sync_.parts.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, most)), first);
  }

  void set_synchroniser(Synchroniser synchroniser) {
    for (SyncPart& part : sync_.parts) {
      if (part.synchroniser == synchroniser) continue;
      part.synchroniser = synchroniser;
      part.server = {};
      part.stations.clear();
      part.merge_group = -1;
      part.sequence.clear();
    }
  }

  void encode(Encoding encoding) {
    const bool sparse = encoding == Encoding::SparseRows;
    if (sparse && looked_up_rows(*problem_.graph, sync_.update) == 0) return;
    for (SyncPart& part : sync_.parts) {
      if (part.encoding != encoding) part.merge_group = -1;  // one encoding a group
      part.encoding = encoding;
    }
  }

  void merge(std::int32_t group) {
    const bool gathered = std::ranges::any_of(sync_.parts, [](const SyncPart& part) {
      return part.encoding == Encoding::SparseRows || part.encoding == Encoding::TopK;
    });
    for (SyncPart& part : sync_.parts) {
      if (part.synchroniser != Synchroniser::AllReduce) continue;
      part.merge_group = gathered ? -1 : std::max(-1, group);
      if (part.merge_group < 0) continue;
      if (const SyncPart* member = member_of(group)) {  // a group is sent in one way
        part.encoding = member->encoding;
        part.sequence = member->sequence;
      } else {
        part.sequence.clear();
      }
    }
  }

  const SyncPart* member_of(std::int32_t group) const {
    for (const VariableSync& other : strategy_.variables) {
      if (other.update == sync_.update) continue;
      for (const SyncPart& part : other.parts)
        if (part.merge_group == group) return &part;
    }
    return nullptr;
  }

  void place(const std::vector<DeviceId>& servers, bool balance) {
    const std::int64_t bytes = ServerLoads::bytes_of_part(problem_, sync_);
    for (std::size_t i = 0; i < sync_.parts.size(); ++i) {
      SyncPart& part = sync_.parts[i];
      if (part.synchroniser != Synchroniser::Ps) continue;
      if (!servers.empty()) {
        part.server = servers[i % servers.size()];
      } else if (balance || !part.server.valid()) {
        part.server = loads_.take(replicas_, bytes);
      }
    }
  }

  const Strategy& strategy_;
  const Problem& problem_;
  const Tensor& variable_;
  const std::vector<DeviceId> replicas_;
  ServerLoads& loads_;
  VariableSync sync_;
  bool two_level_ = false;
};

void put(std::vector<VariableSync>& variables, VariableSync sync) {
  const auto at = std::ranges::lower_bound(variables, sync.update, {}, &VariableSync::update);
  if (at != variables.end() && at->update == sync.update) {
    *at = std::move(sync);
  } else {
    variables.insert(at, std::move(sync));
  }
}

QString server_words(const VariableSync& sync, const Cluster& cluster) {
  QStringList servers;
  for (const SyncPart& part : sync.parts) {
    if (part.synchroniser != Synchroniser::Ps) continue;
    const QString name = text(cluster.device(part.server).name);
    if (!servers.contains(name)) servers << name;
  }
  constexpr qsizetype kMost = 3;
  if (servers.size() <= kMost) return servers.join(QStringLiteral(", "));
  return QStringLiteral("%1 devices").arg(servers.size());
}

QString merge_words(const VariableSync& sync) {
  const std::int32_t group = sync.parts.front().merge_group;
  return group < 0 ? QString() : QStringLiteral(", group %1").arg(group);
}

}  // namespace

std::vector<OpId> variables_of(const Problem& problem, std::span<const GroupId> groups) {
  const Graph& graph = *problem.graph;
  std::vector<OpId> updates;
  const auto add = [&](OpId op) {
    if (graph.op(op).phase == Phase::Update && parameter_of(graph, op).valid())
      updates.push_back(op);
  };
  for (const GroupId group : groups) {
    if (group.index() >= problem.grouping->size()) continue;  // of another problem
    for (const OpId op : problem.grouping->group(group).ops) add(op);
  }
  if (groups.empty())
    for (std::size_t op = 0; op < graph.op_count(); ++op) add(OpId(op));
  std::ranges::stable_sort(updates, [&](OpId a, OpId b) {
    return variable_at(graph, a).bytes() > variable_at(graph, b).bytes();
  });
  return updates;
}

const VariableSync* sync_of(const Strategy& strategy, OpId update) {
  const auto at = std::ranges::lower_bound(strategy.variables, update, {}, &VariableSync::update);
  return at != strategy.variables.end() && at->update == update ? &*at : nullptr;
}

bool is_synchronised(const Strategy& strategy, const Problem& problem, OpId update) {
  const auto& decision = strategy.groups[problem.grouping->group_of(update)];
  return decision && decision->devices.size() > 1 &&
         (decision->mode == Mode::ReplicateAllReduce || decision->mode == Mode::ReplicatePs);
}

VariableSync sync_as_group(const Strategy& strategy, const Problem& problem, OpId update) {
  VariableSync sync{update, 0, {SyncPart()}};
  const auto& decision = strategy.groups[problem.grouping->group_of(update)];
  if (decision && decision->mode == Mode::ReplicatePs)
    sync.parts.front().synchroniser = Synchroniser::Ps;
  return sync;
}

QString sync_words(const Strategy& strategy, const Problem& problem, OpId update) {
  if (!is_synchronised(strategy, problem, update))
    return QStringLiteral("not synchronised: its group is not replicated");
  const VariableSync* sync = sync_of(strategy, update);
  if (!sync) {
    const auto& decision = strategy.groups[problem.grouping->group_of(update)];
    return QStringLiteral("as the group: %1").arg(text(label_of(decision->mode)));
  }
  const auto on_servers =
      std::ranges::count(sync->parts, Synchroniser::Ps, &SyncPart::synchroniser);
  const bool all = on_servers == static_cast<std::ptrdiff_t>(sync->parts.size());
  QString words =
      on_servers == 0 ? QStringLiteral("AllReduce")
      : all           ? QStringLiteral("PS on ") + server_words(*sync, *problem.cluster)
            : QStringLiteral("AllReduce and PS on ") + server_words(*sync, *problem.cluster);
  if (sync->parts.size() > 1)
    words += QStringLiteral(", %1 parts along axis %2").arg(sync->parts.size()).arg(sync->axis);
  const bool two_level =
      std::ranges::any_of(sync->parts, [](const SyncPart& part) { return !part.stations.empty(); });
  if (two_level) words += QStringLiteral(", two-level");
  words += merge_words(*sync);
  const bool ordered =
      std::ranges::any_of(sync->parts, [](const SyncPart& part) { return !part.sequence.empty(); });
  if (ordered) words += QStringLiteral(", ordered ring");
  return words;
}

QString encoding_words(Encoding encoding) {
  switch (encoding) {
    case Encoding::None:
      return QStringLiteral("none");
    case Encoding::SparseRows:
      return QStringLiteral("sparse rows");
    case Encoding::Half:
      return QStringLiteral("half (lossy)");
    case Encoding::TopK:
      return QStringLiteral("top 1 % (lossy)");
    case Encoding::SufficientFactors:
      return QStringLiteral("sufficient factors");
    case Encoding::LowRank:
      return QStringLiteral("low rank (lossy)");
  }
  return {};
}

QString encoding_words(const Strategy& strategy, OpId update) {
  const VariableSync* sync = sync_of(strategy, update);
  if (!sync) return encoding_words(Encoding::None);
  QStringList words;
  for (const SyncPart& part : sync->parts) {
    const QString word = encoding_words(part.encoding);
    if (!words.contains(word)) words << word;
  }
  return words.join(QStringLiteral(", "));
}

Strategy with_sync(const Strategy& strategy, const Problem& problem, std::span<const OpId> updates,
                   const SyncChoice& choice) {
  Strategy result = strategy;
  ServerLoads loads(strategy, problem, updates);
  for (const OpId update : updates) {
    if (!is_synchronised(strategy, problem, update)) continue;
    put(result.variables, SyncEdit(result, problem, update, loads).apply(choice));
  }
  return result;
}

Strategy with_sync_of_group(const Strategy& strategy, std::span<const OpId> updates) {
  Strategy result = strategy;
  std::erase_if(result.variables, [&](const VariableSync& variable) {
    return std::ranges::find(updates, variable.update) != updates.end();
  });
  return result;
}

Strategy without_stale_sequences(const Strategy& strategy, const Grouping& grouping) {
  Strategy result = strategy;
  for (VariableSync& variable : result.variables) {
    const auto& decision = strategy.groups[grouping.group_of(variable.update)];
    for (SyncPart& part : variable.parts) {
      std::vector<DeviceId> named = part.sequence;
      std::ranges::sort(named);
      const bool same =
          decision && std::ranges::equal(named, decision->devices, {}, {}, &DeviceShare::device);
      if (!same) part.sequence.clear();
    }
  }
  return result;
}

}  // namespace strato
