// The timeline of the outcome shown: what every device and link does over one training step. A thin
// bar on top (colour, legend, what is shown), the canvas, and a strip that sums up the selected
// range of time.
#pragma once

#include <QFutureWatcher>
#include <QWidget>

#include "views/timeline/timeline_canvas.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace strato {

class LegendStrip;

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

 signals:
  void cursor_info(const QString& text);  // for the status line; empty when the cursor leaves

 private:
  void outcome_changed();
  void update_summary();
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
  QFutureWatcher<std::shared_ptr<const TimelineRows>> building_;
  Nanos lower_bound_;
};

}  // namespace strato
