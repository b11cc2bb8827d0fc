// Fusion, with outlines of fields, check boxes and radio buttons that are seen on a dark ground
// too: Fusion itself draws them darker than the ground.
#pragma once

#include <QPainter>
#include <QProxyStyle>
#include <QStyleOption>

#include "views/style/style.h"

namespace strato::style {

class OutlinedStyle : public QProxyStyle {
 public:
  OutlinedStyle() : QProxyStyle(QStringLiteral("fusion")) {}

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool round = element == PE_IndicatorRadioButton;
    if (round || element == PE_IndicatorCheckBox || element == PE_FrameLineEdit)
      outline(*option, *painter, round ? option->rect.width() / 2.0 : 2.0);
  }
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                          QPainter* painter, const QWidget* widget) const override {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_SpinBox || control == CC_ComboBox) outline(*option, *painter, 2.0);
  }

 private:
  static void outline(const QStyleOption& option, QPainter& painter, double radius) {
    // Fusion outlines what has the keys itself.
    if (!is_dark(option.palette) || option.state.testFlag(State_HasFocus)) return;
    QColor colour = option.palette.color(QPalette::WindowText);
    colour.setAlphaF(0.4f);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(colour);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    painter.restore();
  }
};

}  // namespace strato::style
