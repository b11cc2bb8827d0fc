// The timeline's own surface: keys, mouse and scrolling over what TimelinePainter draws. Knows the
// session only through its selection; lives in the GUI thread.
#pragma once

#include <QAbstractScrollArea>
#include <memory>

#include "views/models/session.h"
#include "views/timeline/timeline_painter.h"
#include "views/timeline/why_strip.h"

namespace strato {

class TimelineCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineCanvas(Session& session, QWidget* parent = nullptr);

  void show_rows(std::shared_ptr<const TimelineRows> rows, Nanos lower_bound);  // null: empty
  const std::shared_ptr<const TimelineRows>& rows() const { return rows_; }
  void show_explanation(std::shared_ptr<const Explanation> explanation);  // null: none yet
  void set_colour_mode(ColourMode mode);
  void set_show_critical(bool on);
  void set_show_why(bool on);
  void set_show_memory(bool on);
  void set_show_links(bool on);
  void set_step_shown(StepShown shown);  // Simulated, while there is no measured step
  StepShown step_shown() const { return scene_.filter.step; }
  const SliceColours& colours() const { return scene_.colours; }
  void paint_to(QPainter& painter, const QSize& size);

  void fit_all();
  void zoom_to(TimeRange range);
  QString describe(TaskId task) const;  // tooltip: HTML

 signals:
  void cursor_info(const QString& text);
  void colours_changed();
  void step_shown_changed();

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void keyPressEvent(QKeyEvent*) override;
  void keyReleaseEvent(QKeyEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void mouseMoveEvent(QMouseEvent*) override;
  void mouseReleaseEvent(QMouseEvent*) override;
  void mouseDoubleClickEvent(QMouseEvent*) override;
  void wheelEvent(QWheelEvent*) override;
  void changeEvent(QEvent*) override;
  bool viewportEvent(QEvent*) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { None, Pressed, Range, Pan, LabelColumn };
  struct Hit {
    std::size_t row;
    std::optional<Fold> fold;
  };

  std::optional<Hit> hit(const QPoint& at) const;
  std::optional<WhyBlock> block_at(const QPoint& at) const;
  const Gap* gap_at(const QPoint& at) const;
  void take_reasons();
  QString tooltip(const QPoint& at) const;
  std::optional<TaskId> task_at(const QPoint& at) const;  // a slice of its own, not a block
  void read_selection();
  void layout();
  void view_changed();  // mapping: clamp, scroll bars, repaint
  void update_scroll_bars();
  void update_palette();
  void click(const QPoint& at);
  void click_label(std::size_t row);
  void select_task(TaskId task);
  void step_in_row(int direction);
  void follow(bool backwards);
  void focus_selection();
  std::optional<TimeRange> selected_span() const;
  void reveal(TaskId task);
  void toggle_mark();
  void hover(const QPoint& at);
  void update_cursor(const QPoint& at, Qt::KeyboardModifiers modifiers);
  double whole() const;
  bool handle_view_key(int key);
  bool handle_selection_key(int key, const QString& text);

  Session& session_;
  std::shared_ptr<const TimelineRows> rows_;
  std::shared_ptr<const Explanation> explanation_;
  TimelineScene scene_;
  ColourMode mode_ = ColourMode::Kind;
  Drag drag_ = Drag::None;
  QPoint pressed_at_, last_at_;
  double pressed_time_ = 0;
  int label_width_ = 184;
  bool focused_once_ = false;  // the second F in a row fits
  bool setting_bars_ = false;
};

}  // namespace strato
