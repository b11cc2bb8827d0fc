#include "views/inspector/merge_field.h"

namespace strato {

MergeField::MergeField(QWidget* parent) : QSpinBox(parent) {
  setRange(kDiffer, 1 << 20);
  setSpecialValueText(tr("differs"));
  setKeyboardTracking(false);
}

QString MergeField::textFromValue(int value) const {
  return value == -1 ? none() : QSpinBox::textFromValue(value);
}

int MergeField::valueFromText(const QString& text) const {
  return text == none() ? -1 : QSpinBox::valueFromText(text);
}

QValidator::State MergeField::validate(QString& text, int& place) const {
  if (text == none()) return QValidator::Acceptable;
  if (none().startsWith(text)) return QValidator::Intermediate;
  return QSpinBox::validate(text, place);
}

}  // namespace strato
