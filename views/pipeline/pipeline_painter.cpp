#include "views/pipeline/pipeline_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/pipeline/pipeline_words.h"
#include "views/style/fitting_name.h"
#include "views/style/mixed.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr double kLeastCell = 3;    // px: with an edge
constexpr double kLeastNumber = 9;  // px of a cell with its number
constexpr double kLeastBubble = 2;  // px
constexpr double kLeastLabel = 24;  // px of a bubble with words

// Of ascending ones that do not overlap the first that ends after `time`.
template <class Spans>
std::size_t first_after(const Spans& spans, double time) {
  return static_cast<std::size_t>(
      std::ranges::partition_point(
          spans, [&](const auto& span) { return static_cast<double>(span.end.value) <= time; }) -
      spans.begin());
}

// Without the fraction of a pixel, so that edges are sharp.
QRectF between(double left, double right, const QRectF& strip) {
  return {std::round(left), strip.top(), std::max(1.0, std::round(right) - std::round(left)),
          strip.height()};
}

}  // namespace

QColor colour_of(PassKind pass, std::size_t chunk, std::size_t chunks, const QPalette& palette) {
  const bool dark = style::is_dark(palette);
  const QColor base = pass == PassKind::Forward    ? style::phase_colour(Phase::Forward, dark)
                      : pass == PassKind::Backward ? style::phase_colour(Phase::Backward, dark)
                                                   : style::phase_colour(Phase::Loss, dark);
  if (chunks < 2) return base;
  const double shade = 0.5 * static_cast<double>(chunk) / static_cast<double>(chunks - 1);
  return mixed(base, palette.color(QPalette::Base), shade);
}

int PipelineScene::height() const {
  return picture ? static_cast<int>(picture->rows().rows.size()) * row_height() : 0;
}

QRectF PipelineScene::cells_of(std::size_t row) const {
  return {mapping.left, top_of(row) + 6.0, mapping.width, double(cells_height)};
}

QRectF PipelineScene::memory_of(std::size_t row) const {
  return {mapping.left, top_of(row) + 8.0 + cells_height, mapping.width, double(memory_height)};
}

QRectF PipelineScene::box_of(CellAt place) const {
  const StageCell& cell = picture->cell(place);
  return between(mapping.x(static_cast<double>(cell.begin.value)),
                 mapping.x(static_cast<double>(cell.end.value)), cells_of(place.row));
}

std::pair<std::size_t, std::size_t> PipelineScene::rows_between(int top, int bottom) const {
  const auto count = static_cast<int>(picture->rows().rows.size());
  const auto row = [&](int y) { return (y - kPipelineAxis + scroll) / row_height(); };
  return {static_cast<std::size_t>(std::clamp(row(top), 0, count)),
          static_cast<std::size_t>(std::clamp(row(bottom) + 1, 0, count))};
}

std::optional<std::size_t> PipelineScene::row_at(double y) const {
  const double from_first = y - kPipelineAxis + scroll;
  if (!picture || y < kPipelineAxis || from_first < 0) return std::nullopt;
  const auto row = static_cast<std::size_t>(from_first / row_height());
  if (row >= picture->rows().rows.size()) return std::nullopt;
  return row;
}

std::optional<PipelineScene::CellAt> PipelineScene::cell_at(const QPointF& point) const {
  const auto row = row_at(point.y());
  if (!row || point.x() < mapping.left || !cells_of(*row).contains(point)) return std::nullopt;
  const std::vector<StageCell>& cells = picture->rows().rows[*row].cells;
  const double time = mapping.time(point.x());
  const std::size_t cell = first_after(cells, time);
  if (cell == cells.size() || static_cast<double>(cells[cell].begin.value) > time)
    return std::nullopt;
  return CellAt{*row, cell};
}

const StageBubble* PipelineScene::bubble_at(const QPointF& point) const {
  const auto row = row_at(point.y());
  if (!row || point.x() < mapping.left || !cells_of(*row).contains(point)) return nullptr;
  const std::vector<StageBubble>& bubbles = picture->rows().rows[*row].bubbles;
  const double time = mapping.time(point.x());
  const std::size_t bubble = first_after(bubbles, time);
  if (bubble == bubbles.size() || static_cast<double>(bubbles[bubble].begin.value) > time)
    return nullptr;
  return &bubbles[bubble];
}

std::size_t PipelineScene::place_at(std::size_t row, double x) const {
  const std::vector<StageCell>& cells = picture->rows().rows[row].cells;
  const auto time = static_cast<std::int64_t>(mapping.time(x));
  return static_cast<std::size_t>(
      std::ranges::partition_point(
          cells,
          [&](const StageCell& cell) { return (cell.begin.value + cell.end.value) / 2 <= time; }) -
      cells.begin());
}

Nanos PipelineScene::shown_until() const {
  const std::vector<CellAt>& order = picture->in_time();
  if (revealed >= order.size()) return picture->rows().step_time;
  return revealed == 0 ? Nanos(0) : picture->cell(order[revealed - 1]).end;
}

PipelinePainter::PipelinePainter(const PipelineScene& scene, const QSize& size)
    : scene_(scene),
      size_(size),
      dark_(style::is_dark(scene.palette)),
      ground_(scene.palette.color(QPalette::Base)),
      ink_(scene.palette.color(QPalette::WindowText)),
      muted_(mixed(ground_, ink_, 0.66)),
      small_(scene.font) {
  small_.setPointSizeF(std::max(7.0, scene.font.pointSizeF() * 0.85));
}

void PipelinePainter::paint(QPainter& painter) const {
  painter.fillRect(QRect(QPoint(), size_), ground_);
  if (!scene_.picture) return;
  const auto [first, last] = scene_.rows_between(kPipelineAxis, size_.height());
  for (std::size_t row = first; row < last; ++row) {
    painter.setClipRect(QRectF(0, kPipelineAxis, size_.width(), size_.height()));
    painter.setPen(mixed(ground_, ink_, 0.08));
    const int line = scene_.top_of(row) + scene_.row_height() - 1;
    painter.drawLine(0, line, size_.width(), line);
    paint_label(painter, row);
    painter.setClipRect(QRectF(scene_.mapping.left, kPipelineAxis,
                               size_.width() - scene_.mapping.left, size_.height()));
    paint_once(painter, row);
    paint_cells(painter, row);
    paint_bubbles(painter, row);
    paint_memory(painter, row);
  }
  paint_awaited(painter);
  paint_drop(painter);
  painter.setClipping(false);
  paint_axis(painter);
}

void PipelinePainter::paint_axis(QPainter& painter) const {
  const TimeMapping& mapping = scene_.mapping;
  painter.fillRect(QRect(0, 0, size_.width(), kPipelineAxis),
                   scene_.palette.color(QPalette::Window));
  painter.setFont(small_);
  const auto step = nice_step(mapping.ns_per_px, 88);
  const auto end = static_cast<std::int64_t>(mapping.end());
  for (const std::int64_t tick : nice_ticks(mapping, 88)) {
    const double x = std::round(mapping.x(static_cast<double>(tick)));
    if (x < mapping.left) continue;
    painter.setPen(muted_);
    painter.drawLine(QPointF(x + 0.5, kPipelineAxis - 5), QPointF(x + 0.5, kPipelineAxis));
    const QString label = style::axis_time(tick, step, end);
    const double width = std::ceil(QFontMetricsF(small_).horizontalAdvance(label));
    if (x + 4 + width > size_.width()) continue;  // it would be cut
    painter.drawText(QRectF(x + 4, 0, width, kPipelineAxis - 2), Qt::AlignLeft | Qt::AlignVCenter,
                     label);
  }
  painter.setPen(mixed(ground_, ink_, 0.18));
  painter.drawLine(0, kPipelineAxis - 1, size_.width(), kPipelineAxis - 1);
}

// The name and what it waits, its devices, and the memory beside the strip of that.
void PipelinePainter::paint_label(QPainter& painter, std::size_t at) const {
  const StageRow& row = scene_.picture->rows().rows[at];
  const Timeline& timeline = scene_.picture->timeline();
  const QRectF cells = scene_.cells_of(at), memory = scene_.memory_of(at);
  const double left = 8, width = scene_.mapping.left - left - 8;
  const auto line = [&](double top, double height, const QString& name, const QString& figure,
                        const QColor& colour) {
    const double right = QFontMetricsF(small_).horizontalAdvance(figure);
    const QFontMetricsF metrics(painter.font());
    painter.setPen(ink_);
    painter.drawText(QRectF(left, top, width - right - 6, height), Qt::AlignLeft | Qt::AlignVCenter,
                     style::elided(name, metrics, Qt::ElideRight, width - right - 6));
    painter.setFont(small_);
    painter.setPen(colour);
    painter.drawText(QRectF(left + width - right, top, right, height),
                     Qt::AlignRight | Qt::AlignVCenter, figure);
  };
  QFont bold = scene_.font;
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  const double half = cells.height() / 2;
  line(cells.top() - 1, half, stage_name(static_cast<std::int32_t>(at)),
       tr("waits %1").arg(style::percent(row.waits() / std::max(timeline.step_time, Nanos(1)))),
       muted_);
  painter.setPen(muted_);
  painter.drawText(QRectF(left, cells.top() + half, width, half), Qt::AlignLeft | Qt::AlignVCenter,
                   style::elided(devices_words(row, *timeline.program->cluster),
                                 QFontMetricsF(small_), Qt::ElideMiddle, width));
  const DeviceUse& use = timeline.devices[row.shown];
  const QString figure = style::bytes_of(use.peak, use.capacity);
  const QFontMetricsF metrics(small_);
  const bool has_room =
      metrics.horizontalAdvance(tr("memory")) + metrics.horizontalAdvance(figure) + 6 <= width;
  line(memory.top(), memory.height(), has_room ? tr("memory") : QString(), figure,
       use.fits() ? muted_ : style::infeasible(dark_));
}

// What is no cell: updates, exchanges of gradients.
void PipelinePainter::paint_once(QPainter& painter, std::size_t at) const {
  const Spans& once = scene_.picture->rows().rows[at].once;
  const QRectF strip = scene_.cells_of(at);
  const double until = static_cast<double>(scene_.shown_until().value);
  const QColor fill = mixed(ground_, ink_, 0.24);
  double drawn = strip.left();
  for (std::size_t i = first_after(once, scene_.mapping.begin); i < once.size(); ++i) {
    const auto begin = static_cast<double>(once[i].begin.value);
    if (begin > scene_.mapping.end() || begin >= until) break;
    const QRectF box = between(scene_.mapping.x(begin),
                               scene_.mapping.x(static_cast<double>(once[i].end.value)), strip);
    if (box.right() <= drawn) continue;
    drawn = box.right();
    painter.fillRect(box.adjusted(0, 3, 0, -3), fill);
    write(painter, box, tr("updates"), false);
  }
}

void PipelinePainter::paint_cells(QPainter& painter, std::size_t at) const {
  const std::vector<StageCell>& cells = scene_.picture->rows().rows[at].cells;
  double drawn = -1e9;  // px: what comes below a pixel behind it is not seen
  for (std::size_t i = first_after(cells, scene_.mapping.begin); i < cells.size(); ++i) {
    if (static_cast<double>(cells[i].begin.value) > scene_.mapping.end()) break;
    const QRectF box = scene_.box_of({at, i});
    if (box.right() <= drawn) continue;
    drawn = box.right();
    paint_cell(painter, {at, i}, box);
  }
}

void PipelinePainter::paint_cell(QPainter& painter, PipelineScene::CellAt place,
                                 const QRectF& box) const {
  const StageRow& row = scene_.picture->rows().rows[place.row];
  const ScheduleCell& cell = row.cells[place.cell].cell;
  const QRectF inside = box.width() >= kLeastCell ? box.adjusted(0, 0, -1, 0) : box;
  if (!scene_.is_revealed(place)) {
    if (box.width() < kLeastCell) return;
    painter.setPen(mixed(ground_, ink_, 0.16));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(inside.adjusted(0.5, 0.5, -0.5, -0.5));
    return;
  }
  const auto chunk =
      static_cast<std::size_t>(std::ranges::find(row.chunks, cell.chunk) - row.chunks.begin());
  QColor fill = colour_of(cell.pass, chunk, row.chunks.size(), scene_.palette);
  const bool faint =
      scene_.selected && scene_.picture->cell(*scene_.selected).cell.micro != cell.micro;
  if (faint) fill = mixed(fill, ground_, 0.7);
  painter.fillRect(inside, fill);
  const QString number = QString::number(cell.micro + 1);
  if (inside.width() >= kLeastNumber &&
      QFontMetricsF(scene_.font).horizontalAdvance(number) + 4 <= inside.width()) {
    painter.setFont(scene_.font);
    painter.setPen(faint ? muted_ : style::text_on(fill));
    painter.drawText(inside, Qt::AlignCenter, number);
  }
  const bool is_last = scene_.revealed < scene_.picture->in_time().size() &&
                       scene_.picture->place_in_time(place) + 1 == scene_.revealed;
  if (scene_.selected != place && scene_.hovered != place && !is_last) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(scene_.hovered == place ? ink_ : style::selection(dark_), 2));
  painter.drawRect(inside.adjusted(1, 1, -1, -1));
}

// Hatched: lightly where a stage waits for another one, in the colour of transfers where something
// is on its way.
void PipelinePainter::paint_bubbles(QPainter& painter, std::size_t at) const {
  const StageRow& row = scene_.picture->rows().rows[at];
  const QRectF strip = scene_.cells_of(at);
  const double until = static_cast<double>(scene_.shown_until().value);
  for (std::size_t i = first_after(row.bubbles, scene_.mapping.begin); i < row.bubbles.size();
       ++i) {
    const StageBubble& bubble = row.bubbles[i];
    const auto begin = static_cast<double>(bubble.begin.value);
    if (begin > scene_.mapping.end() || begin >= until) break;
    QRectF box =
        between(scene_.mapping.x(begin),
                scene_.mapping.x(std::min(until, static_cast<double>(bubble.end.value))), strip);
    if (box.width() < kLeastBubble) continue;
    const bool moves =
        bubble.cause == BubbleCause::Transfer || bubble.cause == BubbleCause::Exchange;
    painter.fillRect(box, ground_);
    painter.fillRect(box, QBrush(moves ? style::kind_colour(TaskKind::Transfer, dark_)
                                       : mixed(ground_, ink_, 0.38),
                                 moves ? Qt::FDiagPattern : Qt::BDiagPattern));
    if (box.width() >= kLeastLabel) write(painter, box, short_cause(bubble, row), true);
  }
}

// In the middle of what is in sight of it, where it has room.
void PipelinePainter::write(QPainter& painter, const QRectF& box, const QString& words,
                            bool on_ground) const {
  const QRectF seen = box & QRectF(scene_.mapping.left, 0, size_.width(), size_.height());
  const QFontMetricsF metrics(small_);
  const QSizeF size(metrics.horizontalAdvance(words) + 6, metrics.height());
  if (size.width() + 4 > seen.width()) return;
  QRectF plate(QPointF(), size);
  plate.moveCenter(seen.center());
  if (on_ground) painter.fillRect(plate, ground_);
  painter.setFont(small_);
  painter.setPen(on_ground ? muted_ : ink_);
  painter.drawText(plate, Qt::AlignCenter, words);
}

// An area for each pixel's highest, and a line for what the device has.
void PipelinePainter::paint_memory(QPainter& painter, std::size_t at) const {
  const MemoryCurve& curve = scene_.picture->memory()[at];
  const DeviceUse& use = scene_.picture->timeline().devices[scene_.picture->rows().rows[at].shown];
  const QRectF strip = scene_.memory_of(at);
  // Where there is plenty the line would leave no room for the area: its label says how much.
  const bool is_plenty = use.capacity.value / 3 > curve.peak();
  const double most = 1.08 * static_cast<double>(std::max<std::int64_t>(
                                 {is_plenty ? 0 : use.capacity.value, curve.peak(), 1}));
  const double limit =
      strip.bottom() - strip.height() * static_cast<double>(use.capacity.value) / most;
  const auto whole = static_cast<double>(scene_.picture->rows().step_time.value);
  const double until = std::min(whole, static_cast<double>(scene_.shown_until().value));
  const int left =
      std::max(static_cast<int>(strip.left()), static_cast<int>(std::floor(scene_.mapping.x(0))));
  const int right = std::min(size_.width(), static_cast<int>(std::ceil(scene_.mapping.x(until))));
  MemoryCurve::Walk walk(curve);
  const QColor area = mixed(ground_, ink_, 0.22), over = style::infeasible(dark_);
  const auto time = [&](int pixel) {
    return static_cast<std::int64_t>(std::clamp(scene_.mapping.time(pixel), 0.0, whole));
  };
  std::int64_t drawn = 0;
  int since = left;  // pixels of one height are one rectangle
  const auto draw_until = [&](int x) {
    const double height = strip.height() * static_cast<double>(drawn) / most;
    painter.fillRect(QRectF(since, strip.bottom() - height, x - since, height),
                     drawn > use.capacity.value ? over : area);
    since = x;
  };
  for (int x = left; x < right; ++x) {
    const std::int64_t bytes = walk.highest(time(x), time(x + 1));
    if (bytes == drawn) continue;
    draw_until(x);
    drawn = bytes;
  }
  draw_until(std::max(left, right));
  if (is_plenty) return;
  painter.setPen(QPen(use.fits() ? muted_ : over, 1, Qt::DashLine));
  painter.drawLine(QPointF(std::max(strip.left(), scene_.mapping.x(0)), limit),
                   QPointF(scene_.mapping.x(whole), limit));
}

void PipelinePainter::paint_drop(QPainter& painter) const {
  if (!scene_.drop) return;
  const auto& [moved, before, refused] = *scene_.drop;
  const std::vector<StageCell>& cells = scene_.picture->rows().rows[moved.row].cells;
  const QRectF strip = scene_.cells_of(moved.row);
  const double x = before < cells.size() ? scene_.box_of({moved.row, before}).left()
                                         : scene_.box_of({moved.row, cells.size() - 1}).right();
  const QColor colour = refused ? style::infeasible(dark_) : style::selection(dark_);
  painter.fillRect(QRectF(x - 2, strip.top() - 4, 4, strip.height() + 8), colour);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(colour, 2));
  painter.drawRect(scene_.box_of(moved).adjusted(1, 1, -1, -1));
}

// From what the selected cell waits for.
void PipelinePainter::paint_awaited(QPainter& painter) const {
  if (!scene_.selected) return;
  const QRectF to = scene_.box_of(*scene_.selected);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(style::selection(dark_), 1.5));
  for (const ScheduleCell& cell :
       scene_.picture->plan().awaited(scene_.picture->cell(*scene_.selected).cell)) {
    const auto from = scene_.picture->find(cell);
    if (!from || from->row == scene_.selected->row) continue;
    const QRectF box = scene_.box_of(*from);
    const bool down = from->row < scene_.selected->row;
    painter.drawLine(QPointF(box.right(), down ? box.bottom() : box.top()),
                     QPointF(to.left(), down ? to.top() : to.bottom()));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace strato
