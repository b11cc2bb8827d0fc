// Draws a pipeline from plain values, and knows what is where. A frame costs what its pixels cost:
// only rows and cells in sight are looked at, and cells below a pixel are drawn once for each
// pixel. Knows nothing of widgets or input.
#pragma once

#include <QCoreApplication>
#include <QFont>
#include <QPalette>
#include <QRectF>
#include <QSize>
#include <memory>
#include <optional>

#include "views/pipeline/pipeline_picture.h"
#include "views/timeline/time_mapping.h"

class QPainter;

namespace strato {

inline constexpr int kPipelineAxis = 24;  // px

struct PipelineScene {
  using CellAt = PipelinePicture::CellAt;

  std::shared_ptr<const PipelinePicture> picture;  // null: nothing is drawn
  TimeMapping mapping;                             // its left edge is the end of the label column
  int scroll = 0;                                  // px
  int cells_height = 28, memory_height = 20;       // px, of each row
  std::size_t revealed = 0;                        // cells in time order; all: nothing is hidden
  std::optional<CellAt> selected;                  // its micro-batch stands out
  std::optional<CellAt> hovered;
  struct Drop {
    CellAt moved;
    std::size_t before = 0;  // cell of its row; behind the last: at the end
    bool refused = false;
  };
  std::optional<Drop> drop;  // a cell is dragged
  QPalette palette;
  QFont font;

  int row_height() const { return cells_height + memory_height + 14; }
  int height() const;  // px, of all rows
  int top_of(std::size_t row) const {
    return kPipelineAxis + static_cast<int>(row) * row_height() - scroll;
  }
  QRectF cells_of(std::size_t row) const;   // the strip
  QRectF memory_of(std::size_t row) const;  // the strip under it
  QRectF box_of(CellAt place) const;
  // Rows from the first on, of which a part is between these.
  std::pair<std::size_t, std::size_t> rows_between(int top, int bottom) const;
  std::optional<std::size_t> row_at(double y) const;
  std::optional<CellAt> cell_at(const QPointF& point) const;
  const StageBubble* bubble_at(const QPointF& point) const;  // null: there is none
  // Before which of its row a cell would run that is dropped here.
  std::size_t place_at(std::size_t row, double x) const;
  bool is_revealed(CellAt place) const { return picture->place_in_time(place) < revealed; }
  // Until when everything is shown.
  Nanos shown_until() const;
};

// Chunks of a stage by shade.
QColor colour_of(PassKind pass, std::size_t chunk, std::size_t chunks, const QPalette& palette);

class PipelinePainter {
  Q_DECLARE_TR_FUNCTIONS(PipelinePainter)

 public:
  PipelinePainter(const PipelineScene& scene, const QSize& size);
  void paint(QPainter& painter) const;

 private:
  void paint_axis(QPainter& painter) const;
  void paint_label(QPainter& painter, std::size_t row) const;
  void paint_cells(QPainter& painter, std::size_t row) const;
  void paint_cell(QPainter& painter, PipelineScene::CellAt place, const QRectF& box) const;
  void paint_bubbles(QPainter& painter, std::size_t row) const;
  void paint_once(QPainter& painter, std::size_t row) const;
  void paint_memory(QPainter& painter, std::size_t row) const;
  void paint_awaited(QPainter& painter) const;
  void paint_drop(QPainter& painter) const;
  void write(QPainter& painter, const QRectF& box, const QString& words, bool on_ground) const;

  const PipelineScene& scene_;
  const QSize size_;
  const bool dark_;
  const QColor ground_, ink_, muted_;
  QFont small_;
};

}  // namespace strato
