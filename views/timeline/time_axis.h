// What canvases with a time axis share: its ticks, the lines below them, and the keys and turns of
// the wheel that move it.
#pragma once

#include <QColor>
#include <QFont>

#include "views/timeline/time_mapping.h"

class QPainter;
class QWheelEvent;

namespace strato {

struct AxisLook {
  QColor ink;
  QFont font;
};
// In the strip above `bottom`, as far as `right`.
void paint_ticks(QPainter& painter, const TimeMapping& mapping, int bottom, int right,
                 const AxisLook& look);
void paint_grid(QPainter& painter, const TimeMapping& mapping, int top, int bottom,
                const QColor& colour);
QFont smaller_font(QFont font);  // of axes, slices and what is said beside labels

// W and S zoom about `at_x`, A and D pan, Home fits [0, whole]. False: it is none of these keys.
bool move_by_key(TimeMapping& mapping, int key, double at_x, double whole);
// With Ctrl zooms about the cursor, sideways or with Shift pans. False: it scrolls the rows.
bool move_by_wheel(TimeMapping& mapping, const QWheelEvent& event);

}  // namespace strato
