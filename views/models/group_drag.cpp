#include "views/models/group_drag.h"

#include <QDataStream>
#include <QIODevice>

#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {

QString group_drag_type() { return QStringLiteral("application/x-stratoscope-groups"); }

QMimeData* drag_of(const std::vector<GroupId>& groups, const Problem& problem) {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << QByteArray::fromStdString(problem.grouping->digest().hex());
  QList<qint32> numbers;
  for (const GroupId group : groups) numbers << group.value();
  stream << numbers;
  auto* data = new QMimeData;
  data->setData(group_drag_type(), bytes);
  data->setText(names_of(groups, *problem.grouping));
  return data;
}

std::vector<GroupId> dragged_groups(const QMimeData& data, const Problem& problem) {
  QDataStream stream(data.data(group_drag_type()));
  QByteArray digest;
  QList<qint32> numbers;
  stream >> digest >> numbers;
  if (stream.status() != QDataStream::Ok || digest.toStdString() != problem.grouping->digest().hex())
    return {};
  std::vector<GroupId> groups;
  for (const qint32 number : numbers) {
    if (number < 0 || static_cast<std::size_t>(number) >= problem.grouping->size()) return {};
    groups.emplace_back(static_cast<std::size_t>(number));
  }
  return groups;
}

void drop_on(Session& session, const std::vector<GroupId>& groups, DeviceGroupId device_group) {
  const Snapshot& snapshot = session.snapshot();
  if (!snapshot.problem || groups.empty()) return;
  const Cluster& cluster = *snapshot.problem->cluster;
  session.edit(with_only_device_group(snapshot.strategy, groups, cluster, device_group),
               QStringLiteral("%1: only %2")
                   .arg(names_of(groups, *snapshot.problem->grouping),
                        text(cluster.groups()[device_group].name)));
}

}  // namespace strato
