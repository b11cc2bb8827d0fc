#include "views/graph/graph_canvas.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "views/style/style.h"

namespace strato {
namespace {
constexpr double kSmallest = 0.02, kLargest = 4, kZoomStep = 1.25;
constexpr qsizetype kLongestInfo = 120;  // letters of a name in the status line
}  // namespace

GraphCanvas::GraphCanvas(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Op graph"));
  setMinimumSize(160, 120);
}

void GraphCanvas::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

void GraphCanvas::show_layout(GraphLayout layout) {
  scene_.layout = std::move(layout);
  scene_.hovered = carried_ = -1;
  framed_ = false;
  emit laid_out();
  frame();
  update();
}

void GraphCanvas::change_layout(GraphLayout layout) {
  scene_.layout = std::move(layout);
  scene_.hovered = carried_ = -1;
  framed_at_.reset();
  emit laid_out();
  keep_in_view();
}

void GraphCanvas::share_view_of(GraphCanvas& leader) {
  leader_ = &leader;
  connect(&leader, &GraphCanvas::view_moved, this, [this, &leader] { take_view_of(leader); });
  connect(this, &GraphCanvas::view_moved, &leader, [this, &leader] { leader.take_view_of(*this); });
  take_view_of(leader);
}

void GraphCanvas::take_view_of(const GraphCanvas& other) {
  scene_.scale = other.scene_.scale;
  scene_.offset = other.scene_.offset;
  update();
}

void GraphCanvas::echo(int node) {
  if (node == scene_.echoed) return;
  scene_.echoed = node;
  update();
}

// All of it when that is legible, else where it begins (the node that is nearest to the corner), at
// a readable size.
void GraphCanvas::frame() {
  if (!scene_.is_laid_out() || width() < 60 || height() < 60) return;
  fit();
  if (scene_.scale < kLegibleScale) {
    scene_.scale = 0.8;
    const auto& places = scene_.layout.nodes;
    const auto first = std::ranges::min_element(
        places, {}, [](const QRectF& place) { return std::pair(place.top(), place.left()); });
    centre_on(static_cast<int>(first - places.begin()));
  }
  framed_ = true;
  framed_at_ = scene_.offset;
}

void GraphCanvas::fit() {
  if (!scene_.is_laid_out()) return;
  scene_.scale = std::clamp(fit_scale(scene_.layout, QSizeF(size())), kSmallest, 1.0);
  scene_.offset = QRectF(rect()).center() - scene_.layout.bounds.center() * scene_.scale;
  emit view_moved();
  update();
}

void GraphCanvas::centre_on(int node) {
  if (node < 0 || !scene_.is_laid_out()) return;
  scene_.offset = QRectF(rect()).center() -
                  scene_.layout.nodes[static_cast<std::size_t>(node)].center() * scene_.scale;
  keep_in_view();
}

void GraphCanvas::reveal(int node) {
  if (node < 0 || !scene_.is_laid_out()) return;
  const QRectF box = scene_.to_view(scene_.layout.nodes[static_cast<std::size_t>(node)]);
  if (!QRectF(rect()).contains(box)) centre_on(node);
}

// The drawing cannot be lost: it fills the view, or is centred where it is smaller.
void GraphCanvas::keep_in_view() {
  const QRectF drawn = scene_.to_view(scene_.layout.bounds);
  const auto fix = [](double low, double length, double view) {
    if (length <= view) return (view - length) / 2 - low;
    if (low > 0) return -low;
    return low + length < view ? view - low - length : 0.0;
  };
  const auto map = mini_map(scene_, size());  // what lies under it can be scrolled out
  const double spare = map ? map->box.height() + 16 : 0;
  scene_.offset += QPointF(fix(drawn.left(), drawn.width(), width()),
                           fix(drawn.top(), drawn.height() + spare, height()));
  emit view_moved();
  update();
}

void GraphCanvas::zoom(double factor, const QPointF& at) {
  const QPointF fixed = scene_.to_layout(at);
  const double least = std::min(0.3, fit_scale(scene_.layout, QSizeF(size())));
  scene_.scale = std::clamp(scene_.scale * factor, std::max(kSmallest, least), kLargest);
  scene_.offset = at - fixed * scene_.scale;
  keep_in_view();
}

void GraphCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  scene_.palette = palette();
  scene_.font = font();
  paint_graph(painter, scene_, size());
  paint_mini_map(painter, scene_, size());
  if (!scene_.is_laid_out()) {
    painter.setPen(style::muted_text(palette()));
    painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                     empty_text_);
  }
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
  if (leader_) return take_view_of(*leader_);
  if (!framed_ || scene_.offset == framed_at_) return frame();  // nobody has moved it
  const QSize old = event->oldSize();
  scene_.offset += QPointF(width() - old.width(), height() - old.height()) / 2;
  keep_in_view();
}

void GraphCanvas::move_by_map(const QPointF& at) {
  const auto map = mini_map(scene_, size());
  if (!map) return;
  scene_.offset = QRectF(rect()).center() - (at - map->origin) / map->scale * scene_.scale;
  keep_in_view();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
  last_ = pressed_ = event->position();
  if (event->button() == Qt::RightButton) return;
  down_ = true;
  const auto map = mini_map(scene_, size());
  on_map_ = map && map->box.contains(last_);
  const bool pans = event->button() != Qt::LeftButton || (event->modifiers() & Qt::ShiftModifier);
  carried_ = on_map_ || pans || !carries_ ? -1 : scene_.node_at(last_);
  if (on_map_) move_by_map(last_);
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (on_map_) return move_by_map(at);
  if (!scene_.is_laid_out()) carried_ = -1;  // there are other nodes by now
  const double moved = (at - pressed_).manhattanLength(), least = QApplication::startDragDistance();
  if (down_ && carried_ >= 0 && moved > least) {
    down_ = false;
    emit node_dragged(std::exchange(carried_, -1), event->modifiers() & Qt::ControlModifier);
    return;
  }
  if (down_ && carried_ < 0 && moved > least / 2) panning_ = true;
  if (panning_) {
    scene_.offset += at - last_;
    last_ = at;
    setCursor(Qt::ClosedHandCursor);
    return keep_in_view();
  }
  const int node = scene_.node_at(at);
  setCursor(node >= 0 ? Qt::PointingHandCursor : Qt::OpenHandCursor);
  if (node == scene_.hovered) return;
  scene_.hovered = node;
  update();
  emit node_hovered(node);
  if (node >= 0) {
    const GraphNode& hovered = scene_.content.nodes[static_cast<std::size_t>(node)];
    const auto at_node = static_cast<std::size_t>(node);
    QStringList parts = {hovered.name.right(kLongestInfo), hovered.detail};
    if (hovered.share > 0) parts << style::percent(hovered.share);
    if (at_node < scene_.marks.size() && !scene_.marks[at_node].isEmpty())
      parts << scene_.marks[at_node];
    emit cursor_info(parts.join(QStringLiteral(" · ")));
  } else {
    emit cursor_info(QString());
  }
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = down_ && !panning_ && !on_map_;
  down_ = panning_ = on_map_ = false;
  carried_ = -1;
  const int node = scene_.node_at(event->position());
  if (click && event->button() == Qt::LeftButton)
    emit node_clicked(node, event->modifiers() & Qt::ControlModifier);
  setCursor(node >= 0 ? Qt::PointingHandCursor : Qt::OpenHandCursor);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const int node = scene_.node_at(event->position());
  if (node >= 0) emit node_opened(node);
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
  if (!scene_.is_laid_out()) return;
  if (event->modifiers() & Qt::ControlModifier) {
    zoom(std::pow(kZoomStep, event->angleDelta().y() / 120.0), event->position());
  } else {
    QPointF turn = event->angleDelta();
    if (event->modifiers() & Qt::ShiftModifier) turn = turn.transposed();
    scene_.offset += turn / 120.0 * 48;
    keep_in_view();
  }
  event->accept();
}

// The nearest node in the direction of an arrow key.
int GraphCanvas::neighbour(int key) const {
  const auto from = std::find(scene_.selected.begin(), scene_.selected.end(), 1);
  if (from == scene_.selected.end()) return scene_.content.nodes.empty() ? -1 : 0;
  const QPointF start =
      scene_.layout.nodes[static_cast<std::size_t>(from - scene_.selected.begin())].center();
  int best = -1;
  double best_distance = 1e18;
  for (std::size_t n = 0; n < scene_.layout.nodes.size(); ++n) {
    const QPointF way = scene_.layout.nodes[n].center() - start;
    if (scene_.content.nodes[n].frame) continue;
    const double along = key == Qt::Key_Right  ? way.x()
                         : key == Qt::Key_Left ? -way.x()
                         : key == Qt::Key_Down ? way.y()
                                               : -way.y();
    const double across = key == Qt::Key_Right || key == Qt::Key_Left ? way.y() : way.x();
    if (along < 4) continue;
    const double distance = along + 2 * std::abs(across);
    if (distance < best_distance) best_distance = distance, best = static_cast<int>(n);
  }
  return best;
}

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
  if (!scene_.is_laid_out() || (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))) {
    return QWidget::keyPressEvent(event);
  }
  const QPoint cursor = mapFromGlobal(QCursor::pos());
  const QPointF at = rect().contains(cursor) ? QPointF(cursor) : QRectF(rect()).center();
  switch (event->key()) {
    case Qt::Key_W:
      return zoom(kZoomStep, at);
    case Qt::Key_S:
      return zoom(1 / kZoomStep, at);
    case Qt::Key_A:
      scene_.offset.rx() += width() * 0.12;
      return keep_in_view();
    case Qt::Key_D:
      scene_.offset.rx() -= width() * 0.12;
      return keep_in_view();
    case Qt::Key_Home:
      return fit();
    case Qt::Key_F: {
      const auto found = std::find(scene_.selected.begin(), scene_.selected.end(), 1);
      if (found != scene_.selected.end()) {
        scene_.scale = std::max(scene_.scale, 0.9);
        centre_on(static_cast<int>(found - scene_.selected.begin()));
      }
      return;
    }
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (const int next = neighbour(event->key()); next >= 0) {
        emit node_clicked(next, false);
        reveal(next);
      }
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter: {
      const auto found = std::find(scene_.selected.begin(), scene_.selected.end(), 1);
      if (found != scene_.selected.end())
        emit node_opened(static_cast<int>(found - scene_.selected.begin()));
      return;
    }
    case Qt::Key_Escape:
      emit node_clicked(-1, false);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) {
  const int node = scene_.node_at(event->pos());
  if (node >= 0) emit menu_wanted(node, event->globalPos());
}

QString GraphCanvas::tooltip_of(std::size_t node) const {
  QString own = scene_.content.nodes[node].tooltip;
  if (note_) own += note_(node);
  if (node >= scene_.values.size() || scene_.words.isEmpty() || scene_.content.nodes[node].boundary)
    return own;
  return own + QStringLiteral("<br>%1: %2")
                   .arg(scene_.words.toHtmlEscaped(),
                        overlay_value_text(scene_.overlay, scene_.values[node]).toHtmlEscaped());
}

bool GraphCanvas::event(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    scene_.hovered = -1;
    emit node_hovered(-1);
    emit cursor_info(QString());
    update();
  }
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int node = scene_.node_at(help->pos());
  if (node >= 0) {
    QToolTip::showText(help->globalPos(), tooltip_of(static_cast<std::size_t>(node)), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

}  // namespace strato
