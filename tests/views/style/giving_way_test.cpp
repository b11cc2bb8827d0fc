// What gives way where there is too little room, and cuts nothing.
#include <gtest/gtest.h>

#include <QHBoxLayout>
#include <QLabel>
#include <QTest>
#include <QVBoxLayout>

#include "views/style/elided_label.h"
#include "views/style/giving_area.h"

namespace strato::style {
namespace {

void settle() {
  for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
}

TEST(ElidedLabel, IsAsWideAsItsTextOrSomeLetters) {
  ElidedLabel label(Qt::ElideMiddle, nullptr, 10);
  label.setText(QStringLiteral("short"));
  EXPECT_EQ(label.minimumSizeHint().width(), label.sizeHint().width());
  label.setText(QString(10'000, QLatin1Char('n')));
  EXPECT_EQ(label.minimumSizeHint().width(), 10 * label.fontMetrics().averageCharWidth());
  EXPECT_EQ(label.minimumSizeHint().height(), label.sizeHint().height());
  label.setText(QString());
  EXPECT_LE(label.minimumSizeHint().width(), label.sizeHint().width());
}

TEST(ElidedLabel, DrawsMarkupAsItIsWritten) {
  ElidedLabel label(Qt::ElideMiddle);
  label.setText(QStringLiteral("<b>a</b> & b"));
  EXPECT_EQ(label.textFormat(), Qt::PlainText);
  label.resize(label.minimumSizeHint());
  EXPECT_FALSE(label.grab().isNull());
}

class Wide : public QWidget {
 public:
  explicit Wide(int width, int height) : least(width, height) {}
  QSize sizeHint() const override { return least; }
  QSize minimumSizeHint() const override { return least; }
  void become(const QSize& size) {
    least = size;
    updateGeometry();
  }

 private:
  QSize least;
};

TEST(GivingArea, UpAndDownIsAsWideAsItsContent) {
  QWidget window;
  auto* row = new QHBoxLayout(&window);
  auto* content = new Wide(200, 900);
  auto* area = new GivingArea(content, GivingArea::Scrolls::UpAndDown);
  row->addWidget(area);
  row->addWidget(new QWidget, 1);
  window.resize(400, 300);
  window.show();
  settle();
  EXPECT_GE(area->viewport()->width(), 200);
  EXPECT_LT(area->width(), 260);  // and no wider
  EXPECT_LE(area->height(), 300);
  content->become({320, 900});  // follows it
  settle();
  EXPECT_GE(area->viewport()->width(), 320);
}

TEST(GivingArea, SidewaysIsAsHighAsItsContentAndGivesWay) {
  QWidget window;
  auto* column = new QVBoxLayout(&window);
  column->setContentsMargins(0, 0, 0, 0);
  auto* content = new Wide(500, 60);
  auto* area = new GivingArea(content, GivingArea::Scrolls::Sideways);
  column->addWidget(area);
  column->addWidget(new QWidget, 1);
  EXPECT_LT(window.minimumSizeHint().width(), 100);
  window.resize(800, 300);
  window.show();
  settle();
  EXPECT_EQ(area->height(), 60);
  EXPECT_FALSE(area->horizontalScrollBar()->isVisible());
  window.resize(300, 300);
  settle();
  EXPECT_TRUE(area->horizontalScrollBar()->isVisible());
  EXPECT_GE(area->viewport()->height(), 60);
  EXPECT_GE(content->width(), 500);
  window.resize(800, 300);
  settle();
  EXPECT_EQ(area->height(), 60);
}

}  // namespace
}  // namespace strato::style
