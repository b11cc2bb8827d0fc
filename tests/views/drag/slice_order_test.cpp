// Slices before or after others: as pure edits, by keys, and by a drag in the timeline.
#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QLabel>
#include <QMimeData>
#include <QTest>

#include "core/base/error.h"
#include "core/search/evaluate/outcome.h"
#include "tests/views/models/fixture.h"
#include "views/drag/drag_start.h"
#include "views/timeline/order_edit.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

class SliceOrder : public SessionTest {
 protected:
  const Timeline& timeline() { return *session_.snapshot().outcome->timeline; }
  const Program& program() { return *timeline().program; }

  // Neighbours on a device's stream, the second of which does not need the first: they can change
  // places.
  std::vector<OrderWish> free_pairs() {
    std::vector<OrderWish> pairs;
    for (std::size_t d = 0; d < problem().cluster->device_count(); ++d) {
      std::vector<TaskId> stream;
      for (std::size_t t = 0; t < program().tasks.size(); ++t) {
        const Task& task = program().tasks[TaskId(t)];
        if (is_ordered(task) && task.device == DeviceId(d)) stream.emplace_back(t);
      }
      std::ranges::sort(stream, {}, [&](TaskId t) { return timeline().tasks[t].start; });
      for (std::size_t i = 1; i < stream.size(); ++i) {
        const OrderWish wish{stream[i], stream[i - 1], true};
        try {
          const Strategy wanted = with_order(session_.snapshot().strategy, timeline(), wish);
          const Outcome after = simulate_as(problem(), wanted, {TaskOrder::Priority, false});
          check_order(timeline(), wish, *after.timeline);
          pairs.push_back(wish);
        } catch (const InputError&) {
        }
      }
    }
    return pairs;
  }
  void select(TaskId task) {
    const OpId op = program().tasks[task].op;
    session_.selection().select_task(task, op, problem().grouping->group_of(op));
  }
  // First start of the task's op on its device, in the outcome as it is now.
  Nanos start_of(OpId op, DeviceId device) {
    Nanos first(std::numeric_limits<std::int64_t>::max());
    for (std::size_t t = 0; t < program().tasks.size(); ++t) {
      const Task& task = program().tasks[TaskId(t)];
      if (is_ordered(task) && task.op == op && task.device == device)
        first = std::min(first, timeline().tasks[TaskId(t)].start);
    }
    return first;
  }
};

TEST_F(SliceOrder, GivesEveryOpItsPlace) {
  open_lenet();
  const auto pairs = free_pairs();
  ASSERT_FALSE(pairs.empty());
  const Strategy wanted = with_order(session_.snapshot().strategy, timeline(), pairs[0]);
  std::vector<std::int32_t> sorted = wanted.priorities;
  std::ranges::sort(sorted);
  ASSERT_EQ(sorted.size(), problem().graph->op_count());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    EXPECT_EQ(sorted[i], static_cast<std::int32_t>(i));
  const Task &moved = program().tasks[pairs[0].moved], &other = program().tasks[pairs[0].other];
  EXPECT_LT(wanted.priorities[moved.op.index()], wanted.priorities[other.op.index()]);
  // Nothing that it needs comes after it.
  for (const TensorId input : problem().graph->op(moved.op).inputs) {
    const OpId producer = input.valid() ? problem().graph->tensor(input).producer : OpId();
    if (!producer.valid()) continue;
    EXPECT_LT(wanted.priorities[producer.index()], wanted.priorities[moved.op.index()]);
  }
  const Strategy after =
      with_order(session_.snapshot().strategy, timeline(), {pairs[0].other, pairs[0].moved, false});
  EXPECT_LT(after.priorities[moved.op.index()], after.priorities[other.op.index()]);
}

TEST_F(SliceOrder, DependenciesForbidIt) {
  open_lenet();
  std::size_t refused = 0;
  for (std::size_t t = 0; t < program().tasks.size(); ++t) {
    const Task& task = program().tasks[TaskId(t)];
    for (const TaskId need : program().dependencies[t]) {
      const Task& first = program().tasks[need];
      if (!is_ordered(task) || !is_ordered(first) || task.device != first.device) continue;
      if (task.op == first.op) continue;
      EXPECT_THROW(with_order(session_.snapshot().strategy, timeline(), {TaskId(t), need, true}),
                   InputError);
      EXPECT_THROW(with_order(session_.snapshot().strategy, timeline(), {need, TaskId(t), false}),
                   InputError);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_THROW(with_order(session_.snapshot().strategy, timeline(), {TaskId(0), TaskId(0), true}),
               InputError);
}

TEST_F(SliceOrder, IsChangedByKeysAndUndoneAtOnce) {
  open_lenet();
  TimelineView view(session_);
  view.resize(1000, 500);
  view.show();
  const auto pairs = free_pairs();
  ASSERT_FALSE(pairs.empty());
  const Strategy before = session_.snapshot().strategy;
  const Nanos time = step_time();
  const Task moved = program().tasks[pairs[0].moved], other = program().tasks[pairs[0].other];
  select(pairs[0].moved);
  QTest::keyClick(&view.canvas(), Qt::Key_Left, Qt::AltModifier);
  ASSERT_TRUE(wait_until([&] { return session_.undo_stack().count() == 1; }));
  session_.settle();
  EXPECT_EQ(session_.simulation().order, TaskOrder::Priority);
  EXPECT_FALSE(session_.snapshot().strategy.priorities.empty());
  EXPECT_LT(start_of(moved.op, moved.device), start_of(other.op, moved.device));
  session_.set_simulation({TaskOrder::Priority, true});  // no part of the edit: it stays
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(session_.simulation(), (Simulation{TaskOrder::Fifo, true}));
  session_.set_simulation({TaskOrder::Fifo, false});
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, before);
  EXPECT_EQ(step_time(), time);
  session_.undo_stack().redo();
  session_.settle();
  EXPECT_LT(start_of(moved.op, moved.device), start_of(other.op, moved.device));
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(SliceOrder, WhatCannotBeIsRefusedInWords) {
  open_lenet();
  TimelineView view(session_);
  view.resize(1000, 500);
  view.show();
  QStringList words;
  QObject::connect(&session_, &Session::message, [&](const QString& text) { words << text; });
  // The first slice of a device has none before it.
  TaskId first;
  for (std::size_t t = 0; t < program().tasks.size(); ++t) {
    if (is_ordered(program().tasks[TaskId(t)]) &&
        program().tasks[TaskId(t)].device == DeviceId(0) &&
        (!first.valid() || timeline().tasks[TaskId(t)].start < timeline().tasks[first].start))
      first = TaskId(t);
  }
  ASSERT_TRUE(first.valid());
  select(first);
  QTest::keyClick(&view.canvas(), Qt::Key_Left, Qt::AltModifier);
  ASSERT_EQ(words.size(), 1);
  QTest::keyClick(&view.canvas(), Qt::Key_Right, Qt::AltModifier);  // what follows needs it
  ASSERT_TRUE(wait_until([&] { return words.size() == 2 || session_.undo_stack().count() == 1; }));
  for (std::size_t t = 0; t < program().tasks.size(); ++t) {
    if (!is_communication(program().tasks[TaskId(t)].kind)) continue;
    if (!program().tasks[TaskId(t)].op.valid()) continue;
    select(TaskId(t));
    break;
  }
  const auto before = words.size();
  QTest::keyClick(&view.canvas(), Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(words.size(), before + 1);
}

// A slice that was chosen is carried in its row, over the slice before it.
TEST_F(SliceOrder, IsChangedByADrag) {
  open_lenet();
  TimelineView view(session_);
  view.setGeometry(0, 0, 780, 600);
  view.show();
  const auto pairs = free_pairs();
  ASSERT_FALSE(pairs.empty());
  const OrderWish wish = pairs[0];
  const Task moved = program().tasks[wish.moved], other = program().tasks[wish.other];
  TimelineCanvas& canvas = view.canvas();
  const TaskTimes a = timeline().tasks[wish.other], b = timeline().tasks[wish.moved];
  canvas.zoom_to({a.start, b.end});
  select(wish.moved);
  const auto place = canvas.row_layout().place_of(places_of(*canvas.rows(), wish.moved)[0].row);
  ASSERT_TRUE(place);
  const int y = kAxisHeight + kWhyHeight + canvas.row_layout().places[*place].y + 6;
  const auto point = [&](const TaskTimes& times) {
    const auto middle = static_cast<double>((times.start + times.end).value) / 2;
    return QPoint(static_cast<int>(canvas.mapping().x(middle)) - 1, y);
  };
  QWidget& port = *canvas.viewport();
  bool told = false;
  carry_with([&](const QMimeData& data) {
    const auto send = [&](auto event) {
      event.ignore();
      QCoreApplication::sendEvent(&port, &event);
      return event.isAccepted();
    };
    send(QDragEnterEvent(point(a), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier));
    send(QDragMoveEvent(point(b), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier));
    EXPECT_FALSE(canvas.drop().place());  // over itself there is nothing to do
    EXPECT_TRUE(
        send(QDragMoveEvent(point(a), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier)));
    told = wait_until([&] { return canvas.order().effect().has_value(); }, 10);
    EXPECT_FALSE(canvas.drop().place());
    EXPECT_FALSE(view.grab().isNull());
    // The other rows of the device are no place to be put on: it is there already.
    const auto over = [&](RowKind kind, bool own) {
      for (const RowLayout::Place& row : canvas.row_layout().places) {
        const TimelineRow& shown = canvas.rows()->rows[row.row];
        if (shown.kind != kind || (shown.device == moved.device) != own) continue;
        send(QDragMoveEvent(QPoint(point(a).x(), kAxisHeight + kWhyHeight + row.y + 4),
                            Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier));
        return true;
      }
      return false;
    };
    EXPECT_TRUE(over(RowKind::Communication, true));
    EXPECT_FALSE(canvas.drop().place());
    EXPECT_TRUE(over(RowKind::Memory, true));
    EXPECT_FALSE(canvas.drop().place());
    // From the own row straight onto another device: one promise, not two.
    EXPECT_TRUE(
        send(QDragMoveEvent(point(a), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier)));
    EXPECT_FALSE(canvas.order().text().isEmpty());
    EXPECT_TRUE(over(RowKind::Compute, false));
    EXPECT_TRUE(canvas.drop().place());
    EXPECT_TRUE(canvas.order().text().isEmpty());
    std::size_t notes = 0;
    for (const auto* note : port.findChildren<QLabel*>("drag note")) notes += note->isVisible();
    EXPECT_EQ(notes, 1u);
    EXPECT_TRUE(
        send(QDragMoveEvent(point(a), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier)));
    EXPECT_FALSE(canvas.drop().place());
    send(QDropEvent(point(a), Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier));
  });
  QTest::mousePress(&port, Qt::LeftButton, Qt::NoModifier, point(b));
  QTest::mouseMove(&port, point(b) - QPoint(30, 0));
  carry_with(nullptr);
  EXPECT_TRUE(told);
  ASSERT_TRUE(wait_until([&] { return session_.undo_stack().count() == 1; }));
  session_.settle();
  EXPECT_LT(start_of(moved.op, moved.device), start_of(other.op, moved.device));
}

}  // namespace
}  // namespace strato
