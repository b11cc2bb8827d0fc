// A person launches the strategy shown on real processes of this machine: watches it, sees the
// measured step under the simulated one, and cancels another launch.
#include <gtest/gtest.h>

#include <QTest>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "views/launch/launch_view.h"
#include "views/models/launch_run.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

using State = LaunchModel::State;

TEST(LaunchJourney, WatchesOverlaysAndCancels) {
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  MainWindow window(session, false);
  window.resize(1280, 800);
  window.show();
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  session.settle();
  auto* view = window.findChild<LaunchView*>();
  auto* timeline = window.findChild<TimelineView*>();
  ASSERT_TRUE(view && timeline);
  LaunchModel& model = view->model();
  QTest::keyClick(&window, Qt::Key_F9);  // what would run where
  EXPECT_TRUE(view->isVisible());
  EXPECT_EQ(model.state(), State::Idle);
  view->form().choose("local", "replay", 3);
  QTest::keyClick(&window, Qt::Key_F9);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !model.running(); }, kPatience));
  ASSERT_EQ(model.state(), State::Finished) << model.problem().toStdString();
  EXPECT_EQ(model.steps().size(), 3u);
  ASSERT_TRUE(session.measured());
  EXPECT_GT(session.measured()->comparison.measured, Nanos(0));
  EXPECT_EQ(timeline->canvas().step_shown(), StepShown::Both);
  EXPECT_FALSE(window.grab().isNull());

  view->form().choose("local", "replay", 1'000'000);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !view->just_ended(); }, kPatience));
  QTest::keyClick(&window, Qt::Key_F9);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return !model.steps().empty() || !model.running(); }, kPatience));
  ASSERT_EQ(model.state(), State::Running) << model.problem().toStdString();
  QTest::keyClick(&window, Qt::Key_F9);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !model.running(); }, kPatience));
  EXPECT_EQ(model.state(), State::Cancelled);
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
