#include "views/traces/recorded_canvas.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "views/style/own_escape.h"
#include "views/style/style.h"
#include "views/timeline/time_axis.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

constexpr int kLabelWidth = 172;
constexpr int kArrowWidth = 20;  // px of a label, that open and close

double as_double(Nanos time) { return static_cast<double>(time.value); }

}  // namespace

RecordedCanvas::RecordedCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Recorded run"));
  setAccessibleDescription(tr("What each rank did over the time that was recorded"));
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  horizontalScrollBar()->setFocusPolicy(Qt::NoFocus);
  look_again();
}

void RecordedCanvas::show_run(std::shared_ptr<const RecordedRun> run) {
  scene_ = {};
  scene_.run = std::move(run);
  look_again();
  scene_.mapping.resize(scene_.mapping.left, viewport()->width() - scene_.mapping.left);
  scene_.mapping.fit(0, whole());
  if (scene_.run && scene_.run->timed() && !scene_.run->has_kernels())  // rows would be empty
    for (std::size_t i = 0; i < scene_.run->rows.size() && i < 8; ++i)
      scene_.opened[i] = streams_of(*scene_.run, i);
  layout();
}

void RecordedCanvas::show_simulated(std::vector<RankRow> rows, Nanos begin) {
  const bool fitted = scene_.mapping.span() >= whole() * 0.999;
  scene_.simulated = std::move(rows);
  scene_.simulated_begin = begin;
  if (fitted) scene_.mapping.fit(0, whole());
  layout();
}

void RecordedCanvas::choose_range(std::optional<TimeRange> range, bool zoom) {
  scene_.range = range;
  if (zoom && range) scene_.mapping.fit(as_double(range->begin), as_double(range->end), 0.02);
  if (zoom && !range) scene_.mapping.fit(0, whole());
  view_changed();
}

void RecordedCanvas::choose_rank(std::optional<std::size_t> index) {
  scene_.rank = index;
  for (const RecordedPlace& place : scene_.places) {
    if (!index || place.of != RecordedPlace::Of::Rank || place.rank != *index) continue;
    const int page = viewport()->height() - kRanksTop, y = place.y - scene_.scroll;
    if (y < 0 || y + place.height > page)
      verticalScrollBar()->setValue(place.y - std::max(0, page / 3));
  }
  viewport()->update();
}

void RecordedCanvas::open_rank(std::size_t index, bool open) {
  if (!scene_.run || index >= scene_.run->rows.size()) return;
  if (scene_.event && scene_.event->rank == index) scene_.event.reset();
  if (open) {
    scene_.opened.try_emplace(index, streams_of(*scene_.run, index));
  } else {
    scene_.opened.erase(index);
  }
  layout();
}

double RecordedCanvas::whole() const {
  if (!scene_.run) return 1;
  std::int64_t end = scene_.run->length.value;
  for (const RankRow& row : scene_.simulated)
    if (row.busy.size() > 0)
      end = std::max(end, row.busy.end.back() + scene_.simulated_begin.value);
  return std::max(1.0, static_cast<double>(end));
}

void RecordedCanvas::look_again() {
  scene_.palette = palette();
  scene_.font = font();
  scene_.dpr = devicePixelRatioF();
  const double scale = std::max(1.0, fontMetrics().height() / 16.0);
  scene_.mapping.resize(std::round(kLabelWidth * scale),
                        viewport()->width() - std::round(kLabelWidth * scale));
  scene_.colours =
      scene_.run ? recorded_colours(*scene_.run, style::is_dark(palette())) : SliceColours{};
  emit colours_changed();
}

void RecordedCanvas::layout() {
  place_rows(scene_, fontMetrics().height());
  view_changed();
}

// The horizontal bar counts in 1/10,000 of the whole: a bar's range is an int.
void RecordedCanvas::view_changed() {
  scene_.mapping.clamp(whole());
  setting_bars_ = true;
  const int page = std::max(1, viewport()->height() - kRanksTop);
  verticalScrollBar()->setRange(0, std::max(0, scene_.height - page));
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setSingleStep(36);
  scene_.scroll = verticalScrollBar()->value();
  const double low = -TimeMapping::kMargin * whole(), unit = whole() / 10000;
  const double length = whole() * (1 + 2 * TimeMapping::kMargin);
  setHorizontalScrollBarPolicy(scene_.run && scene_.mapping.span() < length * 0.999
                                   ? Qt::ScrollBarAlwaysOn
                                   : Qt::ScrollBarAlwaysOff);
  horizontalScrollBar()->setRange(
      0, static_cast<int>(std::max(0.0, (length - scene_.mapping.span()) / unit)));
  horizontalScrollBar()->setPageStep(std::max(1, static_cast<int>(scene_.mapping.span() / unit)));
  horizontalScrollBar()->setValue(static_cast<int>((scene_.mapping.begin - low) / unit));
  setting_bars_ = false;
  viewport()->update();
}

void RecordedCanvas::scrollContentsBy(int dx, int) {
  scene_.scroll = verticalScrollBar()->value();
  if (dx != 0 && !setting_bars_) {
    scene_.mapping.begin =
        -TimeMapping::kMargin * whole() + horizontalScrollBar()->value() * whole() / 10000;
    scene_.mapping.clamp(whole());
  }
  viewport()->update();
}

void RecordedCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  if (scene_.dpr != devicePixelRatioF()) look_again();
  painter.setFont(font());
  RecordedPainter(scene_).paint(painter, viewport()->size());
  if (hasFocus())
    painter.fillRect(QRect(0, 0, viewport()->width(), 2),
                     style::selection(style::is_dark(palette())));
}

void RecordedCanvas::resizeEvent(QResizeEvent*) {
  const bool fitted = scene_.mapping.span() >= whole() * 0.999;
  scene_.mapping.resize(scene_.mapping.left, viewport()->width() - scene_.mapping.left);
  if (fitted) scene_.mapping.fit(0, whole());
  view_changed();
}

void RecordedCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    look_again();
    layout();
  }
  QAbstractScrollArea::changeEvent(event);
}

bool RecordedCanvas::event(QEvent* event) {
  if (is_own_escape(*event) && (scene_.range || scene_.rank || scene_.event)) {
    event->accept();
    return true;
  }
  return QAbstractScrollArea::event(event);
}

void RecordedCanvas::keyPressEvent(QKeyEvent* event) {
  const bool plain =
      !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
  if (!scene_.run || !plain) return QAbstractScrollArea::keyPressEvent(event);
  const QPoint cursor = viewport()->mapFromGlobal(QCursor::pos());
  const bool inside = viewport()->rect().contains(cursor) && cursor.x() >= scene_.mapping.left;
  const double at = inside ? cursor.x() : scene_.mapping.left + scene_.mapping.width / 2;
  if (move_by_key(scene_.mapping, event->key(), at, whole())) return view_changed();
  switch (event->key()) {
    case Qt::Key_Period:
      return step_by(1);
    case Qt::Key_Comma:
      return step_by(-1);
    case Qt::Key_F:
      if (scene_.range) choose_range(scene_.range, true);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (scene_.rank) open_rank(*scene_.rank, !scene_.opened.contains(*scene_.rank));
      return;
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const std::size_t last = scene_.run->rows.size() - 1;
      const bool up = event->key() == Qt::Key_Up;
      std::size_t next = up ? last : 0;
      if (scene_.rank && up) next = *scene_.rank - (*scene_.rank > 0 ? 1 : 0);
      if (scene_.rank && !up) next = std::min(last, *scene_.rank + 1);
      choose_rank(next);
      emit rank_chosen(next);
      return;
    }
    case Qt::Key_Escape:
      scene_.event.reset();
      choose_rank(std::nullopt);
      choose_range(std::nullopt, false);
      emit rank_chosen(std::nullopt);
      emit range_chosen();
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

// The step after or before the chosen one.
void RecordedCanvas::step_by(int direction) {
  const std::vector<RecordedStep>& steps = scene_.run->steps;
  if (steps.empty()) return;
  std::ptrdiff_t next = direction > 0 ? 0 : std::ssize(steps) - 1;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (scene_.range && scene_.range->begin == steps[i].begin)
      next = static_cast<std::ptrdiff_t>(i) + direction;
  if (next < 0 || next >= std::ssize(steps)) return;
  const RecordedStep& step = steps[static_cast<std::size_t>(next)];
  choose_range(TimeRange{step.begin, step.end}, true);
  emit range_chosen();
}

const RecordedStep* RecordedCanvas::step_at(const QPoint& at) const {
  if (!scene_.run || at.y() < kStepsTop || at.y() >= kRanksTop || at.x() < scene_.mapping.left)
    return nullptr;
  const double time = scene_.mapping.time(at.x());
  for (const RecordedStep& step : scene_.run->steps)
    if (time >= as_double(step.begin) && time < as_double(step.end)) return &step;
  return nullptr;
}

std::optional<SliceFold> RecordedCanvas::fold_under(const RecordedPlace& place,
                                                    const QPoint& at) const {
  if (at.x() < scene_.mapping.left) return std::nullopt;
  return fold_at(slices_of(scene_, place), scene_.mapping, at.x());
}

void RecordedCanvas::mousePressEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  last_at_ = pressed_at_ = at;
  const bool middle = event->button() == Qt::MiddleButton;
  if (!scene_.run || (event->button() != Qt::LeftButton && !middle)) return;
  if (at.x() < scene_.mapping.left) return click_label(at);
  drag_ = middle || (event->modifiers() & Qt::ShiftModifier) ? Drag::Pan : Drag::Pressed;
}

void RecordedCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (drag_ == Drag::Pressed &&
      (at - pressed_at_).manhattanLength() > QApplication::startDragDistance() / 2)
    drag_ = Drag::Range;
  if (drag_ == Drag::Range) {
    const double a = std::clamp(scene_.mapping.time(at.x()), 0.0, whole()),
                 b = std::clamp(scene_.mapping.time(pressed_at_.x()), 0.0, whole());
    scene_.range =
        TimeRange{Nanos(std::llround(std::min(a, b))), Nanos(std::llround(std::max(a, b)))};
    viewport()->update();
  } else if (drag_ == Drag::Pan) {
    scene_.mapping.pan(last_at_.x() - at.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + last_at_.y() - at.y());
    view_changed();
  }
  last_at_ = at;
  if (!scene_.run || at.x() < scene_.mapping.left) return;
  emit cursor_info(
      style::time(Nanos(std::llround(std::clamp(scene_.mapping.time(at.x()), 0.0, whole())))));
}

void RecordedCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::None);
  if (was == Drag::Pressed) click(event->position().toPoint());
  if (was == Drag::Range) emit range_chosen();
}

// A step becomes the range; an event of a stream, the longest of a block, is chosen; anything else
// lets go of both.
void RecordedCanvas::click(const QPoint& at) {
  scene_.event.reset();
  const RecordedStep* step = step_at(at);
  const RecordedPlace* place = place_at(scene_, at.y());
  if (place && place->of == RecordedPlace::Of::Stream) {
    if (const auto fold = fold_under(*place, at)) {
      const RecordedSlices& slices = slices_of(scene_, *place);
      std::size_t longest = fold->first;
      for (std::size_t i = fold->first; i < fold->last; ++i)
        if (slices.end[i] - slices.start[i] > slices.end[longest] - slices.start[longest])
          longest = i;
      scene_.event = RecordedScene::Event{place->rank, place->stream, longest};
      viewport()->update();
      return;
    }
  }
  choose_range(step ? std::optional(TimeRange{step->begin, step->end}) : std::nullopt, false);
  emit range_chosen();
}

void RecordedCanvas::click_label(const QPoint& at) {
  const RecordedPlace* place = place_at(scene_, at.y());
  if (!place) return;
  const std::size_t rank = place->rank;
  if (place->of == RecordedPlace::Of::Rank && at.x() < kArrowWidth)
    return open_rank(rank, !scene_.opened.contains(rank));
  choose_rank(rank);
  emit rank_chosen(rank);
}

void RecordedCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (const RecordedStep* step = step_at(at))
    return choose_range(TimeRange{step->begin, step->end}, true);
  const RecordedPlace* place = place_at(scene_, at.y());
  if (!place) return;
  if (at.x() < scene_.mapping.left) {
    if (place->of == RecordedPlace::Of::Rank && at.x() >= kArrowWidth)
      open_rank(place->rank, !scene_.opened.contains(place->rank));
    return;
  }
  if (place->of == RecordedPlace::Of::Simulated) return;
  const auto fold = fold_under(*place, at);
  if (!fold) return;
  const RecordedSlices& slices = slices_of(scene_, *place);
  scene_.mapping.fit(static_cast<double>(slices.start[fold->first]),
                     static_cast<double>(slices.end[fold->last - 1]), 0.1);
  view_changed();
}

void RecordedCanvas::wheelEvent(QWheelEvent* event) {
  if (!scene_.run) return event->ignore();
  if (move_by_wheel(scene_.mapping, *event)) {
    view_changed();
  } else {
    const int rows = static_cast<int>(std::lround(event->angleDelta().y() / 120.0 * 40));
    verticalScrollBar()->setValue(verticalScrollBar()->value() - rows);
  }
  event->accept();
}

QString RecordedCanvas::tooltip(const QPoint& at) const {
  if (!scene_.run) return {};
  if (const RecordedStep* step = step_at(at))
    return tr("<b>Step %1</b>, %2%3<br>A click makes it the range")
        .arg(step->number)
        .arg(style::time(step->length),
             step->steady ? QString() : tr("; the first one, or unlike the others"));
  const RecordedPlace* place = place_at(scene_, at.y());
  if (!place) return {};
  const bool is_rank = place->of == RecordedPlace::Of::Rank;
  if (at.x() < scene_.mapping.left) {
    for (const trace::Straggler& each : scene_.run->analysis.stragglers)
      if (is_rank && each.index == place->rank)
        return QString::fromStdString(sentence_of(each)).toHtmlEscaped();
    return is_rank ? tr("The part of its time in which it computes; the arrow opens its streams")
                   : QString();
  }
  if (is_rank)
    return describe_moment(*scene_.run, place->rank,
                           Nanos(std::llround(scene_.mapping.time(at.x()))));
  if (place->of == RecordedPlace::Of::Simulated) return tr("As the plan's device was simulated");
  const auto fold = fold_under(*place, at);
  if (!fold) return {};
  const RecordedSlices& slices = slices_of(scene_, *place);
  if (fold->count() == 1)
    return describe_event(*scene_.run, place->rank, slices.event[fold->first]);
  return tr("<b>%1 events</b>, busy for %2 of %3")
      .arg(fold->count())
      .arg(style::time(Nanos(slices.busy(fold->first, fold->last))),
           style::time(Nanos(slices.end[fold->last - 1] - slices.start[fold->first])));
}

bool RecordedCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) emit cursor_info(QString());
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString words = tooltip(help->pos());
  if (words.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), words, viewport());
  }
  return true;
}

}  // namespace strato
