// Groups dropped on devices: what is told on the way, what is done, and what is not.
#include "views/drag/device_drop.h"

#include <QDragLeaveEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTest>

#include "core/search/constraints/constraints.h"
#include "tests/views/drag/drag_events.h"
#include "views/cluster/cluster_view.h"
#include "views/drag/drag_start.h"
#include "views/drag/move_dialog.h"
#include "views/graph/group_graph_view.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

class GroupsDropped : public DragTest {
 protected:
  std::unique_ptr<QMimeData> carried(std::vector<GroupId> groups) {
    return std::unique_ptr<QMimeData>(drag_of({groups, {}}, problem()));
  }
  const Decision& decision(std::size_t group) {
    return *session_.snapshot().strategy.groups[GroupId(group)];
  }
};

TEST_F(GroupsDropped, OnADeviceAfterItsEffectWasTold) {
  open_lenet();
  QWidget target;
  target.resize(300, 200);
  DeviceDrop end(session_, target, [&](const QPoint& at, Qt::KeyboardModifiers) {
    return at.x() < 100 ? std::optional(place_of(*problem().cluster, DeviceId(1))) : std::nullopt;
  });
  target.show();
  const auto data = carried({GroupId(0), GroupId(2)});
  EXPECT_TRUE(enter(target, {200, 10}, *data));
  EXPECT_FALSE(end.place());
  EXPECT_FALSE(move(target, {200, 10}, *data));
  EXPECT_TRUE(move(target, {10, 10}, *data));
  ASSERT_TRUE(end.place());
  ASSERT_TRUE(wait_until([&] { return end.preview().effect().has_value(); }));
  const EditEffect effect = *end.preview().effect();
  EXPECT_TRUE(end.text().startsWith("2 groups on ")) << end.text().toStdString();
  auto* note = target.findChild<QLabel*>("drag note");
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->isVisible());
  EXPECT_TRUE(target.rect().contains(note->geometry()));
  EXPECT_EQ(session_.undo_stack().count(), 0);  // nothing is done yet
  EXPECT_TRUE(drop(target, {10, 10}, *data));
  EXPECT_TRUE(note->isHidden());
  EXPECT_FALSE(end.place());
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, effect.strategy);
  EXPECT_EQ(step_time(), effect.after);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(decision(0).devices, (std::vector<DeviceShare>{{DeviceId(1), 1}}));
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_GT(decision(0).devices.size(), 1u);
}

TEST_F(GroupsDropped, WhatIsNotOursOrNoLongerThereIsLeft) {
  open_lenet();
  QWidget target;
  target.resize(300, 200);
  DeviceDrop end(session_, target, [&](const QPoint&, Qt::KeyboardModifiers) {
    return std::optional(place_of(*problem().cluster, DeviceId(0)));
  });
  target.show();
  QMimeData text;
  text.setText("conv1");
  EXPECT_FALSE(drop(target, {10, 10}, text));
  QMimeData damaged;
  damaged.setData(drag_type(), "\x01");
  EXPECT_FALSE(drop(target, {10, 10}, damaged));
  const auto data = carried({GroupId(1)});
  EXPECT_TRUE(move(target, {10, 10}, *data));
  QDragLeaveEvent leave;
  QCoreApplication::sendEvent(&target, &leave);
  EXPECT_FALSE(end.place());
  EXPECT_TRUE(end.text().isEmpty());
  // The problem goes while the drag hovers, with the groups that the words would be about.
  const auto last = carried({GroupId(problem().grouping->size() - 1)});
  EXPECT_TRUE(move(target, {10, 10}, *last));
  ASSERT_TRUE(wait_until([&] { return end.preview().effect().has_value(); }));
  QObject::connect(&end.preview(), &EditPreview::changed, &target,
                   [&] { EXPECT_TRUE(end.text().isEmpty() || problem().grouping->size() > 3); });
  session_.regroup(3);
  session_.settle();
  QObject::disconnect(&end.preview(), &EditPreview::changed, &target, nullptr);
  EXPECT_FALSE(end.place());
  EXPECT_FALSE(drop(target, {10, 10}, *data));
  // What is there already is no edit.
  const auto own = carried({GroupId(0)});
  EXPECT_TRUE(drop(target, {10, 10}, *own));
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_TRUE(move(target, {10, 10}, *own));
  ASSERT_TRUE(wait_until([&] { return end.preview().changes_nothing(); }));
  EXPECT_TRUE(end.text().endsWith("as it is")) << end.text().toStdString();
  EXPECT_TRUE(drop(target, {10, 10}, *own));
  EXPECT_EQ(session_.undo_stack().count(), 1);
  Session empty;
  DeviceDrop nothing(empty, target, [](const QPoint&, Qt::KeyboardModifiers) {
    return std::optional(DropPlace{"x", {DeviceId(0)}});
  });
  EXPECT_TRUE(nothing.text().isEmpty());
}

TEST_F(GroupsDropped, PlacesAreNamedOnce) {
  open_lenet();
  const Cluster& cluster = *problem().cluster;
  std::set<std::vector<DeviceId>> seen;
  std::size_t devices = 0;
  for (const DropPlace& place : all_places(cluster)) {
    EXPECT_FALSE(place.name.isEmpty());
    EXPECT_TRUE(seen.insert(place.devices).second) << place.name.toStdString();
    devices += place.devices.size() == 1;
  }
  EXPECT_EQ(devices, cluster.device_count());
  const Strategy& strategy = session_.snapshot().strategy;
  EXPECT_EQ(with_only_devices(strategy, std::vector{GroupId(0)}, {}), strategy);
}

TEST_F(GroupsDropped, TheClusterTakesThemOnDevicesAndMachines) {
  open_lenet();
  ClusterView view(session_);
  view.resize(900, 500);
  view.show();
  QWidget& port = *view.canvas().viewport();
  const auto data = carried({GroupId(1)});
  const QPoint device = view.canvas().middle_of(DeviceId(1));
  EXPECT_TRUE(enter(port, device, *data));
  EXPECT_TRUE(move(port, device, *data));
  EXPECT_EQ(view.canvas().drop().place(), place_of(*problem().cluster, DeviceId(1)));
  EXPECT_TRUE(move(port, device, *data, Qt::ShiftModifier));
  EXPECT_EQ(view.canvas().drop().place(),
            place_of(*problem().cluster, problem().cluster->device(DeviceId(1)).group));
  EXPECT_FALSE(view.grab().isNull());
  EXPECT_FALSE(move(port, QPoint(1, 1), *data));
  EXPECT_FALSE(view.canvas().drop().place());
  EXPECT_TRUE(drop(port, device, *data));
  session_.settle();
  EXPECT_EQ(decision(1).devices, (std::vector<DeviceShare>{{DeviceId(1), 1}}));
  // Of a cluster that is not the problem's.
  view.show_cluster(std::make_shared<const Cluster>(*problem().cluster), nullptr);
  EXPECT_FALSE(drop(port, view.canvas().middle_of(DeviceId(0)), *data));
}

TEST_F(GroupsDropped, TheTimelineTakesThemOnRowsOfDevices) {
  open_lenet();
  TimelineView view(session_);
  view.resize(900, 500);
  view.show();
  ASSERT_TRUE(wait_until([&] { return view.canvas().rows() != nullptr; }));
  const auto data = carried({GroupId(1)});
  std::optional<std::size_t> device_row, link_row;
  const RowLayout& rows = view.canvas().row_layout();
  for (std::size_t i = 0; i < rows.places.size(); ++i) {
    const TimelineRow& row = view.canvas().rows()->rows[rows.places[i].row];
    if (row.kind == RowKind::Compute && row.device == DeviceId(1)) device_row = i;
    if (row.kind == RowKind::Link) link_row = i;
  }
  ASSERT_TRUE(device_row);
  const auto middle = [&](std::size_t place) {
    return QPoint(400, kAxisHeight + kWhyHeight + rows.places[place].y + 5);
  };
  QWidget& port = *view.canvas().viewport();
  EXPECT_TRUE(move(port, middle(*device_row), *data));
  EXPECT_EQ(view.canvas().drop().place(), place_of(*problem().cluster, DeviceId(1)));
  EXPECT_FALSE(view.grab().isNull());
  ASSERT_TRUE(link_row);
  EXPECT_FALSE(move(port, middle(*link_row), *data));
  EXPECT_TRUE(drop(port, middle(*device_row), *data));
  session_.settle();
  EXPECT_EQ(decision(1).devices, (std::vector<DeviceShare>{{DeviceId(1), 1}}));
}

// The whole way: a press and a move in the graph begin the drag; it hovers over the cluster and is
// taken away again, then dropped.
TEST_F(GroupsDropped, FromTheGraphToTheClusterByMouse) {
  open_lenet();
  GroupGraphView graph(session_);
  graph.resize(600, 500);
  graph.show();
  ClusterView cluster(session_);
  cluster.resize(600, 500);
  cluster.show();
  ASSERT_TRUE(wait_until([&] { return graph.is_laid_out(); }));
  const GraphScene& scene = graph.canvas().scene();
  const GroupId carried_group = scene.content.nodes[0].group;
  QWidget& port = *cluster.canvas().viewport();
  const QPoint device = cluster.canvas().middle_of(DeviceId(1));
  int begun = 0;
  const auto carry = [&](bool dropped, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    carry_with([&](const QMimeData& data) {
      ++begun;
      EXPECT_EQ(dragged(data, problem()), (Carried{{carried_group}, {}}));
      EXPECT_TRUE(move(port, device, data));
      EXPECT_TRUE(
          wait_until([&] { return cluster.canvas().drop().preview().effect().has_value(); }));
      EXPECT_FALSE(cluster.grab().isNull());
      if (dropped) {
        drop(port, device, data);
      } else {
        QDragLeaveEvent leave;  // Escape ends with it
        QCoreApplication::sendEvent(&port, &leave);
      }
    });
    graph.canvas().centre_on(0);
    const QPoint node = scene.to_view(scene.layout.nodes[0].center()).toPoint();
    QTest::mousePress(&graph.canvas(), Qt::LeftButton, keys, node);
    QTest::mouseMove(&graph.canvas(), node + QPoint(30, 30));
    QTest::mouseRelease(&graph.canvas(), Qt::LeftButton, keys, node + QPoint(30, 30));
    carry_with(nullptr);
    session_.settle();
  };
  const Strategy before = session_.snapshot().strategy;
  carry(false);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(session_.snapshot().strategy, before);
  EXPECT_EQ(session_.undo_stack().count(), 0);
  carry(true, Qt::ShiftModifier);  // pans
  EXPECT_EQ(begun, 1);
  carry(true);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(session_.snapshot().strategy.groups[carried_group]->devices,
            (std::vector<DeviceShare>{{DeviceId(1), 1}}));
}

TEST_F(GroupsDropped, ByKeyboard) {
  open_lenet();
  QWidget window;
  EXPECT_FALSE(move_selection(session_, window));  // nothing is selected
  session_.selection().select_groups({GroupId(0), GroupId(1)});
  ASSERT_TRUE(move_selection(session_, window));
  const auto shown = [&]() -> MoveDialog* {
    for (auto* dialog : window.findChildren<MoveDialog*>()) {
      if (dialog->isVisible()) return dialog;
    }
    return nullptr;
  };
  QPointer<MoveDialog> dialog = shown();
  ASSERT_TRUE(dialog);
  const DeviceId last(problem().cluster->device_count() - 1);
  const QString name = text(problem().cluster->device(last).name);
  dialog->filter().setText("no such device");
  EXPECT_EQ(dialog->places().count(), 0);
  QTest::keyClick(&dialog->filter(), Qt::Key_Return);
  ASSERT_TRUE(dialog && dialog->isVisible());
  dialog->filter().clear();
  const int all = dialog->places().count();
  EXPECT_EQ(all, static_cast<int>(all_places(*problem().cluster).size()));
  QTest::keyClick(&dialog->filter(), Qt::Key_Down);
  EXPECT_EQ(dialog->places().currentRow(), 1);
  dialog->filter().setText(name);
  ASSERT_TRUE(wait_until([&] { return dialog->preview().effect().has_value(); }));
  const EditEffect effect = *dialog->preview().effect();
  QTest::keyClick(&dialog->filter(), Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(shown(), nullptr);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(step_time(), effect.after);
  EXPECT_EQ(decision(1).devices, (std::vector<DeviceShare>{{last, 1}}));
  // It goes with its problem, and with Escape.
  ASSERT_TRUE(move_selection(session_, window));
  session_.regroup(3);
  session_.settle();
  EXPECT_EQ(shown(), nullptr);
  session_.selection().select_group(GroupId(0));
  ASSERT_TRUE(move_selection(session_, window));
  ASSERT_NE(shown(), nullptr);
  QTest::keyClick(&shown()->filter(), Qt::Key_Escape);
  EXPECT_EQ(shown(), nullptr);
  EXPECT_EQ(session_.undo_stack().count(), 0);  // other groups: nothing of them was edited
}

// Whatever makes the preview forget its question, the place that is chosen is still asked about.
TEST_F(GroupsDropped, ByKeyboardTellsTheEffectOfWhatHoldsNow) {
  open_lenet();
  session_.selection().select_groups({GroupId(0), GroupId(1)});
  MoveDialog dialog(session_);
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  dialog.show();
  dialog.filter().setText(text(problem().cluster->device(DeviceId(1)).name));
  const auto told = [&] { return dialog.preview().effect().has_value(); };
  ASSERT_TRUE(wait_until(told));
  session_.set_simulation({TaskOrder::Fifo, true});
  EXPECT_TRUE(dialog.preview().asks());
  session_.settle();
  ASSERT_TRUE(wait_until(told));
  EXPECT_EQ(dialog.preview().effect()->before, step_time());
  Constraints demand;
  demand.forbidden.push_back({{"*", {}}, {problem().cluster->device(DeviceId(1)).name}, {}});
  ASSERT_TRUE(session_.constrain(demand, "not there"));
  EXPECT_TRUE(dialog.preview().asks());
  ASSERT_TRUE(wait_until(told));
  session_.selection().clear();
  EXPECT_TRUE(dialog.preview().asks());
  EXPECT_TRUE(wait_until(told));
  dialog.filter().setText("no such device");
  EXPECT_FALSE(dialog.preview().asks());
}

}  // namespace
}  // namespace strato
