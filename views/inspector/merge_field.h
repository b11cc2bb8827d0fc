// The number of a merge group, from 0, or "none".
#pragma once

#include <QSpinBox>

namespace strato {

class MergeField : public QSpinBox {
  Q_OBJECT
 public:
  static constexpr int kDiffer = -2;
  explicit MergeField(QWidget* parent = nullptr);

 protected:
  QString textFromValue(int value) const override;
  int valueFromText(const QString& text) const override;
  QValidator::State validate(QString& text, int& place) const override;

 private:
  static QString none() { return tr("none"); }
};

}  // namespace strato
