#include "views/models/carried.h"

#include <QCoreApplication>
#include <QDataStream>
#include <QIODevice>
#include <algorithm>

#include "views/models/ascending.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct CarriedWords {
  Q_DECLARE_TR_FUNCTIONS(Carried)
};

std::vector<GroupId> groups_around(std::span<const OpId> ops, const Grouping& grouping) {
  std::vector<GroupId> groups;
  for (const OpId op : ops) groups.push_back(grouping.group_of(op));
  return ascending(std::move(groups));
}

template <class Id>
QList<qint32> numbers_in(const std::vector<Id>& ids) {
  QList<qint32> numbers;
  for (const Id id : ids) numbers << id.value();
  return numbers;
}

// False: they are not ids below `end`.
template <class Id>
bool read_ids(const QList<qint32>& numbers, std::size_t end, std::vector<Id>& ids) {
  for (const qint32 number : numbers) {
    if (number < 0 || static_cast<std::size_t>(number) >= end) return false;
    ids.emplace_back(static_cast<std::size_t>(number));
  }
  ids = ascending(std::move(ids));
  return true;
}

QString words_of_ops(const std::vector<OpId>& ops, const Graph& graph) {
  std::vector<OpId> layers;
  for (const OpId op : ops) layers.push_back(layer_of(graph, op));
  layers = ascending(std::move(layers));
  const auto count = static_cast<qlonglong>(ops.size());
  if (ops.size() == 1) return text(graph.op(ops[0]).name);
  if (layers.size() == 1)
    return CarriedWords::tr("layer %1 (%2 ops)").arg(text(graph.op(layers[0]).name)).arg(count);
  if (layers.size() == ops.size()) return CarriedWords::tr("%1 ops").arg(count);
  return CarriedWords::tr("%1 layers (%2 ops)").arg(layers.size()).arg(count);
}

// A split holds instead of what the op's group says.
void make_whole(Strategy& strategy, const Carried& carried, const Grouping& grouping) {
  std::erase_if(strategy.splits, [&](const OpSplit& split) {
    return std::ranges::binary_search(carried.ops, split.op) ||
           std::ranges::binary_search(carried.groups, grouping.group_of(split.op));
  });
}

}  // namespace

Carried carried_ops(std::span<const OpId> ops, const Problem& problem) {
  const Grouping& grouping = *problem.grouping;
  std::vector<std::pair<GroupId, OpId>> layers;
  for (const OpId op : ops)
    layers.emplace_back(grouping.group_of(op), layer_of(*problem.graph, op));
  layers = ascending(std::move(layers));
  Carried carried;
  for (const GroupId group : groups_around(ops, grouping)) {
    const std::vector<OpId>& all = grouping.group(group).ops;
    std::vector<OpId> taken;
    std::ranges::copy_if(all, std::back_inserter(taken), [&](OpId op) {
      return std::ranges::binary_search(layers, std::pair(group, layer_of(*problem.graph, op)));
    });
    if (taken.size() == all.size())
      carried.groups.push_back(group);
    else
      carried.ops.insert(carried.ops.end(), taken.begin(), taken.end());
  }
  std::ranges::sort(carried.ops);
  return carried;
}

Carried carried_selection(const Selection& selection, const Problem& problem) {
  if (selection.ops().empty()) return {selection.groups(), {}};
  return carried_ops(selection.ops(), problem);
}

QString names_of(const Carried& carried, const Problem& problem) {
  if (carried.ops.empty()) return names_of(carried.groups, *problem.grouping);
  const QString ops = words_of_ops(carried.ops, *problem.graph);
  if (carried.groups.empty()) return ops;
  return CarriedWords::tr("%1 and %2").arg(names_of(carried.groups, *problem.grouping), ops);
}

Strategy with_carried_on(const Regrouping& from, const Carried& carried,
                         std::span<const DeviceId> devices) {
  if (devices.empty()) return from.strategy;
  const Grouping& before = *from.shown.grouping;
  const Strategy whole =
      with_only_devices(from.strategy, groups_around(carried.ops, before), devices);
  std::vector<OpId> leaving;
  std::ranges::copy_if(carried.ops, std::back_inserter(leaving), [&](OpId op) {
    const GroupId group = before.group_of(op);
    return whole.groups[group] != from.strategy.groups[group];
  });
  Strategy result = leaving.empty() ? from.strategy : with_ops_apart(from, leaving);
  make_whole(result, carried, before);
  const std::shared_ptr<const Grouping> after = problem_for(from.opened, result).grouping;
  std::vector<GroupId> groups = groups_with_ops_of(carried.groups, before, *after);
  std::ranges::copy(groups_around(leaving, *after), std::back_inserter(groups));
  return with_only_devices(result, groups, devices);
}

StrategyChange onto(const Carried& carried, const std::vector<DeviceId>& devices) {
  return [=](const Regrouping& from) { return with_carried_on(from, carried, devices); };
}

QString drag_type() { return QStringLiteral("application/x-stratoscope-ops"); }

QMimeData* drag_of(const Carried& carried, const Problem& problem) {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << QByteArray::fromStdString(problem.grouping->digest().hex())
         << numbers_in(carried.groups) << numbers_in(carried.ops);
  auto* data = new QMimeData;
  data->setData(drag_type(), bytes);
  data->setText(names_of(carried, problem));
  return data;
}

Carried dragged(const QMimeData& data, const Problem& problem) {
  QDataStream stream(data.data(drag_type()));
  QByteArray digest;
  QList<qint32> groups, ops;
  stream >> digest >> groups >> ops;
  const bool ours = stream.status() == QDataStream::Ok &&
                    digest.toStdString() == problem.grouping->digest().hex();
  Carried carried;
  if (!ours || !read_ids(groups, problem.grouping->size(), carried.groups) ||
      !read_ids(ops, problem.graph->op_count(), carried.ops))
    return {};
  return carried;
}

}  // namespace strato
