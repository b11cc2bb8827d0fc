#include "views/timeline/time_axis.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kZoomStep = 1.3, kPanStep = 0.12;
constexpr double kTickRoom = 88;  // px

}  // namespace

void paint_ticks(QPainter& painter, const TimeMapping& mapping, int bottom, int right,
                 const AxisLook& look) {
  painter.setFont(look.font);
  painter.setPen(look.ink);
  const QFontMetricsF metrics(look.font);
  const auto step = nice_step(mapping.ns_per_px, kTickRoom);
  const auto view_end = static_cast<std::int64_t>(mapping.end());
  for (const std::int64_t tick : nice_ticks(mapping, kTickRoom)) {
    const double x = std::round(mapping.x(static_cast<double>(tick)));
    painter.drawLine(QPointF(x + 0.5, bottom - 5), QPointF(x + 0.5, bottom));
    const QString label = style::axis_time(tick, step, view_end);
    const double width = std::ceil(metrics.horizontalAdvance(label));
    if (x + 4 + width > right) continue;  // it would be cut
    painter.drawText(QRectF(x + 4, 0, width, bottom - 2), Qt::AlignLeft | Qt::AlignVCenter, label);
  }
}

void paint_grid(QPainter& painter, const TimeMapping& mapping, int top, int bottom,
                const QColor& colour) {
  painter.setPen(colour);
  for (const std::int64_t tick : nice_ticks(mapping, kTickRoom)) {
    const double x = std::round(mapping.x(static_cast<double>(tick))) + 0.5;
    painter.drawLine(QPointF(x, top), QPointF(x, bottom));
  }
}

QFont smaller_font(QFont font) {
  if (font.pixelSize() > 0) {
    font.setPixelSize(std::max(9, font.pixelSize() - 2));
  } else {
    font.setPointSizeF(std::max(7.0, font.pointSizeF() * 0.86));
  }
  return font;
}

bool move_by_key(TimeMapping& mapping, int key, double at_x, double whole) {
  switch (key) {
    case Qt::Key_W:
      mapping.zoom(kZoomStep, at_x);
      return true;
    case Qt::Key_S:
      mapping.zoom(1 / kZoomStep, at_x);
      return true;
    case Qt::Key_A:
      mapping.pan(-kPanStep * mapping.width);
      return true;
    case Qt::Key_D:
      mapping.pan(kPanStep * mapping.width);
      return true;
    case Qt::Key_Home:
      mapping.fit(0, whole);
      return true;
    default:
      return false;
  }
}

bool move_by_wheel(TimeMapping& mapping, const QWheelEvent& event) {
  const QPointF turn = event.angleDelta();
  const bool sideways = std::abs(turn.x()) > std::abs(turn.y());
  if (event.modifiers() & Qt::ControlModifier) {
    mapping.zoom(std::pow(kZoomStep, turn.y() / 120), std::max(mapping.left, event.position().x()));
  } else if (sideways || (event.modifiers() & Qt::ShiftModifier)) {
    mapping.pan(-(sideways ? turn.x() : turn.y()) / 120 * kPanStep * mapping.width);
  } else {
    return false;
  }
  return true;
}

}  // namespace strato
