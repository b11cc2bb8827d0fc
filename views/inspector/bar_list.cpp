#include "views/inspector/bar_list.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kBarHeight = 4;

}  // namespace

BarList::BarList(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

int BarList::row_height() const { return fontMetrics().height() + kBarHeight + 6; }
QSize BarList::sizeHint() const {
  return {200, std::max(1, static_cast<int>(bars_.size()) * row_height())};
}
QSize BarList::minimumSizeHint() const { return {120, sizeHint().height()}; }

void BarList::show_bars(std::vector<Bar> bars) {
  bars_ = std::move(bars);
  hovered_ = -1;
  updateGeometry();
  update();
}

int BarList::bar_at(const QPoint& position) const {
  const int row = position.y() / row_height();
  return position.y() >= 0 && row < static_cast<int>(bars_.size()) ? row : -1;
}

void BarList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    const Bar& bar = bars_[i];
    const QRect row(0, static_cast<int>(i) * row_height(), width(), row_height());
    const int text_height = fontMetrics().height();
    const int value_width = fontMetrics().horizontalAdvance(bar.value);
    painter.setPen(palette().color(QPalette::WindowText));
    QFont font = this->font();
    font.setUnderline(static_cast<int>(i) == hovered_ && bar.id >= 0);
    painter.setFont(font);
    painter.drawText(
        QRect(0, row.top(), width() - value_width - 8, text_height),
        Qt::AlignLeft | Qt::AlignVCenter,
        fontMetrics().elidedText(bar.label, Qt::ElideMiddle, width() - value_width - 8));
    font.setUnderline(false);
    painter.setFont(font);
    painter.drawText(QRect(0, row.top(), width(), text_height), Qt::AlignRight | Qt::AlignVCenter,
                     bar.value);
    QColor track = palette().color(QPalette::WindowText);
    track.setAlphaF(0.08f);
    const QRectF rail(0, row.top() + text_height + 1, width(), kBarHeight);
    painter.setPen(Qt::NoPen);
    painter.setBrush(track);
    painter.drawRoundedRect(rail, 2, 2);
    QRectF filled = rail;
    filled.setWidth(rail.width() * std::clamp(bar.fraction, 0.0, 1.0));
    painter.setBrush(bar.colour);
    painter.drawRoundedRect(filled, 2, 2);
    if (bar.hatched) {
      painter.setBrush(QBrush(palette().color(QPalette::Window), Qt::BDiagPattern));
      painter.drawRoundedRect(filled, 2, 2);
    }
  }
}

void BarList::mouseReleaseEvent(QMouseEvent* event) {
  const int row = bar_at(event->position().toPoint());
  if (event->button() == Qt::LeftButton && row >= 0 &&
      bars_[static_cast<std::size_t>(row)].id >= 0) {
    emit clicked(bars_[static_cast<std::size_t>(row)].id);
  }
}

void BarList::mouseMoveEvent(QMouseEvent* event) {
  hovered_ = bar_at(event->position().toPoint());
  const bool link = hovered_ >= 0 && bars_[static_cast<std::size_t>(hovered_)].id >= 0;
  setCursor(link ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void BarList::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

bool BarList::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = bar_at(help->pos());
    const QString tip = row >= 0 ? bars_[static_cast<std::size_t>(row)].tip : QString();
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace strato
