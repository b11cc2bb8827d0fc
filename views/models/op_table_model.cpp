#include "views/models/op_table_model.h"

#include <algorithm>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

OpTableModel::OpTableModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, [this] { show({}); });
  connect(&session_, &Session::outcome_changed, this, &OpTableModel::refresh_times);
}

void OpTableModel::show(GroupId group) {
  if (group == group_ && problem_ == session_.snapshot().problem) return;
  beginResetModel();
  problem_ = session_.snapshot().problem;
  group_ = problem_ ? group : GroupId();
  ops_ = group_.valid() ? problem_->grouping->group(group_).ops : std::vector<OpId>();
  times_.assign(ops_.size(), Nanos());
  endResetModel();
  refresh_times();
}

void OpTableModel::refresh_times() {
  const auto& outcome = session_.snapshot().outcome;
  if (ops_.empty() || !outcome || problem_ != session_.snapshot().problem) return;
  std::fill(times_.begin(), times_.end(), Nanos());
  for (std::size_t t = 0; t < outcome->program->tasks.size(); ++t) {
    const Task& task = outcome->program->tasks[TaskId(t)];
    if (!task.op.valid() || is_communication(task.kind)) continue;
    const int row = row_of(task.op);
    if (row >= 0) times_[static_cast<std::size_t>(row)] += task.duration;
  }
  emit dataChanged(index(0, Time), index(static_cast<int>(ops_.size()) - 1, Time));
}

int OpTableModel::row_of(OpId op) const {
  const auto at = std::lower_bound(ops_.begin(), ops_.end(), op);
  return at != ops_.end() && *at == op ? static_cast<int>(at - ops_.begin()) : -1;
}

int OpTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(ops_.size());
}
int OpTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kColumns);
}

Qt::ItemFlags OpTableModel::flags(const QModelIndex& index) const {
  return QAbstractTableModel::flags(index) |
         (index.isValid() ? Qt::ItemIsDragEnabled : Qt::NoItemFlags);
}

QMimeData* OpTableModel::mimeData(const QModelIndexList& indexes) const {
  if (!problem_ || problem_ != session_.snapshot().problem) return nullptr;
  std::vector<OpId> ops;
  for (const QModelIndex& index : indexes)
    ops.push_back(ops_[static_cast<std::size_t>(index.row())]);
  return drag_of(carried_ops(ops, *problem_), *problem_);
}

QVariant OpTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const OpId id = ops_[static_cast<std::size_t>(index.row())];
  const Op& op = problem_->graph->op(id);
  if (role == OpRole) return id.value();
  if (role == Qt::ToolTipRole) {
    return QStringLiteral("%1 (%2, %3)%4")
        .arg(text(op.name), text(op.type), text(name_of(op.family)),
             op.estimated ? tr("\nUnknown op type: its work is a guess") : QString());
  }
  const bool number = index.column() >= Flops;
  if (role == Qt::TextAlignmentRole) {
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  const bool sort = role == SortRole;
  if (role != Qt::DisplayRole && !sort) return {};
  const Nanos time = times_[static_cast<std::size_t>(index.row())];
  switch (index.column()) {
    case Name:
      return text(op.name);
    case Type:
      return text(op.type) + (op.estimated ? QStringLiteral(" ~") : QString());
    case PhaseOfOp:
      return text(name_of(op.phase));
    case Flops:
      return sort                ? QVariant(op.work.flops)
             : op.work.flops > 0 ? style::flops(op.work.flops)
                                 : QStringLiteral("–");
    case Time:
      return sort             ? QVariant(static_cast<qlonglong>(time.value))
             : time.value > 0 ? style::time(time)
                              : QStringLiteral("–");
    default:
      return {};
  }
}

QVariant OpTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((section >= Flops ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && section == Time) {
    return tr("Sum over all devices, from the simulated step");
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return tr("Op");
    case Type:
      return tr("Type");
    case PhaseOfOp:
      return tr("Phase");
    case Flops:
      return tr("Work");
    case Time:
      return tr("Time");
    default:
      return {};
  }
}

}  // namespace strato
