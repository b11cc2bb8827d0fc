// Small marks that several views paint.
#pragma once

#include <QColor>
#include <QRectF>

class QPainter;

namespace strato::style {

// A drawing pin: decided by hand, the search keeps to it.
void draw_pin(QPainter& painter, const QRectF& box, const QColor& colour);

}  // namespace strato::style
