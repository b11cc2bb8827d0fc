#include "views/search/icicle_widget.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "core/search/tree/search_tree.h"
#include "views/style/style.h"

namespace strato {
namespace {
constexpr int kScaleHeight = 24;
}

IcicleWidget::IcicleWidget(const SearchTreeModel& model, QWidget* parent)
    : QAbstractScrollArea(parent), model_(model) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setMinimumSize(200, 120);
  setAccessibleName(tr("Overview of the search tree"));
  setAccessibleDescription(tr("Width is visits, colour is value, the outlined way is the best"));
}

void IcicleWidget::tree_changed() {
  current_ = hovered_ = -1;
  layout(true);
}

void IcicleWidget::moment_changed() { layout(false); }

void IcicleWidget::set_current(std::int32_t vertex) {
  current_ = vertex;
  viewport()->update();
}

void IcicleWidget::layout(bool rescale) {
  cells_.clear();
  if (model_.tree()) {
    IcicleOptions options;
    cells_ = icicle(model_.moment(), 0, viewport()->width() - 16, options);
    if (rescale) least_ = 1e18, most_ = -1e18;
    for (const IcicleCell& cell : cells_) {
      if (!rescale) break;
      const SearchTree::Vertex& v = model_.tree()->vertices[static_cast<std::size_t>(cell.vertex)];
      if (cell.rest > 0 || v.visits == 0 || v.value() <= -1) continue;
      least_ = std::min(least_, v.value());
      most_ = std::max(most_, v.value());
    }
    if (least_ > most_) least_ = 0, most_ = 1;
  }
  const int height = static_cast<int>(icicle_height(cells_)) + kScaleHeight + 8;
  verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(28);
  viewport()->update();
}

void IcicleWidget::resizeEvent(QResizeEvent*) { layout(!model_.replay()); }

QString IcicleWidget::text_of(const IcicleCell& cell) const {
  if (cell.rest > 0)
    return cell.box.width() < 90 ? QStringLiteral("+%1").arg(cell.rest)
                                 : tr("%1 more").arg(cell.rest);
  if (cell.vertex == 0) return tr("start · %1 visits").arg(model_.moment().visits(0));
  return model_.action_text(cell.vertex);
}

void IcicleWidget::paint_cell(QPainter& painter, const IcicleCell& cell) {
  const bool dark = style::is_dark(palette());
  const QRectF box = cell.box.adjusted(0, 0, -1, -1);
  const double span = most_ > least_ ? most_ - least_ : 1;
  QColor fill = palette().color(QPalette::Window);
  if (cell.rest == 0) {
    const TreeMoment now = model_.moment();
    const double value = now.value(cell.vertex);
    fill = now.visits(cell.vertex) > 0 && value <= -1
               ? style::infeasible(dark)
               : style::ramp(std::clamp((value - least_) / span, 0.0, 1.0), dark);
  }
  if (cell.rest > 0) {
    painter.fillRect(box, QBrush(style::muted_text(palette()), Qt::Dense6Pattern));
  } else {
    painter.fillRect(box, fill);
  }
  if (box.width() >= (cell.rest > 0 ? 28 : 40)) {
    const QRectF inside = box.adjusted(6, 0, -4, 0);
    QFont font = painter.font();
    font.setBold(cell.rest == 0 && model_.is_highlighted(cell.vertex));
    font.setStrikeOut(cell.rest == 0 && (model_.marks(cell.vertex) & SearchTreeModel::Excluded));
    painter.setFont(font);
    painter.setPen(cell.rest > 0 ? palette().color(QPalette::WindowText) : style::text_on(fill));
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(text_of(cell), Qt::ElideRight, inside.width()));
    font.setBold(false);
    font.setStrikeOut(false);
    painter.setFont(font);
  }
}

// What the colours mean, along the bottom edge.
void IcicleWidget::paint_scale(QPainter& painter) {
  const bool dark = style::is_dark(palette());
  const QRect strip(0, viewport()->height() - kScaleHeight, viewport()->width(), kScaleHeight);
  painter.fillRect(strip, palette().color(QPalette::Window));
  const QString low = style::significant(least_), high = style::significant(most_);
  int x = 8;
  const auto text = [&](const QString& words) {
    const int width = painter.fontMetrics().horizontalAdvance(words);
    painter.setPen(style::muted_text(palette()));
    painter.drawText(QRect(x, strip.top(), width + 2, strip.height()), Qt::AlignVCenter, words);
    x += width + 8;
  };
  text(tr("value %1").arg(low));
  for (int i = 0; i < 80; ++i)
    painter.fillRect(x + i, strip.center().y() - 4, 1, 8, style::ramp(i / 79.0, dark));
  x += 88;
  text(high);
  x += 8;
  if (viewport()->width() >= 440) text(tr("width: visits"));
  painter.setPen(QPen(style::selection(dark), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(x, strip.center().y() - 5, 16, 10);
  x += 24;
  text(model_.replay() ? tr("path of this step") : tr("best path"));
}

void IcicleWidget::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (cells_.empty()) return;
  const bool dark = style::is_dark(palette());
  painter.translate(8, 8 - verticalScrollBar()->value());
  for (const IcicleCell& cell : cells_) paint_cell(painter, cell);
  painter.setBrush(Qt::NoBrush);
  for (const IcicleCell& cell : cells_) {
    if (cell.rest > 0) continue;
    const QRectF box = cell.box.adjusted(1, 1, -2, -2);
    if (model_.is_new(cell.vertex)) {  // it flashes by being the only one
      painter.setPen(QPen(palette().color(QPalette::Text), 3));
      painter.drawRect(box);
      continue;
    }
    if (model_.is_highlighted(cell.vertex)) {
      painter.setPen(QPen(style::selection(dark), 2));
      painter.drawRect(box);
    }
    if (cell.vertex == hovered_ || cell.vertex == current_) {
      painter.setPen(QPen(palette().color(QPalette::Text), cell.vertex == current_ ? 3 : 1));
      painter.drawRect(box);
    }
  }
  painter.resetTransform();
  paint_scale(painter);
}

const IcicleCell* IcicleWidget::cell_at(const QPoint& at) const {
  if (at.y() >= viewport()->height() - kScaleHeight) return nullptr;
  const QPointF point = QPointF(at) - QPointF(8, 8 - verticalScrollBar()->value());
  for (const IcicleCell& cell : cells_) {
    if (cell.box.contains(point)) return &cell;
  }
  return nullptr;
}

void IcicleWidget::mouseMoveEvent(QMouseEvent* event) {
  const IcicleCell* cell = cell_at(event->position().toPoint());
  const std::int32_t vertex = cell && cell->rest == 0 ? cell->vertex : -1;
  viewport()->setCursor(vertex >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (vertex == hovered_) return;
  hovered_ = vertex;
  viewport()->update();
  emit cursor_info(cell ? text_of(*cell) : QString());
}

void IcicleWidget::mousePressEvent(QMouseEvent* event) {
  const IcicleCell* cell = cell_at(event->position().toPoint());
  if (cell && event->button() == Qt::LeftButton) emit vertex_clicked(cell->vertex);
}

void IcicleWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  const IcicleCell* cell = cell_at(event->position().toPoint());
  if (cell && cell->rest == 0 && cell->vertex > 0) emit vertex_opened(cell->vertex);
}

bool IcicleWidget::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hovered_ = -1;
    emit cursor_info(QString());
    viewport()->update();
  }
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const IcicleCell* cell = cell_at(help->pos());
  if (!cell || !model_.tree()) {
    QToolTip::hideText();
    return true;
  }
  const SearchTree::Vertex& v = model_.tree()->vertices[static_cast<std::size_t>(cell->vertex)];
  QString text = QStringLiteral("<b>%1</b>").arg(text_of(*cell).toHtmlEscaped());
  if (cell->rest == 0) {
    text += tr("<br>%1 visits, value %2, prior %3")
                .arg(model_.moment().visits(cell->vertex))
                .arg(style::significant(model_.moment().value(cell->vertex)),
                     style::significant(v.prior));
    if (v.step_time_ns > 0) text += tr("<br>step time %1").arg(style::time(Nanos(v.step_time_ns)));
  }
  QToolTip::showText(help->globalPos(), text, viewport());
  return true;
}

}  // namespace strato
