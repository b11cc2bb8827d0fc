// Rows of a comparison as a table that sorts and filters: op groups, variables, devices, what is
// sent. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QStringList>
#include <QVariant>
#include <vector>

#include "core/compare/compare_plans.h"
#include "core/compare/plan_matrix.h"

namespace strato {

struct ChangeCell {
  QString text;
  QVariant key;           // what it is sorted by; invalid: by the text
  QString tip = {};       // empty: the text, where it is words
  bool too_much = false;  // does not fit into memory: red
};

struct ChangeRow {
  std::vector<ChangeCell> cells;
  bool differs = true;
  // What it is about, in the plan shown; invalid: that has no such thing.
  GroupId group = {};
  OpId op = {};
  DeviceId device = {};
};

struct ChangeColumns {
  QStringList names, tips;
  int words = 1;  // the first so many are words and at the left; figures are at the right
};

struct ChangeContent {
  ChangeColumns columns;
  std::vector<ChangeRow> rows;
};
ChangeContent group_rows(const PlanComparison& comparison);
ChangeContent variable_rows(const PlanComparison& comparison);
ChangeContent device_rows(const PlanComparison& comparison);
ChangeContent traffic_rows(const PlanComparison& comparison);
// Of several plans: a row each, in their order; and their op groups or variables, a column each.
ChangeContent plan_rows(const PlanMatrix& matrix);
ChangeContent matrix_rows(const PlanMatrix& matrix, const std::vector<MatrixRow>& rows);

class ChangeTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int SortRole = Qt::UserRole;
  static constexpr int DiffersRole = Qt::UserRole + 1;
  static constexpr int TooMuchRole = Qt::UserRole + 2;

  using QAbstractTableModel::QAbstractTableModel;
  void show(ChangeContent content);
  const ChangeRow& at(int row) const { return content_.rows[static_cast<std::size_t>(row)]; }
  int differing() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  ChangeContent content_;
};

// Those that differ, or all.
class ChangeFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit ChangeFilter(QObject* parent = nullptr);
  void show_all(bool all);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  bool all_ = false;
};

}  // namespace strato
