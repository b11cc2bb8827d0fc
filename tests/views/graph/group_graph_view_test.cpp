// The graph view driven by real events: levels, queries, equal blocks, colours, other groups.
#include "views/graph/group_graph_view.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "tests/views/models/fixture.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

class GraphViewTest : public SessionTest {
 protected:
  void show() {
    view_ = std::make_unique<GroupGraphView>(session_);
    view_->resize(1000, 600);
    view_->show();
    view_->activateWindow();
    view_->setFocus();
    laid_out();
  }
  void laid_out() {
    ASSERT_TRUE(wait_until([&] { return view_->is_laid_out() && !view_->is_searching(); }));
  }
  const GraphScene& scene() { return view_->canvas().scene(); }
  std::size_t node_count() { return scene().content.nodes.size(); }
  QPoint middle(std::size_t node) {
    view_->canvas().centre_on(static_cast<int>(node));
    return scene().to_view(scene().layout.nodes[node].center()).toPoint();
  }
  void click(std::size_t node, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::mouseClick(&view_->canvas(), Qt::LeftButton, keys, middle(node));
  }
  void open(std::size_t node) {
    QTest::mouseDClick(&view_->canvas(), Qt::LeftButton, Qt::NoModifier, middle(node));
    laid_out();
  }
  void press(Qt::Key key, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::keyClick(&view_->canvas(), key, keys);
  }
  void type(const QString& query) {
    auto* find = view_->findChild<QLineEdit*>();
    find->clear();
    QTest::keyClicks(find, query);
    laid_out();
  }
  void enter() {
    QTest::keyClick(view_->findChild<QLineEdit*>(), Qt::Key_Return);
    laid_out();
  }
  std::size_t found() { return static_cast<std::size_t>(std::ranges::count(scene().found, 1)); }
  std::size_t group_node(GroupId group) {
    const auto& nodes = scene().content.nodes;
    return static_cast<std::size_t>(std::ranges::find(nodes, group, &GraphNode::group) -
                                    nodes.begin());
  }
  bool says(const QString& words) {
    return std::ranges::any_of(view_->findChildren<QLabel*>(), [&](const QLabel* label) {
      return !label->isHidden() && label->text().contains(words);
    });
  }

  std::unique_ptr<GroupGraphView> view_;
};

TEST_F(GraphViewTest, OpensDownToOpsAndComesBackUp) {
  open_lenet();
  show();
  ASSERT_EQ(node_count(), problem().grouping->size());
  const GroupId group = scene().content.nodes[0].group;
  open(0);
  ASSERT_EQ(view_->levels().size(), 1u);
  std::size_t ops = 0, met = 0;
  for (const GraphNode& node : scene().content.nodes) {
    if (!node.boundary) met += ops_of(node, *problem().grouping).size();
  }
  ops = problem().grouping->group(group).ops.size();
  EXPECT_EQ(met, ops);
  EXPECT_TRUE(says("› <b>"));
  press(Qt::Key_Backspace);
  laid_out();
  EXPECT_TRUE(view_->levels().empty());
  EXPECT_EQ(session_.selection().groups(), std::vector{group});
  EXPECT_EQ(scene().selected[group_node(group)], 1);
  press(Qt::Key_Return);  // opens what is selected
  laid_out();
  EXPECT_EQ(view_->levels().size(), 1u);
}

TEST_F(GraphViewTest, AQuerySelectsTheGroupsOfWhatItFinds) {
  open_lenet();
  show();
  press(Qt::Key_Slash);
  EXPECT_TRUE(view_->bar().finds());
  type("type == Conv and phase == forward");
  std::vector<GroupId> wanted;
  for (std::size_t i = 0; i < problem().graph->op_count(); ++i) {
    if (problem().graph->op(OpId(i)).type != "Conv") continue;
    if (problem().graph->op(OpId(i)).phase == Phase::Forward)
      wanted.push_back(problem().grouping->group_of(OpId(i)));
  }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(found(), wanted.size());
  EXPECT_TRUE(says("groups"));
  enter();
  EXPECT_EQ(session_.selection().groups(), wanted);
  enter();  // the next one
  EXPECT_EQ(session_.selection().groups(), wanted);
  type("type == ");
  EXPECT_TRUE(says("Column 9"));
  EXPECT_EQ(found(), 0u);
  type("no-such-op");
  EXPECT_TRUE(says("nothing found"));
  QTest::keyClick(view_->findChild<QLineEdit*>(), Qt::Key_Escape);
  laid_out();
  EXPECT_TRUE(view_->canvas().hasFocus() || view_->bar().query().isEmpty());
}

TEST_F(GraphViewTest, AQueryMayAskForDevicesAndTimes) {
  open_lenet();
  show();
  const std::string device = problem().cluster->device(DeviceId(0)).name;
  type(QString::fromStdString("device == " + device));
  EXPECT_EQ(found(), node_count());  // data parallel
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "move");
  session_.settle();
  laid_out();
  EXPECT_EQ(found(), node_count() - 1);
  type("time > 10s");
  EXPECT_EQ(found(), 0u);
  type("time > 1ns");
  EXPECT_GT(found(), 0u);
}

TEST_F(GraphViewTest, ColoursSayWhatIsAskedFor) {
  open_lenet();
  show();
  EXPECT_EQ(view_->overlay(), Overlay::Device);
  EXPECT_FALSE(view_->legend().entries.empty());
  for (const Overlay overlay : kOverlays) {
    view_->set_overlay(overlay);
    if (is_of_outcome(overlay) && overlay != Overlay::SinceEdit &&
        overlay != Overlay::AgainstPlan) {
      ASSERT_TRUE(wait_until([&] { return scene().values.size() == node_count(); }));
      EXPECT_FALSE(view_->legend().ramp.empty());
    }
    EXPECT_FALSE(view_->grab().isNull());
  }
  view_->set_overlay(Overlay::SinceEdit);
  EXPECT_TRUE(says("Nothing was edited yet"));
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "move");
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return scene().values.size() == node_count(); }));
  EXPECT_NE(scene().values[group_node(GroupId(0))], 0);
  press(Qt::Key_O);
  EXPECT_EQ(view_->overlay(), Overlay::AgainstBaseline);
  press(Qt::Key_O);
  EXPECT_EQ(view_->overlay(), Overlay::AgainstPlan);
  EXPECT_TRUE(says("Nothing to compare with yet"));  // nobody gave the view a second plan
  press(Qt::Key_O);
  EXPECT_EQ(view_->overlay(), Overlay::Attention);
  press(Qt::Key_O);
  EXPECT_EQ(view_->overlay(), Overlay::Device);
  press(Qt::Key_O, Qt::ShiftModifier);
  EXPECT_EQ(view_->overlay(), Overlay::Attention);
}

TEST_F(GraphViewTest, OpsOfADividedGroupAreWhereTheyRun) {
  open_lenet();
  show();
  ASSERT_EQ(problem().cluster->groups().size(), 2u);
  Decision divided = decision_on_device(DeviceId(0));
  divided.mode = Mode::ModelParallel;
  divided.devices.push_back({DeviceId(problem().cluster->device_count() - 1), 1});
  session_.decide({GroupId(0)}, divided, "divide");
  session_.settle();
  view_->open_group(GroupId(0));
  laid_out();
  ASSERT_TRUE(wait_until([&] {
    for (std::size_t n = 0; n < node_count(); ++n) {
      if (scene().content.nodes[n].op.valid() && scene().stripes[n].size() != 1) return false;
    }
    return true;
  }));
}

TEST_F(GraphViewTest, TimesAddUpToTheTimeline) {
  open_lenet();
  show();
  view_->set_overlay(Overlay::Time);
  ASSERT_TRUE(wait_until([&] { return !scene().values.empty(); }));
  double sum = 0, busy = 0;
  for (const double value : scene().values) sum += value;
  const Timeline& timeline = *session_.snapshot().outcome->timeline;
  for (std::size_t t = 0; t < timeline.tasks.size(); ++t) {
    const TaskKind kind = timeline.program->tasks[TaskId(t)].kind;
    if (kind == TaskKind::Compute || kind == TaskKind::Update)
      busy += static_cast<double>(
          (timeline.tasks[TaskId(t)].end - timeline.tasks[TaskId(t)].start).value);
  }
  EXPECT_DOUBLE_EQ(sum, busy);
}

TEST_F(GraphViewTest, TheCriticalPathAndTracesAreShown) {
  open_lenet();
  show();
  press(Qt::Key_C);
  ASSERT_TRUE(wait_until([&] { return scene().on_path.size() == node_count(); }));
  EXPECT_GT(std::ranges::count(scene().on_path, 1), 0);
  click(0);
  press(Qt::Key_BracketLeft);
  ASSERT_EQ(scene().traced.size(), node_count());
  EXPECT_EQ(scene().traced[0], 1);
  press(Qt::Key_BracketRight);
  EXPECT_EQ(scene().traced.size(), node_count());
  press(Qt::Key_BracketRight);
  EXPECT_TRUE(scene().traced.empty());
  press(Qt::Key_C);
  EXPECT_TRUE(scene().on_path.empty());
}

TEST_F(GraphViewTest, GroupsAreMergedAndSplitAndUndone) {
  open_lenet();
  show();
  const Strategy before = session_.snapshot().strategy;
  const std::size_t count = problem().grouping->size();
  click(0);
  click(1, Qt::ControlModifier);
  ASSERT_EQ(session_.selection().groups().size(), 2u);
  press(Qt::Key_G, Qt::ControlModifier);
  ASSERT_TRUE(wait_until([&] { return problem().grouping->size() == count - 1; }));
  laid_out();
  session_.settle();
  EXPECT_TRUE(session_.snapshot().has_own_groups());
  EXPECT_EQ(node_count(), count - 1);
  ASSERT_EQ(session_.selection().groups().size(), 1u);  // the merged one
  press(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait_until([&] { return problem().grouping->size() > count - 1; }));
  laid_out();
  session_.settle();
  session_.undo_stack().undo();
  session_.undo_stack().undo();
  session_.settle();
  laid_out();
  EXPECT_EQ(session_.snapshot().strategy, before);
  EXPECT_FALSE(session_.snapshot().has_own_groups());
  EXPECT_EQ(node_count(), count);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(GraphViewTest, AGroupOpensInPlaceAndCloses) {
  open_lenet();
  show();
  click(1);
  const std::size_t count = node_count();
  const GroupId group = scene().content.nodes[1].group;
  const GraphLayout before = scene().layout;
  press(Qt::Key_Space);
  laid_out();
  ASSERT_GT(node_count(), count);
  EXPECT_TRUE(scene().content.nodes[1].frame);
  EXPECT_TRUE(view_->levels().empty());
  ASSERT_EQ(view_->opened_in_place().size(), 1u);
  std::size_t ops = 0;
  for (std::size_t n = count; n < node_count(); ++n) {
    ops += ops_of(scene().content.nodes[n], *problem().grouping).size();
    EXPECT_TRUE(scene().layout.nodes[1].contains(scene().layout.nodes[n]));
  }
  EXPECT_EQ(ops, problem().grouping->group(group).ops.size());
  // Colours, queries and the critical path go through the parts.
  view_->set_overlay(Overlay::Time);
  press(Qt::Key_C);
  ASSERT_TRUE(wait_until([&] { return scene().values.size() == node_count(); }));
  EXPECT_EQ(scene().values[1], 0);  // a frame counts nothing twice
  EXPECT_FALSE(view_->grab().isNull());
  click(node_count() - 1);
  press(Qt::Key_Space);
  laid_out();
  view_->canvas().fit();
  if (scene().content.nodes[1].frame) {  // it was a scope: closes with what it is on
    QTest::mouseDClick(
        &view_->canvas(), Qt::LeftButton, Qt::NoModifier,
        scene().to_view(scene().layout.nodes[1].topLeft() + QPointF(6, 6)).toPoint());
    laid_out();
  }
  ASSERT_EQ(node_count(), count);
  EXPECT_FALSE(scene().content.nodes[1].frame);
  EXPECT_EQ(scene().layout.nodes, before.nodes);
  EXPECT_TRUE(view_->opened_in_place().empty());
  // All are open, one after the other; going down a level forgets it.
  for (std::size_t n = 0; n < count; ++n) {
    click(n);
    press(Qt::Key_Space);
    laid_out();
  }
  EXPECT_FALSE(view_->grab().isNull());
  press(Qt::Key_Escape);
  press(Qt::Key_Space);  // nothing is chosen
  view_->open_group(group);
  view_->toggle_in_place();  // while it is laid out
  laid_out();
  EXPECT_TRUE(view_->opened_in_place().empty());
}

TEST_F(GraphViewTest, GroupsAreRenamedByHand) {
  open_workspace();
  open_lenet();
  show();
  click(0);
  const GroupId group = scene().content.nodes[0].group;
  const std::string own = problem().grouping->group(group).name;
  const auto field = [&]() -> QLineEdit* {
    for (auto* edit : view_->canvas().findChildren<QLineEdit*>()) {
      if (!edit->isHidden()) return edit;
    }
    return nullptr;
  };
  const auto call = [&](const QString& name) {
    press(Qt::Key_F2);
    ASSERT_NE(field(), nullptr);
    EXPECT_EQ(field()->text().toStdString(), problem().grouping->group(group).name);
    field()->setText(name);
    QTest::keyClick(field(), Qt::Key_Return);
  };
  call(QString::fromUtf8("\u05d0\u05d1\U0001F680"));
  session_.settle();
  laid_out();
  EXPECT_TRUE(problem().grouping->is_renamed(group));
  EXPECT_EQ(scene().content.nodes[0].name, QString::fromUtf8("\u05d0\u05d1\U0001F680"));
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_FALSE(view_->grab().isNull());
  const Strategy named = session_.snapshot().strategy;
  // One that is taken, or too long, stays in the field, with words; Escape leaves it.
  ASSERT_TRUE(wait_until([&] { return field() == nullptr; }));
  for (const QString& bad : {text(problem().grouping->group(GroupId(2)).name), QString(300, 'x')}) {
    call(bad);
    ASSERT_NE(field(), nullptr);
    EXPECT_TRUE(says(bad == QString(300, 'x') ? "at most" : "another"));
    QTest::keyClick(field(), Qt::Key_Escape);
    ASSERT_TRUE(wait_until([&] { return field() == nullptr; }));
  }
  EXPECT_EQ(session_.snapshot().strategy, named);
  // Others that are merged leave it its name; undone, it is called as before.
  click(1);
  click(2, Qt::ControlModifier);
  press(Qt::Key_G, Qt::ControlModifier);
  ASSERT_TRUE(wait_until([&] { return session_.undo_stack().count() == 2; }));
  session_.settle();
  laid_out();
  EXPECT_TRUE(problem().grouping->find("\u05d0\u05d1\U0001F680").valid());
  session_.undo_stack().undo();
  session_.undo_stack().undo();
  session_.settle();
  laid_out();
  EXPECT_EQ(problem().grouping->group(group).name, own);
  EXPECT_FALSE(session_.snapshot().has_own_groups());
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(GraphViewTest, ANameIsTakenWhenTheFieldIsLeft) {
  open_lenet();
  show();
  click(0);
  const GroupId group = scene().content.nodes[0].group;
  const auto shown = [&]() -> QLineEdit* {
    for (auto* edit : view_->canvas().findChildren<QLineEdit*>()) {
      if (!edit->isHidden()) return edit;
    }
    return nullptr;
  };
  const auto leave_with = [&](const QString& name, Qt::FocusReason reason) {
    press(Qt::Key_F2);
    auto* field = shown();
    ASSERT_NE(field, nullptr);
    field->setText(name);
    QFocusEvent left(QEvent::FocusOut, reason);
    QCoreApplication::sendEvent(field, &left);
    EXPECT_EQ(field->isHidden(), reason != Qt::ActiveWindowFocusReason);
    session_.settle();
    laid_out();
    if (reason == Qt::ActiveWindowFocusReason) QTest::keyClick(field, Qt::Key_Escape);
    EXPECT_EQ(shown(), nullptr);
  };
  const auto name = [&] { return text(problem().grouping->group(group).name); };
  const QString own = name();
  leave_with(own, Qt::MouseFocusReason);
  leave_with("later", Qt::ActiveWindowFocusReason);  // and Escape
  EXPECT_EQ(session_.undo_stack().count(), 0);
  EXPECT_EQ(name(), own);
  leave_with("first", Qt::MouseFocusReason);
  ASSERT_TRUE(wait_until([&] { return name() == "first"; }));
  session_.settle();
  laid_out();
  EXPECT_EQ(session_.undo_stack().count(), 1);
  // One that cannot be is told, and the field goes all the same.
  leave_with(text(problem().grouping->group(GroupId(2)).name), Qt::TabFocusReason);
  ASSERT_TRUE(wait_until([&] { return says("another"); }));
  EXPECT_EQ(name(), "first");
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(GraphViewTest, WhatIsOpenInPlaceStaysSoWithOtherNames) {
  open_lenet();
  show();
  for (const std::size_t n : {0u, 1u}) {
    click(n);
    press(Qt::Key_Space);
    laid_out();
  }
  ASSERT_EQ(view_->opened_in_place().size(), 2u);
  const std::size_t count = node_count();
  click(0);
  press(Qt::Key_F2);
  auto* field = view_->canvas().findChild<QLineEdit*>();
  ASSERT_NE(field, nullptr);
  field->setText("first");
  QTest::keyClick(field, Qt::Key_Return);
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return view_->opened_in_place().size() == 2; }));
  laid_out();
  EXPECT_EQ(scene().content.nodes[0].name, "first");
  EXPECT_TRUE(scene().content.nodes[0].frame);
  EXPECT_EQ(node_count(), count);
  session_.regroup(3);  // other groups: all is closed
  session_.settle();
  laid_out();
  EXPECT_TRUE(view_->opened_in_place().empty());
}

// The groups are others between the press on a node and the move.
TEST_F(GraphViewTest, APressedNodeThatIsGoneIsNotCarried) {
  open_lenet();
  show();
  int begun = 0;
  QObject::connect(&view_->canvas(), &GraphCanvas::node_dragged, [&] { ++begun; });
  const QPoint last = middle(node_count() - 1);
  QTest::mousePress(&view_->canvas(), Qt::LeftButton, Qt::NoModifier, last);
  session_.regroup(2);
  session_.settle();
  laid_out();
  QTest::mouseMove(&view_->canvas(), last + QPoint(40, 40));
  QTest::mouseRelease(&view_->canvas(), Qt::LeftButton, Qt::NoModifier, last + QPoint(40, 40));
  EXPECT_EQ(begun, 0);
}

TEST_F(GraphViewTest, WhatWasFoundIsFoundAnewAfterASimulation) {
  open_lenet();
  show();
  type("time > 1us");
  const auto settled = [&] { return !view_->is_searching(); };
  session_.set_simulation({TaskOrder::Priority, true});
  session_.settle();
  EXPECT_TRUE(view_->is_searching());  // asked again, with the new times
  ASSERT_TRUE(wait_until(settled));
  // The hint of a colour that has nothing to tell goes when it has.
  type("");
  view_->set_overlay(Overlay::SinceEdit);
  const bool hinted = says("Nothing was edited yet");
  session_.edit(
      with_device(session_.snapshot().strategy, std::vector{GroupId(0)}, DeviceId(0), false),
      "without a device");
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return !scene().values.empty(); }));
  EXPECT_FALSE(says("Nothing was edited yet")) << hinted;
}

TEST_F(GraphViewTest, AnotherProblemAndNoneWhileAllIsUnderWay) {
  open_lenet();
  view_ = std::make_unique<GroupGraphView>(session_);
  view_->resize(700, 400);
  view_->show();
  view_->findChild<QLineEdit*>()->setText("conv");
  view_->set_overlay(Overlay::Blame);
  view_->open_group(GroupId(0));
  session_.regroup(3);
  view_->open_group(GroupId(1));
  session_.settle();
  laid_out();
  EXPECT_EQ(node_count(), problem().grouping->size());
  view_->open_group(GroupId(99));  // there is none
  EXPECT_TRUE(view_->levels().empty());
  view_->open_group(GroupId(0));
  view_.reset();  // closes during all of it
}

// Nobody has moved it: with another size it is seen as if it had been drawn there.
TEST_F(GraphViewTest, AnotherSizeShowsTheSamePartUntilSomebodyMovesIt) {
  open_lenet();
  show();
  const auto at = [&](const QSize& size) {
    view_->resize(size);
    QCoreApplication::processEvents();
    return scene().offset;
  };
  const QSize large(1000, 600), small(420, 260);  // that does not show all of it
  const QPointF wide = at(large);
  const double scale = scene().scale;
  const QPointF narrow = at(small);
  EXPECT_LT(scene().scale, scale);
  EXPECT_NE(wide, narrow);
  EXPECT_EQ(at(large), wide);
  EXPECT_EQ(at(small), narrow);
  for (const std::size_t node : {std::size_t{0}, node_count() - 1}) {
    view_->canvas().centre_on(static_cast<int>(node));
    if (scene().offset == narrow) continue;
    const QPointF moved = scene().offset;
    EXPECT_NE(at(small + QSize(0, 2)), narrow);
    EXPECT_NEAR(scene().offset.x(), moved.x(), 1);
    return;
  }
  ADD_FAILURE() << "it has nowhere to move to";
}

TEST(GraphView, EmptyStatePaints) {
  Session session;
  GroupGraphView view(session);
  view.resize(600, 400);
  view.set_overlay(Overlay::Time);
  view.show_critical_path(true);
  view.set_trace(TraceWay::Inputs);
  view.merge_selected();
  view.split_selected();
  view.split_at_selected();
  view.select_equal_blocks();
  view.go_up();
  view.open_group(GroupId(0));
  view.findChild<QLineEdit*>()->setText("conv");
  ASSERT_TRUE(wait_until([&] { return !view.is_searching(); }));
  EXPECT_FALSE(view.grab().isNull());
}

}  // namespace
}  // namespace strato
