#include "views/traces/recorded_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/style/fitting_name.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/time_axis.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

constexpr int kRankHeight = 18, kStreamHeight = 15, kSimulatedHeight = 12, kRankGap = 3;  // px
constexpr double kLeastName = 24;

}  // namespace

void place_rows(RecordedScene& scene, int letters) {
  scene.places.clear();
  scene.height = kRankGap;
  if (!scene.run || !scene.run->timed()) return;
  const double scale = std::max(1.0, letters / 16.0);
  const auto add = [&](RecordedPlace::Of of, std::size_t rank, std::size_t stream, int height) {
    const int scaled = static_cast<int>(std::lround(height * scale));
    scene.places.push_back({of, rank, stream, scene.height, scaled});
    scene.height += scaled;
  };
  for (std::size_t rank = 0; rank < scene.run->rows.size(); ++rank) {
    if (rank < scene.simulated.size()) add(RecordedPlace::Of::Simulated, rank, 0, kSimulatedHeight);
    add(RecordedPlace::Of::Rank, rank, 0, kRankHeight);
    const auto opened = scene.opened.find(rank);
    for (std::size_t i = 0; opened != scene.opened.end() && i < opened->second.size(); ++i)
      add(RecordedPlace::Of::Stream, rank, i, kStreamHeight);
    scene.height += kRankGap;
  }
}

const RecordedPlace* place_at(const RecordedScene& scene, int y) {
  if (y < kRanksTop) return nullptr;
  y += scene.scroll - kRanksTop;
  auto found = std::ranges::upper_bound(scene.places, y, {}, &RecordedPlace::y);
  if (found == scene.places.begin()) return nullptr;
  --found;
  return y < found->y + found->height ? &*found : nullptr;
}

const RecordedSlices& slices_of(const RecordedScene& scene, const RecordedPlace& place) {
  switch (place.of) {
    case RecordedPlace::Of::Simulated:
      return scene.simulated[place.rank].busy;
    case RecordedPlace::Of::Stream:
      return scene.opened.at(place.rank)[place.stream].slices;
    default:
      return scene.run->rows[place.rank].busy;
  }
}

RecordedPainter::RecordedPainter(const RecordedScene& scene)
    : scene_(scene), dark_(style::is_dark(scene.palette)) {
  ground_ = scene.palette.color(QPalette::Base);
  ink_ = scene.palette.color(QPalette::Text);
  muted_ = mixed(ink_, ground_, 0.4);
  small_ = smaller_font(scene.font);
  for (const SliceColours::Entry& entry : scene.colours.legend)
    fills_.push_back(make_fill(entry.colour, ground_, ink_, scene.dpr));
  for (const SliceFill& fill : fills_) {
    auto& levels = levels_.emplace_back();
    for (std::size_t level = 0; level <= kLevels; ++level)
      levels[level] = mixed(ground_, fill.solid, 0.3 + 0.7 * static_cast<double>(level) / kLevels);
  }
}

void RecordedPainter::paint(QPainter& painter, const QSize& size) {
  painter.fillRect(QRect(QPoint(0, 0), size), ground_);
  if (!scene_.run) return;
  const int left = static_cast<int>(scene_.mapping.left);
  painter.save();
  painter.setClipRect(QRect(left, kRanksTop, size.width() - left, size.height() - kRanksTop));
  paint_grid(painter, scene_.mapping, kRanksTop, size.height(), mixed(ground_, ink_, 0.09));
  for (const RecordedPlace& place : scene_.places)
    if (in_sight(place, size)) paint_place(painter, place);
  paint_event(painter);
  paint_range(painter, size);
  painter.restore();
  paint_labels(painter, size);
  paint_axis(painter, size);
  paint_steps(painter, size);
}

bool RecordedPainter::in_sight(const RecordedPlace& place, const QSize& size) const {
  const int y = y_of(place);
  return y < size.height() && y + place.height > kRanksTop;
}

void RecordedPainter::paint_axis(QPainter& painter, const QSize& size) {
  painter.fillRect(QRect(0, 0, size.width(), kStepsTop), scene_.palette.color(QPalette::Window));
  painter.save();
  painter.setClipRect(QRectF(scene_.mapping.left, 0, scene_.mapping.width, kStepsTop));
  paint_ticks(painter, scene_.mapping, kStepsTop, size.width(), {muted_, small_});
  painter.restore();
}

void RecordedPainter::paint_steps(QPainter& painter, const QSize& size) {
  const QRect strip(0, kStepsTop, size.width(), kStepsHeight);
  painter.fillRect(strip, scene_.palette.color(QPalette::Window));
  painter.setFont(small_);
  painter.setPen(muted_);
  painter.drawText(QRectF(20, kStepsTop, scene_.mapping.left - 28, kStepsHeight),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("steps"));
  painter.save();
  painter.setClipRect(QRectF(scene_.mapping.left, kStepsTop, scene_.mapping.width, kStepsHeight));
  double drawn_to = scene_.mapping.left;
  for (const RecordedStep& step : scene_.run->steps) {
    const double x0 = scene_.mapping.x(static_cast<double>(step.begin.value)),
                 x1 = scene_.mapping.x(static_cast<double>(step.end.value));
    if (x1 < drawn_to + 1) continue;  // out of sight, or too narrow to be seen beside the last one
    if (x0 > size.width()) break;
    drawn_to = x1;
    paint_step(painter, step,
               {x0 + 0.5, kStepsTop + 2, std::max(1.0, x1 - x0 - 1), kStepsHeight - 4});
  }
  painter.restore();
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(0, kRanksTop - 1, size.width(), kRanksTop - 1);
}

void RecordedPainter::paint_step(QPainter& painter, const RecordedStep& step, const QRectF& box) {
  const bool chosen =
      scene_.range && scene_.range->begin == step.begin && scene_.range->end == step.end;
  QColor fill = chosen ? style::selection(dark_) : ink_;
  fill.setAlphaF(chosen ? 0.35f : step.steady ? 0.12f : 0.05f);
  painter.fillRect(box, fill);
  constexpr double least = 14;  // px: for a digit
  const double left = std::max(box.left(), scene_.mapping.left) + 4, room = box.right() - left - 2;
  if (room < least) return;
  const QFontMetricsF metrics(small_);
  const QString name = tr("step %1, %2").arg(step.number).arg(style::time(step.length));
  for (const QString& words : {name, QString::number(step.number)}) {
    if (metrics.horizontalAdvance(words) > room) continue;
    painter.setPen(step.steady ? ink_ : muted_);
    painter.drawText(QRectF(left, box.top(), room + 2, box.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, words);
    return;
  }
}

void RecordedPainter::paint_place(QPainter& painter, const RecordedPlace& place) {
  const QRectF band(scene_.mapping.left, y_of(place) + 1, scene_.mapping.width, place.height - 2);
  if (place.of == RecordedPlace::Of::Stream)
    return paint_slices(painter, slices_of(scene_, place), scene_.mapping, band, false, &place);
  TimeMapping mapping = scene_.mapping;
  const bool simulated = place.of == RecordedPlace::Of::Simulated;
  if (simulated) mapping.begin -= static_cast<double>(scene_.simulated_begin.value);
  const RankRow& row = simulated ? scene_.simulated[place.rank] : scene_.run->rows[place.rank];
  paint_slices(painter, row.idle, mapping, band, true);
  paint_slices(painter, row.busy, mapping, band, false);
  const double strip = std::round(band.height() / 3);
  paint_slices(painter, row.hidden, mapping,
               QRectF(band.left(), band.bottom() - strip, band.width(), strip), false);
}

// Idle time is low and pale: what is busy stands out.
void RecordedPainter::paint_slices(QPainter& painter, const RecordedSlices& slices,
                                   const TimeMapping& mapping, const QRectF& band, bool idle,
                                   const RecordedPlace* named) {
  const double inset = idle ? std::round(band.height() / 3) : 0;
  JoinedBars bars(painter);
  fold_slices(slices, mapping, [&](const SliceFold& fold) {
    const double density = fold.count() > 1 ? density_of(slices, fold) : 1;
    if (idle && density < 0.5) return;
    const std::uint8_t look =
        block_.of(slices, fold, [&](std::size_t i) { return slices.look[i]; });
    if (look == kIdle) return;
    const double x0 = std::max(mapping.x(static_cast<double>(slices.start[fold.first])),
                               mapping.left - 4),
                 x1 = std::min(mapping.x(static_cast<double>(slices.end[fold.last - 1])),
                               mapping.left + mapping.width + 4);
    const double gap = fold.count() == 1 && x1 - x0 >= 4 ? 1 : 0;  // neighbours stay apart
    const QRectF box(x0, band.top() + inset, std::max(1.0, x1 - x0 - gap),
                     band.height() - 2 * inset);
    const SliceFill& fill = fills_[look];
    if (scene_.colours.legend[look].hatched && box.width() >= 4) {
      bars.flush();
      fill_hatched(painter, box, fill);
    } else {
      bars.add(box, levels_[look][static_cast<std::size_t>(std::ceil(kLevels * density))]);
    }
    if (named == nullptr || fold.count() > 1 || box.width() < kLeastName) return;
    bars.flush();
    paint_name(painter, *named, box, fold.first);
  });
}

void RecordedPainter::paint_name(QPainter& painter, const RecordedPlace& place, const QRectF& box,
                                 std::size_t slice) {
  const RecordedSlices& slices = slices_of(scene_, place);
  const trace::Trace& trace = scene_.run->set.traces[place.rank];
  const std::string& name = trace.name(trace.events[slices.event[slice]]);
  QRectF inside = box.adjusted(4, 0, -3, 0);
  inside.setLeft(std::max(inside.left(), scene_.mapping.left + 4));
  if (inside.width() < kLeastName) return;
  const QString words =
      style::elided(text(name).left(200), QFontMetricsF(small_), Qt::ElideRight, inside.width());
  const SliceFill& fill = fills_[slices.look[slice]];
  const bool hatched = scene_.colours.legend[slices.look[slice]].hatched;
  painter.setFont(small_);
  if (hatched) {  // hatching under letters is hard to read
    const double width =
        std::min(inside.width() + 2, QFontMetricsF(small_).horizontalAdvance(words) + 4);
    painter.fillRect(QRectF(inside.x() - 2, box.y() + 1, width, box.height() - 2), fill.light);
  }
  painter.setPen(hatched ? ink_ : fill.text);
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, words);
}

void RecordedPainter::paint_event(QPainter& painter) {
  if (!scene_.event) return;
  for (const RecordedPlace& place : scene_.places) {
    if (place.of != RecordedPlace::Of::Stream || place.rank != scene_.event->rank ||
        place.stream != scene_.event->stream)
      continue;
    const RecordedSlices& slices = slices_of(scene_, place);
    const double x0 = scene_.mapping.x(static_cast<double>(slices.start[scene_.event->slice])),
                 x1 = scene_.mapping.x(static_cast<double>(slices.end[scene_.event->slice]));
    painter.setPen(QPen(style::selection(dark_), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(x0, y_of(place) + 1, std::max(2.0, x1 - x0), place.height - 2));
  }
}

void RecordedPainter::paint_range(QPainter& painter, const QSize& size) {
  if (!scene_.range) return;
  const double x0 = scene_.mapping.x(static_cast<double>(scene_.range->begin.value)),
               x1 = scene_.mapping.x(static_cast<double>(scene_.range->end.value));
  QColor veil = ground_;
  veil.setAlphaF(0.55f);
  const double left = scene_.mapping.left, height = size.height() - kRanksTop;
  if (x0 > left) painter.fillRect(QRectF(left, kRanksTop, x0 - left, height), veil);
  if (x1 < size.width()) painter.fillRect(QRectF(x1, kRanksTop, size.width() - x1, height), veil);
  painter.setPen(QPen(style::selection(dark_), 1));
  for (const double x : {x0, x1})
    painter.drawLine(QPointF(std::round(x) + 0.5, kRanksTop),
                     QPointF(std::round(x) + 0.5, size.height()));
}

void RecordedPainter::paint_labels(QPainter& painter, const QSize& size) {
  const int width = static_cast<int>(scene_.mapping.left);
  painter.save();
  painter.setClipRect(QRect(0, kRanksTop, width, size.height() - kRanksTop));
  painter.fillRect(QRect(0, kRanksTop, width, size.height()),
                   scene_.palette.color(QPalette::Window));
  for (const RecordedPlace& place : scene_.places)
    if (in_sight(place, size)) paint_label(painter, place);
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(width - 1, kRanksTop, width - 1, size.height());
  painter.restore();
}

void RecordedPainter::paint_label(QPainter& painter, const RecordedPlace& place) {
  const int y = y_of(place), width = static_cast<int>(scene_.mapping.left);
  const trace::Trace& trace = scene_.run->set.traces[place.rank];
  const bool is_rank = place.of == RecordedPlace::Of::Rank;
  const bool late = is_rank && scene_.run->is_late(place.rank);
  if (is_rank && scene_.rank == place.rank) {
    QColor fill = style::selection(dark_);
    painter.fillRect(QRect(0, y, 3, place.height), fill);
    fill.setAlphaF(0.15f);
    painter.fillRect(QRect(0, y, width - 1, place.height), fill);
  }
  QFont font = is_rank ? scene_.font : small_;
  font.setBold(late);
  QString name, right;
  if (is_rank) {
    const trace::Breakdown& its = scene_.run->analysis.ranks[place.rank].breakdown;
    name = tr("Rank %1").arg(scene_.run->rows[place.rank].rank);
    if (its.total > Nanos(0))
      right = QString::number(std::lround(100 * (its.compute / its.total))) + QStringLiteral(" %");
    if (late) right = tr("late") + QStringLiteral("  ") + right;
    painter.setFont(small_);
    painter.setPen(muted_);
    painter.drawText(
        QRect(6, y, 12, place.height), Qt::AlignVCenter,
        scene_.opened.contains(place.rank) ? QStringLiteral("▾") : QStringLiteral("▸"));
  } else if (place.of == RecordedPlace::Of::Simulated) {
    name = tr("simulated");
  } else {
    name = lane_name(trace, scene_.opened.at(place.rank)[place.stream].lane);
  }
  const QRect box(is_rank ? 20 : 30, y, width - (is_rank ? 28 : 38), place.height);
  QFont right_font = small_;
  right_font.setBold(late);
  const double right_width = QFontMetricsF(right_font).horizontalAdvance(right);
  painter.setFont(right_font);
  painter.setPen(late ? ink_ : muted_);
  painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, right);
  if (late) {  // a triangle, for those who only look
    const double x = box.right() - right_width - 11, middle = y + place.height / 2.0;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink_);
    painter.drawPolygon(QPolygonF{{x, middle + 3.5}, {x + 8, middle + 3.5}, {x + 4, middle - 4}});
    painter.restore();
  }
  painter.setFont(font);
  painter.setPen(is_rank ? ink_ : muted_);
  painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                   style::elided(name, QFontMetricsF(font), Qt::ElideRight,
                                 box.width() - right_width - (late ? 20 : 8)));
}

}  // namespace strato
