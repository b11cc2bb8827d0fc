// The line that says where a file was written.
#include "app/explorer/notice_strip.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QToolButton>

#include "tests/app/explorer/sample.h"

namespace strato {
namespace {

TEST(NoticeStrip, SaysWhereAFileIsAndOpensIt) {
  Session session;
  NoticeStrip strip(session);
  EXPECT_TRUE(strip.isHidden());
  QString told;
  QObject::connect(&session, &Session::message, [&](const QString& text) { told = text; });
  Q_EMIT session.written(QStringLiteral("/tmp/reports/a.html"));
  EXPECT_FALSE(strip.isHidden());
  EXPECT_EQ(told, QStringLiteral("Wrote /tmp/reports/a.html"));
  EXPECT_TRUE(strip.findChild<QLabel*>()->text().contains(QStringLiteral("/tmp/reports/a.html")));
  int open = 0;
  for (const QToolButton* button : strip.findChildren<QToolButton*>())
    open += !button->isHidden() && button->text() == QStringLiteral("Open") ? 1 : 0;
  EXPECT_EQ(open, 1);
  Q_EMIT session.problem_changed();
  EXPECT_TRUE(strip.isHidden());
}

}  // namespace
}  // namespace strato
