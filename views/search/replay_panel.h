// The strip that steps through the history of a search tree: to the start, back, play, forward, to
// the end, a slider, the speed; and a sentence about the step. Keys, when it has the focus: space
// plays, left and right step, page up and down go by a hundredth, home and end.
#pragma once

#include <QWidget>
#include <memory>

#include "core/search/tree_replay.h"

class QComboBox;
class QLabel;
class QSlider;
class QTimer;
class QToolButton;

namespace strato {

class ReplayPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ReplayPanel(QWidget* parent = nullptr);
  void begin(std::shared_ptr<const SearchTree> tree);  // at the end
  void end();
  bool active() const { return after_ != nullptr; }
  // One step before the one shown, and after it. Only while active.
  const TreeReplay& before() const { return *before_; }
  const TreeReplay& after() const { return *after_; }
  void seek(std::size_t step);
  void move(std::int64_t steps);
  void play(bool on);
  bool playing() const;
  void tell(const QString& story);  // HTML

 signals:
  void stepped();
  void close_wanted();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void tick();
  void refresh();
  double speed() const;  // steps a second

  std::unique_ptr<TreeReplay> before_, after_;
  QToolButton *first_, *back_, *play_, *forward_, *last_;
  QSlider* slider_;
  QLabel *step_, *story_;
  QComboBox* speed_;
  QTimer* timer_;
  double due_ = 0;  // parts of a step that the clock owes
};

}  // namespace strato
