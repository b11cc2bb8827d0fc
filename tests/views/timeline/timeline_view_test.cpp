#include "views/timeline/timeline_view.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QTest>

#include "tests/views/timeline/sample_timeline.h"

namespace strato {
namespace {

using test::sample;

TEST(Rows, EveryTaskIsInTheRowsOfItsResources) {
  const auto timeline = sample(500, 1);
  const TimelineRows rows = make_rows(timeline);
  for (std::size_t t = 0; t < timeline->tasks.size(); ++t) {
    const auto places = places_of(rows, TaskId(t));
    EXPECT_GE(places.size(), timeline->program->resources[t].size());
    for (const RowSlice& at : places) {
      EXPECT_EQ(rows.rows[at.row].slices.task[at.slice], TaskId(t));
      EXPECT_EQ(rows.rows[at.row].slices.start[at.slice], timeline->tasks[TaskId(t)].start.value);
    }
  }
  for (const TimelineRow& row : rows.rows) {
    for (std::size_t i = 1; i < row.slices.size(); ++i)
      EXPECT_GE(row.slices.start[i], row.slices.end[i - 1]);
  }
}

TEST(Rows, BusyAndPeakAgreeWithTheSimulator) {
  const auto timeline = sample(500, 2);
  const TimelineRows rows = make_rows(timeline);
  for (const TimelineRow& row : rows.rows) {
    if (row.kind == RowKind::Compute) {
      EXPECT_EQ(row.slices.busy_total(), timeline->devices[row.device].compute_busy.value);
    } else if (row.kind == RowKind::Link) {
      EXPECT_EQ(row.slices.busy_total(), timeline->link_busy[row.link].value);
    } else if (row.kind == RowKind::Memory) {
      EXPECT_EQ(rows.memory[row.device].peak(), timeline->devices[row.device].peak.value);
    }
  }
}

TEST(Rows, CollapsedSectionsLeaveTheirHeader) {
  const TimelineRows rows = make_rows(sample(200, 3));
  RowFilter filter;
  const RowLayout open = layout_rows(rows, filter);
  EXPECT_EQ(open.places.size(), rows.rows.size());
  filter.collapsed.assign(static_cast<std::size_t>(rows.sections), true);
  const RowLayout closed = layout_rows(rows, filter);
  EXPECT_EQ(closed.places.size(), static_cast<std::size_t>(rows.sections));
  filter = {};
  filter.memory = filter.links = false;
  for (const auto& place : layout_rows(rows, filter).places) {
    EXPECT_NE(rows.rows[place.row].kind, RowKind::Memory);
    EXPECT_NE(rows.rows[place.row].kind, RowKind::Link);
  }
  for (const auto& place : open.places) {
    EXPECT_EQ(open.places[*open.place_at(place.y)].row, place.row);
    EXPECT_EQ(*open.place_of(place.row), static_cast<std::size_t>(&place - open.places.data()));
  }
  EXPECT_FALSE(open.place_at(open.height + 5));
}

TEST(View, PaintsEmptyRandomAndLargeTimelines) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  EXPECT_FALSE(view.grab().isNull());
  for (const int tasks : {1, 50, 5000}) {
    view.show_timeline(sample(tasks, 5), Nanos(1000));
    const QImage image = view.grab().toImage();
    EXPECT_GT(image.width(), 0);
    EXPECT_FALSE(image.allGray());
  }
  view.set_colour_mode(ColourMode::Phase);
  QImage target(800, 600, QImage::Format_ARGB32_Premultiplied);
  QPainter painter(&target);
  view.render_to(painter, target.size());
}

// Every task 1.5 times as long and as late; every seventh was not timed.
std::shared_ptr<const Timeline> measured_of(const Timeline& timeline) {
  Timeline measured = timeline;
  for (std::size_t t = 0; t < measured.tasks.size(); ++t) {
    TaskTimes& times = measured.tasks[TaskId(t)];
    times.start = times.ready = Nanos(times.start.value * 3 / 2);
    times.end = t % 7 == 0 ? times.start : Nanos(times.end.value * 3 / 2);
  }
  measured.step_time = Nanos(timeline.step_time.value * 3 / 2);
  return std::make_shared<const Timeline>(std::move(measured));
}

TEST(Measured, StandsUnderTheSimulatedRows) {
  const auto timeline = sample(400, 7);
  const auto measured = measured_of(*timeline);
  const TimelineRows plain = make_rows(timeline), rows = make_rows(timeline, measured);
  std::size_t simulated = 0;
  for (const TimelineRow& row : rows.rows) simulated += row.measured ? 0 : 1;
  EXPECT_EQ(simulated, plain.rows.size());
  for (std::size_t t = 0; t < timeline->tasks.size(); ++t) {
    std::size_t as_measured = 0;
    for (const RowSlice& at : places_of(rows, TaskId(t))) {
      const TimelineRow& row = rows.rows[at.row];
      as_measured += row.measured ? 1 : 0;
      EXPECT_EQ(row.slices.start[at.slice], rows.timeline_of(row).tasks[TaskId(t)].start.value);
    }
    const std::size_t as_simulated = t % 7 == 0 ? 0 : places_of(plain, TaskId(t)).size();
    EXPECT_LE(as_measured, as_simulated);  // where many overlap, some wait for a lane
    if (!is_communication(timeline->program->tasks[TaskId(t)].kind)) {
      EXPECT_EQ(as_measured, as_simulated);
    }
  }
  for (const auto& places : rows.critical_places)
    for (const RowSlice& at : places) EXPECT_FALSE(rows.rows[at.row].measured);
  const Nanos end = timeline->step_time;
  const RangeTotals a = add_up(plain, Nanos(0), end, {}, nullptr, nullptr),
                    b = add_up(rows, Nanos(0), end, {}, nullptr, nullptr);
  EXPECT_EQ(a.slices, b.slices);
  EXPECT_EQ(a.devices, b.devices);
}

TEST(Measured, IsShownAloneOrBelow) {
  const auto timeline = sample(200, 8);
  const TimelineRows rows = make_rows(timeline, measured_of(*timeline));
  RowFilter filter;
  const RowLayout simulated = layout_rows(rows, filter);
  filter.step = StepShown::Measured;
  const RowLayout measured = layout_rows(rows, filter);
  filter.step = StepShown::Both;
  const RowLayout both = layout_rows(rows, filter);
  EXPECT_EQ(both.places.size(), rows.rows.size());
  for (const auto& place : simulated.places) EXPECT_FALSE(rows.rows[place.row].measured);
  for (const auto& place : measured.places) {
    const TimelineRow& row = rows.rows[place.row];
    EXPECT_TRUE(row.measured || row.kind == RowKind::Header || row.kind == RowKind::Memory);
    EXPECT_GE(place.height, kRowHeight);
  }
  for (const auto& place : both.places) {
    EXPECT_EQ(place.height == kBandHeight, rows.rows[place.row].measured);
  }
}

TEST(Measured, ComesIntoSightAndGoesByAKey) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  view.show();
  const auto timeline = sample(300, 9);
  TimelineCanvas& canvas = view.canvas();
  view.show_timeline(timeline, Nanos(0));
  QTest::keyClick(&canvas, Qt::Key_O);
  EXPECT_EQ(canvas.step_shown(), StepShown::Simulated);  // there is no other
  view.show_timeline(timeline, Nanos(0), measured_of(*timeline));
  EXPECT_EQ(canvas.step_shown(), StepShown::Both);
  EXPECT_TRUE(canvas.describe(TaskId(1)).contains(QStringLiteral("measured")));
  EXPECT_TRUE(canvas.describe(TaskId(0)).contains(QStringLiteral("not timed")));
  for (const StepShown next : {StepShown::Simulated, StepShown::Measured, StepShown::Both}) {
    QTest::keyClick(&canvas, Qt::Key_O);
    EXPECT_EQ(canvas.step_shown(), next);
    EXPECT_FALSE(view.grab().isNull());
    for (const char key : {'.', ',', 'f', 'w', 's'}) QTest::keyClick(&canvas, key);
  }
  view.show_timeline(timeline, Nanos(0));
  EXPECT_EQ(canvas.step_shown(), StepShown::Simulated);
  EXPECT_FALSE(canvas.describe(TaskId(1)).contains(QStringLiteral("measured")));
}

TEST(View, KeysZoomPanAndSelectRanges) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  view.show();
  view.show_timeline(sample(300, 6), Nanos(0));
  QWidget* surface = view.canvas().viewport();
  for (const char key : {'w', 'w', 'w', 'd', 'a', 's', 'f', 'r', 'm', '.', ',', '[', ']'})
    QTest::keyClick(&view.canvas(), key);
  QTest::mousePress(surface, Qt::LeftButton, {}, QPoint(300, 60));
  QTest::mouseMove(surface, QPoint(400, 60));
  QTest::mouseMove(surface, QPoint(500, 60));
  QTest::mouseRelease(surface, Qt::LeftButton, {}, QPoint(500, 60));
  ASSERT_TRUE(session.selection().range());
  EXPECT_LT(session.selection().range()->begin, session.selection().range()->end);
  QTest::keyClick(&view.canvas(), Qt::Key_Escape);
  EXPECT_FALSE(session.selection().range());
  view.grab();
}

}  // namespace
}  // namespace strato
