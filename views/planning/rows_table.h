// A titled table of PlanningRows. A click on a row that is a node tells which.
#pragma once

#include <QAbstractTableModel>
#include <QWidget>

#include "views/planning/planning_text.h"

class QLabel;
class QTableView;

namespace strato {

class RowsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void show(PlanningRows rows);
  const PlanningRows& rows() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  bool is_text(int column) const;

  PlanningRows rows_;
};

class RowsTable : public QWidget {
  Q_OBJECT
 public:
  explicit RowsTable(const QString& name, QWidget* parent = nullptr);
  void show_rows(PlanningRows rows);  // hidden without any
  RowsModel& model() { return model_; }

 signals:
  void node_clicked(int node);

 private:
  void size_columns();

  RowsModel model_;
  QLabel* title_;
  QTableView* table_;
};

}  // namespace strato
