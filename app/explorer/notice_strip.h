// What was wrong with what was opened, in a line that stays until it is read: the first of the
// problem's warnings, the others on demand. A file that was written takes its place, with a button
// that opens it. Hidden without any of these.
#pragma once

#include <QFrame>

#include "views/models/session.h"

class QLabel;
class QToolButton;

namespace strato {

class NoticeStrip : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeStrip(Session& session, QWidget* parent = nullptr);

 private:
  void refresh();
  void show_text();
  void show_written(const QString& file);

  Session& session_;
  QLabel* text_;
  QToolButton *more_, *open_;
  QString file_;  // that was written
};

}  // namespace strato
