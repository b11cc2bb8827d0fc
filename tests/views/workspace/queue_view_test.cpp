// The queue by hand: keys, buttons, and what is offered when the window closes.
#include "views/workspace/queue_view.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QListView>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <filesystem>

#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"

namespace strato {
namespace {

using RowState = RunQueue::RowState;

class QueueViewTest : public SessionTest {
 protected:
  ~QueueViewTest() override { gate_.open(); }
  void SetUp() override {
    open_workspace();
    ASSERT_NO_FATAL_FAILURE(open_lenet());
    view_.resize(220, 400);
    view_.show();
    QApplication::setActiveWindow(&view_);
    for (const char* planner : {"waits", "dp", "one"})
      ASSERT_EQ(queue_.add(planner, as_they_are()), QString());
    ASSERT_TRUE(wait_until([&] { return queue_.run(0) > 0; }));
  }
  void choose(int row) { view_.list().setCurrentIndex(queue_.index(row, 0)); }
  QString planner(int row) { return queue_.index(row, RunQueue::Planner).data().toString(); }
  // Presses the button with that text in the box that comes.
  bool may_close_after(const char* text) {
    bool found = false;
    QTimer::singleShot(0, &view_, [&] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (!box) return;
      for (QAbstractButton* button : box->buttons()) {
        if (!button->text().contains(QString::fromUtf8(text))) continue;
        found = true;
        button->click();
        return;
      }
      box->close();
    });
    const bool may = view_.may_close();
    EXPECT_TRUE(found);
    return may;
  }

  Gate gate_;
  RunQueue queue_{session_, tiny_factory(gate_)};
  QueueView view_{session_, queue_};
};

TEST_F(QueueViewTest, KeysMoveRemoveAndStop) {
  choose(2);
  view_.list().setFocus();
  QTest::keyClick(&view_.list(), Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(planner(1), "one");
  EXPECT_EQ(view_.list().currentIndex().row(), 1);  // the same one stays chosen
  QTest::keyClick(&view_.list(), Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(planner(1), "one");  // not before what runs
  QTest::keyClick(&view_.list(), Qt::Key_Delete);
  EXPECT_EQ(queue_.rowCount(), 2);
  choose(0);
  QTest::keyClick(&view_.list(), Qt::Key_Delete);  // runs: is stopped, and stays listed
  ASSERT_TRUE(wait_until([&] { return queue_.running_row() < 0 && queue_.waiting() == 0; }));
  EXPECT_EQ(queue_.state(0), RowState::Stopped);
  EXPECT_EQ(queue_.state(1), RowState::Done);
  choose(1);
  QTest::keyClick(&view_.list(), Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(session_.search().planner, "dp");
  EXPECT_EQ(view_.chosen_runs(), std::vector<RunRow>{queue_.run(1)});
  view_.list().clearSelection();
  EXPECT_EQ(view_.chosen_runs().size(), 2u);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// After a restart: nothing runs by itself, Enter starts what is chosen, the button the rest.
TEST_F(QueueViewTest, OffersWhatWasLeftAndStartsItByHand) {
  session_.settle();
  const std::filesystem::path copy = folder_.filePath("crashed.strata").toStdString();
  for (const char* end : {"", "-wal", "-shm"}) {
    const std::string from = session_.workspace()->file().string() + end;
    if (std::filesystem::exists(from)) std::filesystem::copy_file(from, copy.string() + end);
  }
  Session session;
  RunQueue queue(session, tiny_factory(gate_));
  QueueView view(session, queue);
  view.resize(220, 400);
  view.show();
  const auto buttons = view.findChildren<QToolButton*>();
  const auto start =
      std::ranges::find_if(buttons, [](const auto* button) { return button->text() == "Start"; });
  ASSERT_NE(start, buttons.end());
  EXPECT_FALSE((*start)->isVisible());
  session.open_workspace(copy, false);
  session.settle();
  ASSERT_EQ(queue.rowCount(), 2);
  EXPECT_TRUE((*start)->isVisible());
  EXPECT_TRUE(view.may_close());  // nothing is under way
  view.list().setCurrentIndex(queue.index(1, 0));
  view.list().setFocus();
  QTest::keyClick(&view.list(), Qt::Key_Return);
  ASSERT_TRUE(wait_until([&] { return queue.state(1) == RowState::Done; }));
  EXPECT_EQ(queue.state(0), RowState::Left);
  view.list().clearSelection();
  QTest::mouseClick(*start, Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return queue.state(0) == RowState::Done; }));
  EXPECT_FALSE((*start)->isVisible());
}

TEST_F(QueueViewTest, AsksBeforeTheWindowCloses) {
  EXPECT_FALSE(may_close_after("Keep Open"));
  EXPECT_EQ(queue_.running_row(), 0);
  EXPECT_TRUE(may_close_after("Stop and Close"));
  gate_.open();
  ASSERT_TRUE(wait_until([&] { return queue_.running_row() < 0 && queue_.waiting() == 0; }));
  EXPECT_TRUE(view_.may_close());  // nothing to ask
}

TEST_F(QueueViewTest, ShowsWhereToBeginWhileItIsEmpty) {
  RunQueue empty(session_, tiny_factory(gate_));
  QueueView view(session_, empty);
  EXPECT_FALSE(view.list().isVisibleTo(&view));
  EXPECT_TRUE(view.chosen_runs().empty());
  EXPECT_TRUE(view.may_close());
}

}  // namespace
}  // namespace strato
