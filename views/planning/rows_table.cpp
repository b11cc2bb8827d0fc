#include "views/planning/rows_table.h"

#include <QFont>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {

void RowsModel::show(PlanningRows rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.rows.size());
}

int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.headers.size());
}

bool RowsModel::is_text(int column) const {
  return column == 0 || (rows_.last_is_text && column + 1 == rows_.headers.size());
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const QStringList& row = rows_.rows[static_cast<std::size_t>(index.row())];
  const bool marked = index.row() == rows_.marked;
  switch (role) {
    case Qt::DisplayRole:
      return row.value(index.column());
    case Qt::ToolTipRole:
      return is_text(index.column()) ? QVariant(row.value(index.column())) : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant((is_text(index.column()) ? Qt::AlignLeft : Qt::AlignRight) |
                      Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(marked);
      return font;
    }
    case Qt::BackgroundRole: {
      if (!marked) return {};
      QColor tint = style::selection(style::is_dark(QGuiApplication::palette()));
      tint.setAlphaF(0.18f);
      return tint;
    }
    default:
      return {};
  }
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return rows_.headers[section];
  if (role == Qt::TextAlignmentRole) {
    return QVariant((is_text(section) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  return {};
}

RowsTable::RowsTable(const QString& name, QWidget* parent)
    : QWidget(parent), title_(new QLabel(this)), table_(new QTableView(this)) {
  title_->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  title_->setTextFormat(Qt::PlainText);
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  table_->setModel(&model_);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setShowGrid(false);
  table_->setSelectionMode(QAbstractItemView::NoSelection);
  table_->setFocusPolicy(Qt::NoFocus);
  table_->setTextElideMode(Qt::ElideRight);
  table_->setWordWrap(false);
  table_->setAccessibleName(name);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + style::kGrid);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionsClickable(false);
  table_->horizontalHeader()->setMinimumSectionSize(32);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(title_);
  layout->addWidget(table_, 1);
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    const auto& nodes = model_.rows().nodes;
    const auto row = static_cast<std::size_t>(index.row());
    if (row < nodes.size()) emit node_clicked(nodes[row]);
  });
}

void RowsTable::show_rows(PlanningRows rows) {
  setVisible(!rows.rows.empty());
  if (rows.rows.empty() && model_.rowCount() == 0) return;
  const bool other = rows.headers != model_.rows().headers;
  title_->setText(rows.title);
  model_.show(std::move(rows));
  table_->setTextElideMode(model_.rows().paths ? Qt::ElideLeft : Qt::ElideRight);
  if (other) size_columns();
  if (model_.rows().marked >= 0) table_->scrollTo(model_.index(model_.rows().marked, 0));
}

// Figures need what figures need; text gets the rest.
void RowsTable::size_columns() {
  QHeaderView* header = table_->horizontalHeader();
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  const int columns = model_.columnCount();
  const bool notes = model_.rows().last_is_text;
  for (int column = 0; column < columns; ++column) {
    const bool last = notes && column + 1 == columns;
    const bool rest = notes ? last : column == 0;
    header->setSectionResizeMode(column, rest ? QHeaderView::Stretch : QHeaderView::Fixed);
    if (rest) continue;
    const int wide = fontMetrics().horizontalAdvance(model_.rows().headers[column]);
    const int digits = column > 0 ? 8 : model_.rows().paths ? 14 : 9;
    header->resizeSection(column, std::max(wide + 12, digits * digit + 8));
  }
}

}  // namespace strato
