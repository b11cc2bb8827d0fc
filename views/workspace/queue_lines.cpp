#include "views/workspace/queue_lines.h"

#include <QApplication>
#include <QPainter>

#include "views/models/run_queue.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kSide = 2 * style::kGrid, kAbove = style::kGrid;

// Left and right in one line; the left one gives way.
void draw_line(QPainter& painter, const QRect& line, const QString& left, const QString& right,
               const QColor& left_colour, const QColor& right_colour) {
  const QFontMetrics metrics = painter.fontMetrics();
  const int taken = right.isEmpty() ? 0 : metrics.horizontalAdvance(right) + kSide;
  painter.setPen(right_colour);
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, right);
  painter.setPen(left_colour);
  painter.drawText(line.adjusted(0, 0, -taken, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(left, Qt::ElideRight, line.width() - taken));
}

void draw_bar(QPainter& painter, const QRect& bar, double fraction, const QPalette& palette) {
  QColor groove = palette.color(QPalette::WindowText);
  groove.setAlphaF(0.15f);
  painter.fillRect(bar, groove);
  const int width = static_cast<int>(std::max(0.0, fraction) * bar.width());
  painter.fillRect(QRect(bar.topLeft(), QSize(std::max(width, 2), bar.height())),
                   style::selection(style::is_dark(palette)));
}

}  // namespace

void QueueLines::paint(QPainter* painter, const QStyleOptionViewItem& option,
                       const QModelIndex& index) const {
  QStyleOptionViewItem item(option);
  initStyleOption(&item, index);
  item.text.clear();
  QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
  const auto text = [&](RunQueue::Column column) {
    return index.siblingAtColumn(column).data().toString();
  };
  const auto state = static_cast<RunQueue::RowState>(index.data(RunQueue::StateRole).toInt());
  const bool chosen = item.state.testFlag(QStyle::State_Selected);
  const QColor strong = item.palette.color(chosen ? QPalette::HighlightedText : QPalette::Text);
  const QColor muted = chosen ? strong : style::muted_text(item.palette);
  const bool dark = style::is_dark(item.palette);
  const bool failed = state == RunQueue::RowState::Failed;
  const QRect inner = item.rect.adjusted(kSide, kAbove, -kSide, -kAbove);
  const int height = item.fontMetrics.height();
  const QRect first(inner.left(), inner.top(), inner.width(), height);
  const QRect second(inner.left(), first.bottom() + 1, inner.width(), height);
  painter->save();
  QFont font = item.font;
  font.setWeight(state == RunQueue::RowState::Running ? QFont::DemiBold : QFont::Normal);
  painter->setFont(font);
  draw_line(*painter, first, text(RunQueue::Planner), text(RunQueue::Best),
            state >= RunQueue::RowState::Waiting ? muted : strong, strong);
  painter->setFont(item.font);
  draw_line(*painter, second, text(RunQueue::ProblemName), text(RunQueue::HowFar), muted,
            failed && !chosen ? style::infeasible(dark) : muted);
  if (state == RunQueue::RowState::Running)
    draw_bar(*painter, {inner.left(), second.bottom() + 2, inner.width(), 3},
             index.data(RunQueue::FractionRole).toDouble(), item.palette);
  painter->restore();
}

QSize QueueLines::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  return {40 * style::kGrid, 2 * option.fontMetrics.height() + 2 * kAbove + 4};
}

}  // namespace strato
