#include "views/traces/figure_table.h"

#include <QFont>
#include <QHeaderView>
#include <QItemSelectionModel>

#include "views/style/list_table.h"
#include "views/style/style.h"

namespace strato {

void FigureModel::show(FigureRows rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int FigureModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.rows.size());
}

int FigureModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.headers.size());
}

QVariant FigureModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const FigureCell& cell = rows_.rows[row][static_cast<std::size_t>(index.column())];
  const bool words = index.column() < rows_.words;
  switch (role) {
    case Qt::DisplayRole:
      return cell.text;
    case Qt::ToolTipRole:
      return cell.tip.isEmpty() && words ? cell.text : cell.tip;
    case Qt::TextAlignmentRole:
      return static_cast<int>(Qt::AlignVCenter | (words ? Qt::AlignLeft : Qt::AlignRight));
    case SortRole:
      return words && cell.figure == 0 ? QVariant(cell.text) : QVariant(cell.figure);
    case Qt::FontRole: {
      QFont font;
      font.setBold(row < rows_.strong.size() && rows_.strong[row]);
      return font;
    }
    default:
      return {};
  }
}

QVariant FigureModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return rows_.headers[section];
  if (role == Qt::ToolTipRole) return rows_.tips.value(section);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>(Qt::AlignVCenter |
                            (section < rows_.words ? Qt::AlignLeft : Qt::AlignRight));
  return {};
}

FigureTable::FigureTable(const QString& name, QWidget* parent)
    : QTableView(parent), sorted_(new QSortFilterProxyModel(this)) {
  sorted_->setSourceModel(&model_);
  sorted_->setSortRole(FigureModel::SortRole);
  setModel(sorted_);
  style::as_list(*this);
  setAccessibleName(name);
  setSortingEnabled(true);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!choosing_ && current.isValid())
              emit row_chosen(static_cast<std::size_t>(sorted_->mapToSource(current).row()));
          });
}

// Figures need what figures need; long words have the rest.
void FigureTable::show_rows(FigureRows rows) {
  choosing_ = true;
  model_.show(std::move(rows));
  for (int column = 0; column < model_.columnCount(); ++column)
    horizontalHeader()->setSectionResizeMode(column, column == 0 && model_.rows().long_words
                                                         ? QHeaderView::Stretch
                                                         : QHeaderView::ResizeToContents);
  choosing_ = false;
}

void FigureTable::choose(std::optional<std::size_t> row) {
  choosing_ = true;
  const QModelIndex index =
      row ? sorted_->mapFromSource(model_.index(static_cast<int>(*row), 0)) : QModelIndex();
  selectionModel()->setCurrentIndex(
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (index.isValid()) scrollTo(index);
  choosing_ = false;
}

}  // namespace strato
