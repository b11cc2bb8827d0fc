// Draws a timeline from plain values: everything that is seen, and nothing about widgets or input.
// The same code draws the window, a PNG and an SVG.
#pragma once

#include <QCoreApplication>
#include <QFont>
#include <QPainter>
#include <QPalette>
#include <QRect>
#include <QStringList>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/sim/explain/path_pieces.h"
#include "views/models/explanation.h"
#include "views/models/selection.h"
#include "views/timeline/slice_colours.h"
#include "views/timeline/timeline_rows.h"

namespace strato {

class JoinedBars;

struct TimelineScene {
  const TimelineRows* rows = nullptr;
  RowLayout layout;
  RowFilter filter;
  TimeMapping mapping;  // left edge = end of the label column
  int scroll = 0;       // px, of the rows
  SliceColours colours;
  Nanos lower_bound;     // 0: unknown
  bool critical = true;  // draw the critical path
  bool why = true;       // draw the reasons: the strip above the rows, and gaps
  std::shared_ptr<const PathReasons> reasons;  // of these rows; null: not known yet

  MarkedSlices selected;  // empty: nothing is selected, nothing is dimmed
  MarkedSlices on_critical_path;
  std::optional<TaskId> task;  // the selected one
  std::optional<TaskId> hovered;
  std::optional<DeviceId> device;  // selected
  std::optional<LinkId> link;
  std::optional<TimeRange> range;
  std::vector<TimeRange> marks;
  std::vector<TaskId> before, after;  // that `task` depends on, and that depend on it: as arrows

  QPalette palette;
  QFont font;
  double dpr = 1;

  int label_width() const { return static_cast<int>(mapping.left); }
  int top() const;  // of the rows, px
};

inline constexpr int kAxisHeight = 24, kWhyHeight = 20;
inline int TimelineScene::top() const { return kAxisHeight + (why ? kWhyHeight : 0); }

class TimelinePainter {
  Q_DECLARE_TR_FUNCTIONS(TimelinePainter)
 public:
  explicit TimelinePainter(const TimelineScene& scene);
  // The axis in the first kAxisHeight pixels, the strip of reasons, then rows and their labels.
  void paint(QPainter& painter, const QSize& size);

 private:
  void paint_axis(QPainter& painter, const QSize& size);
  void paint_why(QPainter& painter, const QSize& size);
  void paint_reason(QPainter& painter, const QRectF& box, Reason reason);
  void paint_gaps(QPainter& painter, const RowLayout::Place& place);
  void paint_fitting(QPainter& painter, const QRectF& box, const QStringList& texts,
                     const QColor& ground);
  void paint_rows(QPainter& painter, const QSize& size, bool pinned);
  void paint_row(QPainter& painter, const RowLayout::Place& place);
  void paint_fold(QPainter& painter, JoinedBars& bars, const RowLayout::Place& place,
                  const SliceFold& fold);
  void paint_slice_text(QPainter& painter, const QRectF& box, TaskId task, bool hatched, bool dim);
  void paint_header(QPainter& painter, const RowLayout::Place& place);
  void paint_memory(QPainter& painter, const RowLayout::Place& place);
  void paint_critical(QPainter& painter, const QSize& size, bool pinned);
  void paint_critical_row(QPainter& painter, const RowLayout::Place& place);
  void paint_critical_line(QPainter& painter, const QColor& colour);
  void paint_outlines(QPainter& painter);
  void paint_arrows(QPainter& painter);
  void paint_arrow(QPainter& painter, const QPointF& from, const QPointF& to);
  void paint_range(QPainter& painter, const QSize& size);
  void paint_markers(QPainter& painter, const QSize& size);
  void paint_labels(QPainter& painter, const QSize& size);
  void paint_label(QPainter& painter, const RowLayout::Place& place);

  int row_y(const RowLayout::Place& place) const {
    return scene_.top() + place.y - (place.pinned ? 0 : scene_.scroll);
  }
  bool in_sight(const RowLayout::Place& place, const QSize& size) const;
  std::optional<QRectF> first_box(
      const std::vector<RowSlice>& places) const;  // the first that is on the screen
  std::optional<QRectF> box_of(const RowSlice& place) const;

  const TimelineScene& scene_;
  bool dark_, vector_ = false;
  QColor ground_, ink_, muted_, grid_;
  std::vector<SliceFill> fills_;  // one per legend entry
  SliceFill why_transfer_, why_collective_;
  BlockEntry<> block_;
  QFont small_;
};

// Of many dependencies that many are drawn, the last to end and the first to start.
inline constexpr std::size_t kMostArrows = 40;

// What a slice is about: the op computed, or the tensor moved.
QString slice_text(const Program& program, TaskId task);

}  // namespace strato
