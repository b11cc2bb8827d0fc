// Figures as people read them.
#include <gtest/gtest.h>

#include "views/style/fitting_name.h"
#include "views/style/style.h"

namespace strato {
namespace {

TEST(Words, marks_of_an_axis_have_one_unit) {
  constexpr std::int64_t kMilli = 1'000'000;
  EXPECT_EQ(style::axis_time(0, 50 * kMilli, 136 * kMilli), "0 ms");
  EXPECT_EQ(style::axis_time(100 * kMilli, 50 * kMilli, 136 * kMilli), "100 ms");
  EXPECT_EQ(style::axis_time(1500 * kMilli, 500 * kMilli, 2000 * kMilli), "1.5 s");
  EXPECT_EQ(style::axis_time(20'000, 20'000, 2 * kMilli), "0.02 ms");
  EXPECT_EQ(style::axis_time(400, 200, 999), "400 ns");
}

TEST(Words, say_a_unit_once_where_both_parts_have_it) {
  constexpr std::int64_t kGB = 1'000'000'000;
  EXPECT_EQ(style::bytes_of(Bytes(2'690'000'000), Bytes(34 * kGB)), "2.69 of 34.0 GB");
  EXPECT_EQ(style::bytes_of(Bytes(512'000'000), Bytes(34 * kGB)), "512 MB of 34.0 GB");
  EXPECT_EQ(style::bytes_of(Bytes(5), Bytes(34 * kGB)), "5.00 B of 34.0 GB");
  EXPECT_EQ(style::bytes_of(Bytes(34 * kGB), Bytes(kGB)), "34.0 of 1.00 GB");
}

TEST(Words, of_thousands_of_letters_keep_their_ends) {
  const QString name = QStringLiteral("first/") + QString(10'000, 'w') + QStringLiteral("/last");
  const QString read = style::with_readable_words(QStringLiteral("Op %1 takes 3 ms.").arg(name));
  EXPECT_TRUE(read.startsWith(QStringLiteral("Op first/www"))) << read.toStdString();
  EXPECT_TRUE(read.endsWith(QStringLiteral("www/last takes 3 ms."))) << read.toStdString();
  EXPECT_LT(read.size(), 200);
  const QString usual = QStringLiteral("model/layers.0/mlp/Add takes  3 ms.");
  EXPECT_EQ(style::with_readable_words(usual), usual);
}

// What moves between two ends is one colour; what several devices do together another.
TEST(KindColours, CopiesToAndFromHostsAreTransfers) {
  for (const bool dark : {false, true})
    for (const TaskKind kind : {TaskKind::Offload, TaskKind::Fetch}) {
      EXPECT_EQ(style::kind_colour(kind, dark), style::kind_colour(TaskKind::Transfer, dark));
      EXPECT_NE(style::kind_colour(kind, dark), style::kind_colour(TaskKind::AllReduce, dark));
    }
}

}  // namespace
}  // namespace strato
