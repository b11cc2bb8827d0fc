// A timeline as rows for the eye: per machine a header, per device a compute row, a communication
// row, one more for collectives inside the row of a mesh where there are any, and a memory row,
// then the links in use. Under each row of slices, when the same step was measured, stands what it
// took. Pure data, made once per outcome; safe to build on any thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/sim/engine/simulate.h"
#include "core/sim/explain/critical_path.h"
#include "views/timeline/memory_curve.h"
#include "views/timeline/slice_row.h"

namespace strato {

enum class RowKind : std::uint8_t { Header, Compute, Communication, Memory, Link };

struct TimelineRow {
  RowKind kind = RowKind::Header;
  int section = 0;  // rows of a section collapse under its header
  std::string label;
  DeviceId device;        // of device rows
  LinkId link;            // of link rows
  SliceRow slices;        // empty for headers and memory rows
  bool measured = false;  // its slices are as measured, else as simulated
};

// Which row it is, whatever outcome is shown: the lanes of a stream or link share one key.
struct RowKey {
  RowKind kind = RowKind::Header;
  std::size_t id = 0;  // of the device or link; of a header: its section
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
RowKey key_of(const TimelineRow& row);

struct RowSlice {
  std::size_t row, slice;
  friend bool operator==(const RowSlice&, const RowSlice&) = default;
};

struct TimelineRows {
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const Timeline> measured;  // of the same program; null: was not measured
  std::vector<TimelineRow> rows;
  int sections = 0;
  IdVector<DeviceId, MemoryCurve> memory;
  std::vector<CriticalStep> critical;
  std::vector<std::vector<RowSlice>> critical_places;  // of each critical step (see places_of)
  std::vector<bool> communication;                     // per task: it moves data, and is hatched
  std::size_t slice_count = 0;

  const Timeline& timeline_of(const TimelineRow& row) const {
    return row.measured ? *measured : *timeline;
  }
};

// A collective is in the communication row of each member; a transfer in its source's (a second
// communication row is made when some overlap); links show both. `measured` is of the same program;
// tasks that took no time there are left out.
TimelineRows make_rows(std::shared_ptr<const Timeline> timeline,
                       std::shared_ptr<const Timeline> measured = nullptr);

// Every row that shows the task; device rows come before link rows, and as simulated before as
// measured.
std::vector<RowSlice> places_of(const TimelineRows& rows, TaskId task);

// Per row the slices for which `wanted(task)` holds, ascending: what a selection lights up.
using MarkedSlices = std::vector<std::vector<std::uint32_t>>;
template <class Wanted>
MarkedSlices mark_slices(const TimelineRows& rows, Wanted&& wanted) {
  MarkedSlices marked(rows.rows.size());
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const SliceRow& slices = rows.rows[r].slices;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (wanted(slices.task[i])) marked[r].push_back(static_cast<std::uint32_t>(i));
    }
  }
  return marked;
}
// The tasks that depend on it, ascending. Looks at every later task.
std::vector<TaskId> dependents_of(const Program& program, TaskId task);

bool any_marked(const std::vector<std::uint32_t>& marked, const SliceFold& fold);

// Where rows are on the screen: those of collapsed sections, switched-off kinds, and those hidden
// are absent. Pinned rows come first and stay when the others scroll.
struct RowLayout {
  struct Place {
    std::size_t row;
    int y, height;
    bool pinned = false;
  };
  std::vector<Place> places;  // ascending by y
  int height = 0, pinned_height = 0;
  std::size_t pinned = 0;  // of the places
  std::size_t hidden = 0;  // rows by key that were hidden or filtered out

  // Index into places of what is `y` px below the upper edge.
  std::optional<std::size_t> place_at(int y, int scroll = 0) const;
  std::optional<std::size_t> place_of(std::size_t row) const;
};
enum class StepShown : std::uint8_t { Simulated, Measured, Both };
struct RowFilter {
  std::vector<bool> collapsed;  // per section; missing: open
  bool memory = true, links = true;
  StepShown step = StepShown::Simulated;
  std::set<RowKey> hidden,
      pinned;  // a hidden header hides its section; pinned ones are never hidden
  // Every word must be in the name of the machine, device, GPU, stream or link, in any letter case.
  std::string words = {};
};
inline constexpr int kRowHeight = 18, kHeaderHeight = 20, kDeviceGap = 4;
inline constexpr int kBandHeight = 12;  // of a measured row under its simulated one
// `scale`: of all heights, for larger letters.
RowLayout layout_rows(const TimelineRows& rows, const RowFilter& filter, double scale = 1);

}  // namespace strato
