// What hands do in the window of a test, by the events that they make.
#pragma once

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QStyleOptionSlider>
#include <QTest>
#include <QTimer>

#include "tests/app/explorer/sample.h"

namespace strato {

inline void type_over(QAbstractSpinBox& box, const QString& text) {
  box.setFocus();
  box.selectAll();
  QTest::keyClicks(&box, text);
  QTest::keyClick(&box, Qt::Key_Return);
}

// By arrow keys, from the top, without opening the list.
inline void choose_by_keys(QComboBox& box, const QString& text) {
  box.setFocus();
  QTest::keyClick(&box, Qt::Key_Home);
  for (int i = 0; i < box.count() && box.currentText() != text; ++i)
    QTest::keyClick(&box, Qt::Key_Down);
  ASSERT_EQ(box.currentText().toStdString(), text.toStdString());
}

// By Alt and its letter: it is seen to go down, and is pressed a moment later.
inline void press_by_letter(QAbstractButton& button) {
  const QKeySequence letter = QKeySequence::mnemonic(button.text());
  ASSERT_FALSE(letter.isEmpty()) << button.text().toStdString();
  ASSERT_TRUE(button.isVisible() && button.isEnabled()) << button.text().toStdString();
  QSignalSpy pressed(&button, &QAbstractButton::clicked);
  QTest::keySequence(button.window(), letter);
  EXPECT_TRUE(pressed.count() > 0 || pressed.wait(kPatience / 10)) << button.text().toStdString();
}

// A page down: by a click into the groove, left of the handle.
inline void click_left_in(QSlider& slider) {
  QStyleOptionSlider option;
  option.initFrom(&slider);
  option.orientation = slider.orientation();
  option.minimum = slider.minimum();
  option.maximum = slider.maximum();
  option.tickPosition = slider.tickPosition();
  option.tickInterval = slider.tickInterval();
  option.sliderPosition = option.sliderValue = slider.value();
  option.state |= QStyle::State_Horizontal;
  const QRect groove =
      slider.style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderGroove, &slider);
  QTest::mouseClick(&slider, Qt::LeftButton, {}, QPoint(groove.left() + 2, groove.center().y()));
}

// The file dialog that is opened next gets this name, and closes. Before the call that opens it,
// which does not return before that.
inline void name_the_file(const QString& file, int tries = 500) {
  QTimer::singleShot(20, qApp, [file, tries] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (tries == 0) {
      ADD_FAILURE() << "no file dialog took " << file.toStdString();
      if (dialog) dialog->reject();
      return;
    }
    if (dialog && dialog->isVisible()) {
      dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
      auto* buttons = dialog->findChild<QDialogButtonBox*>();
      QTest::mouseClick(buttons->button(QDialogButtonBox::Save), Qt::LeftButton);
      if (!dialog->isVisible()) return;
    }
    name_the_file(file, tries - 1);
  });
}

}  // namespace strato
