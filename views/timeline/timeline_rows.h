// A timeline as rows for the eye: per machine a header, per device a compute row, a communication
// row and a memory row, then the links in use. Under each row of slices, when the same step was
// measured, stands what it took. Pure data, made once per outcome; safe to build on any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/simulate.h"
#include "views/timeline/memory_curve.h"
#include "views/timeline/slice_row.h"

namespace strato {

enum class RowKind : std::uint8_t { Header, Compute, Communication, Memory, Link };

struct TimelineRow {
  RowKind kind = RowKind::Header;
  int section = 0;  // rows of a section collapse under its header
  std::string label;
  DeviceId device;  // of device rows
  LinkId link;      // of link rows
  SliceRow slices;  // empty for headers and memory rows
  bool measured = false;  // its slices are as measured, else as simulated
};

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
bool any_marked(const std::vector<std::uint32_t>& marked, const Fold& fold);

// Where rows are on the screen: those of collapsed sections and switched-off kinds are absent.
struct RowLayout {
  struct Place {
    std::size_t row;
    int y, height;
  };
  std::vector<Place> places;  // ascending by y
  int height = 0;

  std::optional<std::size_t> place_at(int y) const;  // index into places
  std::optional<std::size_t> place_of(std::size_t row) const;
};
enum class StepShown : std::uint8_t { Simulated, Measured, Both };
struct RowFilter {
  std::vector<bool> collapsed;  // per section; missing: open
  bool memory = true, links = true;
  StepShown step = StepShown::Simulated;
};
inline constexpr int kRowHeight = 18, kHeaderHeight = 20, kDeviceGap = 4;
inline constexpr int kBandHeight = 12;  // of a measured row under its simulated one
RowLayout layout_rows(const TimelineRows& rows, const RowFilter& filter);

// What fills a stretch of time, over all devices.
struct RangeSummary {
  std::int64_t compute = 0, reshuffle = 0, update = 0;  // on compute streams
  std::int64_t transfer = 0, collective = 0;            // on communication rows
  std::int64_t idle = 0;                                // of compute streams
  std::size_t devices = 0, tasks = 0;
};
RangeSummary summarise(const TimelineRows& rows, std::int64_t from, std::int64_t to);

}  // namespace strato
