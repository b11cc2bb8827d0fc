#include "views/search/puct_table.h"

#include <QFont>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "core/search/tree/search_tree.h"
#include "views/style/style.h"

namespace strato {

PuctModel::PuctModel(const SearchTreeModel& names, QObject* parent)
    : QAbstractTableModel(parent), names_(names) {}

void PuctModel::show(const TreeReplay& before, std::int32_t vertex, std::int32_t taken,
                     const TreeSearchOptions& options) {
  beginResetModel();
  rows_ = before.exists(vertex) ? puct_rows(before, vertex, options) : std::vector<PuctRow>();
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const PuctRow& a, const PuctRow& b) { return a.score() > b.score(); });
  taken_ = -1;
  for (std::size_t i = 0; taken >= 0 && i < rows_.size(); ++i) {
    const bool opened = rows_[i].child < 0 && !before.exists(taken);
    if (rows_[i].child == taken || opened) taken_ = static_cast<int>(i);
    if (opened) {
      rows_[i].action = before.tree().vertices[static_cast<std::size_t>(taken)].action;
    }
  }
  endResetModel();
}

void PuctModel::clear() {
  beginResetModel();
  rows_.clear();
  taken_ = -1;
  endResetModel();
}

int PuctModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int PuctModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString PuctModel::text(const PuctRow& row, int column) const {
  switch (column) {
    case Choice: {
      const auto& tree = names_.tree();
      if (row.action < 0 || !tree || !names_.problem()) return tr("the next untried");
      const QString decision =
          names_.decision_text(tree->actions[static_cast<std::size_t>(row.action)]);
      return row.child < 0 ? tr("new: %1").arg(decision) : decision;
    }
    case Visits:
      return QString::number(row.visits);
    case Value:
      return style::significant(row.normalised);
    case Prior:
      return style::significant(row.prior, 2);
    case Exploration:
      return style::significant(row.exploration);
    case Score:
      return style::significant(row.score());
    default:
      return {};
  }
}

QVariant PuctModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= static_cast<int>(rows_.size())) return {};
  const PuctRow& row = rows_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return (index.row() == taken_ && index.column() == Choice ? QStringLiteral("▸ ")
                                                                : QString()) +
             text(row, index.column());
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Choice ? Qt::AlignLeft : Qt::AlignRight) |
                      Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(index.row() == taken_ || (taken_ < 0 && index.row() == 0));
      return font;
    }
    case Qt::BackgroundRole: {
      if (index.row() != taken_) return {};
      QColor tint = style::selection(style::is_dark(QGuiApplication::palette()));
      tint.setAlphaF(0.18f);
      return tint;
    }
    case Qt::ToolTipRole:
      if (index.column() == Value) return tr("Mean reward %1").arg(style::significant(row.value));
      return index.column() == Choice ? QVariant(text(row, Choice)) : QVariant();
    default:
      return {};
  }
}

QVariant PuctModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const names[] = {"Decision", "N", "Q", "Prior", "Explore", "U"};
  static const char* const help[] = {
      "What the next group could be told",
      "How often the search went this way before",
      "How good it was so far, on the search's own scale of 0 to 1",
      "G: how promising it looked before it was tried",
      "c · G · √(visits of the parent) / (1 + N): large for what was hardly tried",
      "U = Q + exploration: selection takes the largest"};
  if (role == Qt::DisplayRole) return QString::fromUtf8(names[section]);
  if (role == Qt::ToolTipRole) return QString::fromUtf8(help[section]);
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == Choice ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  return {};
}

PuctTable::PuctTable(const SearchTreeModel& names, QWidget* parent)
    : QWidget(parent),
      names_(names),
      model_(names),
      title_(new QLabel(this)),
      table_(new QTableView(this)) {
  title_->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  title_->setTextFormat(Qt::PlainText);
  table_->setModel(&model_);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setShowGrid(false);
  table_->setSelectionMode(QAbstractItemView::NoSelection);
  table_->setTextElideMode(Qt::ElideRight);
  table_->setAccessibleName(tr("What selection compared"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + style::kGrid);
  QHeaderView* header = table_->horizontalHeader();
  header->setHighlightSections(false);
  header->setMinimumSectionSize(32);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMinimumWidth(360);
  header->setSectionResizeMode(PuctModel::Choice, QHeaderView::Stretch);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  for (int column = 1; column < PuctModel::ColumnCount; ++column) {
    const int digits = column == PuctModel::Visits ? 4 : column == PuctModel::Prior ? 6 : 7;
    header->resizeSection(column, digits * digit + 8);
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(title_);
  layout->addWidget(table_, 1);
}

void PuctTable::show_choice(const TreeReplay& before, std::int32_t vertex, std::int32_t taken,
                            const TreeSearchOptions& options) {
  model_.show(before, vertex, taken, options);
  const SearchTree& tree = before.tree();
  const auto depth =
      static_cast<std::size_t>(tree.vertices[static_cast<std::size_t>(vertex)].depth);
  QString title;
  if (depth >= tree.order.size()) {
    title = tr("All groups are decided here");
  } else {
    title = tr("The choice for %1").arg(names_.name_of_group(tree.order[depth]));
    if (vertex > 0) title += tr(" after %1").arg(names_.action_text(vertex));
    if (model_.rowCount() == 0) title += tr(": not reached yet");
  }
  title_->setText(fontMetrics().elidedText(title, Qt::ElideRight, std::max(300, width() - 24)));
  title_->setToolTip(title);
}

}  // namespace strato
