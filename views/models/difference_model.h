// Measured against predicted times as a table: ops, links or devices, the largest effect first. GUI
// thread only.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "core/launch/measured/measured.h"
#include "views/models/session.h"

namespace strato {

class DifferenceModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Tasks, Predicted, Measured, Effect, Relative, ColumnCount };
  enum class Of { Ops, Links, Devices };
  static constexpr int SortRole = Qt::UserRole;

  DifferenceModel(Of of, QObject* parent = nullptr);
  void show(std::vector<Difference> differences);

  Of of() const { return of_; }
  const Difference& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  // What the row is about becomes the selection of all views; nothing where the problem has no such
  // op, link or device.
  void select(int row, Session& session) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const Of of_;
  std::vector<Difference> rows_;
};

// "+1.2 ms", "−340 µs", "0 ns"
QString signed_time(Nanos time);

}  // namespace strato
