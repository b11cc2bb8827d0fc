#include "views/history/history_view.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "views/style/list_table.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kIndent = 4 * style::kGrid;
constexpr int kMostIndents = 6;  // deeper branches stay where names can still be read

// The lines of states at the left of their names, past a row's own dot.
void paint_lines(QPainter& painter, const QRect& rect, int own, const QModelIndex& index) {
  const auto above = index.data(EditHistory::AboveRole).toUInt();
  const auto below = index.data(EditHistory::BelowRole).toUInt();
  constexpr double kDot = 4;
  const double middle = rect.center().y() + 0.5;
  for (int level = 0; level <= kMostIndents; ++level) {
    const double x = rect.left() + kIndent * (level + 0.5);
    const double gap = level == own ? kDot : 0;
    if ((above >> level & 1) != 0)
      painter.drawLine(QPointF(x, rect.top()), QPointF(x, middle - gap));
    if ((below >> level & 1) != 0)
      painter.drawLine(QPointF(x, middle + gap), QPointF(x, rect.bottom() + 1));
  }
}

// A dot for each state at the left of its name, filled where it is shown, and lines to where it
// comes from: states without a line between them have nothing to do with each other.
class StateDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyleOptionViewItem moved = option;
    const int level = std::min(index.data(EditHistory::LevelRole).toInt(), kMostIndents);
    const int left = option.rect.left() + kIndent * level;
    moved.rect.setLeft(left + kIndent);
    QStyledItemDelegate::paint(painter, moved, index);
    const bool dark = style::is_dark(option.palette);
    const bool current = index.data(EditHistory::CurrentRole).toBool();
    const QColor colour = !index.data(EditHistory::FeasibleRole).toBool() ? style::infeasible(dark)
                          : current                                       ? style::selection(dark)
                                    : style::muted_text(option.palette);
    const QPointF centre(left + kIndent / 2.0, option.rect.center().y() + 0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const QColor on_selection = option.palette.color(QPalette::HighlightedText);
    painter->setPen(QPen(selected ? on_selection : style::muted_text(option.palette), 1.2));
    paint_lines(*painter, option.rect, level, index);
    if (index.data(EditHistory::BranchRole).toBool())
      painter->drawLine(QPointF(centre.x() - kIndent, centre.y()),
                        QPointF(centre.x() - 4, centre.y()));
    painter->setPen(QPen(selected ? on_selection : colour, 1.2));
    painter->setBrush(current ? QBrush(painter->pen().color()) : QBrush(Qt::NoBrush));
    painter->drawEllipse(centre, 3.5, 3.5);
    painter->restore();
  }

  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const override {
    QStyledItemDelegate::updateEditorGeometry(editor, option, index);
    const int level = std::min(index.data(EditHistory::LevelRole).toInt(), kMostIndents);
    editor->setGeometry(option.rect.adjusted(kIndent * (level + 1), 0, 0, 0));
  }
};

}  // namespace

HistoryView::HistoryView(Session& session, QWidget* parent)
    : QWidget(parent),
      model_(new EditHistory(session, this)),
      table_(new QTableView(this)),
      empty_(new QLabel(tr("Nothing was edited yet. Each change of the strategy becomes "
                           "a state here, and none is ever lost."),
                        this)) {
  empty_->setWordWrap(true);
  empty_->setMargin(2 * style::kGrid);
  table_->setModel(model_);
  style::as_list(*table_);
  table_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  table_->setItemDelegateForColumn(EditHistory::Name, new StateDelegate(table_));
  table_->setTextElideMode(Qt::ElideLeft);  // ends of names tell them apart
  table_->horizontalHeader()->setSectionResizeMode(EditHistory::Name, QHeaderView::Stretch);
  table_->horizontalHeader()->setSectionResizeMode(EditHistory::Step,
                                                   QHeaderView::ResizeToContents);
  table_->setAccessibleName(tr("History of edits"));
  table_->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(empty_);
  layout->addWidget(table_, 1);
  connect(table_, &QTableView::clicked, this,
          [this](const QModelIndex& index) { model_->go_to(index.row()); });
  connect(model_, &QAbstractItemModel::modelReset, this, &HistoryView::refresh);
  refresh();
}

void HistoryView::refresh() {
  const bool any = model_->rowCount() > 1;
  empty_->setVisible(!any);
  table_->setVisible(any);
  const int current = model_->current_row();
  if (current < 0) return;
  table_->selectRow(current);
  table_->scrollTo(model_->index(current, 0));
}

bool HistoryView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      model_->go_to(table_->currentIndex().row());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace strato
