// The table of keys, generated from the window's actions; keys that only work inside a view stand
// below.
#pragma once

#include <QDialog>

class QMainWindow;

namespace strato {

class KeyTable : public QDialog {
  Q_OBJECT
 public:
  KeyTable(const QMainWindow& window, QWidget* parent);
};

}  // namespace strato
