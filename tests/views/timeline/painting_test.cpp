// Folding and joining save work and must not be seen: the picture against what each slice, change
// of memory and critical step by itself asks for.
#include <gtest/gtest.h>

#include <QImage>
#include <cmath>
#include <random>

#include "tests/views/timeline/sample_timeline.h"
#include "views/style/style.h"
#include "views/timeline/joined_bars.h"
#include "views/timeline/timeline_painter.h"

namespace strato {
namespace {

constexpr int kLabels = 100, kWidth = 700, kMargin = 4;

class PaintingTest : public ::testing::TestWithParam<double> {  // how far it is zoomed in
 protected:
  void SetUp() override {
    scene_.rows = &rows_;
    scene_.why = false;
    scene_.layout = layout_rows(rows_, {});
    scene_.colours = colour_tasks(*rows_.timeline->program, ColourMode::Kind, false);
    scene_.on_critical_path.resize(rows_.rows.size());
    for (const auto& places : rows_.critical_places) {
      for (const RowSlice& at : places)
        scene_.on_critical_path[at.row].push_back(static_cast<std::uint32_t>(at.slice));
    }
    for (auto& row : scene_.on_critical_path) std::ranges::sort(row);
    scene_.mapping.resize(kLabels, kWidth - kLabels);
    const auto whole = static_cast<double>(rows_.timeline->step_time.value);
    scene_.mapping.fit(0, whole);
    scene_.mapping.zoom(GetParam(), 400);
    scene_.mapping.clamp(whole);
  }
  void paint(bool critical) {
    scene_.critical = critical;
    image_ = QImage(kWidth, scene_.top() + scene_.layout.height, QImage::Format_RGB32);
    QPainter painter(&image_);
    TimelinePainter(scene_).paint(painter, image_.size());
  }

  int upper(const RowLayout::Place& place) const { return scene_.top() + place.y; }
  double x(std::int64_t time) const { return scene_.mapping.x(static_cast<double>(time)); }
  bool in_view(double x) const { return x > kLabels + kMargin && x < kWidth - kMargin; }
  // Not where the end of the step or its label is drawn.
  bool is_free(int at, int y) const {
    const double end = x(rows_.timeline->step_time.value);
    return in_view(at) && (at < end - 110 || y > scene_.top() + 40) && std::abs(at - end) > 3;
  }
  QRgb ground() const { return scene_.palette.color(QPalette::Base).rgb(); }

  const TimelineRows rows_ = make_rows(test::sample(20'000, 5));
  TimelineScene scene_;
  QImage image_;
};

TEST_P(PaintingTest, EveryWideSliceHasItsColour) {
  paint(false);
  std::size_t looked_at = 0;
  for (const RowLayout::Place& place : scene_.layout.places) {
    const SliceRow& slices = rows_.rows[place.row].slices;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const double x0 = x(slices.start[i]), x1 = x(slices.end[i]);
      const int middle = static_cast<int>((x0 + x1) / 2), y = upper(place) + 1;
      if (x1 - x0 < kFoldPixels || !is_free(middle, y)) continue;
      if (rows_.communication[slices.task[i].index()]) continue;  // hatched
      const auto& entry = scene_.colours.legend[scene_.colours.entry_of[slices.task[i]]];
      ASSERT_EQ(image_.pixel(middle, y), entry.colour.rgb()) << middle << ", " << y;
      ++looked_at;
    }
  }
  if (GetParam() >= 60) {
    EXPECT_GT(looked_at, 0u);
  }
}

// A block bridges less than it is wide: a longer gap is empty, and where a slice is there is paint.
TEST_P(PaintingTest, NothingIsDrawnWhereNothingRuns) {
  paint(false);
  for (const RowLayout::Place& place : scene_.layout.places) {
    const TimelineRow& row = rows_.rows[place.row];
    if (row.slices.size() == 0) continue;
    const int y = upper(place) + 1;
    std::vector<bool> near(kWidth, false), inside(kWidth, false);
    for (std::size_t i = 0; i < row.slices.size(); ++i) {
      const double x0 = x(row.slices.start[i]), x1 = x(row.slices.end[i]);
      const double most = std::max(x1, x0 + 1) + kFoldPixels + 1;
      for (int at = static_cast<int>(std::clamp(x0 - 1 - kFoldPixels, 0.0, kWidth - 1.0));
           at <= std::clamp(most, 0.0, kWidth - 1.0); ++at)
        near[static_cast<std::size_t>(at)] = true;
      for (int at = static_cast<int>(std::clamp(std::ceil(x0), 0.0, kWidth * 1.0));
           at + 2 < x1 && at < kWidth; ++at)
        inside[static_cast<std::size_t>(at)] = true;
    }
    for (int at = 0; at < kWidth; ++at) {
      if (!is_free(at, y)) continue;
      const auto column = static_cast<std::size_t>(at);
      const bool grid = qGray(image_.pixel(at, y)) > 200;  // light, as the ground is
      ASSERT_TRUE(near[column] || grid) << row.label << ": " << at << ", " << y;
      const bool solid = inside[column] && row.kind == RowKind::Compute;
      ASSERT_TRUE(!solid || image_.pixel(at, y) != ground()) << row.label << ": " << at;
    }
  }
}

TEST_P(PaintingTest, TheCriticalPathIsUnderEveryStepOfItAndNowhereElse) {
  paint(true);
  const QRgb colour = style::critical(false).rgb();
  for (const RowLayout::Place& place : scene_.layout.places) {
    const SliceRow& slices = rows_.rows[place.row].slices;
    const int y = upper(place) + place.height - 3;
    std::vector<bool> near(kWidth, false);
    for (const std::uint32_t i : scene_.on_critical_path[place.row]) {
      const double x0 = x(slices.start[i]), x1 = x(slices.end[i]);
      for (int at = static_cast<int>(std::clamp(x0 - kFoldPixels - 1, 0.0, kWidth - 1.0));
           at <= std::clamp(x1 + kFoldPixels + 2, 0.0, kWidth - 1.0); ++at)
        near[static_cast<std::size_t>(at)] = true;
      const auto middle = static_cast<int>(std::floor((x0 + x1) / 2));
      if (!is_free(middle, y)) continue;
      bool found = false;  // within a pixel, for edges are rounded
      for (const int at : {middle - 1, middle, middle + 1}) found |= image_.pixel(at, y) == colour;
      ASSERT_TRUE(found) << middle << ", " << y;
    }
    if (rows_.rows[place.row].kind == RowKind::Memory) continue;  // lines from row to row cross it
    const auto painted = [&](int at, int line) { return image_.pixel(at, line) == colour; };
    for (int at = 0; at < kWidth; ++at) {
      if (near[static_cast<std::size_t>(at)] || !is_free(at, y)) continue;
      ASSERT_FALSE(painted(at, y) && painted(at, y + 1) && painted(at + 1, y) && painted(at - 1, y))
          << at << ", " << y;
    }
  }
}

TEST_P(PaintingTest, MemoryIsAsHighAsTheHighestOfEachColumn) {
  paint(false);
  for (const RowLayout::Place& place : scene_.layout.places) {
    const TimelineRow& row = rows_.rows[place.row];
    if (row.kind != RowKind::Memory) continue;
    const MemoryCurve& curve = rows_.memory[row.device];
    const std::int64_t capacity = rows_.timeline->devices[row.device].capacity.value;
    const std::int64_t full =
        curve.peak() < capacity / 3 ? curve.peak() * 3 / 2 : std::max(curve.peak(), capacity);
    const int base = upper(place) + place.height - 1;
    for (int at = kLabels + kMargin;
         at < x(rows_.timeline->step_time.value) - kMargin && at < kWidth; ++at) {
      if (!is_free(at, base) || at < x(0) + 1) continue;
      const std::int64_t bytes =
          curve.highest(static_cast<std::int64_t>(scene_.mapping.time(at)),
                        static_cast<std::int64_t>(scene_.mapping.time(at + 1)));
      const double height =
          static_cast<double>(bytes) / static_cast<double>(full) * (place.height - 3);
      if (height < 1.5 || height > place.height - 5) continue;  // the limit's line may be there
      const auto edge = static_cast<int>(std::lround(base - height));
      ASSERT_NE(image_.pixel(at, edge), image_.pixel(at, edge - 1)) << at;
      ASSERT_EQ(image_.pixel(at, edge), image_.pixel(at, base - 1)) << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zooms, PaintingTest, ::testing::Values(1, 7.3, 60, 500, 4000));

TEST(JoinedBars, LookLikeBarsDrawnOneByOne) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    QImage joined(300, 40, QImage::Format_RGB32), single = joined;
    joined.fill(Qt::white);
    single.fill(Qt::white);
    QPainter a(&joined), b(&single);
    JoinedBars bars(a);
    double left = 0;
    while (left < 290) {
      left += random() % 3 == 0 ? static_cast<double>(random() % 30) / 10 : 0.0;
      const double width = 0.3 + static_cast<double>(random() % 50) / 10;
      const QRectF bar(left, 10 + static_cast<double>(random() % 2), std::max(1.0, width), 12);
      const QColor colour = random() % 4 == 0 ? Qt::red : Qt::blue;
      bars.add(bar, colour);
      b.fillRect(bar, colour);
      left += width;
    }
    bars.flush();
    a.end();
    b.end();
    ASSERT_EQ(joined, single) << round;
  }
}

}  // namespace
}  // namespace strato
