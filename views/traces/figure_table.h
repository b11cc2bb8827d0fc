// A table of words and figures that is sorted by a click on its headers; words are at the left.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QStringList>
#include <QTableView>
#include <optional>
#include <vector>

namespace strato {

struct FigureCell {
  QString text;
  double figure = 0;  // to sort by; of words it does not count
  QString tip = {};
};

struct FigureRows {
  QStringList headers, tips;  // tips of headers
  int words = 1;              // columns with words
  bool long_words = true;     // those of the first column: it takes the room that is left
  std::vector<std::vector<FigureCell>> rows;
  std::vector<bool> strong;  // by row; empty: none is
};

class FigureModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int SortRole = Qt::UserRole;
  using QAbstractTableModel::QAbstractTableModel;
  void show(FigureRows rows);
  const FigureRows& rows() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  FigureRows rows_;
};

class FigureTable : public QTableView {
  Q_OBJECT
 public:
  explicit FigureTable(const QString& name, QWidget* parent = nullptr);
  void show_rows(FigureRows rows);
  void choose(std::optional<std::size_t> row);  // of the rows as they were given; says nothing
  FigureModel& figures() { return model_; }

 signals:
  void row_chosen(std::size_t row);  // by a person

 private:
  FigureModel model_;
  QSortFilterProxyModel* sorted_;
  bool choosing_ = false;
};

}  // namespace strato
