// Paints rows of a tournament: the speed-up as a figure and a bar, with a line where data parallel
// is (1×) and a dashed one at the lower bound; hatched where it does not fit in memory, an outline
// while the planner runs. In the note of one that runs: how far it is.
#pragma once

#include <QStyledItemDelegate>

#include "views/models/tournament_model.h"

namespace strato {

// Where speed-ups are in a column of some width, apart from painting. Linear from 0.
struct SpeedupScale {
  double left = 0, right = 0;  // of the bars, in pixels
  double most = 1;             // the speed-up at `right`
  double x(double speedup) const;
};
// `figures`: the width of the numbers at the left. The scale ends a little behind the bound.
SpeedupScale speedup_scale(const QRectF& cell, double figures, double bound_speedup);

class TournamentDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit TournamentDelegate(const TournamentModel& model, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;

 private:
  void paint_speedup(QPainter& painter, const QStyleOptionViewItem& option,
                     const QModelIndex& index) const;
  void paint_lines(QPainter& painter, const QStyleOptionViewItem& option,
                   const SpeedupScale& scale) const;
  void paint_progress(QPainter& painter, const QStyleOptionViewItem& option, double fraction) const;

  const TournamentModel& model_;
};

}  // namespace strato
