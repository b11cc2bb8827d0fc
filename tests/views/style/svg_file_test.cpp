// Pictures that other programs can draw.
#include "views/style/svg_file.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QPainter>
#include <QTemporaryDir>

namespace strato::style {
namespace {

TEST(SvgFile, PatternsNeedNoMasks) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.svg");
  ASSERT_TRUE(write_svg(file, {200, 100}, "a", [](QPainter& painter) {
    painter.fillRect(QRect(0, 0, 80, 80), QBrush(QColor(0x3366aa), Qt::BDiagPattern));
    painter.fillRect(QRect(100, 0, 80, 80), QBrush(QColor(0xaa3366), Qt::Dense6Pattern));
  }));
  QFile written(file);
  ASSERT_TRUE(written.open(QIODevice::ReadOnly));
  const QByteArray svg = written.readAll();
  EXPECT_FALSE(svg.contains("mask"));
  EXPECT_EQ(svg.count("<pattern"), 2);
  EXPECT_TRUE(svg.contains("<g stroke=\"none\" fill=\"#3366aa\">"));
  EXPECT_TRUE(svg.contains("url(#fillpattern"));
  EXPECT_TRUE(svg.trimmed().endsWith("</svg>"));
}

TEST(SvgFile, OthersStayAsTheyAre) {
  EXPECT_EQ(with_plain_patterns("<svg><rect/></svg>"), QByteArray("<svg><rect/></svg>"));
}

TEST(SvgFile, SaysWhereItCannotBeWritten) {
  EXPECT_FALSE(write_svg(QStringLiteral("/no/such/folder/a.svg"), {10, 10}, "a", [](QPainter&) {}));
}

}  // namespace
}  // namespace strato::style
