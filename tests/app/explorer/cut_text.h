// Finds text that has less room than it needs, of labels, buttons and boxes to choose from. What
// says by its minimumSizeHint that it elides its own text needs no more than that.
#pragma once

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <algorithm>
#include <string>
#include <vector>

namespace strato {

inline int text_width(const QWidget& widget, const QString& text) {
  return widget.fontMetrics().size(Qt::TextShowMnemonic, text).width();
}

// Pixels that the text lacks; 0: it is whole.
inline int lacks(const QLabel& label) {
  if (label.text().isEmpty() || !label.pixmap(Qt::ReturnByValue).isNull()) return 0;
  if (label.minimumSizeHint().width() < label.sizeHint().width() && !label.wordWrap())
    return std::max(0, label.minimumSizeHint().width() - label.width());  // it elides
  if (label.wordWrap()) return std::max(0, label.heightForWidth(label.width()) - label.height());
  const int margins = label.sizeHint().width() - label.contentsRect().width();
  const int high = label.sizeHint().height() - label.height();
  return std::max({0, margins - (label.width() - label.contentsRect().width()), high - 2});
}
inline int lacks(const QAbstractButton& button) {
  if (button.text().isEmpty()) return 0;
  if (button.minimumSizeHint().width() < button.sizeHint().width())
    return std::max(0, button.minimumSizeHint().width() - button.width());  // it elides
  const int icon = button.icon().isNull() ? 0 : button.iconSize().width() + 4;
  const bool box = button.inherits("QCheckBox") || button.inherits("QRadioButton");
  const int mark = box ? button.style()->pixelMetric(QStyle::PM_IndicatorWidth) + 4 : 4;
  const int high = button.fontMetrics().height() - button.height();
  return std::max({0, text_width(button, button.text()) + icon + mark - button.width(), high});
}
inline int lacks(const QComboBox& box) {
  QStyleOptionComboBox option;
  option.initFrom(&box);
  option.editable = box.isEditable();
  const QRect field =
      box.style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &box);
  const int icon = box.itemIcon(box.currentIndex()).isNull() ? 0 : box.iconSize().width() + 4;
  return std::max(0, text_width(box, box.currentText()) + icon - field.width());
}

// One line for each: where it is, what it says, how much it lacks.
inline std::vector<std::string> cut_texts(const QWidget& window) {
  std::vector<std::string> found;
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->window() != &window) continue;
    if (widget->visibleRegion().isEmpty()) continue;  // scrolled away, or a dock behind another
    int lack = 0;
    QString text;
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      lack = lacks(*label);
      text = label->text();
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      lack = lacks(*button);
      text = button->text();
    } else if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
      lack = lacks(*box);
      text = box->currentText();
    }
    if (lack <= 0) continue;
    std::string place;
    for (const QWidget* at = widget; at && at != &window; at = at->parentWidget())
      place = std::string(at->metaObject()->className()) + (place.empty() ? "" : " > ") + place;
    found.push_back(place + " \"" + text.left(60).toStdString() + "\" lacks " +
                    std::to_string(lack) + " px of " + std::to_string(widget->width()));
  }
  return found;
}

}  // namespace strato
