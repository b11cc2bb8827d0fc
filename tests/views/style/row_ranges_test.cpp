#include "views/style/row_ranges.h"

#include <gtest/gtest.h>

#include <QStandardItemModel>
#include <algorithm>
#include <random>
#include <set>

namespace strato {
namespace {

constexpr int kRows = 12, kColumns = 3;

TEST(RowRanges, NoRowsAreNoRange) {
  const QStandardItemModel model(kRows, kColumns);
  EXPECT_TRUE(row_ranges({}, model).isEmpty());
}

// However they come: just the rows, whole, and no two ranges that could be one.
TEST(RowRanges, AreTheRowsAndAsFewAsThereAre) {
  const QStandardItemModel model(kRows, kColumns);
  std::mt19937 random(7);
  for (unsigned bits = 1; bits < 1u << kRows; ++bits) {
    std::set<int> wanted;
    for (int row = 0; row < kRows; ++row)
      if (bits >> row & 1) wanted.insert(row);
    std::vector<int> rows(wanted.begin(), wanted.end());
    rows.push_back(rows[random() % rows.size()]);  // one of them twice
    std::ranges::shuffle(rows, random);
    std::set<int> found;
    int after_last = -1;
    for (const QItemSelectionRange& range : row_ranges(rows, model)) {
      EXPECT_GT(range.top(), after_last) << bits;
      after_last = range.bottom() + 1;
      for (int row = range.top(); row <= range.bottom(); ++row) found.insert(row);
      EXPECT_EQ(range.left(), 0);
      EXPECT_EQ(range.right(), kColumns - 1);
    }
    ASSERT_EQ(found, wanted) << bits;
  }
}

}  // namespace
}  // namespace strato
