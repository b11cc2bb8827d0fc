// The surface on which a recorded run is seen: keys, mouse and scrolling over what RecordedPainter
// draws, as in the timeline. GUI thread.
#pragma once

#include <QAbstractScrollArea>

#include "views/traces/recorded_painter.h"

namespace strato {

class RecordedCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit RecordedCanvas(QWidget* parent = nullptr);

  void show_run(std::shared_ptr<const RecordedRun> run);  // null: none
  // A simulated step above each rank, from `begin` on the axis; none: without.
  void show_simulated(std::vector<RankRow> rows, Nanos begin);
  void choose_range(std::optional<TimeRange> range, bool zoom);
  void choose_rank(std::optional<std::size_t> index);  // and brings it into sight
  void open_rank(std::size_t index, bool open);        // its streams
  const RecordedScene& scene() const { return scene_; }
  QString tooltip(const QPoint& at) const;  // HTML; empty: nothing is there

 signals:
  void range_chosen();  // by a person, or no range any more
  void rank_chosen(std::optional<std::size_t> index);
  void colours_changed();
  void cursor_info(const QString& text);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { None, Pressed, Range, Pan };

  double whole() const;
  void look_again();  // palette, font
  void layout();
  void view_changed();
  void click(const QPoint& at);
  void click_label(const QPoint& at);
  void step_by(int direction);
  std::optional<SliceFold> fold_under(const RecordedPlace& place, const QPoint& at) const;
  const RecordedStep* step_at(const QPoint& at) const;

  RecordedScene scene_;
  Drag drag_ = Drag::None;
  QPoint pressed_at_, last_at_;
  bool setting_bars_ = false;
};

}  // namespace strato
