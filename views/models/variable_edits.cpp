#include "views/models/variable_edits.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>

#include "core/strategy/value/variable_check.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct VariableWords {
  Q_DECLARE_TR_FUNCTIONS(VariableEdits)
};

const Tensor& variable_at(const Graph& graph, OpId update) {
  return graph.tensor(parameter_of(graph, update));
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
  return VariableWords::tr("%n devices", nullptr, static_cast<int>(servers.size()));
}

QString merge_words(std::int32_t group) {
  return group < 0 ? QString() : VariableWords::tr(", group %1").arg(group);
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
  return decision && decision->devices.size() > 1 && splits_batch(decision->mode);
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
    return VariableWords::tr("not synchronised: its group is not replicated");
  const VariableSync* sync = sync_of(strategy, update);
  if (!sync) {
    const auto& decision = strategy.groups[problem.grouping->group_of(update)];
    return VariableWords::tr("as the group: %1").arg(text(label_of(decision->mode)));
  }
  const auto any = [&](auto&& holds) { return std::ranges::any_of(sync->parts, holds); };
  const auto on_servers =
      std::ranges::count(sync->parts, Synchroniser::Ps, &SyncPart::synchroniser);
  const bool all = on_servers == static_cast<std::ptrdiff_t>(sync->parts.size());
  const QString servers = server_words(*sync, *problem.cluster);
  QString words = on_servers == 0 ? VariableWords::tr("AllReduce")
                  : all           ? VariableWords::tr("PS on %1").arg(servers)
                                  : VariableWords::tr("AllReduce and PS on %1").arg(servers);
  if (!sync->partition.empty())
    words += VariableWords::tr(", %1 parts (%2)")
                 .arg(sync->parts.size())
                 .arg(partition_words(*sync, *problem.graph));
  else if (sync->parts.size() > 1)
    words += VariableWords::tr(", %1 parts along axis %2").arg(sync->parts.size()).arg(sync->axis);
  if (any([](const SyncPart& part) { return !part.stations.empty(); }))
    words += VariableWords::tr(", two-level");
  words += merge_words(sync->parts.front().merge_group);
  if (any([](const SyncPart& part) { return !part.sequence.empty(); }))
    words += VariableWords::tr(", ordered ring");
  if (sync->staleness > 0)
    words += sync->staleness == 1 ? VariableWords::tr(", 1 step stale")
                                  : VariableWords::tr(", %1 steps stale").arg(sync->staleness);
  return words;
}

QString part_words(const SyncPart& part, const Cluster& cluster) {
  const bool served = part.synchroniser == Synchroniser::Ps;
  QString words = served ? VariableWords::tr("PS on %1").arg(text(cluster.device(part.server).name))
                         : VariableWords::tr("AllReduce");
  if (!part.stations.empty()) words += VariableWords::tr(", two-level");
  words += merge_words(part.merge_group);
  if (!part.sequence.empty()) words += VariableWords::tr(", ordered ring");
  if (part.encoding != Encoding::None)
    words += QStringLiteral(", ") + encoding_words(part.encoding);
  return words;
}

QString part_range_words(const VariableSync& sync, const Graph& graph, std::size_t part) {
  QStringList words;
  for (const AxisRange& range : part_box(sync, variable_at(graph, sync.update).shape, part).cuts())
    words << VariableWords::tr("%1 to %2").arg(range.begin).arg(range.end - 1);
  return words.isEmpty() ? VariableWords::tr("all") : words.join(QStringLiteral(" × "));
}

QString partition_words(const VariableSync& sync, const Graph& graph) {
  const std::size_t rank = variable_at(graph, sync.update).shape.size();
  std::vector<std::int64_t> along(std::max<std::size_t>(1, rank), 1);
  for (const AxisParts& divided : divided_axes(sync))
    along.at(static_cast<std::size_t>(divided.axis)) = divided.parts;
  QStringList words;
  for (const std::int64_t parts : along) words << QString::number(parts);
  return words.join(QStringLiteral(" × "));
}

std::vector<std::int32_t> partition_from(const QString& words) {
  static const QRegularExpression between(QStringLiteral("\\s*[x×*,]\\s*|\\s+"));
  std::vector<std::int32_t> partition;
  for (const QString& word : words.trimmed().toLower().split(between)) {
    bool is_number = false;
    const int parts = word.toInt(&is_number);
    if (!is_number || parts < 1) return {};
    partition.push_back(parts);
  }
  return partition;
}

QString encoding_words(Encoding encoding) {
  switch (encoding) {
    case Encoding::None:
      return VariableWords::tr("none");
    case Encoding::SparseRows:
      return VariableWords::tr("sparse rows");
    case Encoding::Half:
      return VariableWords::tr("half (lossy)");
    case Encoding::TopK:
      return VariableWords::tr("top 1 % (lossy)");
    case Encoding::SufficientFactors:
      return VariableWords::tr("sufficient factors");
    case Encoding::LowRank:
      return VariableWords::tr("low rank (lossy)");
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
