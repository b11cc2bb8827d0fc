// How things look, in one place: colours (colour-blind safe, light and dark), numbers, sizes.
// Colour means one thing at a time; red is kept for infeasible, orange-gold for the critical path,
// blue for the selection.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/value/graph.h"
#include "core/program/value/program.h"

class QPainter;
class QWidget;

namespace strato::style {

inline constexpr int kGrid = 4;  // all spacing is a multiple of it, in device-independent pixels

bool is_dark(const QPalette& palette);

// Hue by device group (equal GPU types share a hue family), shade by device inside the group.
QColor device_group_colour(const Cluster& cluster, DeviceGroupId group, bool dark);
QColor device_colour(const Cluster& cluster, DeviceId device, bool dark);
QColor phase_colour(Phase phase, bool dark);
QColor kind_colour(TaskKind kind, bool dark);
QColor ramp(double fraction, bool dark);  // perceptually even, for quantities in [0, 1]
QColor infeasible(bool dark);
QColor critical(bool dark);
QColor selection(bool dark);
QColor muted_text(const QPalette& palette);
QColor text_on(const QColor& fill);  // black or white, whichever reads better

// Three significant digits, SI units: "182 ms", "1.23 s", "10.2 GB", "12.5 GB/s", "3.41×", "−3.2
// %".
QString time(Nanos t);
// Of an axis with a mark every `step` ns up to `end`: all in the same unit.
QString axis_time(std::int64_t time, std::int64_t step, std::int64_t end);
QString bytes(Bytes b);
QString bytes_of(Bytes part, Bytes whole);  // "2.69 of 34.4 GB", "512 MB of 34.4 GB"
QString bandwidth(double bytes_per_second);
QString count(double n);                  // "1.2 k", "3.45 M"
QString flops(double n);                  // "12.3 GFLOP"
QString factor(double f);                 // "3.4×"
QString percent(double fraction);         // "12.3 %"
QString signed_percent(double fraction);  // "−3.2 %", "+1.0 %"
QString significant(double value, int digits = 3);

// Sets the application's font (tabular figures where the font has them) and palette extras.
void apply(QWidget& window);

}  // namespace strato::style
