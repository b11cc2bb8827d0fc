// Small marks that several views paint.
#pragma once

#include <QColor>
#include <QRectF>

class QPainter;

namespace strato::style {

// A drawing pin: decided by hand, the search keeps to it.
void draw_pin(QPainter& painter, const QRectF& box, const QColor& colour);

// A ring with a stroke through it: not allowed.
void draw_no_entry(QPainter& painter, const QRectF& box, const QColor& colour);
// Two links of a chain: what belongs together.
void draw_links(QPainter& painter, const QRectF& box, const QColor& colour);

}  // namespace strato::style
