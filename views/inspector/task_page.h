// The selected task of the timeline: when, where, what it waited for, what it moves.
#pragma once

#include <QWidget>

#include "views/models/session.h"

class QLabel;

namespace strato {

class BarList;
class Facts;

class TaskPage : public QWidget {
  Q_OBJECT
 public:
  explicit TaskPage(Session& session, QWidget* parent = nullptr);
  void refresh();

 private:
  void show_buffers(const Program& program, TaskId task);

  Session& session_;
  QLabel *title_, *subtitle_, *why_, *buffers_heading_;
  Facts* facts_;
  BarList* buffers_;
};

// Why `task` did not start earlier, in a sentence.
QString why_it_waited(const Timeline& timeline, TaskId task);

}  // namespace strato
