// Fields on a dark ground have outlines that are seen.
#include "views/style/outlined_style.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QRadioButton>
#include <QSpinBox>
#include <algorithm>

namespace strato {
namespace {

// How much lighter than the ground the lightest point of the widget is.
int contrast(QWidget& widget, QStyle& look) {
  const QColor ground(0x202124);
  QPalette dark(QColor(0x2b2c30), ground);
  dark.setColor(QPalette::WindowText, QColor(0xe4e4e4));
  dark.setColor(QPalette::Base, QColor(0x17181a));
  widget.setPalette(dark);
  widget.setStyle(&look);
  widget.resize(60, 24);
  QImage image(widget.size(), QImage::Format_RGB32);
  image.fill(ground);
  widget.render(&image);
  int lightest = 0;
  for (int x = 0; x < 13; ++x)  // the mark, or the field's left end
    for (int y = 0; y < image.height(); ++y)
      lightest = std::max(lightest, qGray(image.pixel(x, y)));
  return lightest - qGray(ground.rgb());
}

TEST(OutlinedStyle, FieldsAreSeenOnADarkGround) {
  style::OutlinedStyle look;
  QCheckBox check;
  QRadioButton radio;
  QLineEdit line;
  QSpinBox spin;
  QComboBox box;
  spin.setSpecialValueText(QStringLiteral(" "));
  for (QWidget* widget : std::initializer_list<QWidget*>{&check, &radio, &line, &spin, &box})
    EXPECT_GE(contrast(*widget, look), 50) << widget->metaObject()->className();
}

}  // namespace
}  // namespace strato
