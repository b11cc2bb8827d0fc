// One page of a range's totals as a table that sorts. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <vector>

#include "views/timeline/range_totals.h"

namespace strato {

enum class RangePage : std::uint8_t { Kind, Type, Group, Link, Idle };
inline constexpr int kRangePages = 5;

class RangeModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Time, Share, Amount, ColumnCount };  // Amount: slices, or bytes of links
  static constexpr int SortRole = Qt::UserRole;
  struct Row {
    QString name;
    std::int64_t time = 0;
    double share = 0;  // of the time of all streams or of the link, NaN: means nothing here
    std::int64_t amount = 0;
    GroupId group;
    LinkId link;
  };

  using QAbstractTableModel::QAbstractTableModel;
  // `grouping` gives groups their names; null: there are none.
  void show(const RangeTotals& totals, const Program& program, const Grouping* grouping,
            RangePage page);
  void clear();
  const Row& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  RangePage page_ = RangePage::Kind;
  std::vector<Row> rows_;
};

}  // namespace strato
