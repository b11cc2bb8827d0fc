#include "views/timeline/timeline_canvas.h"

#include <QEvent>
#include <QLineEdit>
#include <QScrollBar>
#include <cmath>

#include "views/style/style.h"

namespace strato {

TimelineCanvas::TimelineCanvas(Session& session, QWidget* parent)
    : QAbstractScrollArea(parent), session_(session), order_(session), order_note_(*viewport()) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(tr("Devices and links over the time of one training step"));
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  horizontalScrollBar()->setFocusPolicy(Qt::NoFocus);
  scene_.mapping.left = label_width_;
  words_ = new QLineEdit(viewport());
  words_->setPlaceholderText(tr("Filter rows (L)"));
  words_->setAccessibleName(tr("Filter rows"));
  words_->setToolTip(
      tr("Shows the rows that have all of these words in the name of their machine, device, GPU, "
         "stream or link"));
  words_->setClearButtonEnabled(true);
  words_->setFrame(false);
  words_->setCursor(Qt::IBeamCursor);
  words_->installEventFilter(this);
  words_->hide();
  connect(words_, &QLineEdit::textChanged, this, &TimelineCanvas::filter_rows);
  drop_ = new DeviceDrop(session, *viewport(),
                         [this](const QPoint& at, Qt::KeyboardModifiers) { return place_at(at); });
  connect(drop_, &DeviceDrop::changed, this, &TimelineCanvas::drop_changed);
  connect(&order_, &OrderEditor::changed, this, &TimelineCanvas::tell_order);
  update_palette();
  connect(&session.selection(), &Selection::changed, this, &TimelineCanvas::read_selection);
  connect(&session.selection(), &Selection::range_changed, this, [this] {
    scene_.range = session_.selection().range();
    viewport()->update();
  });
}

void TimelineCanvas::update_palette() {
  scene_.palette = palette();
  scene_.font = font();
  scene_.dpr = devicePixelRatioF();
  take_font();
  if (rows_) {
    scene_.colours =
        colour_tasks(*rows_->timeline->program, mode_, style::is_dark(palette()), changes_.get());
    emit colours_changed();
  }
  viewport()->update();
}

// Rows and their labels have room for larger letters.
void TimelineCanvas::take_font() {
  constexpr double kLetters = 16;  // px: as high as rows have room for as they are
  const double scale = std::max(1.0, fontMetrics().height() / kLetters);
  if (scale == scale_) return;
  label_width_ = static_cast<int>(std::lround(label_width_ * scale / scale_));
  scale_ = scale;
  words_->setGeometry(4, 2, label_width_ - 8, kAxisHeight - 5);
  scene_.mapping.resize(label_width_, viewport()->width() - label_width_);
  layout();
}

double TimelineCanvas::whole() const {
  if (!rows_) return 1;
  Nanos whole = rows_->timeline->step_time;
  if (rows_->measured && scene_.filter.step != StepShown::Simulated)
    whole = std::max(whole, rows_->measured->step_time);
  whole = std::max(whole, least_whole_);
  return std::max<double>(1, static_cast<double>(whole.value));
}

void TimelineCanvas::show_rows(std::shared_ptr<const TimelineRows> rows, Nanos lower_bound) {
  const double old_whole = whole();
  const bool was_fitted = !rows_ || scene_.mapping.span() >= old_whole * 0.999;
  const auto cluster_of = [](const TimelineRows& r) { return r.timeline->program->cluster; };
  const bool same_cluster =
      rows && rows_ &&
      (cluster_of(*rows) == cluster_of(*rows_) ||
       (cluster_of(*rows)->name() == cluster_of(*rows_)->name() &&
        cluster_of(*rows)->device_count() == cluster_of(*rows_)->device_count()));
  const bool had_measured = rows_ && rows_->measured;
  rows_ = std::move(rows);
  changes_.reset();  // of the rows before
  own_task_.reset();
  carried_.reset();  // its number means another task by now
  const bool has_measured = rows_ && rows_->measured;
  if (has_measured != had_measured)  // one comes: it is what a person wants to see
    scene_.filter.step = has_measured ? StepShown::Both : StepShown::Simulated;
  scene_.rows = rows_.get();
  scene_.lower_bound = lower_bound;
  scene_.hovered.reset();
  take_reasons();
  if (!same_cluster && rows_) {
    scene_.filter.collapsed.clear();
    scene_.filter.hidden.clear();
    scene_.filter.pinned.clear();
  }
  if (rows_) {
    std::vector<std::vector<std::uint32_t>> marked(rows_->rows.size());
    for (const auto& places : rows_->critical_places) {
      for (const RowSlice& at : places)
        marked[at.row].push_back(static_cast<std::uint32_t>(at.slice));
    }
    for (auto& row : marked) std::sort(row.begin(), row.end());
    scene_.on_critical_path = std::move(marked);
    if (was_fitted) scene_.mapping.fit(0, whole());
  }
  update_palette();
  layout();
  read_selection();
  view_changed(false);
  words_->setVisible(rows_ != nullptr);
  if (has_measured != had_measured) emit step_shown_changed();
}

void TimelineCanvas::show_explanation(std::shared_ptr<const Explanation> explanation) {
  explanation_ = std::move(explanation);
  take_reasons();
  viewport()->update();
}

// Only of the timeline that is drawn: one may come before the other.
void TimelineCanvas::take_reasons() {
  const bool fits = explanation_ && rows_ && explanation_->timeline == rows_->timeline;
  scene_.reasons = fits ? explanation_->reasons : nullptr;
}

void TimelineCanvas::set_colour_mode(ColourMode mode) {
  if (mode == mode_) return;
  mode_ = mode;
  update_palette();
}
void TimelineCanvas::set_show_critical(bool on) {
  scene_.critical = on;
  viewport()->update();
}
void TimelineCanvas::set_show_why(bool on) {
  scene_.why = on;
  layout();
}
void TimelineCanvas::set_show_memory(bool on) {
  scene_.filter.memory = on;
  layout();
}
void TimelineCanvas::set_show_links(bool on) {
  scene_.filter.links = on;
  layout();
}

void TimelineCanvas::set_step_shown(StepShown shown) {
  if (!rows_ || !rows_->measured) shown = StepShown::Simulated;
  if (shown == scene_.filter.step) return;
  const bool fitted = scene_.mapping.span() >= whole() * 0.999;
  scene_.filter.step = shown;
  if (fitted) scene_.mapping.fit(0, whole());
  layout();
  view_changed();
  emit step_shown_changed();
}

void TimelineCanvas::layout() {
  if (rows_) {
    scene_.layout = layout_rows(*rows_, scene_.filter, scale_);
  } else {
    scene_.layout = {};
  }
  update_scroll_bars();
  viewport()->update();
  emit rows_in_sight_changed();
}

void TimelineCanvas::set_show_arrows(bool on) {
  arrows_ = on;
  take_arrows();
}

void TimelineCanvas::take_arrows() {
  scene_.before.clear();
  scene_.after.clear();
  viewport()->update();
  if (!arrows_ || !rows_ || !scene_.task) return;
  const Program& program = *rows_->timeline->program;
  const auto& times = rows_->timeline->tasks;
  const auto needs = program.dependencies[scene_.task->index()];
  scene_.before.assign(needs.begin(), needs.end());
  scene_.after = dependents_of(program, *scene_.task);
  std::ranges::stable_sort(scene_.before, std::greater(), [&](TaskId t) { return times[t].end; });
  std::ranges::stable_sort(scene_.after, {}, [&](TaskId t) { return times[t].start; });
  scene_.before.resize(std::min(scene_.before.size(), kMostArrows));
  scene_.after.resize(std::min(scene_.after.size(), kMostArrows));
}

void TimelineCanvas::read_selection() {
  const Selection& selection = session_.selection();
  scene_.task = other_ ? own_task_ : selection.task();
  scene_.device = same_cluster() ? selection.device() : std::nullopt;
  scene_.link = same_cluster() ? selection.link() : std::nullopt;
  scene_.range = selection.range();
  scene_.selected.clear();
  const auto& problem = session_.snapshot().problem;
  if (rows_ && scene_.task && scene_.task->index() >= rows_->timeline->tasks.size())
    scene_.task.reset();
  take_arrows();
  if (same_graph() && !selection.groups().empty()) {
    const Program& program = *rows_->timeline->program;
    const Grouping& grouping = *problem->grouping;
    const bool several = selection.ops().size() > 1;  // of one op the group is marked with it
    scene_.selected = mark_slices(*rows_, [&](TaskId id) {
      const OpId op = program.tasks[id].op;
      if (!op.valid()) return false;
      return several ? selection.contains(op) : selection.contains(grouping.group_of(op));
    });
  }
  viewport()->update();
}

void TimelineCanvas::paint_to(QPainter& painter, const QSize& size,
                              std::optional<TimeRange> range) {
  TimelineScene copy = scene_;
  copy.scroll = 0;
  copy.mapping.resize(scene_.mapping.left, size.width() - scene_.mapping.left);
  copy.hovered.reset();
  if (range) {
    copy.range.reset();
    copy.mapping.fit(static_cast<double>(range->begin.value), static_cast<double>(range->end.value),
                     0.01);
  }
  TimelinePainter(copy).paint(painter, size);
}

void TimelineCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  if (scene_.dpr != devicePixelRatioF()) update_palette();
  painter.setFont(font());
  TimelinePainter(scene_).paint(painter, viewport()->size());
  if (!rows_) {
    painter.setPen(style::muted_text(palette()));
    painter.drawText(
        viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
        session_.busy() ? tr("Simulating…")
                        : tr("The timeline of one training step appears here.\nOpen a model and a "
                             "cluster (Ctrl+O) to see what each device does, and when."));
    return;
  }
  paint_drop(painter);
  if (hasFocus()) {
    painter.fillRect(QRect(0, 0, viewport()->width(), 2),
                     style::selection(style::is_dark(palette())));
  }
}

void TimelineCanvas::resizeEvent(QResizeEvent*) {
  const bool fitted = scene_.mapping.span() >= whole() * 0.999;
  words_->setGeometry(4, 2, label_width_ - 8, kAxisHeight - 5);
  scene_.mapping.resize(label_width_, viewport()->width() - label_width_);
  if (fitted) scene_.mapping.fit(0, whole());
  view_changed(false);
  emit resized();
}

void TimelineCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
    update_palette();
  QAbstractScrollArea::changeEvent(event);
}

void TimelineCanvas::view_changed(bool by_person) {
  scene_.mapping.clamp(whole());
  update_scroll_bars();
  viewport()->update();
  if (by_person) emit mapping_changed();
}

bool TimelineCanvas::same_cluster() const {
  const auto& problem = session_.snapshot().problem;
  return !problem || !rows_ || problem->cluster == rows_->timeline->program->cluster;
}

bool TimelineCanvas::same_graph() const {
  const auto& problem = session_.snapshot().problem;
  return rows_ && problem && problem->graph == rows_->timeline->program->graph;
}

void TimelineCanvas::set_other(bool other) { other_ = other; }

void TimelineCanvas::show_changes(std::shared_ptr<const TaskChanges> changes) {
  if (changes == changes_) return;
  changes_ = std::move(changes);
  if (mode_ == ColourMode::Change) update_palette();
}

void TimelineCanvas::set_least_whole(Nanos least) {
  if (least == least_whole_) return;
  const bool fitted = scene_.mapping.span() >= whole() * 0.999;
  least_whole_ = least;
  if (fitted) scene_.mapping.fit(0, whole());
  view_changed(false);
}

void TimelineCanvas::take_view_of(const TimelineCanvas& other) {
  label_width_ = other.label_width_;
  scene_.mapping.left = label_width_;
  scene_.mapping.width = std::max(1, viewport()->width() - label_width_);
  scene_.mapping.begin = other.scene_.mapping.begin;
  scene_.mapping.ns_per_px = other.scene_.mapping.ns_per_px;
  words_->setGeometry(4, 2, label_width_ - 8, kAxisHeight - 5);
  update_scroll_bars();
  viewport()->update();
}

void TimelineCanvas::take_filter_of(const TimelineCanvas& other) {
  const StepShown step = scene_.filter.step;
  scene_.filter = other.scene_.filter;
  scene_.filter.step = step;
  const QSignalBlocker quiet(words_);
  words_->setText(QString::fromStdString(scene_.filter.words));
  layout();
}

// The horizontal bar counts in 1/10,000 of the whole: a bar's range is an int.
void TimelineCanvas::update_scroll_bars() {
  setting_bars_ = true;
  const int page = std::max(1, viewport()->height() - scene_.top());
  verticalScrollBar()->setRange(0, std::max(0, scene_.layout.height - page));
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setSingleStep(2 * kRowHeight);
  scene_.scroll = verticalScrollBar()->value();
  const double low = -TimeMapping::kMargin * whole(), unit = whole() / 10000;
  const double length = whole() * (1 + 2 * TimeMapping::kMargin);
  const bool zoomed = scene_.mapping.span() < length * 0.999;
  setHorizontalScrollBarPolicy(zoomed && rows_ ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
  horizontalScrollBar()->setRange(
      0, static_cast<int>(std::max(0.0, (length - scene_.mapping.span()) / unit)));
  horizontalScrollBar()->setPageStep(std::max(1, static_cast<int>(scene_.mapping.span() / unit)));
  horizontalScrollBar()->setValue(static_cast<int>((scene_.mapping.begin - low) / unit));
  setting_bars_ = false;
}

void TimelineCanvas::scrollContentsBy(int dx, int) {
  scene_.scroll = verticalScrollBar()->value();
  if (dx != 0 && !setting_bars_) {
    scene_.mapping.begin =
        -TimeMapping::kMargin * whole() + horizontalScrollBar()->value() * whole() / 10000;
    scene_.mapping.clamp(whole());
    emit mapping_changed();
  }
  viewport()->update();
}

void TimelineCanvas::fit_all() {
  scene_.mapping.fit(0, whole());
  view_changed();
}

void TimelineCanvas::zoom_to(TimeRange range) {
  scene_.mapping.fit(static_cast<double>(range.begin.value), static_cast<double>(range.end.value),
                     0.1);
  view_changed();
}

std::optional<TimelineCanvas::Hit> TimelineCanvas::hit(const QPoint& at) const {
  if (!rows_ || at.y() < scene_.top()) return std::nullopt;
  const auto index = scene_.layout.place_at(at.y() - scene_.top(), scene_.scroll);
  if (!index) return std::nullopt;
  Hit result{scene_.layout.places[*index].row, std::nullopt};
  const SliceRow& slices = rows_->rows[result.row].slices;
  if (at.x() >= label_width_ && slices.size() > 0)
    result.fold = fold_at(slices, scene_.mapping, at.x());
  return result;
}

std::optional<WhyBlock> TimelineCanvas::block_at(const QPoint& at) const {
  const bool on_strip = scene_.why && at.y() >= kAxisHeight && at.y() < scene_.top();
  if (!scene_.reasons || !on_strip || at.x() < label_width_) return std::nullopt;
  return why_block_at(scene_.reasons->path, scene_.mapping, at.x());
}

// What an idle device waits for, where nothing else is drawn.
const Gap* TimelineCanvas::gap_at(const QPoint& at) const {
  const auto found = hit(at);
  if (!scene_.reasons || !scene_.why || !found || found->fold || at.x() < label_width_) {
    return nullptr;
  }
  const TimelineRow& row = rows_->rows[found->row];
  if (row.kind != RowKind::Compute || row.measured) return nullptr;
  return scene_.reasons->gaps[row.device].at(
      static_cast<std::int64_t>(scene_.mapping.time(at.x())));
}

std::optional<TaskId> TimelineCanvas::task_at(const QPoint& at) const {
  const auto found = hit(at);
  if (!found || !found->fold || found->fold->count() != 1) return std::nullopt;
  return rows_->rows[found->row].slices.task[found->fold->first];
}

void TimelineCanvas::select_task(TaskId task) {
  const OpId op = rows_->timeline->program->tasks[task].op;
  if (other_) own_task_ = task;
  if (other_ && !same_graph()) return read_selection();
  if (!op.valid() || !same_graph()) return;
  const GroupId group = session_.snapshot().problem->grouping->group_of(op);
  const auto& outcome = session_.snapshot().outcome;
  const bool is_shown =
      !outcome || outcome->timeline == rows_->timeline;  // rows may be on their way
  if (!other_ && is_shown) return session_.selection().select_task(task, op, group);
  session_.selection().select_op(op, group);
  read_selection();
}

void TimelineCanvas::reveal(TaskId task) {
  for (const RowSlice& at : places_of(*rows_, task)) {
    const auto index = scene_.layout.place_of(at.row);
    if (!index) continue;
    const RowLayout::Place& place = scene_.layout.places[*index];
    const int page = verticalScrollBar()->pageStep(), pinned = scene_.layout.pinned_height;
    if (place.pinned) break;
    if (place.y - pinned < scene_.scroll) verticalScrollBar()->setValue(place.y - pinned);
    if (place.y + place.height > scene_.scroll + page) {
      verticalScrollBar()->setValue(place.y + place.height - page);
    }
    break;
  }
  const TaskTimes& times = rows_->timeline->tasks[task];
  const auto start = static_cast<double>(times.start.value),
             end = static_cast<double>(times.end.value);
  if (end < scene_.mapping.begin || start > scene_.mapping.end())
    scene_.mapping.centre((start + end) / 2);
  view_changed();
}

std::optional<TimeRange> TimelineCanvas::selected_span() const {
  if (!rows_) return std::nullopt;
  if (scene_.task)
    return TimeRange{rows_->timeline->tasks[*scene_.task].start,
                     rows_->timeline->tasks[*scene_.task].end};
  std::optional<TimeRange> span;
  for (std::size_t r = 0; r < scene_.selected.size(); ++r) {
    const auto& marked = scene_.selected[r];
    if (marked.empty()) continue;
    const SliceRow& slices = rows_->rows[r].slices;
    const Nanos begin(slices.start[marked.front()]), end(slices.end[marked.back()]);
    span = span ? TimeRange{std::min(span->begin, begin), std::max(span->end, end)}
                : TimeRange{begin, end};
  }
  return span ? span : scene_.range;
}

}  // namespace strato
