// Draws a recorded run from plain values: the axis, its steps, one row for each rank, the streams
// of those that are opened and, above a rank, what a plan's device does in a simulated step.
#pragma once

#include <QCoreApplication>
#include <QFont>
#include <QPalette>
#include <QSize>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "views/models/selection.h"
#include "views/timeline/joined_bars.h"
#include "views/timeline/slice_colours.h"
#include "views/traces/recorded_run.h"

namespace strato {

inline constexpr int kStepsTop = 24, kStepsHeight = 18;  // px: below the axis
inline constexpr int kRanksTop = kStepsTop + kStepsHeight;

struct RecordedPlace {
  enum class Of { Rank, Simulated, Stream } of = Of::Rank;
  std::size_t rank = 0;    // index
  std::size_t stream = 0;  // of those of the rank
  int y = 0, height = 0;   // px, below kRanksTop
};

struct RecordedScene {
  std::shared_ptr<const RecordedRun> run;
  std::vector<RankRow> simulated;                        // by rank; empty: none
  Nanos simulated_begin;                                 // on the axis
  std::map<std::size_t, std::vector<StreamRow>> opened;  // by rank
  std::vector<RecordedPlace> places;                     // ascending by y
  int height = 0;                                        // of all places
  TimeMapping mapping;                                   // left edge = end of the label column
  int scroll = 0;
  SliceColours colours;
  std::optional<TimeRange> range;
  std::optional<std::size_t> rank;  // the chosen one
  struct Event {
    std::size_t rank, stream, slice;
  };
  std::optional<Event> event;  // the chosen one

  QPalette palette;
  QFont font;
  double dpr = 1;
};
// Places of all rows, for letters of this height.
void place_rows(RecordedScene& scene, int letters);
// What is at `y` px of the widget.
const RecordedPlace* place_at(const RecordedScene& scene, int y);
const RecordedSlices& slices_of(const RecordedScene& scene, const RecordedPlace& place);

class RecordedPainter {
  Q_DECLARE_TR_FUNCTIONS(RecordedPainter)
 public:
  explicit RecordedPainter(const RecordedScene& scene);
  void paint(QPainter& painter, const QSize& size);

 private:
  void paint_axis(QPainter& painter, const QSize& size);
  void paint_steps(QPainter& painter, const QSize& size);
  void paint_step(QPainter& painter, const RecordedStep& step, const QRectF& box);
  void paint_place(QPainter& painter, const RecordedPlace& place);
  void paint_slices(QPainter& painter, const RecordedSlices& slices, const TimeMapping& mapping,
                    const QRectF& band, bool idle, const RecordedPlace* named = nullptr);
  void paint_name(QPainter& painter, const RecordedPlace& place, const QRectF& box,
                  std::size_t slice);
  void paint_event(QPainter& painter);
  void paint_range(QPainter& painter, const QSize& size);
  void paint_labels(QPainter& painter, const QSize& size);
  void paint_label(QPainter& painter, const RecordedPlace& place);
  int y_of(const RecordedPlace& place) const { return kRanksTop + place.y - scene_.scroll; }
  bool in_sight(const RecordedPlace& place, const QSize& size) const;

  const RecordedScene& scene_;
  bool dark_;
  QColor ground_, ink_, muted_;
  std::vector<SliceFill> fills_;  // by Look
  // How full a block is, in few levels: neighbours that look alike are drawn as one.
  static constexpr std::size_t kLevels = 6;
  std::vector<std::array<QColor, kLevels + 1>> levels_;  // by Look
  BlockEntry<8> block_;                                  // there are many rows
  QFont small_;
};

}  // namespace strato
