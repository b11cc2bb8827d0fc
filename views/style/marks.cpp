#include "views/style/marks.h"

#include <QPainter>
#include <QPolygonF>

namespace strato::style {

void draw_pin(QPainter& painter, const QRectF& box, const QColor& colour) {
  const auto at = [&](double x, double y) {
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
  };
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawRoundedRect(QRectF(at(0.22, 0.05), at(0.78, 0.2)), 1, 1);
  painter.drawPolygon(QPolygonF({at(0.34, 0.2), at(0.66, 0.2), at(0.7, 0.45), at(0.3, 0.45)}));
  painter.drawRoundedRect(QRectF(at(0.14, 0.45), at(0.86, 0.6)), 1, 1);
  painter.setPen(QPen(colour, 1.3));
  painter.drawLine(at(0.5, 0.6), at(0.5, 0.98));
  painter.restore();
}

void draw_no_entry(QPainter& painter, const QRectF& box, const QColor& colour) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colour, 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(box);
  const double half = 0.353 * box.width();
  painter.drawLine(box.center() + QPointF(-half, half), box.center() + QPointF(half, -half));
  painter.restore();
}

void draw_links(QPainter& painter, const QRectF& box, const QColor& colour) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colour, 1.4));
  painter.setBrush(Qt::NoBrush);
  const QSizeF link(0.6 * box.width(), 0.5 * box.height());
  const double top = box.center().y() - link.height() / 2, round = link.height() / 2;
  painter.drawRoundedRect(QRectF(QPointF(box.left(), top), link), round, round);
  painter.drawRoundedRect(QRectF(QPointF(box.right() - link.width(), top), link), round, round);
  painter.restore();
}

}  // namespace strato::style
