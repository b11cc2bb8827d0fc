// The strip that steps through a history: to the start, back, play, forward, to the end, a slider,
// the speed. Keys, which its owner hands on: space plays, left and right step, page up and down go
// by a hundredth, home and end, + and - change the speed.
#pragma once

#include <QWidget>
#include <cstdint>

class QComboBox;
class QHBoxLayout;
class QKeyEvent;
class QLabel;
class QSlider;
class QTimer;
class QToolButton;

namespace strato::style {

class TransportBar : public QWidget {
  Q_OBJECT
 public:
  explicit TransportBar(QWidget* parent = nullptr);
  // Positions 0 to `steps`; stops playing and goes to `position` without a word.
  void begin(std::size_t steps, std::size_t position);
  std::size_t steps() const { return steps_; }
  std::size_t position() const { return position_; }
  void seek(std::size_t position);  // clamped
  void move(std::int64_t steps);
  void play(bool on);  // from the start, when it is at the end
  bool playing() const;
  bool take_key(const QKeyEvent& event);  // false: not one of its keys
  void set_slider_tip(const QString& tip);
  void add_at_end(QWidget* widget);

 signals:
  void moved();  // also when it was sought where it is

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build();
  void draw_icons();
  void tick();
  void refresh();
  double speed() const;  // steps a second

  std::size_t steps_ = 0, position_ = 0;
  QToolButton *first_, *back_, *play_, *forward_, *last_;
  QSlider* slider_;
  QLabel* step_;
  QComboBox* speed_;
  QTimer* timer_;
  QHBoxLayout* layout_;
  double due_ = 0;  // parts of a step that the clock owes
};

}  // namespace strato::style
