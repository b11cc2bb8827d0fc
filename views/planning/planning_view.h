// Replays what a white-box planner did: the timeline that grows at the left, its nodes in their
// order below, what was compared at the right, a sentence and the transport at the bottom. A step
// selects the ops that it is about in the whole window. Keys: those of the transport; W and S zoom,
// A and D pan, F follows.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "views/models/session.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTimer;
class QToolButton;

namespace strato {

class PlanningReplay;
class RowsTable;
class SequenceStrip;
class SlotCanvas;
namespace style {
class TransportBar;
}

class PlanningView : public QWidget {
  Q_OBJECT
 public:
  explicit PlanningView(Session& session, QWidget* parent = nullptr);
  // At the end of them. `steps` null: says how to get some.
  void show_steps(std::shared_ptr<const PlanningSteps> steps,
                  std::shared_ptr<const Problem> problem);
  void seek(std::size_t position);

  const PlanningReplay* replay() const { return replay_.get(); }
  style::TransportBar& transport() { return *transport_; }
  SlotCanvas& canvas() { return *canvas_; }
  SequenceStrip& strip() { return *strip_; }
  RowsTable& compared() { return *compared_; }
  RowsTable& ready() { return *ready_; }
  QString story() const;
  QString empty_text() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* build_empty();
  QWidget* build_header();
  QWidget* build_body();
  void connect_parts();
  void take_steps();
  void tell_algorithm();
  void refresh_empty();
  void fill_phases();
  void show_position();
  void select_ops();
  void step_clicked(std::size_t step);

  Session& session_;
  std::shared_ptr<const PlanningReplay> replay_;
  std::shared_ptr<const Problem> problem_;
  QStackedWidget* pages_;
  QLabel *empty_, *algorithm_, *story_;
  QPushButton* run_;
  QHBoxLayout* phases_;
  std::vector<QToolButton*> phase_buttons_;
  QToolButton *follow_, *fit_;
  QSplitter *across_, *down_, *tables_;
  SlotCanvas* canvas_;
  SequenceStrip* strip_;
  RowsTable *compared_, *ready_;
  style::TransportBar* transport_;
  QTimer* select_later_;  // a fast replay does not redraw the other views at every step
};

}  // namespace strato
