// What each rank has written, one rank at a time; follows the end while it is in sight.
#pragma once

#include <QWidget>

#include "views/models/launch_model.h"

class QComboBox;
class QPlainTextEdit;

namespace strato {

class LogPage : public QWidget {
  Q_OBJECT
 public:
  explicit LogPage(const LaunchModel& model, QWidget* parent = nullptr);
  void show_rank(int rank);
  void reset();  // another launch has begun
  void add(int rank);

 private:
  void refill();

  const LaunchModel& model_;
  QComboBox* rank_;
  QPlainTextEdit* text_;
};

}  // namespace strato
