// Strong and weak scaling over the number of a kind of machines, as a table: a row for each number,
// as far as they are found.
#pragma once

#include <QAbstractTableModel>

#include "views/models/problem_what_if.h"

namespace strato {

class ScalingModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    Machines,
    Devices,
    StrongStep,
    StrongRate,
    StrongUse,
    WeakBatch,
    WeakStep,
    WeakRate,
    WeakUse,
    kColumns
  };
  static constexpr int TodayRole = Qt::UserRole;        // bool: as many as the cluster has
  static constexpr int InfeasibleRole = TodayRole + 1;  // bool: does not fit, or cannot be had

  explicit ScalingModel(const ProblemWhatIf& what_if, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void refresh();
  QString text_of(const ScalingRow& row, int column) const;
  QString tip_of(const ScalingRow& row, int column) const;

  const ProblemWhatIf& what_if_;
  std::vector<ScalingRow> rows_;
};

}  // namespace strato
