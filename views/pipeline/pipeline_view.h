// The pipeline of a plan with micro-batches: a row for each stage with the cells that it computes,
// its bubbles and why they are there, and its memory. Another schedule is seen with its price
// before it is applied. Played step by step. Keys: those of the transport; W and S zoom, A and D
// pan, F fits, up and down go to other stages, Ctrl+left and Ctrl+right to other cells, Esc lets
// go.
#pragma once

#include <QWidget>
#include <array>

#include "views/pipeline/pipeline_model.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace strato {

class CellMover;
class LayerStrip;
class PipelineCanvas;
class ScheduleBar;
namespace style {
class TransportBar;
}

class PipelineView : public QWidget {
  Q_OBJECT
 public:
  explicit PipelineView(Session& session, QWidget* parent = nullptr);

  PipelineModel& model() { return *model_; }
  PipelineCanvas& canvas() { return *canvas_; }
  ScheduleBar& schedule() { return *schedule_; }
  LayerStrip& layers() { return *layers_; }
  CellMover& mover() { return *mover_; }
  style::TransportBar& transport() { return *transport_; }
  bool is_empty() const;  // there is no pipeline: it says how to get one
  QString empty_text() const;
  QString headline() const;
  QString story() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* build_empty();
  QWidget* build_header();
  void refresh();
  void refresh_empty();
  void refresh_header();
  void show_position();
  void select_groups();
  void refresh_legend();

  Session& session_;
  PipelineModel* model_;
  QStackedWidget* pages_;
  QLabel *empty_, *headline_, *bubble_, *story_;
  std::array<QLabel*, 6> legend_{};
  QPushButton* plan_;
  PipelineCanvas* canvas_;
  ScheduleBar* schedule_;
  LayerStrip* layers_;
  CellMover* mover_;
  style::TransportBar* transport_;
};

}  // namespace strato
