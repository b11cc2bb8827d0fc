// Keys and mouse of the timeline (the shared key table: W/S zoom, A/D pan, F focus, Home fit, ...).
#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "core/sim/explain/path_pieces.h"
#include "views/style/style.h"
#include "views/timeline/time_axis.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

constexpr int kEdge = 4;  // px to either side of the label column's edge that take hold of it
constexpr int kMinLabelWidth = 96, kMaxLabelWidth = 420;

Nanos rounded(double time) { return Nanos(std::llround(time)); }

}  // namespace

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
  const bool plain =
      !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
  if (event->key() == Qt::Key_Shift)
    update_cursor(last_at_, event->modifiers() | Qt::ShiftModifier);
  if (event->key() != Qt::Key_F) focused_once_ = false;
  if (event->matches(QKeySequence::Find) || event->text() == QLatin1String("/"))
    return search_wanted();
  if (rows_ && plain &&
      (handle_view_key(event->key()) || handle_selection_key(event->key(), event->text()) ||
       handle_row_key(event->key(), event->modifiers() & Qt::ShiftModifier))) {
    return;
  }
  if (rows_ && event->modifiers() == Qt::AltModifier) {
    if (event->key() == Qt::Key_Left) return run_earlier();
    if (event->key() == Qt::Key_Right) return run_later();
  }
  QAbstractScrollArea::keyPressEvent(event);
}

void TimelineCanvas::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Shift) update_cursor(last_at_, Qt::NoModifier);
  QAbstractScrollArea::keyReleaseEvent(event);
}

bool TimelineCanvas::handle_view_key(int key) {
  const QPoint cursor = viewport()->mapFromGlobal(QCursor::pos());
  const bool inside = viewport()->rect().contains(cursor) && cursor.x() >= label_width_;
  const double at = inside ? cursor.x() : scene_.mapping.left + scene_.mapping.width / 2;
  if (key == Qt::Key_F) {
    focus_selection();
  } else if (!move_by_key(scene_.mapping, key, at, whole())) {
    return false;
  }
  view_changed();
  return true;
}

bool TimelineCanvas::handle_selection_key(int key, const QString& text) {
  if (text == QLatin1String(".") || key == Qt::Key_Right) return step_in_row(1), true;
  if (text == QLatin1String(",") || key == Qt::Key_Left) return step_in_row(-1), true;
  if (text == QLatin1String("[")) return follow(true), true;
  if (text == QLatin1String("]")) return follow(false), true;
  switch (key) {
    case Qt::Key_M:
      toggle_mark();
      return true;
    case Qt::Key_O:
      set_step_shown(static_cast<StepShown>((static_cast<int>(scene_.filter.step) + 1) % 3));
      return true;
    case Qt::Key_C:
      emit compare_wanted();
      return true;
    case Qt::Key_B:
      emit blink_wanted();
      return true;
    case Qt::Key_T:
      emit totals_wanted();
      return true;
    case Qt::Key_R:
      if (const auto span = selected_span()) session_.selection().select_range(span);
      return true;
    case Qt::Key_Escape:
      own_task_.reset();
      session_.selection().select_range(std::nullopt);
      session_.selection().clear();
      read_selection();
      return true;
    default:
      return false;
  }
}

// First centres, then fits.
void TimelineCanvas::focus_selection() {
  const auto span = selected_span();
  if (!span) return;
  if (scene_.task) reveal(*scene_.task);
  const auto begin = static_cast<double>(span->begin.value),
             end = static_cast<double>(span->end.value);
  if (std::exchange(focused_once_, true)) {
    scene_.mapping.fit(begin, end, 0.2);
  } else {
    scene_.mapping.centre((begin + end) / 2);
  }
}

void TimelineCanvas::step_in_row(int direction) {
  if (!scene_.task) {
    if (!rows_->rows.empty()) {
      for (const TimelineRow& row : rows_->rows) {
        if (row.slices.size() > 0) return select_task(row.slices.task.front());
      }
    }
    return;
  }
  const auto places = places_of(*rows_, *scene_.task);
  if (places.empty()) return;
  const auto in_sight = std::ranges::find_if(
      places, [this](const RowSlice& at) { return scene_.layout.place_of(at.row).has_value(); });
  const RowSlice from = in_sight == places.end() ? places.front() : *in_sight;
  const SliceRow& slices = rows_->rows[from.row].slices;
  const auto next = static_cast<std::ptrdiff_t>(from.slice) + direction;
  if (next < 0 || next >= static_cast<std::ptrdiff_t>(slices.size())) return;
  const TaskId task = slices.task[static_cast<std::size_t>(next)];
  select_task(task);
  reveal(task);
}

// Backwards to the dependency that ended last, forwards to the dependant that started first.
void TimelineCanvas::follow(bool backwards) {
  if (!scene_.task) return;
  const Program& program = *rows_->timeline->program;
  const auto& times = rows_->timeline->tasks;
  std::optional<TaskId> found;
  if (backwards) {
    for (const TaskId other : program.dependencies[scene_.task->index()]) {
      if (!found || times[other].end > times[*found].end) found = other;
    }
  } else {
    for (const TaskId other : dependents_of(program, *scene_.task)) {
      if (!found || times[other].start < times[*found].start) found = other;
    }
  }
  if (!found) return;
  select_task(*found);
  reveal(*found);
}

void TimelineCanvas::toggle_mark() {
  const auto span = selected_span();
  if (!span && !scene_.range) return;
  const TimeRange mark = scene_.range.value_or(span.value_or(TimeRange{}));
  if (std::erase(scene_.marks, mark) == 0) scene_.marks.emplace_back(mark);
  viewport()->update();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  last_at_ = pressed_at_ = at;
  if (!rows_) return;
  const bool middle = event->button() == Qt::MiddleButton;
  if (event->button() != Qt::LeftButton && !middle) return;
  if (std::abs(at.x() - label_width_) <= kEdge) {
    drag_ = Drag::LabelColumn;
  } else if (at.x() < label_width_) {
    if (const auto found = hit(at)) click_label(found->row);
  } else if (middle || (event->modifiers() & Qt::ShiftModifier)) {
    drag_ = Drag::Pan;
  } else {
    const auto task = task_at(at);
    drag_ = task && can_carry(*task) ? Drag::Slice : Drag::Pressed;
    pressed_time_ = scene_.mapping.time(at.x());
  }
  update_cursor(at, event->modifiers());
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (drag_ == Drag::Pressed &&
      (at - pressed_at_).manhattanLength() > QApplication::startDragDistance() / 2) {
    drag_ = Drag::Range;
  }
  if (drag_ == Drag::Slice &&
      (at - pressed_at_).manhattanLength() > QApplication::startDragDistance())
    return carry_slice(event->modifiers() & Qt::ControlModifier);
  switch (drag_) {
    case Drag::Range: {
      const double to = std::clamp(scene_.mapping.time(at.x()), 0.0, whole());
      const double from = std::clamp(pressed_time_, 0.0, whole());
      session_.selection().select_range(
          TimeRange{rounded(std::min(from, to)), rounded(std::max(from, to))});
      break;
    }
    case Drag::Pan:
      scene_.mapping.pan(last_at_.x() - at.x());
      verticalScrollBar()->setValue(verticalScrollBar()->value() + last_at_.y() - at.y());
      view_changed();
      break;
    case Drag::LabelColumn:
      label_width_ =
          std::clamp(at.x(), kMinLabelWidth,
                     std::max(kMinLabelWidth, std::min(kMaxLabelWidth, viewport()->width() / 2)));
      words_->setGeometry(4, 2, label_width_ - 8, kAxisHeight - 5);
      scene_.mapping.resize(label_width_, viewport()->width() - label_width_);
      view_changed();
      break;
    default:
      hover(at);
  }
  last_at_ = at;
  update_cursor(at, event->modifiers());
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (drag_ == Drag::Pressed || drag_ == Drag::Slice) click(event->position().toPoint());
  const bool chosen = std::exchange(drag_, Drag::None) == Drag::Range;
  update_cursor(event->position().toPoint(), event->modifiers());
  if (chosen) emit range_chosen();
}

void TimelineCanvas::click(const QPoint& at) {
  session_.selection().select_range(std::nullopt);
  if (const auto block = block_at(at)) {
    const std::vector<PathPiece>& path = scene_.reasons->path;
    const TaskId task = path[longest_piece(path, *block)].task;
    select_task(task);
    reveal(task);
    return;
  }
  if (const Gap* gap = gap_at(at); gap && gap->cause.valid()) {
    const TaskId cause = gap->cause;
    select_task(cause);
    reveal(cause);
    return;
  }
  const auto found = hit(at);
  if (!found) return;
  if (found->fold) {  // of a block its longest slice
    const SliceRow& slices = rows_->rows[found->row].slices;
    std::size_t best = found->fold->first;
    for (std::size_t i = best; i < found->fold->last; ++i) {
      if (slices.end[i] - slices.start[i] > slices.end[best] - slices.start[best]) best = i;
    }
    select_task(slices.task[best]);
  } else {
    own_task_.reset();
    session_.selection().clear();
    read_selection();
  }
}

void TimelineCanvas::click_label(std::size_t index) {
  const TimelineRow& row = rows_->rows[index];
  if (row.kind == RowKind::Header) {
    const auto section = static_cast<std::size_t>(row.section);
    scene_.filter.collapsed.resize(static_cast<std::size_t>(rows_->sections));
    scene_.filter.collapsed[section] = !scene_.filter.collapsed[section];
    layout();
  } else if (!same_cluster()) {
    return;  // its devices and links are not those that are shown
  } else if (row.kind == RowKind::Link) {
    session_.selection().select_link(row.link);
  } else {
    session_.selection().select_device(row.device);
  }
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  const auto found = hit(at);
  if (!found || !found->fold) return;
  const SliceRow& slices = rows_->rows[found->row].slices;
  zoom_to({Nanos(slices.start[found->fold->first]), Nanos(slices.end[found->fold->last - 1])});
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
  if (!rows_) return event->ignore();
  if (move_by_wheel(scene_.mapping, *event)) {
    view_changed();
  } else {
    const int rows =
        static_cast<int>(std::lround(event->angleDelta().y() / 120.0 * 2 * kRowHeight));
    verticalScrollBar()->setValue(verticalScrollBar()->value() - rows);
  }
  event->accept();
}

void TimelineCanvas::update_cursor(const QPoint& at, Qt::KeyboardModifiers modifiers) {
  Qt::CursorShape shape = Qt::ArrowCursor;
  if (drag_ == Drag::LabelColumn ||
      (drag_ == Drag::None && std::abs(at.x() - label_width_) <= kEdge)) {
    shape = Qt::SplitHCursor;
  } else if (drag_ == Drag::Pan) {
    shape = Qt::ClosedHandCursor;
  } else if (drag_ == Drag::Range) {
    shape = Qt::SizeHorCursor;
  } else if (rows_ && at.x() > label_width_) {
    const auto found = hit(at);
    if (modifiers & Qt::ShiftModifier) {
      shape = Qt::OpenHandCursor;
    } else {
      const bool link = (found && found->fold) || block_at(at) || gap_at(at);
      const bool carries =
          found && found->fold && found->fold->count() == 1 && can_carry(*task_at(at));
      shape = carries ? Qt::OpenHandCursor : link ? Qt::PointingHandCursor : Qt::CrossCursor;
    }
  } else if (rows_ && at.y() > scene_.top()) {
    shape = Qt::PointingHandCursor;
  }
  viewport()->setCursor(shape);
}

void TimelineCanvas::hover(const QPoint& at) {
  const auto task = task_at(at);
  if (task != scene_.hovered) {
    scene_.hovered = task;
    std::optional<GroupId> group;
    if (task && same_graph()) {
      const OpId op = rows_->timeline->program->tasks[*task].op;
      if (op.valid()) group = session_.snapshot().problem->grouping->group_of(op);
    }
    session_.selection().hover_group(group);
    viewport()->update();
  }
  if (!rows_ || at.x() < label_width_) return;
  QString text = style::time(rounded(std::max(0.0, scene_.mapping.time(at.x()))));
  if (task) {
    const TaskTimes& times = rows_->timeline->tasks[*task];
    text += QStringLiteral(" · ") +
            QString::fromStdString(rows_->timeline->program->task_name(*task)) +
            QStringLiteral(" · ") + style::time(times.end - times.start);
  }
  emit cursor_info(text);
}

bool TimelineCanvas::viewportEvent(QEvent* event) {
  if (order_event(*event)) return true;
  if (event->type() == QEvent::Leave) {
    scene_.hovered.reset();
    session_.selection().hover_group(std::nullopt);
    emit cursor_info(QString());
    viewport()->update();
  }
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = tooltip(help->pos());
  if (text.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), text, viewport());
  }
  return true;
}

}  // namespace strato
