// Why: the strip of the critical path's reasons above the rows, and what idle devices wait for.
#include <QCoreApplication>
#include <QFontMetricsF>

#include "core/sim/explain/path_pieces.h"
#include "views/style/style.h"
#include "views/timeline/timeline_painter.h"
#include "views/timeline/why_strip.h"

namespace strato {
namespace {

constexpr double kMinGap = 8;  // px: shorter gaps stay empty

}  // namespace

// The first of `texts` that fits, on a ground of its own, because patterns under letters are hard
// to read.
void TimelinePainter::paint_fitting(QPainter& painter, const QRectF& box, const QStringList& texts,
                                    const QColor& ground) {
  const QFontMetricsF metrics(small_);
  for (const QString& text : texts) {
    const double width = metrics.horizontalAdvance(text);
    if (width + 12 > box.width()) continue;
    painter.setFont(small_);
    painter.fillRect(QRectF(box.x() + 4, box.y() + 2, width + 4, box.height() - 4), ground);
    painter.drawText(box.adjusted(6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
    return;
  }
}

void TimelinePainter::paint_reason(QPainter& painter, const QRectF& box, Reason reason) {
  const QColor colour = reason_colour(reason, dark_);
  if (is_waiting(reason)) {
    painter.fillRect(box, mixed(ground_, colour, 0.25));
    painter.fillRect(box, QBrush(mixed(ground_, colour, 0.8), waiting_pattern(reason)));
  } else if (box.width() >= 4 && (reason == Reason::Transfer || reason == Reason::Collective)) {
    fill_hatched(painter, box, reason == Reason::Transfer ? why_transfer_ : why_collective_, false);
  } else {
    painter.fillRect(box, colour);
  }
}

void TimelinePainter::paint_why(QPainter& painter, const QSize& size) {
  const int left = scene_.label_width();
  painter.save();
  painter.fillRect(QRect(0, kAxisHeight, size.width(), kWhyHeight),
                   scene_.palette.color(QPalette::Window));
  painter.setFont(small_);
  painter.setPen(ink_);
  painter.drawText(QRect(24, kAxisHeight, left - 32, kWhyHeight), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("critical path"));
  painter.setClipRect(QRect(left, kAxisHeight, size.width() - left, kWhyHeight));
  if (scene_.reasons) {
    const std::vector<PathPiece>& path = scene_.reasons->path;
    for (const WhyBlock& block : why_blocks(path, scene_.mapping)) {
      const auto time = [&](Nanos t) { return scene_.mapping.x(static_cast<double>(t.value)); };
      const double x0 = std::max(time(path[block.first].begin), scene_.mapping.left - 1);
      const double x1 =
          std::min(time(path[block.last - 1].end), scene_.mapping.left + scene_.mapping.width + 1);
      const QRectF box(x0, kAxisHeight + 3, std::max(1.0, x1 - x0 - (x1 - x0 >= 4 ? 1 : 0)),
                       kWhyHeight - 6);
      paint_reason(painter, box, block.reason);
      const QString name =
          QCoreApplication::translate("Explanation", label_of(block.reason)).toLower();
      const Nanos length = path[block.last - 1].end - path[block.first].begin;
      const bool solid = block.reason == Reason::Compute || block.reason == Reason::Reshuffle;
      const QColor colour = reason_colour(block.reason, dark_);
      const QColor ground = solid                      ? colour
                            : is_waiting(block.reason) ? mixed(ground_, colour, 0.25)
                                                       : ground_;
      painter.setPen(solid ? style::text_on(colour) : ink_);
      paint_fitting(painter, box.adjusted(-2, -2, 0, 2),
                    {name + QLatin1Char(' ') + style::time(length), name, style::time(length)},
                    ground);
    }
  }
  painter.restore();
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(0, scene_.top() - 1, size.width(), scene_.top() - 1);
}

void TimelinePainter::paint_gaps(QPainter& painter, const RowLayout::Place& place) {
  const TimelineRow& row = scene_.rows->rows[place.row];
  const TimeMapping& mapping = scene_.mapping;
  const auto shortest = static_cast<std::int64_t>(kMinGap * mapping.ns_per_px);
  scene_.reasons->gaps[row.device].visit_long(
      static_cast<std::int64_t>(mapping.begin), static_cast<std::int64_t>(mapping.end()), shortest,
      [&](const Gap& gap) {
        const double x0 = std::max(mapping.x(static_cast<double>(gap.begin.value)), mapping.left);
        const double x1 =
            std::min(mapping.x(static_cast<double>(gap.end.value)), mapping.left + mapping.width);
        const QRectF box(x0, row_y(place) + 3, x1 - x0 - 1, place.height - 6);
        const Qt::BrushStyle pattern = gap.next.valid() ? waiting_pattern(gap.reason) : Qt::NoBrush;
        painter.fillRect(box, QBrush(mixed(ground_, ink_, 0.4), pattern));
        painter.setPen(muted_);
        paint_fitting(painter, box.adjusted(0, -2, 0, 2), gap_texts(*scene_.rows->timeline, gap),
                      ground_);
      });
}

}  // namespace strato
