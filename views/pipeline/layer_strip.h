// The model's layers in a row, divided over the chunks of a pipeline as they are computed: a border
// is dragged, or moved by keys, and layers go from one stage to the next. What that costs is known
// before it is dropped. Keys: left and right choose a border, Alt+left and Alt+right move it by a
// layer, Enter applies, Esc lets go. GUI thread only.
#pragma once

#include <QWidget>
#include <optional>

#include "views/drag/drag_note.h"
#include "views/pipeline/pipeline_model.h"

namespace strato {

class LayerStrip : public QWidget {
  Q_OBJECT
 public:
  explicit LayerStrip(PipelineModel& model, QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }
  // Of the border before this chunk, px; and the chunk whose border is there.
  double x_of(std::size_t chunk) const;
  std::optional<std::size_t> border_at(const QPointF& point) const;
  // The layer with which the chunk would begin if its border were there.
  std::int32_t layer_at(std::size_t chunk, double x) const;
  void move_border(std::size_t chunk, std::int32_t layer);
  std::size_t chosen() const { return chosen_; }  // chunk; 0: none

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  const StageLayers* layers() const;  // of what is seen; null: there are none
  double x_of_layer(std::int32_t layer) const;
  void refresh();
  void choose(std::size_t chunk);
  QString words(std::size_t chunk) const;  // of its border
  void tell();

  PipelineModel& model_;
  PipelineModel::Picture seen_;      // stays while something is dragged
  std::vector<double> work_before_;  // by layer; behind them all of it
  std::size_t chosen_ = 0;
  std::optional<std::size_t> dragged_;  // chunk
  std::int32_t dragged_to_ = 0;         // layer
  QPoint cursor_;
  DragNote note_{*this};
};

}  // namespace strato
