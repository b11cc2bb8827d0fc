#include "views/models/what_if_model.h"

#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kLeast = 0.005;  // of the step time: less is not worth a row

}  // namespace

WhatIfModel::WhatIfModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::explanation_changed, this, &WhatIfModel::refresh);
  connect(&session_, &Session::problem_changed, this, &WhatIfModel::refresh);
  refresh();
}

// While the next explanation is computed, the last one stays.
void WhatIfModel::refresh() {
  beginResetModel();
  explanation_ = session_.snapshot().explanation;
  rows_ = 0;
  while (explanation_ && rows_ < explanation_->what_ifs.size() &&
         explanation_->what_ifs[rows_].free / explanation_->timeline->step_time <= 1 - kLeast) {
    ++rows_;
  }
  endResetModel();
}

int WhatIfModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_);
}

int WhatIfModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QString WhatIfModel::change(Nanos time) const {
  const Nanos step = explanation_->timeline->step_time;
  const long percent = step.value > 0 ? std::lround(100 * ((time - step) / step)) : 0;
  const QString sign = percent < 0   ? QStringLiteral("−")
                       : percent > 0 ? QStringLiteral("+")
                                     : QString();
  return sign + QString::number(std::abs(percent)) + QStringLiteral(" %");
}

const WhatIf& WhatIfModel::at(int row) const {
  return explanation_->what_ifs[static_cast<std::size_t>(row)];
}

QVariant WhatIfModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const WhatIf& row = at(index.row());
  const QString name = QString::fromStdString(row.name);
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == Name) return name;
      if (index.column() == Faster) return change(row.faster);
      return QStringLiteral("%1 (%2)").arg(style::time(row.free), change(row.free));
    case SortRole:
      if (index.column() == Name) return name;
      return static_cast<qlonglong>((index.column() == Faster ? row.faster : row.free).value);
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
      return tr("%1: a step takes %2 (%3) if it were 10 % faster, %4 (%5) if it took no time.\n"
                "By simulation of the same program. Click selects it.")
          .arg(name, style::time(row.faster), change(row.faster), style::time(row.free),
               change(row.free));
    default:
      return {};
  }
}

QVariant WhatIfModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((section == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::DisplayRole) {
    return section == Name ? tr("This") : section == Faster ? tr("10 %") : tr("Free");
  }
  if (role == Qt::ToolTipRole) {
    return section == Name     ? tr("The ops with most time on the critical path, devices, links")
           : section == Faster ? tr("Change of the step time if it were 10 % faster")
                               : tr("Step time if it took no time at all");
  }
  return {};
}

void WhatIfModel::select(int row) const {
  if (row < 0 || row >= rowCount()) return;
  const WhatIf& chosen = at(row);
  const auto& problem = session_.snapshot().problem;
  Selection& selection = session_.selection();
  if (!problem) return;
  switch (chosen.what) {
    case WhatIf::What::Device:
      selection.select_device(chosen.device);
      break;
    case WhatIf::What::GpuType:
      for (const Device& device : problem->cluster->devices()) {
        if (device.type != chosen.gpu) continue;
        selection.select_device(
            DeviceId(static_cast<std::size_t>(&device - problem->cluster->devices().data())));
        break;
      }
      break;
    case WhatIf::What::Devices:
    case WhatIf::What::Network:
    case WhatIf::What::Latency:
      selection.clear();
      break;
    case WhatIf::What::Link:
      selection.select_link(chosen.link);
      break;
    case WhatIf::What::Op:
      if (chosen.op.index() < problem->graph->op_count()) {
        selection.select_op(chosen.op, problem->grouping->group_of(chosen.op));
      }
  }
}

}  // namespace strato
