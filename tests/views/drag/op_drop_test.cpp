// Single ops carried from the graph and the timeline to devices, with what happens on the way.
#include <QCheckBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTest>
#include <QTimer>

#include "tests/core/program/toy.h"
#include "tests/views/drag/drag_events.h"
#include "views/cluster/cluster_view.h"
#include "views/drag/device_drop.h"
#include "views/drag/drag_start.h"
#include "views/drag/move_dialog.h"
#include "views/graph/group_graph_view.h"
#include "views/models/drop_place.h"
#include "views/models/problem_source.h"
#include "views/models/strategy_edits.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

class OpsDropped : public DragTest {
 protected:
  GroupId group_of(OpId op) { return problem().grouping->group_of(op); }
  const Decision& decision_of(OpId op) {
    return *session_.snapshot().strategy.groups[group_of(op)];
  }
  Carried of(std::vector<OpId> ops) { return carried_ops(ops, problem()); }
  std::unique_ptr<QMimeData> drag(const Carried& carried) {
    return std::unique_ptr<QMimeData>(drag_of(carried, problem()));
  }
  // An op that is only a part of what its group has to carry.
  OpId part() {
    for (std::size_t i = 0; i < problem().graph->op_count(); ++i)
      if (!of({OpId(i)}).ops.empty()) return OpId(i);
    return {};
  }
  // The op's node, where the graph view shows the inside of its group.
  int node_of(GroupGraphView& view, OpId op) {
    if (view.levels().empty()) view.open_group(group_of(op));
    EXPECT_TRUE(wait_until([&] { return view.is_laid_out(); }));
    const auto& nodes = view.canvas().scene().content.nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n].op == op) return static_cast<int>(n);
    return -1;
  }
  QPoint point_of(GroupGraphView& view, int node) {
    view.canvas().centre_on(node);
    const GraphScene& scene = view.canvas().scene();
    return scene.to_view(scene.layout.nodes[static_cast<std::size_t>(node)].center()).toPoint();
  }
  // What the mouse takes with it from there.
  Carried pulled(QWidget& from, const QPoint& at, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    Carried carried;
    carry_with([&](const QMimeData& data) { carried = dragged(data, problem()); });
    QTest::mousePress(&from, Qt::LeftButton, keys, at);
    QMouseEvent move(QEvent::MouseMove, at + QPointF(30, 30), from.mapToGlobal(at + QPoint(30, 30)),
                     Qt::NoButton, Qt::LeftButton, keys);
    QCoreApplication::sendEvent(&from, &move);
    QTest::mouseRelease(&from, Qt::LeftButton, keys, at + QPoint(30, 30));
    carry_with(nullptr);
    return carried;
  }
};

const std::vector<DeviceShare> kOnSecond = {{DeviceId(1), 1}};

TEST_F(OpsDropped, FromTheGraphToTheClusterByMouse) {
  open_lenet();
  GroupGraphView graph(session_);
  graph.resize(700, 600);
  graph.show();
  ClusterView cluster(session_);
  cluster.resize(600, 500);
  cluster.show();
  const OpId op = part();
  ASSERT_TRUE(op.valid());
  const Carried layer = of({op});
  const int node = node_of(graph, op);
  ASSERT_GE(node, 0);
  QWidget& port = *cluster.canvas().viewport();
  const QPoint device = cluster.canvas().middle_of(DeviceId(1));
  std::optional<EditEffect> effect;
  carry_with([&](const QMimeData& data) {
    EXPECT_EQ(dragged(data, problem()), layer);
    EXPECT_TRUE(move(port, device, data));
    const DeviceDrop& over = cluster.canvas().drop();
    EXPECT_TRUE(wait_until([&] { return cluster.canvas().drop().preview().effect().has_value(); }));
    effect = cluster.canvas().drop().preview().effect();
    EXPECT_TRUE(over.text().startsWith(names_of(layer, problem()))) << over.text().toStdString();
    EXPECT_FALSE(cluster.grab().isNull());
    EXPECT_EQ(session_.undo_stack().count(), 0);
    EXPECT_TRUE(drop(port, device, data));
  });
  const QPoint at = point_of(graph, node);
  QTest::mousePress(&graph.canvas(), Qt::LeftButton, {}, at);
  QTest::mouseMove(&graph.canvas(), at + QPoint(30, 30));
  carry_with(nullptr);
  session_.settle();
  ASSERT_TRUE(effect);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(session_.snapshot().strategy, effect->strategy);
  EXPECT_EQ(step_time(), effect->after);
  EXPECT_EQ(decision_of(op).devices, kOnSecond);
  // One is where one was: inside of the group, at what is left of it.
  ASSERT_EQ(graph.levels().size(), 1u);
  ASSERT_TRUE(wait_until([&] { return graph.is_laid_out(); }));
  EXPECT_EQ(graph.levels()[0].ops, problem().grouping->group(graph.levels()[0].group).ops);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(OpsDropped, WhatIsSelectedIsPulledTogether) {
  open_lenet();
  GroupGraphView graph(session_);
  graph.resize(700, 600);
  graph.show();
  const OpId op = part();
  const int node = node_of(graph, op);
  ASSERT_GE(node, 0);
  const GroupId group = group_of(op);
  OpId other;
  for (const OpId more : problem().grouping->group(group).ops) {
    const auto own = of({op}).ops;
    if (!std::ranges::binary_search(own, more)) other = more;
  }
  ASSERT_TRUE(other.valid());
  EXPECT_EQ(pulled(graph.canvas(), point_of(graph, node)), of({op}));
  EXPECT_EQ(pulled(graph.canvas(), point_of(graph, node), Qt::ControlModifier),
            (Carried{{group}, {}}));
  // Both by Ctrl+click; then each takes both along, and one that is not selected itself alone.
  const auto click = [&](OpId at, Qt::KeyboardModifiers keys) {
    QTest::mouseClick(&graph.canvas(), Qt::LeftButton, keys, point_of(graph, node_of(graph, at)));
  };
  click(op, Qt::NoModifier);
  click(other, Qt::ControlModifier);
  EXPECT_EQ(session_.selection().ops(), (std::vector{std::min(op, other), std::max(op, other)}));
  EXPECT_FALSE(session_.selection().op());
  EXPECT_EQ(session_.selection().groups(), std::vector{group});
  for (const OpId held : {op, other})
    EXPECT_EQ(pulled(graph.canvas(), point_of(graph, node_of(graph, held))), of({op, other}));
  click(op, Qt::ControlModifier);
  EXPECT_EQ(session_.selection().op(), other);
  EXPECT_EQ(pulled(graph.canvas(), point_of(graph, node_of(graph, op))), of({op}));
  click(other, Qt::ControlModifier);
  EXPECT_TRUE(session_.selection().ops().empty());
}

TEST_F(OpsDropped, FromTheTimelineASliceTakesItsOp) {
  open_lenet();
  TimelineView view(session_);
  view.setGeometry(0, 0, 900, 600);
  view.show();
  TimelineCanvas& canvas = view.canvas();
  ASSERT_TRUE(wait_until([&] { return canvas.rows() != nullptr; }));
  const Timeline& timeline = *session_.snapshot().outcome->timeline;
  const OpId op = part();
  TaskId task;
  for (std::size_t t = 0; t < timeline.program->tasks.size(); ++t) {
    const Task& candidate = timeline.program->tasks[TaskId(t)];
    if (candidate.op == op && candidate.device == DeviceId(0) && is_ordered(candidate))
      task = TaskId(t);
  }
  ASSERT_TRUE(task.valid());
  canvas.zoom_to({timeline.tasks[task].start, timeline.tasks[task].end});
  const auto row = [&](DeviceId device) {
    for (const RowLayout::Place& place : canvas.row_layout().places) {
      const TimelineRow& shown = canvas.rows()->rows[place.row];
      if (shown.kind == RowKind::Compute && shown.device == device)
        return kAxisHeight + kWhyHeight + place.y + 6;
    }
    return -1;
  };
  const auto x = static_cast<int>(canvas.mapping().x(
      static_cast<double>((timeline.tasks[task].start + timeline.tasks[task].end).value) / 2));
  QWidget& port = *canvas.viewport();
  EXPECT_TRUE(pulled(port, {x, row(DeviceId(0))}).is_empty());  // not chosen yet: a range
  QTest::mouseClick(&port, Qt::LeftButton, {}, {x, row(DeviceId(0))});
  ASSERT_EQ(session_.selection().task(), task);
  EXPECT_EQ(pulled(port, {x, row(DeviceId(0))}, Qt::ControlModifier),
            (Carried{{group_of(op)}, {}}));
  const Carried layer = of({op});
  EXPECT_EQ(pulled(port, {x, row(DeviceId(0))}), layer);
  carry_with([&](const QMimeData& data) {
    EXPECT_TRUE(move(port, {x, row(DeviceId(1))}, data));
    EXPECT_TRUE(wait_until([&] { return canvas.drop().preview().effect().has_value(); }));
    EXPECT_FALSE(view.grab().isNull());
    EXPECT_TRUE(drop(port, {x, row(DeviceId(1))}, data));
  });
  QTest::mousePress(&port, Qt::LeftButton, {}, {x, row(DeviceId(0))});
  QTest::mouseMove(&port, {x + 30, row(DeviceId(0)) + 10});
  carry_with(nullptr);
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(decision_of(op).devices, kOnSecond);
}

// What is dragged does not depend on what is selected or shown meanwhile; what is told does.
TEST_F(OpsDropped, WhatChangesWhileItHovers) {
  open_lenet();
  QWidget target;
  target.resize(300, 200);
  DeviceDrop end(session_, target, [&](const QPoint&, Qt::KeyboardModifiers) {
    return std::optional(place_of(*problem().cluster, DeviceId(1)));
  });
  target.show();
  const OpId op = part();
  session_.selection().select_op(op, group_of(op));
  const auto data = drag(of({op}));
  const auto told = [&] {
    return wait_until([&] { return end.preview().effect() || end.preview().changes_nothing(); });
  };
  EXPECT_TRUE(move(target, {10, 10}, *data));
  ASSERT_TRUE(told());
  const Nanos after = end.preview().effect()->after;
  session_.selection().clear();
  EXPECT_TRUE(end.preview().asks()) << "nothing moved, and yet it has to be told";
  ASSERT_TRUE(told());
  EXPECT_EQ(end.preview().effect()->after, after);
  // The strategy is another one, in the same groups.
  session_.edit(with_mode(session_.snapshot().strategy, std::vector{group_of(op)}, Mode::Duplicate),
                QStringLiteral("meanwhile"));
  session_.settle();
  EXPECT_TRUE(end.place());
  ASSERT_TRUE(told());
  EXPECT_EQ(end.preview().effect()->before, step_time());
  // It is there already.
  session_.edit(with_only_devices(session_.snapshot().strategy, std::vector{group_of(op)},
                                  std::vector{DeviceId(1)}),
                QStringLiteral("there"));
  session_.settle();
  ASSERT_TRUE(told());
  EXPECT_TRUE(end.text().endsWith("as it is")) << end.text().toStdString();
  EXPECT_TRUE(drop(target, {10, 10}, *data));
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 2);
  // Other groups: it is about ops of something that is no longer shown.
  EXPECT_TRUE(move(target, {10, 10}, *data));
  session_.regroup(3);
  session_.settle();
  EXPECT_FALSE(end.place());
  EXPECT_TRUE(end.text().isEmpty());
  EXPECT_FALSE(move(target, {10, 10}, *data));
  EXPECT_FALSE(drop(target, {10, 10}, *data));
}

TEST_F(OpsDropped, ByKeyboardAloneOrWithTheirGroups) {
  open_lenet();
  QWidget window;
  const OpId op = part();
  session_.selection().select_op(op, group_of(op));
  ASSERT_TRUE(move_selection(session_, window));
  auto* dialog = window.findChild<MoveDialog*>();
  ASSERT_TRUE(dialog);
  EXPECT_TRUE(dialog->whole_groups().isVisibleTo(dialog));
  dialog->filter().setText(place_of(*problem().cluster, DeviceId(1)).name);
  ASSERT_TRUE(wait_until([&] { return dialog->preview().effect().has_value(); }));
  const EditEffect alone = *dialog->preview().effect();
  dialog->whole_groups().setChecked(true);
  ASSERT_TRUE(wait_until([&] { return dialog->preview().effect().has_value(); }));
  EXPECT_NE(dialog->preview().effect()->strategy, alone.strategy);
  dialog->whole_groups().setChecked(false);
  QTest::keyClick(&dialog->filter(), Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, alone.strategy);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  // Groups have no single ops to be told from.
  session_.selection().select_group(GroupId(0));
  ASSERT_TRUE(move_selection(session_, window));
  bool offered = true;
  for (auto* other : window.findChildren<MoveDialog*>())
    if (other->isVisible()) offered = other->whole_groups().isVisibleTo(other);
  EXPECT_FALSE(offered);
}

// Graphs without a file.
class OpsOfAnyGraph : public OpsDropped {
 protected:
  void open(std::size_t ops) {
    toy::Model model(4);
    TensorId last = model.input("x", 2);
    for (std::size_t i = 0; i < ops; ++i)
      last = model.layer("stage" + std::to_string(i / 100) + "/op" + std::to_string(i % 100),
                         {last}, 2);
    ModelSource source;
    source.name = "toy";
    source.graph = std::move(model).build();
    source.options.training = false;
    source.options.grouping.max_groups = 40;
    session_.open_problem(source, toy::cluster(2, 2), {}, QStringLiteral("toy"));
    session_.settle();
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
    ASSERT_TRUE(session_.snapshot().outcome);
  }
};

TEST_F(OpsOfAnyGraph, TheOnlyOpIsItsGroup) {
  open(1);
  EXPECT_EQ(of({OpId(0)}), (Carried{{GroupId(0)}, {}}));
  drop_on(session_, of({OpId(0)}), place_of(*problem().cluster, DeviceId(1)));
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(session_.snapshot().strategy.grouping, nullptr);
  EXPECT_EQ(decision_of(OpId(0)).devices, kOnSecond);
}

TEST_F(OpsOfAnyGraph, AHundredThousandOpsDoNotFreezeTheWindow) {
  open(100'000);
  QWidget target;
  target.resize(300, 200);
  DeviceDrop end(session_, target, [&](const QPoint& at, Qt::KeyboardModifiers) {
    return std::optional(place_of(*problem().cluster, DeviceId(at.x() < 100 ? 1 : 2)));
  });
  target.show();
  std::vector<OpId> odd;  // of every group half
  for (std::size_t i = 1; i < problem().graph->op_count(); i += 2) odd.emplace_back(i);
  for (const std::vector<OpId>& ops : {std::vector{OpId(500)}, odd}) {
    QElapsedTimer last;
    qint64 longest = 0;
    const auto tick = [&] { longest = std::max(longest, last.restart()); };
    QTimer beat;
    QObject::connect(&beat, &QTimer::timeout, tick);
    last.start();
    beat.start(5);
    const auto data = drag(of(ops));
    tick();
    EXPECT_TRUE(move(target, {10, 10}, *data));
    tick();
    EXPECT_TRUE(move(target, {150, 10}, *data));
    tick();
    EXPECT_TRUE(move(target, {10, 10}, *data));
    tick();
    ASSERT_TRUE(wait_until([&] { return end.preview().effect().has_value(); }));
    EXPECT_TRUE(drop(target, {10, 10}, *data));
    tick();
    const int count = session_.undo_stack().count();
    ASSERT_TRUE(wait_until([&] { return session_.undo_stack().count() > count; }));
    tick();
    EXPECT_LT(longest, 500) << "ms, while " << ops.size() << " ops were carried";
    RecordProperty("longest", static_cast<int>(longest));
    std::fprintf(stderr, "%zu ops: the event loop waited for at most %lld ms\n", ops.size(),
                 static_cast<long long>(longest));
    beat.stop();
    session_.settle();
    EXPECT_EQ(decision_of(ops[0]).devices, kOnSecond);
  }
}

}  // namespace
}  // namespace strato
