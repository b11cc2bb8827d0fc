// What lies over the rows: critical path, selection, range, markers, and the label column.
#include <QFontMetricsF>
#include <QPainterPath>
#include <cmath>

#include "core/sim/explain/critical_path.h"
#include "views/style/fitting_name.h"
#include "views/style/marks.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/joined_bars.h"
#include "views/timeline/timeline_painter.h"

namespace strato {

// Outlines where slices are wide enough, a line under them where not; steps joined where the row
// changes.
void TimelinePainter::paint_critical(QPainter& painter, const QSize& size, bool pinned) {
  for (const RowLayout::Place& place : scene_.layout.places) {
    if (place.pinned == pinned && in_sight(place, size)) paint_critical_row(painter, place);
  }
  paint_critical_line(painter, style::critical(dark_));
}

void TimelinePainter::paint_critical_row(QPainter& painter, const RowLayout::Place& place) {
  const QColor colour = style::critical(dark_);
  const double left = scene_.mapping.left - 4, right = left + scene_.mapping.width + 8;
  const SliceRow& slices = scene_.rows->rows[place.row].slices;
  const auto& marked = scene_.on_critical_path[place.row];
  const int y = row_y(place);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(colour, 2));
  JoinedBars lines(painter);
  fold_marked(slices, marked, scene_.mapping, [&](const SliceFold& fold) {
    const std::uint32_t first = marked[fold.first], last = marked[fold.last - 1];
    const double x0 = scene_.mapping.x(static_cast<double>(slices.start[first]));
    const double x1 = scene_.mapping.x(static_cast<double>(slices.end[last]));
    const double from = std::max(x0, left), to = std::min(x1, right);
    if (x1 - x0 < kOutlinePixels) {
      lines.add(QRectF(from, y + place.height - 4, std::max(1.0, to - from), 3), colour);
    } else {
      lines.flush();
      painter.drawRect(QRectF(from + 1, y + 2, to - from - 2, place.height - 4));
    }
  });
}

// From step to step where the path changes rows, at most every few pixels: steps in between are
// jumped over, so that it costs what its pixels cost.
void TimelinePainter::paint_critical_line(QPainter& painter, const QColor& colour) {
  constexpr double kApart = 4;  // px
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colour, 1));
  const std::vector<CriticalStep>& steps = scene_.rows->critical;
  const auto& tasks = scene_.rows->timeline->tasks;
  const auto first_at = [&](double time, std::size_t from) {
    const auto found = std::partition_point(
        steps.begin() + static_cast<std::ptrdiff_t>(from), steps.end(), [&](const CriticalStep& s) {
          return static_cast<double>(tasks[s.task].start.value) < time;
        });
    return static_cast<std::size_t>(found - steps.begin());
  };
  std::optional<QPointF> last;
  const std::size_t begin = first_at(scene_.mapping.begin, 0);
  for (std::size_t i = begin > 0 ? begin - 1 : 0; i < steps.size();) {
    const double x = scene_.mapping.x(static_cast<double>(tasks[steps[i].task].start.value));
    if (x > scene_.mapping.left + scene_.mapping.width) break;
    const auto box = first_box(scene_.rows->critical_places[i]);
    if (box && last && std::abs(box->center().y() - last->y()) > 1)
      painter.drawLine(*last, QPointF(box->left(), box->center().y()));
    const std::size_t next = std::max(i + 1, first_at(scene_.mapping.time(x + kApart), i + 1));
    // The one before it tells where the line comes from; one that is collapsed tells nothing.
    if (const auto before = first_box(scene_.rows->critical_places[next - 1]))
      last = QPointF(before->right(), before->center().y());
    i = next;
  }
  painter.restore();
}

void TimelinePainter::paint_outlines(QPainter& painter) {
  const auto outline = [&](TaskId task, const QPen& pen) {
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    for (const RowSlice& at : places_of(*scene_.rows, task)) {
      const auto box = box_of(at);
      if (!box || box->right() < scene_.mapping.left - 4) continue;
      QRectF shown = *box;
      shown.setLeft(std::max(shown.left(), scene_.mapping.left - 8));
      shown.setRight(std::min(shown.right(), scene_.mapping.left + scene_.mapping.width + 8));
      if (shown.width() < 4) shown.adjust(-2, 0, 2, 0);
      painter.drawRect(shown.adjusted(0, 0, -1, 0));
    }
  };
  if (scene_.hovered && scene_.hovered != scene_.task) outline(*scene_.hovered, QPen(ink_, 1));
  if (scene_.task) outline(*scene_.task, QPen(style::selection(dark_), 3));
}

// From what the selected slice waits for to it, and from it to what waits for it.
void TimelinePainter::paint_arrows(QPainter& painter) {
  if (!scene_.task || (scene_.before.empty() && scene_.after.empty())) return;
  const auto own = first_box(places_of(*scene_.rows, *scene_.task));
  if (!own) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const auto right = [](const QRectF& box) { return QPointF(box.right(), box.center().y()); };
  const auto left = [](const QRectF& box) { return QPointF(box.left(), box.center().y()); };
  painter.setPen(QPen(ink_, 1.25));
  for (const TaskId task : scene_.before) {
    if (const auto box = first_box(places_of(*scene_.rows, task)))
      paint_arrow(painter, right(*box), left(*own));
  }
  painter.setPen(QPen(style::selection(dark_), 1.25));
  for (const TaskId task : scene_.after) {
    if (const auto box = first_box(places_of(*scene_.rows, task)))
      paint_arrow(painter, right(*own), left(*box));
  }
  painter.restore();
}

void TimelinePainter::paint_arrow(QPainter& painter, const QPointF& from, const QPointF& to) {
  constexpr double kFar = 8000, kHead = 5;  // px: what is out of sight by far is drawn as if nearer
  const double low = scene_.mapping.left - kFar, high = scene_.mapping.left + kFar;
  const QPointF a(std::clamp(from.x(), low, high), from.y()),
      b(std::clamp(to.x(), low, high), to.y());
  const double bend = std::clamp(std::abs(b.x() - a.x()) / 2, 8.0, 60.0);
  QPainterPath path(a);
  path.cubicTo(a + QPointF(bend, 0), b - QPointF(bend, 0), b);
  path.moveTo(b - QPointF(kHead, kHead / 2 + 1));
  path.lineTo(b);
  path.lineTo(b - QPointF(kHead, -kHead / 2 - 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
}

void TimelinePainter::paint_range(QPainter& painter, const QSize& size) {
  const auto band = [&](const TimeRange& range, QColor colour, float alpha) {
    const double x0 = scene_.mapping.x(static_cast<double>(range.begin.value));
    const double x1 = scene_.mapping.x(static_cast<double>(range.end.value));
    QColor fill = colour;
    fill.setAlphaF(alpha);
    painter.fillRect(QRectF(x0, kAxisHeight, x1 - x0, size.height()), fill);
    painter.setPen(QPen(colour, 1));
    for (const double x : {x0, x1}) {
      painter.drawLine(QPointF(std::round(x) + 0.5, kAxisHeight),
                       QPointF(std::round(x) + 0.5, size.height()));
    }
  };
  for (const TimeRange& mark : scene_.marks) band(mark, muted_, 0.06f);
  if (scene_.range) band(*scene_.range, style::selection(dark_), 0.12f);
}

// The end of the step, and the time that no strategy can beat.
void TimelinePainter::paint_markers(QPainter& painter, const QSize& size) {
  painter.setFont(small_);
  const QFontMetricsF metrics(small_);
  QRectF last;  // the label before
  const auto marker = [&](Nanos time, const QString& name, const QPen& pen) {
    const double x = std::round(scene_.mapping.x(static_cast<double>(time.value))) + 0.5;
    painter.setPen(pen);
    painter.drawLine(QPointF(x, kAxisHeight), QPointF(x, size.height()));
    const QString text = name + QLatin1Char(' ') + style::time(time);
    const double width = metrics.horizontalAdvance(text) + 8;
    const bool room = x - width - 2 >= scene_.mapping.left;
    QRectF box(room ? x - width - 2 : x + 2, scene_.top() + 2, width, metrics.height());
    if (box.intersects(last)) box.translate(0, metrics.height());
    last = box;
    painter.fillRect(box, ground_);
    painter.drawText(box, Qt::AlignCenter, text);
  };
  if (scene_.lower_bound.value > 0) {
    marker(scene_.lower_bound, tr("bound"), QPen(ink_, 1, Qt::DashLine));
  }
  const StepShown shown = scene_.filter.step;
  if (shown != StepShown::Measured)
    marker(scene_.rows->timeline->step_time, tr("step"), QPen(ink_, 1));
  if (shown != StepShown::Simulated && scene_.rows->measured) {
    marker(scene_.rows->measured->step_time, tr("measured"), QPen(style::selection(dark_), 1));
  }
}

void TimelinePainter::paint_labels(QPainter& painter, const QSize& size) {
  painter.save();
  const QRect column(0, scene_.top(), scene_.label_width(), size.height() - scene_.top());
  painter.fillRect(column, scene_.palette.color(QPalette::Window));
  const int edge = scene_.layout.pinned_height;
  for (const bool pinned : {false, true}) {
    painter.setClipRect(pinned ? QRect(0, column.y(), column.width(), edge)
                               : column.adjusted(0, edge, 0, 0));
    for (const RowLayout::Place& place : scene_.layout.places) {
      if (place.pinned == pinned && in_sight(place, size)) paint_label(painter, place);
    }
  }
  painter.setClipping(false);
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(scene_.label_width() - 1, 0, scene_.label_width() - 1, size.height());
  painter.restore();
}

void TimelinePainter::paint_label(QPainter& painter, const RowLayout::Place& place) {
  const TimelineRow& row = scene_.rows->rows[place.row];
  const Timeline& timeline = *scene_.rows->timeline;
  const int y = row_y(place), width = scene_.label_width();
  const bool chosen = (row.device.valid() && scene_.device == row.device) ||
                      (row.link.valid() && scene_.link == row.link);
  if (chosen) {
    QColor fill = style::selection(dark_);
    painter.fillRect(QRect(0, y, 3, place.height), fill);
    fill.setAlphaF(0.15f);
    painter.fillRect(QRect(0, y, width - 1, place.height), fill);
  }
  const bool band = row.measured && scene_.filter.step == StepShown::Both;  // of a row above it
  const bool header = row.kind == RowKind::Header;
  const bool strong = header || (row.kind == RowKind::Compute && !band);
  QFont font = scene_.font;
  if (!strong) font = small_;
  font.setBold(header);
  QString right;
  bool alarm = false;
  const Nanos row_step = scene_.rows->timeline_of(row).step_time;
  const double step = std::max<double>(1, static_cast<double>(row_step.value));
  if (row.kind == RowKind::Memory) {
    const DeviceUse& use = timeline.devices[row.device];
    right = style::bytes(use.peak) + QStringLiteral(" / ") + style::bytes(use.capacity);
    alarm = !use.fits();
  } else if (!header) {
    right =
        QString::number(std::lround(100 * static_cast<double>(row.slices.busy_total()) / step)) +
        QStringLiteral(" %");
  }
  const QRect box(header ? 20 : 24, y, width - (header ? 28 : 32), place.height);
  const double right_width = QFontMetricsF(small_).horizontalAdvance(right);
  painter.setFont(small_);
  painter.setPen(alarm ? style::infeasible(dark_) : muted_);
  painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, right);
  painter.setFont(font);
  painter.setPen(strong ? ink_ : muted_);
  const double room = box.width() - right_width - 8;
  QString name = band ? tr("measured") : text(row.label);
  if (place.pinned) {
    const Cluster& cluster = *timeline.program->cluster;
    if (row.device.valid() && !(strong && !band))
      name = text(cluster.device(row.device).name) + QLatin1Char(' ') + name;
    style::draw_pin(painter, QRectF(8, y + (place.height - 12) / 2.0, 12, 12), muted_);
    painter.setPen(strong ? ink_ : muted_);
  }
  painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                   style::elided(name, QFontMetricsF(font), Qt::ElideMiddle, room));
  if (!header) return;
  const auto section = static_cast<std::size_t>(row.section);
  const bool closed = section < scene_.filter.collapsed.size() && scene_.filter.collapsed[section];
  const double cx = 11, cy = y + place.height / 2.0;
  QPainterPath arrow;
  if (closed) {
    arrow.moveTo(cx - 2, cy - 4), arrow.lineTo(cx + 2, cy), arrow.lineTo(cx - 2, cy + 4);
  } else {
    arrow.moveTo(cx - 4, cy - 2), arrow.lineTo(cx, cy + 2), arrow.lineTo(cx + 4, cy - 2);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(muted_, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(arrow);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace strato
