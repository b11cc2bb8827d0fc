// The timeline that a planner builds: a row a device, the nodes placed so far, the one placed last,
// and the places that it could have had on other devices as outlines with their finish times. A
// click on a node goes to the step that placed it. Ctrl+wheel zooms.
#pragma once

#include <QAbstractScrollArea>
#include <memory>
#include <optional>

#include "core/search/api/problem.h"
#include "views/models/planning_replay.h"
#include "views/timeline/time_mapping.h"

namespace strato {

class SlotCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit SlotCanvas(QWidget* parent = nullptr);
  void show_replay(std::shared_ptr<const PlanningReplay> replay,
                   std::shared_ptr<const Problem> problem);
  void set_position(std::size_t position);  // keeps its node in sight, when it follows
  void set_follow(bool follow);
  bool follows() const { return follow_; }
  void fit_all();
  void zoom(double factor);  // about the middle
  void pan(double part);     // of the width

  const TimeMapping& mapping() const { return mapping_; }
  QRectF box_of(DeviceId device, Nanos start, Nanos finish) const;  // in the viewport
  // The step whose node is drawn there.
  std::optional<std::size_t> step_at(const QPointF& point) const;
  QSize minimumSizeHint() const override;

 signals:
  void step_clicked(std::size_t step);
  void zoomed();

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void lay_out();
  void follow();
  double whole() const;
  int rows() const;
  QString tip_at(const QPointF& point) const;
  void paint_axis(QPainter& painter);
  void paint_row(QPainter& painter, DeviceId device);
  void paint_block(QPainter& painter, const QRectF& box, const QColor& colour, bool many);
  void paint_step(QPainter& painter, const PlanningSteps::Step& step);
  void paint_candidate(QPainter& painter, const PlanningSteps::Candidate& candidate);
  void paint_finish(QPainter& painter, const QRectF& box, const QString& text, bool taken);

  std::shared_ptr<const PlanningReplay> replay_;
  std::shared_ptr<const Problem> problem_;
  std::size_t position_ = 0;
  TimeMapping mapping_;
  double usual_length_ = 1;  // ns of a node: the median
  int gutter_ = 60, row_height_ = 20;
  bool follow_ = true, fits_all_ = true;
  QPointF pressed_;
};

}  // namespace strato
