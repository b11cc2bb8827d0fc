#include "views/models/strategy_edits.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/axes/expert_letters.h"
#include "views/models/ascending.h"

namespace strato {
namespace {

struct StrategyWords {
  Q_DECLARE_TR_FUNCTIONS(StrategyEdits)
};

bool in_group(const Cluster& cluster, DeviceId device, DeviceGroupId group) {
  return cluster.device(device).group == group;
}

template <class Change>  // change(Decision&), for every chosen group that has a decision
Strategy changed(const Strategy& strategy, std::span<const GroupId> groups, const Change& change) {
  Strategy result = strategy;
  for (const GroupId group : groups) {
    auto& decision = result.groups[group];
    if (!decision) continue;
    change(group, *decision);
    drop_meaningless_roles(*decision);
  }
  return result;
}

std::int32_t weight_for_new(const Decision& decision) {  // joins as a slow device would
  std::int32_t weight = decision.devices.empty() ? 1 : decision.devices.front().weight;
  for (const DeviceShare& share : decision.devices) weight = std::min(weight, share.weight);
  return weight;
}

void add_device(Decision& decision, DeviceId device, std::int32_t weight) {
  const auto at = std::lower_bound(decision.devices.begin(), decision.devices.end(), device,
                                   [](const DeviceShare& s, DeviceId d) { return s.device < d; });
  if (at == decision.devices.end() || at->device != device) {
    decision.devices.insert(at, DeviceShare{device, weight});
  }
}

template <class Predicate>
void remove_devices(Decision& decision, const Predicate& matches) {
  std::vector<DeviceShare> rest;
  for (const DeviceShare& share : decision.devices) {
    if (!matches(share.device)) rest.push_back(share);
  }
  if (!rest.empty()) decision.devices = std::move(rest);
}

double seconds_on(const Problem& problem, GroupId group, GpuTypeId gpu) {
  Nanos total;
  for (const OpId op : problem.grouping->group(group).ops) {
    total += problem.cost->compute(op, gpu, problem.graph->batch());
  }
  return to_seconds(total);
}

}  // namespace

DeviceGroupShare share_on(const Decision& decision, const Cluster& cluster, DeviceGroupId group) {
  DeviceGroupShare result;
  result.of = static_cast<int>(cluster.groups()[group].devices.size());
  std::int64_t all = 0;
  for (const DeviceShare& share : decision.devices) {
    all += share.weight;
    if (!in_group(cluster, share.device, group)) continue;
    ++result.devices;
    result.weight += share.weight;
  }
  if (result.devices == 0) return result;
  if (splits_batch(decision.mode)) {
    result.share = static_cast<double>(result.weight) / static_cast<double>(all);
  } else if (decision.mode == Mode::Duplicate) {
    result.share = 1;
  } else {
    result.share =
        static_cast<double>(result.devices) / static_cast<double>(decision.devices.size());
  }
  return result;
}

static QString mode_text(const Decision& decision) {
  const std::string_view mode = label_of(decision.mode);
  return QString::fromUtf8(mode.data(), static_cast<qsizetype>(mode.size()));
}

QString short_mode_words(const Decision& decision) {
  Decision meant = decision;
  drop_meaningless_roles(meant);
  const MeshRoles& roles = meant.roles;
  QStringList words;
  if (roles.tensor > 1) words << QStringLiteral("TP %1").arg(roles.tensor);
  if (roles.expert > 1) words << QStringLiteral("EP %1").arg(roles.expert);
  if (roles.context > 1) words << QStringLiteral("CP %1").arg(roles.context);
  if (roles.states.stage > 0) words << QStringLiteral("ZeRO %1").arg(roles.states.stage);
  return words.isEmpty() ? mode_text(decision) : words.join(QStringLiteral(", "));
}

QString describe_shares(const Decision& decision, const Cluster& cluster) {
  const bool equal = std::all_of(
      decision.devices.begin(), decision.devices.end(),
      [&](const DeviceShare& share) { return share.weight == decision.devices.front().weight; });
  if (equal || !splits_batch(decision.mode)) {
    return QString::fromStdString(describe(decision, cluster));
  }
  QStringList parts;
  for (const DeviceGroupId group : device_groups_of(decision, cluster)) {
    const DeviceGroupShare share = share_on(decision, cluster, group);
    QString name = QString::fromStdString(cluster.groups()[group].name);
    if (share.devices < share.of)
      name += QStringLiteral(" (%1/%2)").arg(share.devices).arg(share.of);
    parts << name + QStringLiteral(" %1 %").arg(qRound(100 * share.share));
  }
  Decision meant = decision;
  drop_meaningless_roles(meant);
  return StrategyWords::tr("%1 on %2")
      .arg(mode_text(decision) + QString::fromStdString(describe(meant.roles)),
           parts.join(QStringLiteral(", ")));
}

std::vector<DeviceGroupId> device_groups_of(const Decision& decision, const Cluster& cluster) {
  std::vector<DeviceGroupId> groups;
  for (const DeviceShare& share : decision.devices) {
    groups.push_back(cluster.device(share.device).group);
  }
  return ascending(std::move(groups));
}

Strategy with_device_group(const Strategy& strategy, std::span<const GroupId> groups,
                           const Cluster& cluster, DeviceGroupId device_group, bool used) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) {
    if (!used) {
      remove_devices(decision, [&](DeviceId d) { return in_group(cluster, d, device_group); });
      return;
    }
    const std::int32_t weight = weight_for_new(decision);
    for (const DeviceId device : cluster.groups()[device_group].devices) {
      add_device(decision, device, weight);
    }
  });
}

Strategy with_only_device_group(const Strategy& strategy, std::span<const GroupId> groups,
                                const Cluster& cluster, DeviceGroupId device_group) {
  return with_only_devices(strategy, groups, cluster.groups()[device_group].devices);
}

Strategy with_only_devices(const Strategy& strategy, std::span<const GroupId> groups,
                           std::span<const DeviceId> devices) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) {
    const std::int32_t weight = weight_for_new(decision);
    for (const DeviceId device : devices) add_device(decision, device, weight);
    remove_devices(decision,
                   [&](DeviceId d) { return std::ranges::find(devices, d) == devices.end(); });
  });
}

Strategy with_device(const Strategy& strategy, std::span<const GroupId> groups, DeviceId device,
                     bool used) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) {
    if (used) {
      add_device(decision, device, weight_for_new(decision));
    } else {
      remove_devices(decision, [&](DeviceId d) { return d == device; });
    }
  });
}

Strategy with_mode(const Strategy& strategy, std::span<const GroupId> groups, Mode mode) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) { decision.mode = mode; });
}

static std::int32_t& number_in(MeshRoles& roles, MeshRole role) {
  switch (role) {
    case MeshRole::Tensor:
      return roles.tensor;
    case MeshRole::Expert:
      return roles.expert;
    case MeshRole::Context:
      return roles.context;
    case MeshRole::States:
      return roles.states.stage;
    case MeshRole::StateRows:
      return roles.states.rows;
  }
  return roles.tensor;
}

std::int32_t number_of(const Decision& decision, MeshRole role) {
  Decision meant = decision;
  drop_meaningless_roles(meant);
  return number_in(meant.roles, role);
}

Strategy with_role(const Strategy& strategy, std::span<const GroupId> groups, MeshRole role,
                   std::int32_t number) {
  return changed(strategy, groups,
                 [&](GroupId, Decision& decision) { number_in(decision.roles, role) = number; });
}

std::vector<std::int32_t> possible_numbers(const Strategy& strategy,
                                           std::span<const GroupId> groups, const Graph& graph,
                                           MeshRole role) {
  std::int32_t common = 0;  // what divides the devices of all
  for (const GroupId group : groups)
    if (const auto& decision = strategy.groups[group])
      common = std::gcd(common, static_cast<std::int32_t>(decision->devices.size()));
  const std::int64_t experts = role == MeshRole::Expert ? experts_of(graph) : 0;
  const bool is_stage = role == MeshRole::States;
  const std::int32_t most = is_stage ? StateSharding::kMostStage : common;
  const auto fits = [&](std::int32_t number) {
    if (!is_stage && common % number != 0) return false;
    if (role == MeshRole::Expert && (experts == 0 || experts % number != 0)) return false;
    return std::ranges::all_of(groups, [&](GroupId group) {
      if (!strategy.groups[group]) return true;
      Decision wanted = *strategy.groups[group];
      number_in(wanted.roles, role) = number;
      return number_of(wanted, role) == number;
    });
  };
  MeshRoles none;
  std::vector<std::int32_t> numbers = {number_in(none, role)};
  for (std::int32_t number = numbers.front() + 1; number <= most; ++number)
    if (fits(number)) numbers.push_back(number);
  return numbers;
}

Strategy with_weight(const Strategy& strategy, std::span<const GroupId> groups,
                     const Cluster& cluster, DeviceGroupId device_group, std::int32_t weight) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) {
    for (DeviceShare& share : decision.devices) {
      if (in_group(cluster, share.device, device_group)) share.weight = std::max(weight, 1);
    }
  });
}

Strategy with_equal_shares(const Strategy& strategy, std::span<const GroupId> groups) {
  return changed(strategy, groups, [&](GroupId, Decision& decision) {
    for (DeviceShare& share : decision.devices) share.weight = 1;
  });
}

Strategy with_proportional_shares(const Strategy& strategy, std::span<const GroupId> groups,
                                  const Problem& problem) {
  return changed(strategy, groups, [&](GroupId group, Decision& decision) {
    std::vector<double> speed;
    for (const DeviceShare& share : decision.devices) {
      speed.push_back(1 / seconds_on(problem, group, problem.cluster->device(share.device).type));
    }
    const double fastest = *std::max_element(speed.begin(), speed.end());
    for (std::size_t i = 0; i < speed.size(); ++i) {
      const double weight = std::isfinite(speed[i]) ? std::round(10 * speed[i] / fastest) : 10;
      decision.devices[i].weight = std::max(1, static_cast<std::int32_t>(weight));
    }
  });
}

Strategy with_decision(const Strategy& strategy, std::span<const GroupId> groups,
                       const Decision& decision) {
  return changed(strategy, groups, [&](GroupId, Decision& old) { old = decision; });
}

std::vector<GroupId> groups_with_ops_of(std::span<const GroupId> groups, const Grouping& from,
                                        const Grouping& to) {
  std::vector<GroupId> result;
  for (const GroupId group : groups) {
    if (group.index() >= from.size()) continue;
    for (const OpId op : from.group(group).ops) result.push_back(to.group_of(op));
  }
  return ascending(std::move(result));
}

QString names_of(std::span<const GroupId> groups, const Grouping& grouping) {
  if (groups.size() == 1) return QString::fromStdString(grouping.group(groups[0]).name);
  return StrategyWords::tr("%1 groups").arg(groups.size());
}

}  // namespace strato
