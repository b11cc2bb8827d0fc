// What selection compared at one vertex, as a table: Q, N, prior, exploration and their sum U, the
// largest first. The row that was taken is marked.
#pragma once

#include <QAbstractTableModel>
#include <QWidget>
#include <vector>

#include "core/search/mcts/tree_replay.h"
#include "core/search/tree/search_tree.h"
#include "views/search/search_tree_model.h"

class QLabel;
class QTableView;

namespace strato {

class PuctModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Choice, Visits, Value, Prior, Exploration, Score, ColumnCount };

  explicit PuctModel(const SearchTreeModel& names, QObject* parent = nullptr);
  // `taken`: the child that selection went to, or -1. `before`: the moment of selection.
  void show(const TreeReplay& before, std::int32_t vertex, std::int32_t taken,
            const TreeSearchOptions& options);
  void clear();
  int row_taken() const { return taken_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text(const PuctRow& row, int column) const;

  const SearchTreeModel& names_;
  std::vector<PuctRow> rows_;  // largest U first
  int taken_ = -1;
};

class PuctTable : public QWidget {
  Q_OBJECT
 public:
  explicit PuctTable(const SearchTreeModel& names, QWidget* parent = nullptr);
  void show_choice(const TreeReplay& before, std::int32_t vertex, std::int32_t taken,
                   const TreeSearchOptions& options);
  PuctModel& model() { return model_; }

 private:
  const SearchTreeModel& names_;
  PuctModel model_;
  QLabel* title_;
  QTableView* table_;
};

}  // namespace strato
