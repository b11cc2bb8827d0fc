// Frames over the places that a lesson speaks of. They let every event through and follow their
// place when it moves.
#pragma once

#include <QPointer>
#include <QWidget>
#include <vector>

namespace strato {

class HighlightFrame : public QWidget {
  Q_OBJECT
 public:
  explicit HighlightFrame(QWidget& target);  // a child of the target's window

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void follow();
  QPointer<QWidget> target_;
};

class Highlights {
 public:
  ~Highlights() { clear(); }
  void show(const std::vector<QWidget*>& targets);
  void clear();
  const std::vector<QPointer<HighlightFrame>>& frames() const { return frames_; }

 private:
  std::vector<QPointer<HighlightFrame>> frames_;
};

}  // namespace strato
