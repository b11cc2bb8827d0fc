// Two plans' graphs side by side, driven by real events: one window onto both, one selection, what
// is decided otherwise; other groups, clusters and models.
#include "views/graph/second_graph.h"

#include <QMenu>
#include <QTest>

#include "tests/views/models/fixture.h"
#include "views/graph/group_graph_view.h"

namespace strato {
namespace {

class SecondGraphTest : public SessionTest {
 protected:
  void show(bool beside = true) {
    view_ = std::make_unique<GroupGraphView>(session_);
    view_->set_second_plan(second_);
    view_->resize(1000, 600);
    view_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(view_.get()));
    view_->activateWindow();
    view_->canvas().setFocus();
    settle();
    if (beside) press(first(), Qt::Key_B);
    settle();
  }
  void settle() {
    session_.settle();
    second_.settle();
    ASSERT_TRUE(wait_until([&] { return view_->is_laid_out() && (!asks() || is_made()); }));
  }
  bool asks() const { return view_->shows_beside() || view_->overlay() == Overlay::AgainstPlan; }
  bool is_made() const { return !view_->findChild<PlanBeside*>()->busy(); }
  QString why_none() const { return view_->findChild<PlanBeside*>()->why_none(); }
  GraphCanvas& first() { return view_->canvas(); }
  GraphCanvas& other() { return view_->second_graph()->canvas(); }
  void press(GraphCanvas& canvas, Qt::Key key, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::keyClick(&canvas, key, keys);
  }
  QPoint middle(GraphCanvas& canvas, std::size_t node) {
    canvas.centre_on(static_cast<int>(node));
    return canvas.scene().to_view(canvas.scene().layout.nodes[node].center()).toPoint();
  }
  void expect_same_view() {
    EXPECT_EQ(first().size(), other().size());
    EXPECT_EQ(first().scene().scale, other().scene().scale);
    EXPECT_EQ(first().scene().offset, other().scene().offset);
    EXPECT_EQ(first().scene().layout.nodes, other().scene().layout.nodes);
    EXPECT_EQ(first().scene().content.nodes.size(), other().scene().content.nodes.size());
    EXPECT_EQ(first().scene().selected, other().scene().selected);
    EXPECT_FALSE(view_->grab().isNull());
  }
  void move_group(std::size_t group, DeviceId device) {
    session_.decide({GroupId(group)}, decision_on_device(device), QStringLiteral("move"));
    settle();
  }
  // Groups whose node has a full corner.
  std::vector<GroupId> moved() {
    std::vector<GroupId> groups;
    const GraphScene& scene = first().scene();
    for (std::size_t n = 0; n < scene.moved.size(); ++n)
      if (scene.moved[n] != 0) groups.push_back(scene.content.nodes[n].group);
    std::ranges::sort(groups);
    return groups;
  }
  std::size_t node_of(GroupId group) {
    const auto& nodes = first().scene().content.nodes;
    return static_cast<std::size_t>(std::ranges::find(nodes, group, &GraphNode::group) -
                                    nodes.begin());
  }
  std::filesystem::path saved_plan() {
    const std::filesystem::path file = folder_.filePath("saved.json").toStdString();
    session_.export_plan(file);
    session_.settle();
    return file;
  }

  SecondPlan second_{session_};
  std::unique_ptr<GroupGraphView> view_;
};

TEST_F(SecondGraphTest, BothShowTheSamePartWhicheverIsMoved) {
  open_lenet();
  show();
  ASSERT_TRUE(other().isVisible());
  ASSERT_TRUE(other().scene().is_laid_out());
  expect_same_view();
  for (GraphCanvas* canvas : {&other(), &first()}) {
    const double scale = canvas->scene().scale;
    press(*canvas, Qt::Key_W);
    press(*canvas, Qt::Key_W);
    press(*canvas, Qt::Key_W);
    EXPECT_GT(first().scene().scale, scale);
    expect_same_view();
    const QPointF before = first().scene().offset;
    press(*canvas, Qt::Key_D);
    QWheelEvent down(QPointF(50, 50), canvas->mapToGlobal(QPointF(50, 50)), {}, {0, -240},
                     Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas, &down);
    EXPECT_NE(first().scene().offset, before);
    expect_same_view();
    press(*canvas, Qt::Key_Home);
    expect_same_view();
  }
  view_->resize(900, 500);
  QCoreApplication::processEvents();
  expect_same_view();
}

TEST_F(SecondGraphTest, ADragInTheSecondPansAndMovesNoGroup) {
  open_lenet();
  show();
  for (int i = 0; i < 6; ++i) press(other(), Qt::Key_W);
  const QPoint from = middle(other(), 0);
  const QPointF before = first().scene().offset;
  QTest::mousePress(&other(), Qt::LeftButton, Qt::NoModifier, from);
  QTest::mouseMove(&other(), from - QPoint(20, 30));
  QTest::mouseMove(&other(), from - QPoint(60, 70));
  QTest::mouseRelease(&other(), Qt::LeftButton, Qt::NoModifier, from - QPoint(60, 70));
  EXPECT_NE(first().scene().offset, before);
  expect_same_view();
  EXPECT_TRUE(session_.selection().groups().empty());
}

TEST_F(SecondGraphTest, OneSelectionAndALightHover) {
  open_lenet();
  show();
  QTest::mouseClick(&other(), Qt::LeftButton, Qt::NoModifier, middle(other(), 2));
  const GroupId group = first().scene().content.nodes[2].group;
  EXPECT_EQ(session_.selection().groups(), std::vector{group});
  EXPECT_EQ(first().scene().selected[2], 1);
  expect_same_view();
  session_.selection().select_group(first().scene().content.nodes[0].group);
  EXPECT_EQ(other().scene().selected[0], 1);
  EXPECT_EQ(other().scene().selected[2], 0);
  QTest::mouseMove(&other(), middle(other(), 1));
  EXPECT_EQ(first().scene().echoed, 1);
  EXPECT_EQ(first().scene().hovered, -1);
  QTest::mouseMove(&first(), middle(first(), 3));
  EXPECT_EQ(other().scene().echoed, 3);
  QEvent leave(QEvent::Leave);
  QCoreApplication::sendEvent(&first(), &leave);
  EXPECT_EQ(other().scene().echoed, -1);
}

TEST_F(SecondGraphTest, OpeningInOneOpensInBoth) {
  open_lenet();
  show();
  QTest::mouseDClick(&other(), Qt::LeftButton, Qt::NoModifier, middle(other(), 0));
  settle();
  ASSERT_EQ(view_->levels().size(), 1u);
  expect_same_view();
  press(other(), Qt::Key_Backspace);
  settle();
  EXPECT_TRUE(view_->levels().empty());
  expect_same_view();
  press(other(), Qt::Key_Space);  // in place: what was come from is selected
  settle();
  EXPECT_EQ(view_->opened_in_place().size(), 1u);
  expect_same_view();
  press(first(), Qt::Key_C);
  press(other(), Qt::Key_O);
  ASSERT_TRUE(wait_until([&] { return !first().scene().on_path.empty(); }));
  EXPECT_EQ(other().scene().on_path.size(), other().scene().content.nodes.size());
  EXPECT_EQ(view_->overlay(), Overlay::Phase);
  EXPECT_EQ(other().scene().overlay, Overlay::Phase);
}

TEST_F(SecondGraphTest, WhatIsDecidedOtherwiseIsMarked) {
  open_lenet();
  show();
  EXPECT_TRUE(moved().empty());
  EXPECT_TRUE(view_->comparison_note().contains("alike"));
  move_group(1, DeviceId(0));
  EXPECT_EQ(moved(), std::vector{GroupId(1)});
  EXPECT_EQ(first().scene().moved, other().scene().moved);
  const std::size_t node = node_of(GroupId(1));
  EXPECT_EQ(first().scene().stripes[node].size(), 1u);
  EXPECT_EQ(other().scene().stripes[node].size(), 2u);  // data parallel
  EXPECT_TRUE(view_->comparison_note().contains("1 of")) << view_->comparison_note().toStdString();
  EXPECT_TRUE(first().tooltip_of(node).contains("Data parallel"));
  EXPECT_TRUE(view_->second_graph()->title().contains("Data parallel"));
  const GroupId group(1);
  view_->open_group(group);
  settle();
  const GraphScene& scene = first().scene();
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n)
    EXPECT_EQ(scene.moved[n] != 0, !scene.content.nodes[n].boundary);
  session_.undo_stack().undo();
  settle();
  EXPECT_TRUE(moved().empty());
}

TEST_F(SecondGraphTest, ColoursOfQuantitiesHaveOneScale) {
  open_lenet();
  show();
  move_group(0, DeviceId(0));
  for (const Overlay overlay : {Overlay::Time, Overlay::Memory, Overlay::AgainstBaseline}) {
    view_->set_overlay(overlay);
    ASSERT_TRUE(wait_until(
        [&] { return !first().scene().values.empty() && !other().scene().values.empty(); }));
    EXPECT_EQ(first().scene().most_value, other().scene().most_value);
    EXPECT_EQ(view_->legend().most, view_->second_graph()->legend().most);
    expect_same_view();
  }
  for (const double value : other().scene().values) EXPECT_EQ(value, 0);  // is data parallel
}

TEST_F(SecondGraphTest, TheChangeToAnotherPlanIsAColour) {
  open_lenet();
  show(false);
  view_->set_overlay(Overlay::AgainstPlan);
  settle();
  ASSERT_TRUE(wait_until([&] { return !first().scene().values.empty(); }));
  for (const double value : first().scene().values) EXPECT_EQ(value, 0);
  move_group(0, DeviceId(0));
  ASSERT_TRUE(wait_until([&] { return first().scene().values[node_of(GroupId(0))] != 0; }));
  EXPECT_EQ(moved(), std::vector{GroupId(0)});
  EXPECT_FALSE(view_->legend().ramp.empty());
  press(first(), Qt::Key_B);
  settle();
  ASSERT_TRUE(wait_until([&] { return !other().scene().values.empty(); }));
  for (std::size_t n = 0; n < first().scene().values.size(); ++n)
    EXPECT_EQ(first().scene().values[n], -other().scene().values[n]);
  press(other(), Qt::Key_B);
  EXPECT_FALSE(other().isVisible());
  EXPECT_TRUE(first().hasFocus());
  view_->set_overlay(Overlay::Device);
  EXPECT_TRUE(first().scene().moved.empty());
  EXPECT_TRUE(view_->comparison_note().isEmpty());
}

// Too small a view for a map is not one in which all is in sight.
TEST_F(SecondGraphTest, ASmallViewKeepsItsZoom) {
  open_lenet();
  show(false);
  view_->resize(500, 260);
  QCoreApplication::processEvents();
  for (int i = 0; i < 6; ++i) press(first(), Qt::Key_W);
  const double scale = first().scene().scale;
  for (int i = 0; i < 2; ++i) {
    press(first(), Qt::Key_B);
    settle();
    EXPECT_EQ(first().scene().scale, scale);
  }
}

TEST_F(SecondGraphTest, WorksOnlyWhileItIsSeen) {
  open_lenet();
  show(false);
  EXPECT_FALSE(second_.plan());
  press(first(), Qt::Key_B);
  settle();
  EXPECT_TRUE(second_.plan());
  view_->hide();
  second_.choose({SecondChoice::What::BeforeChange, 0, {}});
  move_group(0, DeviceId(0));
  EXPECT_FALSE(second_.plan());
  view_->show();
  settle();
  EXPECT_TRUE(second_.plan());
  EXPECT_EQ(moved(), std::vector{GroupId(0)});
}

TEST_F(SecondGraphTest, AnotherPlanIsChosenAboveIt) {
  open_lenet();
  show();
  move_group(0, DeviceId(0));
  QMenu& menu = view_->second_graph()->plans();
  emit menu.aboutToShow();
  bool found = false;
  for (QAction* action : menu.actions()) {
    if (!action->text().startsWith("Before the last change")) continue;
    action->trigger();
    found = true;
  }
  ASSERT_TRUE(found);
  settle();
  EXPECT_EQ(second_.choice().what, SecondChoice::What::BeforeChange);
  EXPECT_EQ(moved(), std::vector{GroupId(0)});
}

TEST_F(SecondGraphTest, APlanThatIsGoneSaysWhatToDo) {
  open_lenet();
  show();
  second_.choose({SecondChoice::What::File, 0, folder_.filePath("none.json").toStdString()});
  settle();
  ASSERT_FALSE(second_.plan());
  EXPECT_FALSE(other().scene().is_laid_out());
  EXPECT_TRUE(moved().empty());
  EXPECT_TRUE(why_none().contains("none.json")) << why_none().toStdString();
  EXPECT_TRUE(why_none().contains("Compare"));
  QTest::mouseClick(&other(), Qt::LeftButton, Qt::NoModifier, {40, 40});
  press(other(), Qt::Key_W);
  press(other(), Qt::Key_Right);
  EXPECT_FALSE(view_->grab().isNull());
  view_->set_overlay(Overlay::AgainstPlan);
  EXPECT_TRUE(first().scene().values.empty());
  second_.choose({});
  settle();
  expect_same_view();
}

TEST_F(SecondGraphTest, AnotherStrategyOrProblemWhileItIsShown) {
  open_lenet();
  show();
  move_group(0, DeviceId(0));
  view_->open_group(GroupId(0));
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), QStringLiteral("more"));
  settle();
  expect_same_view();
  view_->go_up();
  settle();
  EXPECT_EQ(moved(), (std::vector{GroupId(0), GroupId(1)}));
  session_.regroup(3);
  settle();
  expect_same_view();
  EXPECT_TRUE(moved().empty() || moved().back().index() < 3);
  session_.open_cluster(sample("clusters/fastt-8xv100.json"));
  settle();
  expect_same_view();
  ImportOptions import;
  import.batch = 8;
  session_.open_model(sample("models/alexnet.onnx"), import, {});
  settle();
  expect_same_view();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// Other groups: what is decided for the ops of a node counts.
TEST_F(SecondGraphTest, GroupsOfItsOwnAreSeenThroughTheirOps) {
  open_lenet();
  show();
  session_.selection().select_groups({GroupId(0), GroupId(1)});
  view_->merge_selected();
  ASSERT_TRUE(wait_until([&] { return session_.snapshot().has_own_groups(); }));
  settle();
  EXPECT_TRUE(moved().empty());
  EXPECT_TRUE(view_->comparison_note().contains("groups"))
      << view_->comparison_note().toStdString();
  expect_same_view();
  for (std::size_t n = 0; n < other().scene().stripes.size(); ++n) {
    double whole = 0;
    for (const PlacementStripe& part : other().scene().stripes[n]) whole += part.share;
    EXPECT_NEAR(whole, 1, 1e-9);
    EXPECT_EQ(other().scene().stripes[n].size(), 2u);
  }
}

TEST_F(SecondGraphTest, OfAnotherModelAndCluster) {
  open_lenet();
  const auto file = saved_plan();
  show();
  second_.choose({SecondChoice::What::File, 0, file});
  ImportOptions import;
  import.batch = 8;
  session_.open_cluster(sample("clusters/fastt-8xv100.json"));
  session_.open_model(sample("models/lenet.onnx"), import, {});
  settle();
  ASSERT_TRUE(second_.plan()) << second_.problem().toStdString();
  EXPECT_TRUE(view_->comparison_note().contains("another model"));
  EXPECT_TRUE(view_->comparison_note().contains("another cluster"));
  expect_same_view();
  EXPECT_EQ(other().scene().cluster, second_.plan()->problem->cluster.get());
  for (const auto& stripes : other().scene().stripes) EXPECT_FALSE(stripes.empty());
  // A model that has nothing in common with it: no colours, and all is marked.
  session_.open_model(sample("models/transformer.onnx"), import, {});
  settle();
  ASSERT_TRUE(second_.plan()) << second_.problem().toStdString();
  expect_same_view();
  EXPECT_EQ(moved().size(), first().scene().content.nodes.size());
  view_->set_overlay(Overlay::Time);
  settle();
  view_->set_overlay(Overlay::AgainstPlan);
  ASSERT_TRUE(wait_until([&] { return !first().scene().values.empty(); }));
  EXPECT_FALSE(view_->grab().isNull());
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(SecondGraphTest, WithoutAProblemItSaysWhatToOpen) {
  view_ = std::make_unique<GroupGraphView>(session_);
  view_->set_second_plan(second_);
  view_->show();
  view_->show_beside(true);
  EXPECT_TRUE(why_none().contains("Ctrl+O"));
  EXPECT_FALSE(view_->grab().isNull());
}

}  // namespace
}  // namespace strato
