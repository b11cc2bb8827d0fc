// The pipeline's own surface: keys, mouse and scrolling over what PipelinePainter draws. Knows
// nothing of the session. GUI thread only.
#pragma once

#include <QAbstractScrollArea>

#include "views/drag/drag_note.h"
#include "views/pipeline/pipeline_painter.h"

namespace strato {

class PipelineCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  using CellAt = PipelinePicture::CellAt;

  explicit PipelineCanvas(QWidget* parent = nullptr);

  // Null: nothing. What is zoomed into stays in sight where the step is about as long.
  void show_picture(std::shared_ptr<const PipelinePicture> picture);
  void reveal(std::size_t cells);  // so many in time order; brings the last one into sight
  void select(std::optional<CellAt> cell);
  const std::optional<CellAt>& selected() const { return scene_.selected; }
  const PipelineScene& scene() const { return scene_; }
  // While a cell is dragged: what it would do, beside the cursor.
  bool drags() const { return scene_.drop.has_value(); }
  void tell_drop(const QString& words, bool refused);
  void end_drag();                             // nothing is dropped
  QString tip_at(const QPointF& point) const;  // plain text

  void fit_all();
  void zoom(double factor);  // about the middle
  void pan(double parts);    // of what is in sight
  // To the next cell of the row, or the cell of another stage that runs then.
  void select_beside(int cells);
  void select_across(int rows);

 signals:
  void cell_selected();
  void stage_clicked(std::size_t row);
  void cell_dragged();  // to another place: scene().drop
  void cell_dropped();
  void drag_ended();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void lay_out();
  void keep_in_sight(CellAt cell);
  double whole() const;
  void moved();

  PipelineScene scene_;
  std::optional<QPointF> pan_from_, press_;
  QPoint cursor_;
  DragNote note_{*this};
};

}  // namespace strato
