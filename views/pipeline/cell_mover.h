// Cells of a pipeline in another order, by hand: a table in which one of them comes before another
// of its stage. What could not go on is refused while it is dragged, with the cells that wait for
// each other; all else is thought about, and made where it is dropped. GUI thread only.
#pragma once

#include <QObject>

#include "views/pipeline/pipeline_model.h"

namespace strato {

class PipelineCanvas;

// The table that was run, with `moved` before this cell of its row, or at the end.
ScheduleTable with_cell_before(const PipelinePicture& picture, PipelinePicture::CellAt moved,
                               std::size_t before);
// Why the strategy could not run by it; empty: it can.
QString refusal_of(const PipelinePicture& picture, const ScheduleTable& table);

class CellMover : public QObject {
  Q_OBJECT
 public:
  CellMover(PipelineModel& model, PipelineCanvas& canvas);
  // The selected cell one place earlier (-1) or later (1): thought about, unless it cannot be.
  void move_selected(int places);
  const QString& refusal() const { return refusal_; }  // of the last move

 signals:
  void refused(const QString& why);

 private:
  void drag();
  void drop();
  void tell();
  bool think(const PipelinePicture& picture, PipelinePicture::CellAt moved, std::size_t before);

  PipelineModel& model_;
  PipelineCanvas& canvas_;
  QString refusal_;
  bool moves_ = false;  // what is dragged would change something
};

}  // namespace strato
