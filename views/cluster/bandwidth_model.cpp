#include "views/cluster/bandwidth_model.h"

#include <QBrush>
#include <algorithm>
#include <cmath>

#include "views/style/style.h"

namespace strato {

void BandwidthModel::show(std::shared_ptr<const Cluster> cluster) {
  beginResetModel();
  cluster_ = std::move(cluster);
  least_ = 1e300, most_ = 1;
  const int count = rowCount();
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      const double rate = cluster_->bandwidth(DeviceGroupId(static_cast<std::size_t>(a)),
                                              DeviceGroupId(static_cast<std::size_t>(b)));
      least_ = std::min(least_, std::max(1.0, rate));
      most_ = std::max(most_, rate);
    }
  }
  endResetModel();
}

int BandwidthModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !cluster_ ? 0 : static_cast<int>(cluster_->groups().size());
}
int BandwidthModel::columnCount(const QModelIndex& parent) const { return rowCount(parent); }

double BandwidthModel::between(const QModelIndex& index) const {
  return cluster_->bandwidth(DeviceGroupId(static_cast<std::size_t>(index.row())),
                             DeviceGroupId(static_cast<std::size_t>(index.column())));
}

QVariant BandwidthModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !cluster_) return {};
  const double rate = between(index);
  const double span = std::log(most_) - std::log(least_);
  const double part = span > 0 ? (std::log(std::max(1.0, rate)) - std::log(least_)) / span : 0.5;
  const QColor fill = style::ramp(0.1 + 0.8 * part, dark_);
  switch (role) {
    case Qt::DisplayRole:
      return style::significant(rate / 1e9);
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::BackgroundRole:
      return QBrush(fill);
    case Qt::ForegroundRole:
      return QBrush(style::text_on(fill));
    case Qt::ToolTipRole:
      return tr("%1 to %2: %3")
          .arg(headerData(index.row(), Qt::Vertical, Qt::DisplayRole).toString(),
               headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString(),
               style::bandwidth(rate));
    default:
      return {};
  }
}

QVariant BandwidthModel::headerData(int section, Qt::Orientation, int role) const {
  if (!cluster_ || section < 0 || section >= rowCount()) return {};
  const DeviceGroup& group = cluster_->groups()[DeviceGroupId(static_cast<std::size_t>(section))];
  if (role == Qt::DisplayRole) return QString::fromStdString(group.name);
  if (role == Qt::ToolTipRole) {
    return tr("%1 × %2")
        .arg(group.devices.size())
        .arg(QString::fromStdString(cluster_->gpu_types()[group.type].name));
  }
  return {};
}

}  // namespace strato
