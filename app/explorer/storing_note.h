// Over a window that waits for its last changes to be written before it closes. Where the disk does
// not answer for some seconds, it offers to leave without them, and says what that costs.
#pragma once

#include <QLabel>
#include <QTimer>
#include <chrono>
#include <functional>

class QPushButton;

namespace strato {

class StoringNote : public QLabel {
  Q_OBJECT
 public:
  static constexpr std::chrono::milliseconds kPatience{8000};
  // `leave`: ends the program at once, for whoever writes may wait for ever.
  StoringNote(const QString& file, QWidget* window, std::function<void()> leave,
              std::chrono::milliseconds patience = kPatience);

 private:
  void offer_to_leave();
  void place();

  const QString file_;
  QPushButton* leave_;
  QTimer patience_;
};

}  // namespace strato
