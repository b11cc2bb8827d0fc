#include "views/timeline/slice_row.h"

#include <gtest/gtest.h>

#include <random>

#include "views/timeline/memory_curve.h"

namespace strato {
namespace {

SliceRow random_row(unsigned seed, int count, int longest) {
  std::mt19937 random(seed);
  SliceRow row;
  std::int64_t now = 0;
  for (int i = 0; i < count; ++i) {
    now += static_cast<std::int64_t>(random() % 3 == 0 ? random() % 50 : 0);
    const auto length = static_cast<std::int64_t>(random() % static_cast<unsigned>(longest));
    row.add(now, now + length, TaskId(static_cast<std::size_t>(i)));
    now += length;
  }
  return row;
}

std::vector<SliceFold> folds(const SliceRow& row, const TimeMapping& mapping) {
  std::vector<SliceFold> result;
  fold_slices(row, mapping, [&](SliceFold fold) { result.push_back(fold); });
  return result;
}

TEST(Folding, ShowsEverySliceInViewOnceAndInOrder) {
  for (unsigned seed = 1; seed < 60; ++seed) {
    const SliceRow row = random_row(seed, 400, 1 + static_cast<int>(seed) * 4);
    TimeMapping m{static_cast<double>(seed * 30), 0.2 * seed, 100, 500};
    std::size_t expected = row.first_after(m.begin);
    for (const SliceFold& fold : folds(row, m)) {
      EXPECT_EQ(fold.first, expected);
      EXPECT_GT(fold.last, fold.first);
      expected = fold.last;
    }
    EXPECT_TRUE(expected == row.size() || static_cast<double>(row.start[expected]) >= m.end());
  }
}

TEST(Folding, WideSlicesStandAloneAndBlocksAreSmall) {
  for (unsigned seed = 1; seed < 60; ++seed) {
    const SliceRow row = random_row(seed, 400, 200);
    const TimeMapping m{0, 0.3 * seed, 0, 800};
    const double smallest = kFoldPixels * m.ns_per_px;
    for (const SliceFold& fold : folds(row, m)) {
      if (fold.count() == 1) continue;
      for (std::size_t i = fold.first; i < fold.last; ++i) {
        EXPECT_LT(static_cast<double>(row.end[i] - row.start[i]), smallest);
        EXPECT_LT(static_cast<double>(row.start[i] - row.start[fold.first]), smallest);
      }
    }
  }
}

TEST(Folding, AnyGuessFindsTheSameSlice) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const SliceRow row = random_row(seed, 60, 20);
    for (double time = -5; time < static_cast<double>(row.end.back()) + 9; time += 7) {
      for (std::size_t from = 0; from <= row.size(); from += 3) {
        std::size_t expected = from;
        while (expected < row.size() && static_cast<double>(row.start[expected]) < time) ++expected;
        for (const std::size_t guess : {0, 1, 2, 9, 40, 1000})
          ASSERT_EQ(row.first_starting(time, from, guess), expected) << from << ", " << guess;
      }
    }
  }
}

TEST(Folding, MarkedSlicesAreAllShownOnceAndBlocksAreSmall) {
  std::mt19937 random(11);
  for (unsigned seed = 1; seed < 60; ++seed) {
    const SliceRow row = random_row(seed, 400, 1 + static_cast<int>(seed) * 4);
    std::vector<std::uint32_t> marked;
    for (std::uint32_t i = 0; i < row.size(); ++i)
      if (random() % (1 + seed % 5) == 0) marked.push_back(i);
    const TimeMapping m{static_cast<double>(seed * 30), 0.2 * seed, 100, 500};
    const double smallest = kFoldPixels * m.ns_per_px;
    auto expected = static_cast<std::size_t>(
        std::ranges::lower_bound(marked, row.first_after(m.begin)) - marked.begin());
    fold_marked(row, marked, m, [&](const SliceFold& fold) {
      ASSERT_EQ(fold.first, expected);
      ASSERT_GT(fold.last, fold.first);
      expected = fold.last;
      for (std::size_t i = fold.first; fold.count() > 1 && i < fold.last; ++i) {
        const std::uint32_t at = marked[i];
        EXPECT_LT(static_cast<double>(row.end[at] - row.start[at]), smallest);
        EXPECT_LT(static_cast<double>(row.start[at] - row.start[marked[fold.first]]), smallest);
      }
    });
    EXPECT_TRUE(expected == marked.size() ||
                static_cast<double>(row.start[marked[expected]]) > m.end());
  }
  fold_marked(SliceRow(), {}, TimeMapping(), [](const SliceFold&) { FAIL(); });
}

TEST(Folding, CostsPixelsNotSlices) {
  SliceRow row;
  for (std::int64_t i = 0; i < 1'000'000; ++i)
    row.add(i * 10, i * 10 + 9, TaskId(static_cast<std::size_t>(i)));
  const auto all = folds(row, TimeMapping{0, 1e4, 0, 1000});
  EXPECT_LE(all.size(), 340u);
  std::size_t slices = 0;
  for (const SliceFold& fold : all) slices += fold.count();
  EXPECT_EQ(slices, 1'000'000u);
}

TEST(Folding, EmptyAndOutOfView) {
  SliceRow row;
  EXPECT_TRUE(folds(row, TimeMapping{0, 1, 0, 100}).empty());
  row.add(1000, 1100, TaskId(0));
  EXPECT_TRUE(folds(row, TimeMapping{0, 1, 0, 100}).empty());
  EXPECT_TRUE(folds(row, TimeMapping{2000, 1, 0, 100}).empty());
  EXPECT_EQ(folds(row, TimeMapping{1050, 1, 0, 100}).size(), 1u);
}

TEST(HitTest, FindsWhatIsDrawnThere) {
  SliceRow row;
  row.add(0, 100, TaskId(0));
  row.add(200, 201, TaskId(1));  // a hair
  row.add(400, 600, TaskId(2));
  const TimeMapping m{0, 1, 50, 1000};
  EXPECT_EQ(fold_at(row, m, 100)->first, 0u);
  EXPECT_EQ(fold_at(row, m, 149)->first, 0u);
  EXPECT_FALSE(fold_at(row, m, 160));
  EXPECT_EQ(fold_at(row, m, 252)->first, 1u);  // two pixels of slack
  EXPECT_EQ(fold_at(row, m, 500)->first, 2u);
  EXPECT_FALSE(fold_at(row, m, 900));
}

TEST(Busy, BetweenIsExact) {
  for (unsigned seed = 1; seed < 30; ++seed) {
    const SliceRow row = random_row(seed, 60, 40);
    std::vector<char> covered(5000, 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::int64_t t = row.start[i]; t < row.end[i]; ++t)
        covered[static_cast<std::size_t>(t)] = 1;
    }
    for (int from = 0; from < 900; from += 37) {
      for (int to = from; to < 900; to += 53) {
        EXPECT_EQ(row.busy_between(from, to),
                  std::count(covered.begin() + from, covered.begin() + to, 1));
      }
    }
  }
}

TEST(MemoryCurve, HighestOfAnyStretchAgreesWithBruteForce) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<MemoryCurve::Change> changes;
    for (int i = 0; i < 300; ++i) {
      const auto from = static_cast<std::int64_t>(random() % 900),
                 bytes = static_cast<std::int64_t>(1 + random() % 100);
      changes.push_back({from, bytes});
      changes.push_back({from + 1 + static_cast<std::int64_t>(random() % 100), -bytes});
    }
    const MemoryCurve curve(50, changes);
    std::vector<std::int64_t> value(1100, 50);
    for (const auto& change : changes) {
      for (std::size_t t = static_cast<std::size_t>(change.time); t < value.size(); ++t)
        value[t] += change.bytes;
    }
    EXPECT_EQ(curve.peak(), *std::max_element(value.begin(), value.end()));
    for (int i = 0; i < 50; ++i) {
      const std::size_t from = random() % 1000, to = from + random() % (1090 - from);
      EXPECT_EQ(curve.at(static_cast<std::int64_t>(from)), value[from]);
      EXPECT_EQ(curve.highest(static_cast<std::int64_t>(from), static_cast<std::int64_t>(to)),
                *std::max_element(value.begin() + static_cast<long>(from),
                                  value.begin() + static_cast<long>(to) + 1));
    }
  }
}

TEST(MemoryCurve, AWalkFindsWhatASearchFinds) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::vector<MemoryCurve::Change> changes;
    for (int i = 0; i < round * 5; ++i) {
      const auto at = static_cast<std::int64_t>(random() % 900);
      changes.push_back({at, 1 + static_cast<std::int64_t>(random() % 100)});
      changes.push_back({at + 1 + static_cast<std::int64_t>(random() % 100), -1});
    }
    const MemoryCurve curve(50, changes);
    MemoryCurve::Walk walk(curve);
    std::int64_t from = static_cast<std::int64_t>(random() % 40) - 20;
    while (from < 1200) {
      const std::int64_t to = from + static_cast<std::int64_t>(random() % 60);
      ASSERT_EQ(walk.highest(from, to), curve.highest(from, to)) << from << ".." << to;
      from = random() % 3 == 0 ? to + static_cast<std::int64_t>(random() % 20)
                               : from + (to - from) / (1 + static_cast<std::int64_t>(random() % 2));
    }
  }
}

TEST(MemoryCurve, ReleasesComeFirst) {
  const MemoryCurve curve(0, {{0, 10}, {5, 10}, {5, -10}, {9, -10}});
  EXPECT_EQ(curve.peak(), 10);
  EXPECT_EQ(MemoryCurve(7, {}).highest(0, 100), 7);
}

}  // namespace
}  // namespace strato
