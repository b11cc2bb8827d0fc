// Rows that are hidden, pinned and filtered: the layout, the keys, and what survives a new outcome.
#include <gtest/gtest.h>

#include <QContextMenuEvent>
#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QToolButton>

#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/range_panel.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

using test::sample;

void expect_consistent(const TimelineRows& rows, const RowLayout& layout) {
  int y = 0;
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    const RowLayout::Place& place = layout.places[i];
    EXPECT_EQ(place.pinned, i < layout.pinned);
    EXPECT_GE(place.y, y);
    y = place.y + place.height;
    EXPECT_EQ(*layout.place_of(place.row), i);
    EXPECT_EQ(*layout.place_at(place.y, 0), i);
    if (place.pinned) {
      EXPECT_EQ(*layout.place_at(place.y, 500), i);
    }
    if (!place.pinned && place.y - 10 >= layout.pinned_height) {
      EXPECT_EQ(*layout.place_at(place.y - 10, 10), i);
    }
  }
  EXPECT_LE(y, layout.height);
  EXPECT_LE(layout.places.size(), rows.rows.size());
}

TEST(RowLayout, HidesPinsAndFiltersByKey) {
  const TimelineRows rows = make_rows(sample(300, 1));
  const std::size_t all = layout_rows(rows, {}).places.size();
  RowFilter filter;
  filter.hidden = {{RowKind::Compute, 2}};
  RowLayout layout = layout_rows(rows, filter);
  expect_consistent(rows, layout);
  EXPECT_EQ(layout.hidden, 1u);
  EXPECT_EQ(layout.places.size(), all - 1);
  filter.pinned = {{RowKind::Memory, 5}, {RowKind::Compute, 7}};
  layout = layout_rows(rows, filter);
  expect_consistent(rows, layout);
  EXPECT_EQ(layout.pinned, 2u);
  EXPECT_EQ(layout.places.size(), all - 1);
  filter.hidden = {{RowKind::Header, 1}};  // the second machine, of which rows are pinned
  layout = layout_rows(rows, filter);
  expect_consistent(rows, layout);
  for (const auto& place : layout.places) {
    EXPECT_TRUE(place.pinned || rows.rows[place.row].section != 1);
  }
  filter = {};
  filter.words = "m:0 MEMORY";
  filter.words = "memory";
  layout = layout_rows(rows, filter);
  expect_consistent(rows, layout);
  EXPECT_EQ(layout.places.size(), 8u + 2u);  // and the machines
  filter.words = "v100 compute";
  EXPECT_EQ(layout_rows(rows, filter).places.size(), 8u + 2u);
  filter.words = "nothing has this";
  layout = layout_rows(rows, filter);
  EXPECT_TRUE(layout.places.empty());
  EXPECT_GT(layout.hidden, 8u);
  EXPECT_FALSE(layout.place_at(3));
}

TEST(RowLayout, ClosedSectionsKeepTheirHeaderWhateverIsHiddenElsewhere) {
  const TimelineRows rows = make_rows(sample(300, 2));
  RowFilter filter;
  filter.collapsed = {true};
  filter.hidden = {{RowKind::Header, 1}};
  const RowLayout layout = layout_rows(rows, filter);
  ASSERT_FALSE(layout.places.empty());
  EXPECT_EQ(layout.places[0].row, 0u);
  expect_consistent(rows, layout);
}

class Story : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1000, 500);
    view_.show();
    view_.show_timeline(sample(400, 3), Nanos(0));
  }
  TimelineCanvas& canvas() { return view_.canvas(); }
  std::size_t places() { return canvas().row_layout().places.size(); }
  QToolButton* hint() {
    for (auto* button : view_.findChildren<QToolButton*>()) {
      if (button->text().contains(QStringLiteral("hidden"))) return button;
    }
    return nullptr;
  }

  Session session_;
  TimelineView view_{session_};
};

TEST_F(Story, KeysHideAndPinTheChosenRow) {
  const std::size_t all = places();
  QTest::keyClick(&canvas(), Qt::Key_H);  // nothing is chosen
  EXPECT_EQ(places(), all);
  EXPECT_FALSE(hint() && hint()->isVisible());
  session_.selection().select_device(DeviceId(3));
  QTest::keyClick(&canvas(), Qt::Key_P);
  EXPECT_EQ(canvas().row_layout().pinned, 1u);
  QTest::keyClick(&canvas(), Qt::Key_P);
  EXPECT_EQ(canvas().row_layout().pinned, 0u);
  QTest::keyClick(&canvas(), Qt::Key_H);
  QTest::keyClick(&canvas(), Qt::Key_H);
  EXPECT_EQ(canvas().hidden_rows(), 2u);
  EXPECT_LT(places(), all);
  ASSERT_NE(hint(), nullptr);
  EXPECT_TRUE(hint()->isVisible());
  view_.show_timeline(sample(200, 4), Nanos(0));  // an edit: they stay hidden
  EXPECT_EQ(canvas().hidden_rows(), 2u);
  view_.grab();
  QTest::mouseClick(hint(), Qt::LeftButton);
  EXPECT_EQ(canvas().hidden_rows(), 0u);
  EXPECT_FALSE(hint()->isVisible());
}

TEST_F(Story, WordsFilterRowsAndGoByEscape) {
  const std::size_t all = places();
  QTest::keyClick(&canvas(), Qt::Key_L);
  auto* words = canvas().findChild<QLineEdit*>();
  ASSERT_NE(words, nullptr);
  QTest::keyClicks(words, QStringLiteral("compute"));
  EXPECT_LT(places(), all);
  EXPECT_GT(canvas().hidden_rows(), 0u);
  view_.grab();
  QTest::keyClick(words, Qt::Key_Escape);
  EXPECT_EQ(places(), all);
  EXPECT_EQ(words->text(), QString());
}

TEST_F(Story, TheMenuOfALabelHidesItsMachine) {
  const QPoint label(30, canvas().viewport()->height() / 2);
  QContextMenuEvent event(QContextMenuEvent::Mouse, label, canvas().viewport()->mapToGlobal(label));
  QApplication::sendEvent(canvas().viewport(), &event);
  auto* menu = canvas().findChild<QMenu*>();
  ASSERT_NE(menu, nullptr);
  bool hidden = false;
  for (QAction* action : menu->actions()) {
    if (!action->text().startsWith(QStringLiteral("Hide &All"))) continue;
    action->trigger();
    hidden = true;
  }
  menu->close();
  EXPECT_TRUE(hidden);
  EXPECT_GT(canvas().hidden_rows(), 3u);
  QTest::keyClick(&canvas(), Qt::Key_H, Qt::ShiftModifier);
  EXPECT_EQ(canvas().hidden_rows(), 0u);
}

TEST_F(Story, GoingToASliceBringsItsRowBack) {
  canvas().filter_rows(QStringLiteral("nothing has this"));
  EXPECT_EQ(places(), 0u);
  canvas().go_to(TaskId(7));
  const auto shown = places_of(*canvas().rows(), TaskId(7));
  EXPECT_TRUE(canvas().row_layout().place_of(shown.front().row));
  canvas().go_to(TaskId(1'000'000));  // of another outcome
  view_.grab();
}

TEST_F(Story, ADragOpensTheTotalsUntilTheyAreClosed) {
  RangePanel& panel = view_.range_panel();
  QWidget* surface = canvas().viewport();
  const auto drag = [&] {
    QTest::mousePress(surface, Qt::LeftButton, {}, QPoint(300, 60));
    QTest::mouseMove(surface, QPoint(400, 60));
    QTest::mouseMove(surface, QPoint(500, 60));
    EXPECT_FALSE(panel.isVisible());  // not while the mouse holds the range
    QTest::mouseRelease(surface, Qt::LeftButton, {}, QPoint(500, 60));
  };
  drag();
  ASSERT_TRUE(panel.isVisible());
  ASSERT_NE(panel.totals(), nullptr);
  EXPECT_EQ(panel.totals()->begin, session_.selection().range()->begin);
  QTest::keyClick(&canvas(), Qt::Key_Escape);
  EXPECT_EQ(panel.totals()->length(), canvas().rows()->timeline->step_time);  // the whole step
  view_.grab();
  QTest::keyClick(&canvas(), Qt::Key_T);
  EXPECT_FALSE(panel.isVisible());
  QTest::keyClick(&canvas(), Qt::Key_T);
  ASSERT_TRUE(panel.isVisible());
  QTest::keyClick(&panel, Qt::Key_Escape);
  EXPECT_FALSE(panel.isVisible());
  drag();
  EXPECT_FALSE(panel.isVisible());
  QTest::keyClick(&canvas(), Qt::Key_T);
  view_.show_timeline(nullptr, Nanos(0));
  EXPECT_EQ(panel.totals(), nullptr);
}

}  // namespace
}  // namespace strato
