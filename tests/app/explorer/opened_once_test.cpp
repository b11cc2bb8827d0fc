// What is opened is announced by several signals; what is slow to make is made once.
#include <gtest/gtest.h>

#include <QTest>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

TEST(OpenedOnce, RowsOfTheTimelineAreBuiltOnce) {
  Session session;
  MainWindow window(session, false);
  window.show();
  auto* timeline = window.findChild<TimelineView*>();
  ASSERT_TRUE(timeline);
  std::vector<std::shared_ptr<const TimelineRows>> built;  // kept: no two have one address
  const auto look = [&] {
    const auto& rows = timeline->canvas().rows();
    if (rows && (built.empty() || built.back() != rows)) built.push_back(rows);
  };
  for (const auto changed : {&Session::problem_changed, &Session::outcome_changed,
                             &Session::strategy_changed, &Session::explanation_changed})
    QObject::connect(&session, changed, look);
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return session.snapshot().explanation != nullptr; }, kPatience));
  session.settle();
  EXPECT_EQ(built.size(), 1u);
  ASSERT_TRUE(timeline->canvas().rows());
  EXPECT_EQ(timeline->canvas().rows()->timeline, session.snapshot().outcome->timeline);
}

}  // namespace
}  // namespace strato
