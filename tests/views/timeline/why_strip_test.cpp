#include "views/timeline/why_strip.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QTest>

#include "core/sim/explain/path_pieces.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/models/explanation.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

using test::sample;

std::shared_ptr<const Explanation> reasons_of(std::shared_ptr<const Timeline> timeline) {
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(*timeline);
  for (std::vector<Gap>& own : gaps(*timeline)) reasons->gaps.emplace_back(std::move(own));
  auto explanation = std::make_shared<Explanation>();
  explanation->timeline = std::move(timeline);
  explanation->reasons = std::move(reasons);
  return explanation;
}

TimeMapping fitted(const Timeline& timeline) {
  TimeMapping mapping;
  mapping.resize(100, 800);
  mapping.fit(0, static_cast<double>(timeline.step_time.value));
  return mapping;
}

TEST(WhyStrip, BlocksCoverThePathWhateverTheZoom) {
  const auto timeline = sample(3000, 1);
  const auto path = path_pieces(*timeline);
  for (const double zoom : {1.0, 7.0, 400.0}) {
    TimeMapping mapping = fitted(*timeline);
    mapping.zoom(zoom, 500);
    const auto blocks = why_blocks(path, mapping);
    ASSERT_FALSE(blocks.empty());
    EXPECT_LE(blocks.size(), 800u / 2);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i > 0) {
        EXPECT_EQ(blocks[i].first, blocks[i - 1].last);
        EXPECT_NE(blocks[i].reason, blocks[i - 1].reason);
      }
      std::int64_t sum = 0;
      for (const std::int64_t time : blocks[i].time) sum += time;
      EXPECT_EQ(sum, (path[blocks[i].last - 1].end - path[blocks[i].first].begin).value);
    }
    EXPECT_LE(static_cast<double>(path[blocks.front().first].begin.value), mapping.begin + 1e6);
    if (zoom == 1.0) {
      EXPECT_EQ(blocks.front().first, 0u);
      EXPECT_EQ(blocks.back().last, path.size());
    }
  }
}

TEST(WhyStrip, AHitIsTheBlockDrawnThere) {
  const auto timeline = sample(500, 2);
  const auto path = path_pieces(*timeline);
  const TimeMapping mapping = fitted(*timeline);
  for (const WhyBlock& block : why_blocks(path, mapping)) {
    const double middle = (static_cast<double>(path[block.first].begin.value) +
                           static_cast<double>(path[block.last - 1].end.value)) /
                          2;
    const auto found = why_block_at(path, mapping, mapping.x(middle));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, block.first);
    EXPECT_FALSE(describe_block(*timeline, path, *found).isEmpty());
    const std::size_t longest = longest_piece(path, *found);
    EXPECT_GE(longest, block.first);
    EXPECT_LT(longest, block.last);
  }
  EXPECT_FALSE(why_block_at(path, mapping, mapping.x(-1e9)));
}

TEST(WhyStrip, EveryGapIsDescribed) {
  const auto timeline = sample(400, 3);
  for (const std::vector<Gap>& own : gaps(*timeline)) {
    for (const Gap& gap : own) {
      EXPECT_FALSE(gap_texts(*timeline, gap).front().isEmpty());
      EXPECT_TRUE(describe_gap(*timeline, gap).contains(QStringLiteral("Idle")));
    }
  }
}

TEST(View, DrawsTheReasonsOfTheRowsOnly) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  const auto shown = sample(60, 4);
  view.show_timeline(shown, Nanos(0));
  const QImage without = view.grab().toImage();
  view.canvas().show_explanation(reasons_of(sample(60, 5)));
  EXPECT_EQ(view.grab().toImage(), without);
  view.canvas().show_explanation(reasons_of(shown));
  const QImage with = view.grab().toImage();
  EXPECT_NE(with, without);
  view.canvas().set_show_why(false);
  EXPECT_NE(view.grab().toImage(), with);
  view.show_timeline(nullptr, Nanos(0));
  view.grab();
}

TEST(View, TheSwitchChoosesHowIsSimulated) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  view.show();
  const auto button = [&](const QString& text) -> QAbstractButton* {
    for (auto* known : view.findChildren<QAbstractButton*>()) {
      if (known->text() == text) return known;
    }
    return nullptr;
  };
  QAbstractButton *fifo = button("FIFO"), *priority = button("Priority"),
                  *fair = button("Fair links");
  ASSERT_TRUE(fifo && priority && fair);
  EXPECT_TRUE(fifo->isChecked());
  QTest::mouseClick(priority, Qt::LeftButton);
  EXPECT_EQ(session.simulation().order, TaskOrder::Priority);
  EXPECT_FALSE(fifo->isChecked());
  QTest::mouseClick(priority, Qt::LeftButton);
  EXPECT_TRUE(priority->isChecked());
  QTest::mouseClick(fair, Qt::LeftButton);
  EXPECT_TRUE(session.simulation().fair_links);
  session.set_simulation({});
  EXPECT_TRUE(fifo->isChecked());
  EXPECT_FALSE(fair->isChecked());
}

}  // namespace
}  // namespace strato
