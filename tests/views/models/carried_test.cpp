// Groups and ops on their way to a device: what goes with them, how they are called, what the drop
// makes of a strategy.
#include "views/models/carried.h"

#include <QSignalSpy>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "tests/views/models/fixture.h"
#include "views/models/drop_place.h"
#include "views/models/edit_preview.h"
#include "views/models/op_table_model.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

class CarriedOps : public SessionTest {
 protected:
  const Graph& graph() { return *problem().graph; }
  const Strategy& strategy() { return session_.snapshot().strategy; }
  GroupId group_of(OpId op) { return problem().grouping->group_of(op); }
  const Decision& decision_of(OpId op) { return *strategy().groups[group_of(op)]; }

  std::vector<OpId> layer(OpId forward) {
    std::vector<OpId> ops;
    for (std::size_t i = 0; i < graph().op_count(); ++i)
      if (layer_of(graph(), OpId(i)) == forward) ops.emplace_back(i);
    return ops;
  }
  // One with gradients and updates, in a group with other layers.
  OpId trained_layer() {
    for (std::size_t i = 0; i < graph().op_count(); ++i) {
      const std::vector<OpId> ops = layer(OpId(i));
      const bool updates =
          std::ranges::any_of(ops, [&](OpId op) { return graph().op(op).phase == Phase::Update; });
      if (updates && ops.size() < problem().grouping->group(group_of(OpId(i))).ops.size())
        return OpId(i);
    }
    return {};
  }
  Strategy on(const Carried& carried, std::vector<DeviceId> devices) {
    const auto times = mean_op_times(graph(), *problem().cluster, *problem().cost);
    const Snapshot& shown = session_.snapshot();
    return with_carried_on({*shown.problem, *shown.opened, shown.strategy, times}, carried,
                           devices);
  }
  void drop(const Carried& carried, DeviceId device) {
    drop_on(session_, carried, place_of(*problem().cluster, device));
    session_.settle();
  }
};

const std::vector<DeviceShare> kOnSecond = {{DeviceId(1), 1}};

TEST_F(CarriedOps, ALayerGoesAsAWhole) {
  open_lenet();
  const OpId forward = trained_layer();
  ASSERT_TRUE(forward.valid());
  const std::vector<OpId> ops = layer(forward);
  ASSERT_GT(ops.size(), 2u);
  for (const OpId op : ops)
    EXPECT_EQ(carried_ops(std::vector{op}, problem()), (Carried{{}, ops})) << op.value();
  EXPECT_EQ(names_of(carried_ops(std::vector{forward}, problem()), problem()),
            QStringLiteral("layer %1 (%2 ops)")
                .arg(QString::fromStdString(graph().op(forward).name))
                .arg(ops.size()));
  // Where somebody has parted it, only what is left together.
  const Strategy parted = [&] {
    const auto times = mean_op_times(graph(), *problem().cluster, *problem().cost);
    const Snapshot& shown = session_.snapshot();
    return with_ops_apart({*shown.problem, *shown.opened, shown.strategy, times},
                          std::vector{ops.back()});
  }();
  session_.edit(parted, QStringLiteral("apart"));
  session_.settle();
  EXPECT_EQ(carried_ops(std::vector{ops.back()}, problem()), (Carried{{group_of(ops.back())}, {}}));
  EXPECT_EQ(carried_ops(std::vector{forward}, problem()),
            (Carried{{}, {ops.begin(), ops.end() - 1}}));
}

TEST_F(CarriedOps, AllOfAGroupIsTheGroup) {
  open_lenet();
  const std::vector<OpId> all = problem().grouping->group(GroupId(2)).ops;
  EXPECT_EQ(carried_ops(all, problem()), (Carried{{GroupId(2)}, {}}));
  std::vector<OpId> every;
  for (std::size_t i = graph().op_count(); i-- > 0;) every.emplace_back(i);
  const Carried whole = carried_ops(every, problem());
  EXPECT_TRUE(whole.ops.empty());
  EXPECT_EQ(whole.groups.size(), problem().grouping->size());
  EXPECT_TRUE(carried_ops({}, problem()).is_empty());
  std::vector<OpId> mixed = all;
  for (int i = 0; i < 2; ++i) mixed.push_back(trained_layer());  // twice the same
  if (group_of(trained_layer()) != GroupId(2)) {
    const Carried both = carried_ops(mixed, problem());
    EXPECT_EQ(both.groups, std::vector{GroupId(2)});
    EXPECT_EQ(both.ops, layer(trained_layer()));
    EXPECT_TRUE(names_of(both, problem()).contains(QStringLiteral(" and layer ")));
  }
  // A group's edit is the ordinary one.
  EXPECT_EQ(on({{GroupId(2)}, {}}, {DeviceId(1)}),
            with_only_devices(strategy(), std::vector{GroupId(2)}, std::vector{DeviceId(1)}));
}

TEST_F(CarriedOps, GoThroughADragAndNotThroughADamagedOne) {
  open_lenet();
  const Carried carried = carried_ops(std::vector{trained_layer()}, problem());
  const std::unique_ptr<QMimeData> data(drag_of(carried, problem()));
  EXPECT_EQ(dragged(*data, problem()), carried);
  EXPECT_EQ(data->text(), names_of(carried, problem()));
  const QByteArray bytes = data->data(drag_type());
  for (qsizetype cut = 0; cut < bytes.size(); ++cut) {
    QMimeData damaged;
    damaged.setData(drag_type(), bytes.left(cut));
    EXPECT_TRUE(dragged(damaged, problem()).is_empty()) << cut;
  }
  for (qsizetype at = 0; at < bytes.size(); ++at) {  // never an op that is not there
    QByteArray changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x7f);
    QMimeData damaged;
    damaged.setData(drag_type(), changed);
    for (const OpId op : dragged(damaged, problem()).ops) EXPECT_LT(op.index(), graph().op_count());
  }
  session_.regroup(3);
  session_.settle();
  EXPECT_TRUE(dragged(*data, problem()).is_empty());
}

TEST_F(CarriedOps, LeaveTheirGroupForTheDevice) {
  open_workspace();
  open_lenet();
  const OpId forward = trained_layer();
  const std::vector<OpId> ops = layer(forward);
  const std::size_t groups = problem().grouping->size();
  const Decision before = decision_of(forward);
  const Strategy shown = strategy();
  std::vector<OpId> rest = problem().grouping->group(group_of(forward)).ops;
  std::erase_if(rest, [&](OpId op) { return std::ranges::binary_search(ops, op); });
  session_.selection().select_op(forward, group_of(forward));
  drop(carried_ops(std::vector{forward}, problem()), DeviceId(1));
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(problem().grouping->size(), groups + 1);
  EXPECT_EQ(problem().grouping->group(group_of(forward)).ops, ops);
  EXPECT_EQ(decision_of(forward).devices, kOnSecond);
  EXPECT_EQ(decision_of(forward).mode, before.mode);
  EXPECT_EQ(problem().grouping->group(group_of(rest[0])).ops, rest);
  EXPECT_EQ(decision_of(rest[0]), before);
  EXPECT_EQ(session_.selection().ops(), std::vector{forward});
  EXPECT_EQ(session_.selection().groups(), std::vector{group_of(forward)});
  // What it computes is there, and nowhere else.
  for (const Task& task : session_.snapshot().outcome->program->tasks) {
    if (std::ranges::binary_search(ops, task.op) &&
        (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)) {
      EXPECT_EQ(task.device, DeviceId(1)) << task.op.value();
    }
  }
  // One step, with a name, stored with what it comes from.
  ASSERT_EQ(session_.undo_stack().count(), 1);
  const QString name = session_.undo_stack().text(0);
  const QString device = place_of(*problem().cluster, DeviceId(1)).name;
  EXPECT_TRUE(name.startsWith(QStringLiteral("layer "))) << name.toStdString();
  EXPECT_TRUE(name.endsWith(QStringLiteral(" onto ") + device)) << name.toStdString();
  const auto rows = stored().strategies().all();
  EXPECT_TRUE(std::ranges::any_of(rows, [&](const StoredStrategy& row) {
    return row.label == name.toStdString() && row.parent && row.origin == Origin::Edit;
  }));
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(strategy(), shown);
  EXPECT_EQ(problem().grouping->size(), groups);
  session_.undo_stack().redo();
  session_.settle();
  EXPECT_EQ(decision_of(forward).devices, kOnSecond);
}

TEST_F(CarriedOps, WhatIsThereAlreadyStaysInItsGroup) {
  open_lenet();
  const OpId forward = trained_layer();
  drop({{group_of(forward)}, {}}, DeviceId(1));
  ASSERT_EQ(session_.undo_stack().count(), 1);
  const Carried carried = carried_ops(std::vector{forward}, problem());
  ASSERT_FALSE(carried.ops.empty());
  EXPECT_EQ(on(carried, {DeviceId(1)}), strategy());
  EXPECT_EQ(on(carried, {}), strategy());
  drop(carried, DeviceId(1));
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EditPreview preview(session_);
  preview.ask(onto(carried, {DeviceId(1)}));
  EXPECT_TRUE(preview.waits());
  ASSERT_TRUE(wait_until([&] { return !preview.waits(); }));
  EXPECT_TRUE(preview.changes_nothing());
  EXPECT_TRUE(preview.text().isEmpty());
  // Of two groups only the part of the one that is elsewhere leaves it.
  OpId other;
  for (std::size_t i = 0; i < graph().op_count() && !other.valid(); ++i) {
    const Carried part = carried_ops(std::vector{OpId(i)}, problem());
    if (!part.ops.empty() && group_of(OpId(i)) != group_of(forward)) other = OpId(i);
  }
  ASSERT_TRUE(other.valid());
  const std::size_t groups = problem().grouping->size();
  drop(carried_ops(std::vector{forward, other}, problem()), DeviceId(1));
  EXPECT_EQ(problem().grouping->size(), groups + 1);
  EXPECT_EQ(decision_of(other).devices, kOnSecond);
  EXPECT_GT(problem().grouping->group(group_of(forward)).ops.size(), carried.ops.size());
}

TEST_F(CarriedOps, WhatIsSplitIsWholeWhereItIsDropped) {
  open_lenet();
  OpId split;
  int axis = -1;
  for (std::size_t i = 0; i < graph().op_count() && !split.valid(); ++i) {
    if (carried_ops(std::vector{OpId(i)}, problem()).ops.empty()) continue;
    for (const auto& possible : split_axes(graph(), OpId(i))) {
      split = OpId(i);
      axis = possible.axis;
      break;
    }
  }
  ASSERT_TRUE(split.valid());
  Strategy wanted = strategy();
  wanted.splits = {{split, axis, {{DeviceId(0), 1}, {DeviceId(1), 1}}}};
  session_.edit(wanted, QStringLiteral("split"));
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  drop(carried_ops(std::vector{split}, problem()), DeviceId(1));
  EXPECT_TRUE(strategy().splits.empty());
  EXPECT_EQ(decision_of(split).devices, kOnSecond);
}

TEST_F(CarriedOps, ThePreviewTellsWhatTheDropDoes) {
  open_lenet();
  EditPreview preview(session_);
  const Carried carried = carried_ops(std::vector{trained_layer()}, problem());
  for (const DeviceId device : {DeviceId(0), DeviceId(1), DeviceId(0)}) {
    preview.ask(onto(carried, {device}));
    EXPECT_TRUE(preview.asks());
    ASSERT_TRUE(wait_until([&] { return preview.effect().has_value(); }));
    EXPECT_EQ(preview.effect()->before, step_time());
    EXPECT_EQ(preview.effect()->after,
              simulate_as(problem(), on(carried, {device}), {}).timeline->step_time);
  }
  const EditEffect effect = *preview.effect();
  drop(carried, DeviceId(0));
  EXPECT_FALSE(preview.asks());
  EXPECT_EQ(strategy(), effect.strategy);
  EXPECT_EQ(step_time(), effect.after);
}

TEST_F(CarriedOps, AreRowsOfTheOpTable) {
  open_lenet();
  const OpId forward = trained_layer();
  OpTableModel table(session_);
  table.show(group_of(forward));
  const QModelIndex row = table.index(table.row_of(forward), OpTableModel::Name);
  EXPECT_TRUE(table.flags(row) & Qt::ItemIsDragEnabled);
  const std::unique_ptr<QMimeData> data(table.mimeData({row, row.siblingAtColumn(1)}));
  ASSERT_TRUE(data);
  EXPECT_EQ(dragged(*data, problem()), (Carried{{}, layer(forward)}));
  EXPECT_FALSE(table.flags({}) & Qt::ItemIsDragEnabled);
}

TEST_F(CarriedOps, AnEditIsMadeLaterUnlessSomethingElseIsShown) {
  open_lenet();
  QSignalSpy told(&session_, &Session::message);
  const Carried carried = carried_ops(std::vector{trained_layer()}, problem());
  const Strategy other = with_mode(strategy(), std::vector{GroupId(0)}, Mode::Duplicate);
  drop_on(session_, carried, place_of(*problem().cluster, DeviceId(1)));
  EXPECT_EQ(session_.undo_stack().count(), 0);
  EXPECT_TRUE(session_.busy());
  session_.edit(other, QStringLiteral("other"));  // meanwhile
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(strategy(), other);
  ASSERT_EQ(told.count(), 1);
  EXPECT_TRUE(told[0][0].toString().contains(QStringLiteral("meanwhile")));
  // The same of two drops at once: the first one is made.
  drop_on(session_, carried, place_of(*problem().cluster, DeviceId(1)));
  drop_on(session_, carried, place_of(*problem().cluster, DeviceId(0)));
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 2);
  EXPECT_EQ(decision_of(carried.ops[0]).devices, kOnSecond);
  // Another problem.
  drop_on(session_, carried_ops(std::vector{carried.ops[0]}, problem()),
          place_of(*problem().cluster, DeviceId(0)));
  session_.regroup(3);
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 0);
  EXPECT_EQ(problem().grouping->size(), 3u);
  // What cannot be done is told; so it is in a session that ends.
  told.clear();
  session_.edit_later([](const Regrouping& from) { return merged(from, {}); }, {});
  session_.settle();
  ASSERT_EQ(told.count(), 1);
  EXPECT_TRUE(failures_.isEmpty());
  auto ending = std::make_unique<Session>();
  ending->edit_later([](const Regrouping&) { return Strategy(); }, {});
}

}  // namespace
}  // namespace strato
