// What a planner goes through, from left to right: while it fuses, the ops of its sequence with the
// cost S and the breakpoints of the cheapest way so far, where it follows only those about the
// last; then its nodes in their order, a bar the rank, coloured as the device when placed. A click
// on a node goes to the step that placed it.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "core/search/api/problem.h"
#include "views/models/planning_replay.h"

namespace strato {

class SequenceStrip : public QWidget {
  Q_OBJECT
 public:
  explicit SequenceStrip(QWidget* parent = nullptr);
  void show_replay(std::shared_ptr<const PlanningReplay> replay,
                   std::shared_ptr<const Problem> problem);
  void set_position(std::size_t position);
  void set_follow(bool follow);
  // The place in the sequence or order under x.
  std::optional<std::size_t> place_at(double x) const;
  double x_of(std::size_t place) const;  // its left edge
  QSize minimumSizeHint() const override;
  QSize sizeHint() const override;

 signals:
  void position_clicked(std::size_t position);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  bool fuses() const;
  std::size_t places() const;
  void choose_window();
  NodeIndex node_at(std::size_t place) const;
  QRectF plot() const;
  QColor colour_of(NodeIndex node) const;
  QString title() const;
  QString tip_at(double x) const;
  void paint_ranks(QPainter& painter);
  void paint_fusion(QPainter& painter);

  std::shared_ptr<const PlanningReplay> replay_;
  std::shared_ptr<const Problem> problem_;
  std::size_t position_ = 0;
  std::size_t first_ = 0, shown_ = 1;  // places
  bool follow_ = true;
  double highest_rank_ = 1, lowest_cost_ = 0, highest_cost_ = 1;  // costs: of the places shown
};

}  // namespace strato
