#include "views/models/difference_model.h"

#include <cstdlib>

#include "views/style/style.h"

namespace strato {
namespace {

// Of the predicted time; infinite where nothing was predicted.
double relative(const Difference& row) {
  if (row.predicted.value == 0) return row.measured.value == 0 ? 0 : 1e9;
  return row.measured / row.predicted - 1;
}

void select_op(const std::string& name, Session& session) {
  const Problem& problem = *session.snapshot().problem;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const OpId op(i);
    if (problem.graph->op(op).name != name) continue;
    return session.selection().select_op(op, problem.grouping->group_of(op));
  }
}

// "a -> b": the first link on the way.
void select_link(const std::string& name, Session& session) {
  const Cluster& cluster = *session.snapshot().problem->cluster;
  const std::size_t arrow = name.find(" -> ");
  if (arrow == std::string::npos) return;
  const DeviceId from = cluster.find_device(name.substr(0, arrow)),
                 to = cluster.find_device(name.substr(arrow + 4));
  if (!from.valid() || !to.valid()) return;
  const Path& path = cluster.path(from, to);
  if (!path.links.empty()) session.selection().select_link(path.links[0]);
}

}  // namespace

QString signed_time(Nanos time) {
  if (time.value == 0) return style::time(time);
  return (time.value < 0 ? QStringLiteral("−") : QStringLiteral("+")) +
         style::time(Nanos(std::abs(time.value)));
}

DifferenceModel::DifferenceModel(Of of, QObject* parent) : QAbstractTableModel(parent), of_(of) {}

void DifferenceModel::show(std::vector<Difference> differences) {
  beginResetModel();
  rows_ = std::move(differences);
  endResetModel();
}

void DifferenceModel::select(int row, Session& session) const {
  if (row < 0 || row >= rowCount() || !session.snapshot().problem) return;
  const std::string& name = at(row).name;
  if (of_ == Of::Ops) return select_op(name, session);
  if (of_ == Of::Links) return select_link(name, session);
  const DeviceId device = session.snapshot().problem->cluster->find_device(name);
  if (device.valid()) session.selection().select_device(device);
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int DifferenceModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Difference& row = at(index.row());
  const int column = index.column();
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>(Qt::AlignVCenter | (column == Name ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole && column == Name) return QString::fromStdString(row.name);
  if (role != Qt::DisplayRole && role != SortRole) return {};
  const bool sort = role == SortRole;
  switch (column) {
    case Name:
      return QString::fromStdString(row.name);
    case Tasks:
      return row.tasks;
    case Predicted:
      return sort ? QVariant(qint64{row.predicted.value}) : style::time(row.predicted);
    case Measured:
      return sort ? QVariant(qint64{row.measured.value}) : style::time(row.measured);
    case Effect:  // sorted by its size, whatever its sign
      return sort ? QVariant(qint64{std::abs(row.effect().value)}) : signed_time(row.effect());
    case Relative:
      if (sort) return relative(row);
      return row.predicted.value == 0 ? QStringLiteral("–") : style::signed_percent(relative(row));
    default:
      return {};
  }
}

QVariant DifferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>(Qt::AlignVCenter | (section == Name ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return of_ == Of::Ops ? tr("Op") : of_ == Of::Links ? tr("Communication") : tr("Device");
    case Tasks:
      return tr("Tasks");
    case Predicted:
      return tr("Predicted");
    case Measured:
      return tr("Measured");
    case Effect:
      return tr("Difference");
    case Relative:
      return tr("Relative");
    default:
      return {};
  }
}

}  // namespace strato
