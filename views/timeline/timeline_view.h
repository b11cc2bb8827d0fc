// The timeline of the outcome shown: what every device and link does over one training step. A thin
// bar on top (colour, legend, what is shown), the canvas, beside it on demand a panel (totals of
// the range, search), and without that a strip that sums up the selected range of time.
#pragma once

#include <QFutureSynchronizer>
#include <QFutureWatcher>
#include <QWidget>

#include "views/timeline/latest_job.h"
#include "views/timeline/timeline_canvas.h"

class QComboBox;
class QLabel;
class QMenu;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace strato {

class LegendStrip;
class RangePanel;
class SearchPanel;
class SecondPlan;
class SecondTimeline;

class TimelineView : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineView(Session& session, QWidget* parent = nullptr);

  void set_colour_mode(ColourMode mode);
  // Everything at the zoom of the view, for a PNG or SVG.
  void render_to(QPainter& painter, QSize size);
  // For what is not a session's: a test, a picture, a recorded step.
  // `measured`: of the same program; null: was not measured.
  void show_timeline(std::shared_ptr<const Timeline> timeline, Nanos lower_bound,
                     std::shared_ptr<const Timeline> measured = nullptr);
  TimelineCanvas& canvas() { return *canvas_; }
  // The selected range, or the whole step: a Chrome trace (.json), .csv, .svg or .png. Texts are
  // written in the background; the session tells that it is done, or what failed.
  void export_range(const QString& file);
  void set_second_plan(SecondPlan& second);  // to compare with; without it there is nothing to
  SecondTimeline& second() { return *second_; }
  RangePanel& range_panel() { return *range_; }
  SearchPanel& search_panel() { return *search_; }

 signals:
  void cursor_info(const QString& text);  // for the status line; empty when the cursor leaves

 private:
  void outcome_changed();
  void connect_canvas();
  void rows_changed();
  void make_side();
  QWidget* make_pair();
  void allow_change_colours(bool allowed);
  QToolButton* make_compare_menu(QWidget* bar);
  void open_side(QWidget* panel);
  void close_side();
  void refresh_side();
  void update_summary();
  void show_summary(const RangeTotals& sum);
  void add_export_actions(QMenu& menu);  // timeline_export.cpp
  void export_picture(const QString& file, TimeRange range);
  void export_text(const QString& file, TimeRange range);
  void tell_written(const QString& file, const QString& problem);
  QWidget* make_bar();
  QToolButton* make_show_menu(QWidget* bar);
  QWidget* make_simulation_switch(QWidget* bar);
  QComboBox* make_step_choice(QWidget* bar);
  void refresh_simulation();

  Session& session_;
  TimelineCanvas* canvas_;
  QComboBox *colour_, *step_;
  QToolButton *fifo_, *priority_, *fair_;
  LegendStrip* legend_;
  QLabel* summary_;
  QSplitter* middle_;
  QStackedWidget* side_;
  RangePanel* range_;
  SearchPanel* search_;
  QWidget* first_box_;  // the canvas and its title
  QLabel* first_title_;
  SecondTimeline* second_;
  QToolButton* compare_;
  QToolButton* hidden_;          // how many rows are; a click brings them back
  bool opens_by_itself_ = true;  // the totals, until they were closed by hand
  LatestJob<RangeTotals> adding_;
  QFutureSynchronizer<QString> exports_;  // waits for those under way
  QFutureWatcher<std::shared_ptr<const TimelineRows>> building_;
  std::shared_ptr<const Timeline> shown_, shown_measured_;  // whose rows are shown, or being built
  Nanos lower_bound_;
};

}  // namespace strato
