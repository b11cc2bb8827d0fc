#include "views/models/scaling_model.h"

#include "views/style/style.h"

namespace strato {
namespace {

bool is_weak(int column) { return column >= ScalingModel::WeakBatch; }

const WhatIfPoint& point_in(const ScalingRow& row, int column) {
  return is_weak(column) ? row.weak : row.strong;
}

}  // namespace

ScalingModel::ScalingModel(const ProblemWhatIf& what_if, QObject* parent)
    : QAbstractTableModel(parent), what_if_(what_if) {
  connect(&what_if, &ProblemWhatIf::scaling_changed, this, &ScalingModel::refresh);
  connect(&what_if, &ProblemWhatIf::inputs_changed, this, &ScalingModel::refresh);
  refresh();
}

void ScalingModel::refresh() {
  beginResetModel();
  rows_ = what_if_.scaling().rows;
  endResetModel();
}

int ScalingModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ScalingModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QString ScalingModel::text_of(const ScalingRow& row, int column) const {
  const WhatIfPoint& point = point_in(row, column);
  const StepFigures& figures = point.strategy;
  if (column == Machines) return QString::number(row.at.machines);
  if (column == Devices) return QString::number(row.at.devices);
  if (column == WeakBatch) return QString::number(row.weak_batch);
  if (!point.problem.empty()) return QStringLiteral("–");
  switch (column) {
    case StrongStep:
    case WeakStep:
      return style::time(figures.step_time);
    case StrongRate:
    case WeakRate:
      return style::significant(figures.samples_per_second);
    default:
      return style::percent(figures.efficiency);
  }
}

QString ScalingModel::tip_of(const ScalingRow& row, int column) const {
  const WhatIfPoint& point = point_in(row, column);
  if (!point.problem.empty()) return QString::fromStdString(point.problem);
  const QString fits = point.strategy.feasible ? QString() : tr("Does not fit into memory.\n");
  return fits +
         tr("%1 machines of %2, %3 devices in all, batch %4: a step takes %5 (%6 samples/s), "
            "with data parallelism %7.\n"
            "Simulated, with the strategy carried over to the devices that there are.")
             .arg(row.at.machines)
             .arg(what_if_.scaling().kind)
             .arg(row.at.devices)
             .arg(is_weak(column) ? row.weak_batch : row.strong_batch)
             .arg(style::time(point.strategy.step_time),
                  style::significant(point.strategy.samples_per_second),
                  style::time(point.data_parallel.step_time));
}

QVariant ScalingModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const ScalingRow& row = rows_[static_cast<std::size_t>(index.row())];
  const WhatIfPoint& point = point_in(row, index.column());
  switch (role) {
    case Qt::DisplayRole:
      return text_of(row, index.column());
    case Qt::ToolTipRole:
      return tip_of(row, index.column());
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case TodayRole:
      return row.at.machines == what_if_.scaling().today;
    case InfeasibleRole:
      return index.column() >= StrongStep && (!point.problem.empty() || !point.strategy.feasible);
    default:
      return {};
  }
}

QVariant ScalingModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole) {
    return section < StrongStep ? QString()
           : is_weak(section)   ? tr("Weak scaling: the batch grows with the number of devices")
                                : tr("Strong scaling: the batch stays");
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Machines:
      return tr("Machines");
    case Devices:
      return tr("Devices");
    case StrongStep:
      return tr("Strong: step");
    case WeakBatch:
      return tr("Weak: batch");
    case WeakStep:
      return tr("Step");
    case StrongRate:
    case WeakRate:
      return tr("Samples/s");
    default:
      return tr("Efficiency");
  }
}

}  // namespace strato
