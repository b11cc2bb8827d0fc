#include "views/timeline/timeline_painter.h"

#include <QFontMetricsF>
#include <cmath>

#include "views/style/fitting_name.h"
#include "views/style/style.h"
#include "views/timeline/joined_bars.h"
#include "views/timeline/time_axis.h"
#include "views/timeline/why_strip.h"

namespace strato {
namespace {

constexpr double kMinTextWidth = 24;

}  // namespace

QString slice_text(const Program& program, TaskId id) {
  const Task& task = program.tasks[id];
  std::string_view name;
  if (task.kind != TaskKind::Compute && task.kind != TaskKind::Update && task.tensor.valid()) {
    name = program.graph->tensor(task.tensor).name;
  } else if (task.op.valid()) {
    name = program.graph->op(task.op).name;
  }
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

TimelinePainter::TimelinePainter(const TimelineScene& scene)
    : scene_(scene), dark_(style::is_dark(scene.palette)) {
  ground_ = scene.palette.color(QPalette::Base);
  ink_ = scene.palette.color(QPalette::Text);
  muted_ = mixed(ink_, ground_, 0.4);
  grid_ = mixed(ground_, ink_, 0.09);
  small_ = smaller_font(scene.font);
  for (const SliceColours::Entry& entry : scene.colours.legend) {
    fills_.push_back(make_fill(entry.colour, ground_, ink_, scene.dpr));
  }
  why_transfer_ = make_fill(reason_colour(Reason::Transfer, dark_), ground_, ink_, scene.dpr);
  why_collective_ = make_fill(reason_colour(Reason::Collective, dark_), ground_, ink_, scene.dpr);
}

void TimelinePainter::paint(QPainter& painter, const QSize& size) {
  vector_ = draws_lines(painter);
  painter.fillRect(QRect(QPoint(0, 0), size), ground_);
  if (!scene_.rows) return;
  painter.save();
  painter.setClipRect(QRect(scene_.label_width(), scene_.top(), size.width() - scene_.label_width(),
                            size.height() - scene_.top()));
  paint_grid(painter, scene_.mapping, kAxisHeight, size.height(), grid_);
  paint_rows(painter, size, false);
  if (scene_.layout.pinned > 0) paint_rows(painter, size, true);
  painter.setClipRect(QRect(scene_.label_width(), scene_.top(), size.width() - scene_.label_width(),
                            size.height() - scene_.top()));
  paint_range(painter, size);
  paint_markers(painter, size);
  painter.restore();
  paint_labels(painter, size);
  if (scene_.why) paint_why(painter, size);
  paint_axis(painter, size);
}

bool TimelinePainter::in_sight(const RowLayout::Place& place, const QSize& size) const {
  const int y = row_y(place);
  return y < size.height() && y + place.height > scene_.top();
}

// Those that are pinned, or those that scroll under them, with what lies over them.
void TimelinePainter::paint_rows(QPainter& painter, const QSize& size, bool pinned) {
  const int left = scene_.label_width(), edge = scene_.top() + scene_.layout.pinned_height;
  const int top = pinned ? scene_.top() : edge, bottom = pinned ? edge : size.height();
  painter.setClipRect(QRect(left, top, size.width() - left, bottom - top));
  for (const RowLayout::Place& place : scene_.layout.places) {
    if (place.pinned == pinned && in_sight(place, size)) paint_row(painter, place);
  }
  if (scene_.critical) paint_critical(painter, size, pinned);
  paint_outlines(painter);
  paint_arrows(painter);
  if (!pinned) return;
  painter.setPen(mixed(ground_, ink_, 0.3));
  painter.drawLine(left, edge - 1, size.width(), edge - 1);
}

void TimelinePainter::paint_axis(QPainter& painter, const QSize& size) {
  painter.save();
  const int left = scene_.label_width();
  painter.fillRect(QRect(0, 0, size.width(), kAxisHeight), scene_.palette.color(QPalette::Window));
  painter.setClipRect(QRect(left, 0, size.width() - left, kAxisHeight));
  paint_ticks(painter, scene_.mapping, kAxisHeight, size.width(), {muted_, small_});
  if (scene_.range) {
    const double x0 = scene_.mapping.x(static_cast<double>(scene_.range->begin.value));
    const double x1 = scene_.mapping.x(static_cast<double>(scene_.range->end.value));
    painter.fillRect(QRectF(x0, kAxisHeight - 3, std::max(1.0, x1 - x0), 3),
                     style::selection(dark_));
  }
  painter.restore();
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(0, kAxisHeight - 1, size.width(), kAxisHeight - 1);
}

void TimelinePainter::paint_row(QPainter& painter, const RowLayout::Place& place) {
  const TimelineRow& row = scene_.rows->rows[place.row];
  if (row.kind == RowKind::Header) {
    paint_header(painter, place);
  } else if (row.kind == RowKind::Memory) {
    paint_memory(painter, place);
  } else {
    if (row.kind == RowKind::Compute && !row.measured && scene_.why && scene_.reasons)
      paint_gaps(painter, place);
    JoinedBars bars(painter);
    fold_slices(row.slices, scene_.mapping,
                [&](const SliceFold& fold) { paint_fold(painter, bars, place, fold); });
  }
}

void TimelinePainter::paint_fold(QPainter& painter, JoinedBars& bars, const RowLayout::Place& place,
                                 const SliceFold& fold) {
  const TimelineRow& row = scene_.rows->rows[place.row];
  const SliceRow& slices = row.slices;
  double x0 = scene_.mapping.x(static_cast<double>(slices.start[fold.first]));
  double x1 = scene_.mapping.x(static_cast<double>(slices.end[fold.last - 1]));
  x0 = std::max(x0, scene_.mapping.left - 4);
  x1 = std::min(x1, scene_.mapping.left + scene_.mapping.width + 4);
  const double gap = fold.count() == 1 && x1 - x0 >= 4 ? 1 : 0;  // neighbours stay apart
  const QRectF box(x0, row_y(place) + 1, std::max(1.0, x1 - x0 - gap), place.height - 2);
  const bool dim = !scene_.selected.empty() && !any_marked(scene_.selected[place.row], fold);
  const auto entry_of = [&](std::size_t i) { return scene_.colours.entry_of[slices.task[i]]; };
  const std::uint8_t entry = block_.of(slices, fold, entry_of);
  const double density = fold.count() > 1 ? density_of(slices, fold) : 1;
  const SliceFill& fill = fills_[entry];
  const bool hatched = scene_.rows->communication[slices.task[fold.first].index()];
  if (hatched && box.width() >= 4) {
    bars.flush();
    fill_hatched(painter, box, fill, dim);
  } else {
    QColor colour = dim ? fill.dim : fill.solid;
    if (density < 0.95) colour = mixed(ground_, colour, 0.3 + 0.7 * density);
    bars.add(box, colour);
  }
  const bool band = row.measured && scene_.filter.step == StepShown::Both;  // too low for words
  if (fold.count() == 1 && box.width() >= kMinTextWidth && !band) {
    bars.flush();
    paint_slice_text(painter, box, slices.task[fold.first], hatched, dim);
  }
}

void TimelinePainter::paint_slice_text(QPainter& painter, const QRectF& box, TaskId task,
                                       bool hatched, bool dim) {
  QRectF inside = box.adjusted(4, 0, -3, 0);
  inside.setLeft(std::max(inside.left(), scene_.mapping.left + 4));
  const double visible = inside.width();
  const QFontMetricsF metrics(small_);
  const Program& program = *scene_.rows->timeline->program;
  const TaskKind kind = program.tasks[task].kind;
  QString text;
  if (kind != TaskKind::Compute && kind != TaskKind::Update)
    text = kind_label(kind) + QLatin1Char(' ');
  const double used = metrics.horizontalAdvance(text);
  if (visible - used >= kMinTextWidth) {
    text += style::fitting_name(slice_text(program, task), metrics, visible - used);
  } else {
    text = metrics.elidedText(text.trimmed(), Qt::ElideRight, visible);
  }
  if (text.size() < 2) return;
  const SliceFill& fill = fills_[scene_.colours.entry_of[task]];
  painter.setFont(small_);
  if (hatched) {  // hatching under letters is hard to read
    const double width = std::min(inside.width() + 2, metrics.horizontalAdvance(text) + 4);
    painter.fillRect(QRectF(inside.x() - 2, box.y() + 2, width, box.height() - 4),
                     dim ? fill.light_dim : fill.light);
  }
  painter.setPen(dim ? fill.text_dim : hatched ? ink_ : fill.text);
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
}

// The utilisation of a machine's compute streams, as a strip: all that is seen of a collapsed
// section.
void TimelinePainter::paint_header(QPainter& painter, const RowLayout::Place& place) {
  const TimelineRow& header = scene_.rows->rows[place.row];
  const auto section = static_cast<std::size_t>(header.section);
  if (section >= scene_.filter.collapsed.size() || !scene_.filter.collapsed[section]) return;
  std::vector<const SliceRow*> streams;
  for (const TimelineRow& row : scene_.rows->rows) {
    if (row.section != header.section || row.measured) continue;
    if (row.kind == RowKind::Compute || row.kind == RowKind::Link) streams.push_back(&row.slices);
  }
  if (streams.empty()) return;
  const double left = scene_.mapping.left, right = left + scene_.mapping.width;
  const int y = row_y(place);
  for (double x = left; x < right; x += 2) {
    const auto from = static_cast<std::int64_t>(scene_.mapping.time(x));
    const auto to = std::max(from + 1, static_cast<std::int64_t>(scene_.mapping.time(x + 2)));
    std::int64_t busy = 0;
    for (const SliceRow* stream : streams) busy += stream->busy_between(from, to);
    const double part = static_cast<double>(busy) / static_cast<double>(to - from) /
                        static_cast<double>(streams.size());
    if (part <= 0) continue;
    const double height = std::max(1.0, part * (place.height - 4));
    painter.fillRect(QRectF(x, y + place.height - 2 - height, 2, height), muted_);
  }
}

void TimelinePainter::paint_memory(QPainter& painter, const RowLayout::Place& place) {
  const TimelineRow& row = scene_.rows->rows[place.row];
  const MemoryCurve& curve = scene_.rows->memory[row.device];
  const std::int64_t capacity = scene_.rows->timeline->devices[row.device].capacity.value;
  // Far below its capacity a curve would be a line at the foot: it is drawn larger, the capacity
  // out of sight.
  const bool roomy = curve.peak() < capacity / 3;
  const std::int64_t full = roomy ? curve.peak() * 3 / 2 : std::max(curve.peak(), capacity);
  const double top = std::max(static_cast<double>(full), 1.0);
  const double height = place.height - 3, base = row_y(place) + place.height - 1;
  const QColor fill = mixed(ground_, ink_, 0.22), red = style::infeasible(dark_);
  const double step_end = static_cast<double>(scene_.rows->timeline->step_time.value);
  const double from = std::max(scene_.mapping.left, scene_.mapping.x(0));
  const double to =
      std::min(scene_.mapping.left + scene_.mapping.width, scene_.mapping.x(step_end));
  const double limit_y = base - static_cast<double>(capacity) / top * height;
  // Columns whose upper edges fall on the same pixel are one bar.
  const auto snapped = [&](double y) {
    return vector_ ? y : std::round(y * scene_.dpr) / scene_.dpr;
  };
  JoinedBars bars(painter), over(painter);
  MemoryCurve::Walk walk(curve);
  for (double x = std::floor(from); x < to; x += 1) {
    const std::int64_t bytes = walk.highest(static_cast<std::int64_t>(scene_.mapping.time(x)),
                                            static_cast<std::int64_t>(scene_.mapping.time(x + 1)));
    const double upper = base - static_cast<double>(bytes) / top * height;
    const double fit = snapped(std::max(upper, limit_y));
    bars.add(QRectF(x, fit, 1, base - fit), fill);
    if (bytes <= capacity) continue;
    over.add(QRectF(x, snapped(upper), 1, fit - snapped(upper)), red);
  }
  bars.flush();
  over.flush();
  if (to > from && !roomy) {
    const bool over = curve.peak() > capacity;
    painter.fillRect(QRectF(from, std::round(limit_y), to - from, 1),
                     over ? red : mixed(ground_, ink_, 0.3));
  }
}

std::optional<QRectF> TimelinePainter::box_of(const RowSlice& at) const {
  const auto index = scene_.layout.place_of(at.row);
  if (!index) return std::nullopt;
  const RowLayout::Place& place = scene_.layout.places[*index];
  const SliceRow& slices = scene_.rows->rows[at.row].slices;
  const double x0 = scene_.mapping.x(static_cast<double>(slices.start[at.slice]));
  const double x1 = scene_.mapping.x(static_cast<double>(slices.end[at.slice]));
  return QRectF(x0, row_y(place) + 1, std::max(1.0, x1 - x0), place.height - 2);
}

std::optional<QRectF> TimelinePainter::first_box(const std::vector<RowSlice>& places) const {
  for (const RowSlice& at : places) {
    if (const auto box = box_of(at)) return box;
  }
  return std::nullopt;
}

}  // namespace strato
