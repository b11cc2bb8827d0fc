// The timeline's own surface: keys, mouse and scrolling over what TimelinePainter draws. Knows the
// session only through its selection; lives in the GUI thread.
#pragma once

#include <QAbstractScrollArea>
#include <memory>

#include "core/sim/explain/path_pieces.h"
#include "views/drag/device_drop.h"
#include "views/models/session.h"
#include "views/timeline/order_editor.h"
#include "views/timeline/range_totals.h"
#include "views/timeline/timeline_painter.h"
#include "views/timeline/why_strip.h"

class QLineEdit;
class QMenu;

namespace strato {

class TimelineCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineCanvas(Session& session, QWidget* parent = nullptr);

  void show_rows(std::shared_ptr<const TimelineRows> rows, Nanos lower_bound);  // null: empty
  const std::shared_ptr<const TimelineRows>& rows() const { return rows_; }
  void show_explanation(std::shared_ptr<const Explanation> explanation);  // null: none yet
  void set_colour_mode(ColourMode mode);
  ColourMode colour_mode() const { return mode_; }
  // --- beside another timeline
  void set_other(bool other);  // its tasks are not the outcome's that the session shows
  void show_changes(std::shared_ptr<const TaskChanges> changes);  // for ColourMode::Change
  void set_least_whole(Nanos whole);  // the longer one's step time, so that both show the same
  void take_view_of(const TimelineCanvas& other);
  void take_filter_of(const TimelineCanvas& other);
  void set_show_critical(bool on);
  void set_show_why(bool on);
  void set_show_memory(bool on);
  void set_show_links(bool on);
  void set_show_arrows(bool on);
  void set_step_shown(StepShown shown);  // Simulated, while there is no measured step
  StepShown step_shown() const { return scene_.filter.step; }
  const std::shared_ptr<const PathReasons>& reasons() const { return scene_.reasons; }
  // --- rows (timeline_row_menu.cpp)
  RowMask rows_in_sight() const;
  std::size_t hidden_rows() const { return scene_.layout.hidden; }
  const RowLayout& row_layout() const { return scene_.layout; }
  const TimeMapping& mapping() const { return scene_.mapping; }
  void hide_rows(const std::vector<RowKey>& keys);
  void pin_row(RowKey key, bool on);
  void filter_rows(const QString& words);
  void show_all_rows();     // none is hidden or filtered out
  void go_to(TaskId task);  // selects it and brings it into sight, out of hidden rows, too
  const SliceColours& colours() const { return scene_.colours; }
  // All rows from the first on; `range`: at that zoom instead of the view's.
  void paint_to(QPainter& painter, const QSize& size, std::optional<TimeRange> range = {});
  int whole_height() const { return scene_.top() + scene_.layout.height; }  // px, of all rows

  // --- slices that are dragged, and the keys for that (timeline_drag.cpp)
  DeviceDrop& drop() { return *drop_; }
  OrderEditor& order() { return order_; }
  // The chosen slice runs before the one that is before it on its device, or after the next.
  void run_earlier() { run_beside(-1); }
  void run_later() { run_beside(1); }
  void run_before(TaskId other);  // the chosen one

  void fit_all();
  void zoom_to(TimeRange range);
  QString describe(TaskId task) const;  // tooltip: HTML

 signals:
  void cursor_info(const QString& text);
  void colours_changed();
  void step_shown_changed();
  void rows_in_sight_changed();
  void range_chosen();  // by a drag that has ended
  void totals_wanted();
  void search_wanted();
  void compare_wanted();
  void blink_wanted();
  void mapping_changed();  // a person moved or zoomed
  void resized();
  void menu_opens(QMenu* menu);  // others add what they can do here

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
  void contextMenuEvent(QContextMenuEvent*) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { None, Pressed, Range, Pan, LabelColumn, Slice };
  struct Hit {
    std::size_t row;
    std::optional<SliceFold> fold;
  };

  std::optional<Hit> hit(const QPoint& at) const;
  std::optional<WhyBlock> block_at(const QPoint& at) const;
  const Gap* gap_at(const QPoint& at) const;
  void take_reasons();
  void take_arrows();
  QString memory_text(DeviceId device, const QPoint& at) const;
  std::optional<std::size_t> chosen_row() const;  // of the selected task, device or link
  std::vector<RowKey> keys_of_device(DeviceId device) const;
  void add_row_actions(QMenu& menu, std::size_t row);
  void unhide(TaskId task);
  bool handle_row_key(int key, bool shift);
  QString tooltip(const QPoint& at) const;
  std::optional<TaskId> task_at(const QPoint& at) const;  // a slice of its own, not a block
  void read_selection();
  void layout();
  void view_changed(bool by_person = true);  // mapping: clamp, scroll bars, repaint
  void update_scroll_bars();
  void update_palette();
  void take_font();
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
  bool same_graph() const;    // as the session's
  bool same_cluster() const;  // or the session has none
  bool is_shown() const;      // it is the timeline of the session's outcome
  Carried carried_by(TaskId task, bool whole_group) const;
  bool is_own_row(std::size_t row) const;
  bool is_own_device(DeviceId device) const;
  std::optional<DropPlace> place_at(const QPoint& at) const;
  std::optional<OrderWish> wish_at(const QPoint& at) const;
  bool can_carry(TaskId task) const;
  void carry_slice(bool whole_group);
  bool order_event(QEvent& event);
  void forget_wish();
  void drop_changed();
  void tell_order();
  void run_beside(int step);
  void add_order_actions(QMenu& menu, const QPoint& at);
  void paint_drop(QPainter& painter);
  bool handle_view_key(int key);
  bool handle_selection_key(int key, const QString& text);

  Session& session_;
  std::shared_ptr<const TimelineRows> rows_;
  std::shared_ptr<const Explanation> explanation_;
  TimelineScene scene_;
  ColourMode mode_ = ColourMode::Kind;
  std::shared_ptr<const TaskChanges> changes_;
  Nanos least_whole_;
  std::optional<TaskId> own_task_;  // chosen here, of a timeline that is not the session's
  bool other_ = false;
  DeviceDrop* drop_;
  OrderEditor order_;
  DragNote order_note_;
  std::optional<TaskId> carried_;  // a slice that is dragged out of this timeline now
  DeviceId carried_from_;          // whose row it was taken out of; invalid: none
  QPoint order_at_;
  Drag drag_ = Drag::None;
  QPoint pressed_at_, last_at_;
  double pressed_time_ = 0;
  int label_width_ = 184;
  double scale_ = 1;           // of the rows' heights
  bool focused_once_ = false;  // the second F in a row fits
  bool setting_bars_ = false;
  bool arrows_ = true;
  QLineEdit* words_;  // in the corner over the labels: filters rows
};

}  // namespace strato
