// A disk that never answers does not keep the window open for ever.
#include "app/explorer/storing_note.h"

#include <gtest/gtest.h>

#include <QPushButton>
#include <QTest>

#include "tests/app/explorer/sample.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

TEST(StoringNote, OffersToLeaveOnceItTakesLong) {
  QWidget window;
  window.resize(640, 400);
  window.show();
  int left = 0;
  const StoringNote patient(QStringLiteral("a.strata"), &window, [&] { ++left; });
  EXPECT_TRUE(patient.text().contains(QStringLiteral("a.strata")));
  EXPECT_FALSE(patient.findChild<QPushButton*>()->isVisible());

  StoringNote note(
      QStringLiteral("a.strata"), &window, [&] { ++left; }, 0ms);
  auto* button = note.findChild<QPushButton*>();
  ASSERT_TRUE(QTest::qWaitFor([&] { return button->isVisible(); }, kPatience));
  EXPECT_TRUE(note.text().contains(QStringLiteral("are lost")));
  EXPECT_TRUE(window.rect().contains(note.geometry()));
  EXPECT_TRUE(note.rect().contains(button->geometry()));
  EXPECT_EQ(window.focusWidget(), button);
  QTest::keyClick(button, Qt::Key_Space);
  EXPECT_EQ(left, 1);
}

// A name as long as a disk allows, in a small window.
TEST(StoringNote, FitsIntoASmallWindow) {
  QWidget window;
  window.resize(500, 400);
  window.show();
  StoringNote note(
      QStringLiteral("a-workspace-with-a-long-name-of-many-words.strata"), &window, [] {}, 0ms);
  auto* button = note.findChild<QPushButton*>();
  ASSERT_TRUE(QTest::qWaitFor([&] { return button->isVisible(); }, kPatience));
  EXPECT_TRUE(window.rect().contains(note.geometry()));
  EXPECT_LT(note.geometry().bottom() - note.geometry().top(), 400);
}

}  // namespace
}  // namespace strato
