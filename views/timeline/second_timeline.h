// A second timeline under the first, of another plan: same time scale, same rows, same selection of
// groups, and each coloured by what is faster or slower than in the other one. Or both in the same
// place, one at a time (blink). What it shows is SecondPlan's; rows are made off the GUI thread.
#pragma once

#include <QWidget>

#include "views/models/second_plan.h"
#include "views/timeline/latest_job.h"
#include "views/timeline/timeline_canvas.h"

class QLabel;
class QMenu;

namespace strato {

class SecondTimeline : public QWidget {
  Q_OBJECT
 public:
  enum class Mode { Alone, Below, Blink };
  // `first` is the canvas of the plan shown, `first_title` what is written over it.
  SecondTimeline(Session& session, TimelineCanvas& first, QLabel& first_title, QWidget* parent);

  void set_second_plan(SecondPlan& second);  // before that there is nothing to compare with
  Mode mode() const { return mode_; }
  bool second_in_front() const { return second_in_front_; }  // of a blink
  void set_mode(Mode mode);
  void toggle_below();
  void blink();            // the other one comes to the front
  void refresh();          // the first has other rows
  void fill(QMenu& menu);  // with what can be compared with, and how
  TimelineCanvas& canvas() { return *canvas_; }

 signals:
  void shown_changed();  // which of the two are to be seen

 private:
  struct Made {
    std::shared_ptr<const TimelineRows> first, rows;
    BothChanges changes;
    std::shared_ptr<const OtherPlan> plan;
  };
  void link(TimelineCanvas& from, TimelineCanvas& to);
  void show_made(const Made& made);
  void clear(const QString& why);
  void refresh_titles();
  void apply_mode();

  Session& session_;
  TimelineCanvas& first_;
  QLabel &first_title_, *title_;
  TimelineCanvas* canvas_;
  SecondPlan* second_ = nullptr;
  std::shared_ptr<const OtherPlan> plan_;         // that is drawn
  std::shared_ptr<const TimelineRows> compared_;  // the first's, that it is compared with
  QString why_none_;
  Mode mode_ = Mode::Alone;
  ColourMode colours_alone_ = ColourMode::Kind;  // before they were compared
  bool second_in_front_ = false, linking_ = false;
  LatestJob<Made> job_;
};

}  // namespace strato
