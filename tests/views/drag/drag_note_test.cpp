#include "views/drag/drag_note.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QWidget>

namespace strato {
namespace {

class DragNoteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    over_.resize(300, 200);
    over_.show();
  }
  const QLabel& told(const QString& words, const QPoint& at = {10, 10}) {
    note_.tell(words, at, false);
    const auto* label = over_.findChild<QLabel*>(QStringLiteral("drag note"));
    EXPECT_NE(label, nullptr);
    EXPECT_TRUE(over_.rect().contains(label->geometry()))
        << label->width() << " x " << label->height();
    EXPECT_GE(label->width(), label->sizeHint().width());
    return *label;
  }

  QWidget over_;
  DragNote note_{over_};
};

TEST_F(DragNoteTest, WhatHasRoomIsOneLine) {
  EXPECT_EQ(told("conv1 on v100:0: 3 ms").text(), "conv1 on v100:0: 3 ms");
}

TEST_F(DragNoteTest, TheTimeIsReadHoweverLongTheNameIs) {
  const QString time = QStringLiteral("94.5 ms to 92.1 ms (-2.5 %)");
  for (const int letters : {40, 400, 10'000}) {
    const QString text =
        told(QString(letters, QLatin1Char('n')) + QStringLiteral(" on v100:0: ") + time).text();
    EXPECT_EQ(text.count(QLatin1Char('\n')), 1) << letters;
    EXPECT_EQ(text.section(QLatin1Char('\n'), 1), time) << letters;
    EXPECT_TRUE(text.contains(QStringLiteral("on v100:0:"))) << text.toStdString();
  }
}

TEST_F(DragNoteTest, OddWordsStayInside) {
  told(QString());
  told(QStringLiteral(": "));
  told(QString(500, QLatin1Char('x')));
  told(QString(500, QLatin1Char('x')) + QStringLiteral(": ") + QString(9000, QLatin1Char('y')));
  told(QStringLiteral("a\nb: c\nd"), {299, 199});
}

}  // namespace
}  // namespace strato
