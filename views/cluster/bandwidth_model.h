// Bandwidth between each two device groups as a table.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "core/cluster/value/cluster.h"

namespace strato {

class BandwidthModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void show(std::shared_ptr<const Cluster> cluster);
  void set_dark(bool dark) { dark_ = dark; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  double between(const QModelIndex& index) const;
  std::shared_ptr<const Cluster> cluster_;
  double least_ = 1, most_ = 1;
  bool dark_ = false;
};

}  // namespace strato
