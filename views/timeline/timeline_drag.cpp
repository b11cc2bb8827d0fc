// Slices that are carried: onto a device, to run there, and before or after another on their own
// device; what is dropped from other views; and the same by keys.
#include <QDropEvent>
#include <QMenu>
#include <QPainter>

#include "views/drag/drag_start.h"
#include "views/drag/move_dialog.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

constexpr qsizetype kLongestOp = 40;  // letters of a name in a menu
constexpr QPoint kNowhere(-1, -1);

}  // namespace

bool TimelineCanvas::is_shown() const {
  const auto& outcome = session_.snapshot().outcome;
  return !other_ && rows_ && outcome && outcome->timeline == rows_->timeline && same_graph();
}

// Its op, or all ops that are selected when that is among them; or the group that it is in.
Carried TimelineCanvas::carried_by(TaskId task, bool whole_group) const {
  const OpId op = rows_->timeline->program->tasks[task].op;
  if (!op.valid() || !same_graph()) return {};
  const Problem& problem = *session_.snapshot().problem;
  const Selection& selection = session_.selection();
  if (whole_group) return {{problem.grouping->group_of(op)}, {}};
  return carried_ops(selection.contains(op) ? selection.ops() : std::vector{op}, problem);
}

// Only what is chosen already: a drag of anything else selects a range of time.
bool TimelineCanvas::can_carry(TaskId task) const {
  const OpId op = rows_->timeline->program->tasks[task].op;
  const bool chosen = scene_.task == task || (!scene_.task && session_.selection().contains(op));
  return chosen && op.valid() && same_graph();
}

// The row that the carried slice comes from: there it changes its place in the order, or nothing.
bool TimelineCanvas::is_own_row(std::size_t index) const {
  if (!carried_ || !is_shown() || carried_->index() >= rows_->timeline->tasks.size()) return false;
  const TimelineRow& row = rows_->rows[index];
  return row.kind == RowKind::Compute && !row.measured &&
         row.device == rows_->timeline->program->tasks[*carried_].device;
}

// Compute, transfers and memory: between the rows of one device a hand slips.
bool TimelineCanvas::is_own_device(DeviceId device) const {
  return carried_ && carried_from_.valid() && device == carried_from_;
}

std::optional<DropPlace> TimelineCanvas::place_at(const QPoint& at) const {
  const auto found = hit(at);
  if (!found || !same_cluster() || !session_.snapshot().problem) return std::nullopt;
  const Cluster& cluster = *session_.snapshot().problem->cluster;
  const TimelineRow& row = rows_->rows[found->row];
  if (is_own_device(row.device)) return std::nullopt;
  if (row.device.valid()) return place_of(cluster, row.device);
  if (row.kind != RowKind::Header) return std::nullopt;
  for (const TimelineRow& other : rows_->rows) {  // a machine's header stands over its devices
    if (other.section == row.section && other.device.valid())
      return place_of(cluster, cluster.device(other.device).machine);
  }
  return std::nullopt;
}

// Where the carried slice would go in its own row: before the slice whose first half is under the
// cursor, after one whose second half is; before the next one in a gap.
std::optional<OrderWish> TimelineCanvas::wish_at(const QPoint& at) const {
  const auto found = carried_ ? hit(at) : std::nullopt;
  if (!found || at.x() < label_width_ || !is_own_row(found->row)) return std::nullopt;
  const Program& program = *rows_->timeline->program;
  const Task& carried = program.tasks[*carried_];
  if (!is_ordered(carried)) return std::nullopt;
  const SliceRow& slices = rows_->rows[found->row].slices;
  const double time = scene_.mapping.time(at.x());
  const std::size_t at_slice = slices.first_after(time);
  const auto fits = [&](std::size_t i) {
    const Task& task = program.tasks[slices.task[i]];
    return is_ordered(task) && task.op != carried.op;
  };
  const auto middle = [&](std::size_t i) {
    return (static_cast<double>(slices.start[i]) + static_cast<double>(slices.end[i])) / 2;
  };
  const bool back = time < static_cast<double>(rows_->timeline->tasks[*carried_].start.value);
  if (back) {
    for (std::size_t i = at_slice; i < slices.size() && slices.task[i] != *carried_; ++i) {
      if (fits(i) && (time <= middle(i) || i > at_slice))
        return OrderWish{*carried_, slices.task[i], true};
    }
    return std::nullopt;
  }
  const std::size_t end =
      at_slice < slices.size() && time >= middle(at_slice) ? at_slice + 1 : at_slice;
  for (std::size_t i = end; i-- > 0 && slices.task[i] != *carried_;) {
    if (fits(i)) return OrderWish{*carried_, slices.task[i], false};
  }
  return std::nullopt;
}

// The drag has an event loop of its own: all may be another after it.
void TimelineCanvas::carry_slice(bool whole_group) {
  drag_ = Drag::None;
  const auto task = rows_ ? task_at(pressed_at_) : std::nullopt;
  if (!task || !can_carry(*task)) return;
  const Carried carried = carried_by(*task, whole_group);
  const auto problem = session_.snapshot().problem;
  const QPointer<TimelineCanvas> alive(this);
  carried_ = task;
  const auto from = hit(pressed_at_);
  carried_from_ = from ? rows_->rows[from->row].device : DeviceId();
  order_at_ = kNowhere;
  carry(*viewport(), carried, *problem);
  if (!alive) return;
  carried_.reset();
  order_note_.forget();
}

// In a row of its own a carried slice takes another place in the order.
bool TimelineCanvas::order_event(QEvent& event) {
  if (!carried_) return false;
  if (event.type() == QEvent::DragLeave) forget_wish();
  if (event.type() != QEvent::DragMove && event.type() != QEvent::Drop) return false;
  auto& drop = static_cast<QDropEvent&>(event);
  order_at_ = drop.position().toPoint();
  const auto wish = drop.mimeData()->hasFormat(drag_type()) ? wish_at(order_at_) : std::nullopt;
  if (!wish) {
    order_.forget();
    return false;
  }
  drop.setDropAction(Qt::MoveAction);
  drop.accept();
  if (event.type() == QEvent::DragMove) {
    order_.ask(rows_->timeline, *wish);
    tell_order();
  } else {
    carried_.reset();
    order_note_.forget();
    order_.make(rows_->timeline, *wish);
  }
  return true;
}

void TimelineCanvas::forget_wish() {
  order_at_ = kNowhere;
  order_.forget();
  order_note_.forget();
}

// On a row of another device the drop means that device alone: no order is promised any more.
void TimelineCanvas::drop_changed() {
  if (carried_ && drop_->place()) forget_wish();
  viewport()->update();
}

// Beside the cursor, while something is carried.
void TimelineCanvas::tell_order() {
  viewport()->update();
  const QString words = carried_ ? order_.text() : QString();
  if (words.isEmpty()) return order_note_.forget();
  const auto& effect = order_.effect();
  order_note_.tell(words, order_at_, !order_.refusal().isEmpty() || (effect && !effect->feasible));
}

void TimelineCanvas::run_before(TaskId other) {
  if (scene_.task && is_shown() && other != *scene_.task)
    order_.make(rows_->timeline, {*scene_.task, other, true});
}

// Past one of its neighbours on the device.
void TimelineCanvas::run_beside(int step) {
  if (!is_shown() || !scene_.task) return;
  const Program& program = *rows_->timeline->program;
  const Task& chosen = program.tasks[*scene_.task];
  if (!is_ordered(chosen)) {
    emit session_.message(tr("Only what a device computes has an order of its own"));
    return;
  }
  for (const RowSlice& at : places_of(*rows_, *scene_.task)) {
    const TimelineRow& row = rows_->rows[at.row];
    if (row.kind != RowKind::Compute || row.measured) continue;
    const auto count = static_cast<std::ptrdiff_t>(row.slices.size());
    for (auto i = static_cast<std::ptrdiff_t>(at.slice) + step; i >= 0 && i < count; i += step) {
      const TaskId other = row.slices.task[static_cast<std::size_t>(i)];
      if (!is_ordered(program.tasks[other]) || program.tasks[other].op == chosen.op) continue;
      return order_.make(rows_->timeline, {*scene_.task, other, step < 0});
    }
  }
  emit session_.message(step < 0 ? tr("It is the first on this device")
                                 : tr("It is the last on this device"));
}

void TimelineCanvas::add_order_actions(QMenu& menu, const QPoint& at) {
  if (!scene_.task || !rows_) return;
  const Program& program = *rows_->timeline->program;
  const bool ordered = is_shown() && is_ordered(program.tasks[*scene_.task]);
  if (ordered) {
    const auto under = task_at(at);
    const bool other = under && *under != *scene_.task && is_ordered(program.tasks[*under]) &&
                       program.tasks[*under].device == program.tasks[*scene_.task].device;
    if (other) {
      const QString name = text(program.graph->op(program.tasks[*scene_.task].op).name);
      menu.addAction(tr("Run %1 &before This").arg(name.right(kLongestOp)), this,
                     [this, task = *under, rows = rows_] {
                       if (rows == rows_) run_before(task);
                     });
    }
    menu.addAction(tr("Run &Earlier (Alt+Left)"), this, &TimelineCanvas::run_earlier);
    menu.addAction(tr("Run &Later (Alt+Right)"), this, &TimelineCanvas::run_later);
  }
  if (same_graph() && !session_.selection().groups().empty())
    menu.addAction(tr("&Move Selection to Device…"), this,
                   [this] { move_selection(session_, *this); });
  menu.addSeparator();
}

// Where a drop would go: the device's rows, or the place between two slices.
void TimelineCanvas::paint_drop(QPainter& painter) {
  const QColor accent = style::selection(style::is_dark(palette()));
  if (carried_ && wish_at(order_at_)) {
    const OrderWish wish = *wish_at(order_at_);
    const TaskTimes& times = rows_->timeline->tasks[wish.other];
    const double x =
        scene_.mapping.x(static_cast<double>((wish.before ? times.start : times.end).value));
    for (const RowSlice& at : places_of(*rows_, wish.other)) {
      const auto index = scene_.layout.place_of(at.row);
      if (!index) continue;
      const RowLayout::Place& place = scene_.layout.places[*index];
      const int y = scene_.top() + place.y - (place.pinned ? 0 : scene_.scroll);
      painter.fillRect(QRectF(x - 1.5, y - 2, 3, place.height + 4), accent);
      break;
    }
  }
  if (!drop_->place()) return;
  const QColor veil(accent.red(), accent.green(), accent.blue(), 48);
  const std::vector<DeviceId>& devices = drop_->place()->devices;
  for (const RowLayout::Place& place : scene_.layout.places) {
    const TimelineRow& row = rows_->rows[place.row];
    if (!row.device.valid() || std::ranges::find(devices, row.device) == devices.end()) continue;
    const int y = scene_.top() + place.y - (place.pinned ? 0 : scene_.scroll);
    if (y + place.height <= scene_.top()) continue;
    painter.fillRect(QRect(0, y, viewport()->width(), place.height), veil);
  }
}

}  // namespace strato
