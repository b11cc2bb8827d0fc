#include "views/cluster/cluster_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <cmath>

#include "views/style/fitting_name.h"
#include "views/style/mixed.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr double kSmallestScale = 0.62;
constexpr int kLegendHeight = 24;

double distance(const QPolygonF& line, const QPointF& p) {
  double best = 1e18;
  for (qsizetype i = 0; i + 1 < line.size(); ++i) {
    const QPointF a = line[i], way = line[i + 1] - a;
    const double length2 = QPointF::dotProduct(way, way);
    const double t =
        length2 > 0 ? std::clamp(QPointF::dotProduct(p - a, way) / length2, 0.0, 1.0) : 0;
    const QPointF off = p - (a + way * t);
    best = std::min(best, std::hypot(off.x(), off.y()));
  }
  return best;
}

// Of the layout, in a view of thousands of machines.
QRectF visible_part(const QPainter& painter) {
  return painter.transform().inverted().mapRect(QRectF(painter.viewport()));
}

// Devices and links are thinner than a pixel: machines stand for them.
bool is_tiny(const QPainter& painter) { return painter.transform().m11() < 0.02; }

}  // namespace

ClusterCanvas::ClusterCanvas(Session& session, QWidget* parent)
    : QAbstractScrollArea(parent), session_(session) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Cluster"));
  setAccessibleDescription(tr("Machines, devices and links, with their use in the step shown"));
  connect(&session.selection(), &Selection::changed, viewport(), qOverload<>(&QWidget::update));
  connect(&session.selection(), &Selection::hover_changed, viewport(),
          qOverload<>(&QWidget::update));
  drop_ = new DeviceDrop(
      session, *viewport(),
      [this](const QPoint& at, Qt::KeyboardModifiers keys) { return place_at(at, keys); });
  connect(drop_, &DeviceDrop::changed, viewport(), qOverload<>(&QWidget::update));
}

void ClusterCanvas::show_cluster(std::shared_ptr<const Cluster> cluster,
                                 std::shared_ptr<const Timeline> timeline) {
  const bool other = cluster_ != cluster;
  cluster_ = std::move(cluster);
  timeline_ = std::move(timeline);
  if (other) zoom_ = 1;
  hovered_ = {};
  layout();
}

// Tries rows of different lengths and takes what is drawn largest.
void ClusterCanvas::layout() {
  layout_ = {};
  const QSizeF view(viewport()->width(), viewport()->height() - kLegendHeight);
  if (cluster_ && view.width() > 40 && view.height() > 40) {
    double best = 0;
    for (const double factor : {0.8, 1.0, 1.25, 1.6, 2.0, 2.6}) {
      ClusterLayout tried = layout_cluster(*cluster_, view.width() * factor);
      const double scale = std::min(
          {view.width() / tried.bounds.width(), view.height() / tried.bounds.height(), 1.25});
      if (scale <= best * 1.02) continue;
      best = scale;
      layout_ = std::move(tried);
    }
    if (best < kSmallestScale) {
      layout_ = layout_cluster(*cluster_, view.width() / kSmallestScale);
      best = std::max(std::min(view.width() / layout_.bounds.width(), kSmallestScale), 0.3);
    }
    scale_ = best * zoom_;
  }
  const QSizeF drawn = layout_.bounds.size() * scale_;
  horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(drawn.width() - view.width())));
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(drawn.height() - view.height())));
  horizontalScrollBar()->setPageStep(viewport()->width());
  verticalScrollBar()->setPageStep(viewport()->height());
  origin_ = QPointF(std::max(0.0, (view.width() - drawn.width()) / 2),
                    std::max(0.0, (view.height() - drawn.height()) / 2)) -
            layout_.bounds.topLeft() * scale_;
  viewport()->update();
}

void ClusterCanvas::set_zoom(double zoom) {
  zoom_ = std::clamp(zoom, 0.5, 4.0);
  layout();
}

void ClusterCanvas::resizeEvent(QResizeEvent*) { layout(); }

double ClusterCanvas::busy_part(LinkId link) const {
  if (!timeline_ || timeline_->step_time.value <= 0) return 0;
  return timeline_->link_busy[link] / timeline_->step_time;
}

void ClusterCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (!cluster_) {
    painter.setPen(style::muted_text(palette()));
    painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24),
                     Qt::AlignCenter | Qt::TextWordWrap,
                     tr("The cluster's machines, devices and links appear here.\nOpen a cluster "
                        "file (Ctrl+O)."));
    return;
  }
  painter.translate(origin_ -
                    QPointF(horizontalScrollBar()->value(), verticalScrollBar()->value()));
  painter.scale(scale_, scale_);
  paint(painter);
  paint_drop(painter);
  painter.resetTransform();
  paint_legend(painter, viewport()->size());
}

void ClusterCanvas::paint_to(QPainter& painter, const QSize& size) {
  painter.fillRect(QRect(QPoint(0, 0), size), palette().color(QPalette::Base));
  if (!cluster_ || layout_.bounds.isEmpty()) return;
  const double scale = std::min(size.width() / layout_.bounds.width(),
                                (size.height() - kLegendHeight) / layout_.bounds.height());
  painter.save();
  painter.scale(scale, scale);
  painter.translate(-layout_.bounds.topLeft());
  paint(painter);
  painter.restore();
  paint_legend(painter, size);
}

void ClusterCanvas::paint(QPainter& painter) {
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF visible = visible_part(painter);
  for (std::size_t m = 0; m < layout_.machines.size(); ++m)
    if (visible.intersects(layout_.machines[m])) paint_machine(painter, m);
  paint_links(painter);
  if (is_tiny(painter)) return;
  for (std::size_t d = 0; d < layout_.devices.size(); ++d)
    if (visible.intersects(layout_.devices[d])) paint_device(painter, DeviceId(d));
}

void ClusterCanvas::paint_machine(QPainter& painter, std::size_t m) {
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  const QRectF& box = layout_.machines[m];
  painter.setPen(Qt::NoPen);
  painter.setBrush(mixed(ground, ink, 0.05));
  painter.drawRoundedRect(box, 4, 4);
  painter.setBrush(mixed(ground, ink, 0.3));
  painter.drawRect(layout_.fabrics[m]);
  QFont font = this->font();
  font.setPixelSize(13);
  font.setBold(true);
  painter.setFont(font);
  painter.setPen(ink);
  const QRectF title(box.left() + 12, box.top(), box.width() - 24, 24);
  const QString name = style::elided(strato::text(cluster_->machines()[MachineId(m)].name),
                                     QFontMetricsF(font), Qt::ElideMiddle, title.width() * 0.7);
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter, name);
  QStringList gpus;
  for (const DeviceGroup& group : cluster_->groups()) {
    if (group.machine.index() != m) continue;
    gpus << QStringLiteral("%1 × %2")
                .arg(group.devices.size())
                .arg(strato::text(cluster_->gpu_types()[group.type].name));
  }
  const double used = QFontMetricsF(font).horizontalAdvance(name) + 12;
  font.setBold(false);
  font.setPixelSize(11);
  painter.setFont(font);
  painter.setPen(mixed(ink, ground, 0.4));
  painter.drawText(title, Qt::AlignRight | Qt::AlignVCenter,
                   style::elided(gpus.join(QStringLiteral(", ")), QFontMetricsF(font),
                                 Qt::ElideRight, title.width() - used));
}

void ClusterCanvas::paint_links(QPainter& painter) {
  const bool dark = style::is_dark(palette());
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  painter.setBrush(Qt::NoBrush);
  for (const QLineF& bus : layout_.buses) {
    painter.setPen(QPen(mixed(ground, ink, 0.3), 6, Qt::SolidLine, Qt::SquareCap));
    painter.drawLine(bus);
  }
  if (is_tiny(painter)) return;
  QFont font = this->font();
  font.setPixelSize(10);
  painter.setFont(font);
  const QRectF visible = visible_part(painter);
  for (const DrawnLink& drawn : layout_.links) {
    const QRectF around = drawn.line.boundingRect().adjusted(-8, -8, 72, 8);  // with its label
    if (!visible.intersects(around)) continue;
    const Link& link = cluster_->links()[drawn.link];
    const double part = busy_part(drawn.link);
    QPen pen(part > 0 ? style::ramp(0.15 + 0.85 * part, dark) : mixed(ground, ink, 0.3),
             link_width(link.bandwidth), Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
    if (session_.selection().link() == drawn.link) {
      painter.setPen(QPen(style::selection(dark), pen.widthF() + 6, Qt::SolidLine, Qt::FlatCap));
      painter.drawPolyline(drawn.line);
    } else if (hovered_.link == drawn.link) {
      painter.setPen(QPen(ink, pen.widthF() + 2, Qt::SolidLine, Qt::FlatCap));
      painter.drawPolyline(drawn.line);
    }
    painter.setPen(pen);
    painter.drawPolyline(drawn.line);
    if (drawn.label.isNull() || scale_ < 0.45) continue;
    painter.setPen(mixed(ink, ground, 0.3));
    painter.drawText(QRectF(drawn.label + QPointF(2, -8), QSizeF(64, 16)),
                     Qt::AlignLeft | Qt::AlignVCenter, style::significant(link.bandwidth / 1e9));
  }
}

// Filled from below to the peak of its memory; the bar at the foot is its busy part.
void ClusterCanvas::paint_device(QPainter& painter, DeviceId id) {
  const bool dark = style::is_dark(palette());
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  const QRectF& box = layout_.devices[id.index()];
  const Device& device = cluster_->device(id);
  const QColor hue = style::device_group_colour(*cluster_, device.group, dark);
  painter.setPen(Qt::NoPen);
  painter.setBrush(mixed(hue, ground, 0.88));
  painter.drawRect(box);
  QString memory = style::bytes(cluster_->gpu(id).memory), busy;
  bool fits = true;
  if (timeline_) {
    const DeviceUse& use = timeline_->devices[id];
    fits = use.fits();
    const double level = std::clamp(use.peak / use.capacity, 0.0, 1.0);
    painter.setBrush(fits ? mixed(hue, ground, 0.55) : mixed(style::infeasible(dark), ground, 0.5));
    painter.drawRect(
        QRectF(box.left(), box.bottom() - level * box.height(), box.width(), level * box.height()));
    memory = style::bytes(use.peak);
    const double part =
        timeline_->step_time.value > 0 ? use.compute_busy / timeline_->step_time : 0;
    busy = tr("%1 busy").arg(QString::number(std::lround(100 * part)) + QStringLiteral(" %"));
    painter.setBrush(mixed(ground, ink, 0.25));
    painter.drawRect(QRectF(box.left(), box.bottom() - 4, box.width(), 4));
    painter.setBrush(mixed(ground, ink, 0.8));
    painter.drawRect(QRectF(box.left(), box.bottom() - 4, box.width() * std::min(1.0, part), 4));
  }
  painter.fillRect(QRectF(box.left(), box.top(), box.width(), 4), hue);
  const bool chosen = session_.selection().device() == id, hover = hovered_.device == id;
  if (chosen || hover || !fits) {
    painter.setPen(QPen(chosen ? style::selection(dark)
                        : fits ? ink
                               : style::infeasible(dark),
                        chosen ? 3 : 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box);
  }
  QFont font = this->font();
  const auto line = [&](double y, int px, bool bold, const QColor& colour, const QString& words) {
    font.setPixelSize(px);
    font.setBold(bold);
    painter.setFont(font);
    painter.setPen(colour);
    painter.drawText(QRectF(box.left() + 6, box.top() + y, box.width() - 10, 16),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     style::elided(words, QFontMetricsF(font), Qt::ElideMiddle, box.width() - 10));
  };
  line(7, 12, true, ink, strato::text(device.name));
  line(24, 11, false, ink, memory);
  line(41, 11, false, ink, busy);
}

void ClusterCanvas::paint_legend(QPainter& painter, const QSize& size) {
  const bool dark = style::is_dark(palette());
  const QRect strip(0, size.height() - kLegendHeight, size.width(), kLegendHeight);
  painter.fillRect(strip, palette().color(QPalette::Window));
  painter.setFont(font());
  int x = 8;
  const auto text = [&](const QString& words) {
    const int width = painter.fontMetrics().horizontalAdvance(words);
    if (x + width > strip.right()) return;  // rather nothing than half a word
    painter.setPen(style::muted_text(palette()));
    painter.drawText(QRect(x, strip.top(), width + 2, strip.height()), Qt::AlignVCenter, words);
    x += width + 8;
  };
  text(tr("link busy 0 %"));
  for (int i = 0; i < 64; ++i)
    painter.fillRect(x + i, strip.center().y() - 4, 1, 8,
                     style::ramp(0.15 + 0.85 * i / 63.0, dark));
  x += 72;
  text(QStringLiteral("100 %"));
  x += 8;
  text(tr("width and number: GB/s each way"));
  x += 8;
  text(tr("fill: peak memory, bar: busy"));
}

QPointF ClusterCanvas::to_layout(const QPointF& at) const {
  return (at - origin_ + QPointF(horizontalScrollBar()->value(), verticalScrollBar()->value())) /
         scale_;
}

QPoint ClusterCanvas::middle_of(DeviceId device) const {
  const QPointF scrolled(horizontalScrollBar()->value(), verticalScrollBar()->value());
  return (layout_.devices[device.index()].center() * scale_ + origin_ - scrolled).toPoint();
}

// Only of the cluster that the session's problem is about.
std::optional<DropPlace> ClusterCanvas::place_at(const QPoint& at,
                                                 Qt::KeyboardModifiers modifiers) const {
  const auto& problem = session_.snapshot().problem;
  if (!cluster_ || !problem || problem->cluster != cluster_) return std::nullopt;
  const QPointF p = to_layout(at);
  for (std::size_t d = 0; d < layout_.devices.size(); ++d) {
    if (!layout_.devices[d].contains(p)) continue;
    if (modifiers & Qt::ShiftModifier)
      return place_of(*cluster_, cluster_->device(DeviceId(d)).group);
    return place_of(*cluster_, DeviceId(d));
  }
  for (std::size_t m = 0; m < layout_.machines.size(); ++m) {
    if (layout_.machines[m].contains(p)) return place_of(*cluster_, MachineId(m));
  }
  return std::nullopt;
}

void ClusterCanvas::paint_drop(QPainter& painter) {
  if (!drop_->place()) return;
  painter.setPen(QPen(style::selection(style::is_dark(palette())), 3, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  for (const DeviceId device : drop_->place()->devices)
    painter.drawRect(layout_.devices[device.index()].adjusted(-3, -3, 3, 3));
}

ClusterCanvas::Hit ClusterCanvas::hit(const QPointF& at) const {
  if (!cluster_) return {};
  const QPointF p = to_layout(at);
  for (std::size_t d = 0; d < layout_.devices.size(); ++d) {
    if (layout_.devices[d].contains(p)) return {DeviceId(d), {}};
  }
  Hit best;
  double nearest = 5;
  for (const DrawnLink& drawn : layout_.links) {
    const double away = distance(drawn.line, p);
    if (away >= nearest) continue;
    nearest = away;
    best.link = drawn.link;
  }
  return best;
}

void ClusterCanvas::mouseMoveEvent(QMouseEvent* event) {
  const Hit now = hit(event->position());
  viewport()->setCursor(now == Hit{} ? Qt::ArrowCursor : Qt::PointingHandCursor);
  if (now == hovered_) return;
  hovered_ = now;
  viewport()->update();
  QString text;
  if (now.device.valid()) text = strato::text(cluster_->device(now.device).name);
  if (now.link.valid()) {
    const Link& link = cluster_->links()[now.link];
    text = strato::text(link.name) + QStringLiteral(" · ") + style::bandwidth(link.bandwidth);
  }
  emit cursor_info(text);
}

void ClusterCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const Hit now = hit(event->position());
  if (now.device.valid()) {
    session_.selection().select_device(now.device);
  } else if (now.link.valid()) {
    session_.selection().select_link(now.link);
  } else {
    session_.selection().clear();
  }
}

void ClusterCanvas::wheelEvent(QWheelEvent* event) {
  if (!(event->modifiers() & Qt::ControlModifier)) return QAbstractScrollArea::wheelEvent(event);
  set_zoom(zoom_ * std::pow(1.2, event->angleDelta().y() / 120.0));
  event->accept();
}

void ClusterCanvas::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_W:
      return set_zoom(zoom_ * 1.2);
    case Qt::Key_S:
      return set_zoom(zoom_ / 1.2);
    case Qt::Key_Home:
      return set_zoom(1);
    case Qt::Key_Escape:
      return session_.selection().clear();
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

QString ClusterCanvas::tooltip(const Hit& at) const {
  if (at.device.valid()) {
    const GpuType& gpu = cluster_->gpu(at.device);
    QString text = tr("<b>%1</b><br>%2, %3 at %4")
                       .arg(strato::text(cluster_->device(at.device).name).toHtmlEscaped(),
                            strato::text(gpu.name).toHtmlEscaped(), style::bytes(gpu.memory),
                            style::bandwidth(gpu.memory_bandwidth));
    if (!timeline_) return text;
    const DeviceUse& use = timeline_->devices[at.device];
    text +=
        tr("<br>peak %1 of %2, %3 resident")
            .arg(style::bytes(use.peak), style::bytes(use.capacity), style::bytes(use.resident));
    return text + tr("<br>computes %1, communicates %2 of %3")
                      .arg(style::time(use.compute_busy), style::time(use.communication_busy),
                           style::time(timeline_->step_time));
  }
  if (!at.link.valid()) return {};
  const Link& link = cluster_->links()[at.link];
  QString text = tr("<b>%1</b><br>%2, latency %3")
                     .arg(strato::text(link.name).toHtmlEscaped(), style::bandwidth(link.bandwidth),
                          style::time(link.latency));
  if (timeline_)
    text +=
        tr("<br>busy %1, %2 of the step")
            .arg(style::time(timeline_->link_busy[at.link]), style::percent(busy_part(at.link)));
  return text;
}

bool ClusterCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hovered_ = {};
    emit cursor_info(QString());
    viewport()->update();
  }
  if (event->type() == QEvent::PaletteChange) viewport()->update();
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = tooltip(hit(help->pos()));
  if (text.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), text, viewport());
  }
  return true;
}

}  // namespace strato
