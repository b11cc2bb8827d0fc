// A timeline as rows for the eye: per machine a header, per device a compute row, a communication
// row and a memory row, then the links in use. Pure data, made once per outcome; safe to build on
// any thread.
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
};

struct RowSlice {
  std::size_t row, slice;
  friend bool operator==(const RowSlice&, const RowSlice&) = default;
};

struct TimelineRows {
  std::shared_ptr<const Timeline> timeline;
  std::vector<TimelineRow> rows;
  int sections = 0;
  IdVector<DeviceId, MemoryCurve> memory;
  std::vector<CriticalStep> critical;
  std::vector<std::vector<RowSlice>> critical_places;  // of each critical step (see places_of)
  std::size_t slice_count = 0;
};

// A collective is in the communication row of each member; a transfer in its source's (a second
// communication row is made when some overlap); links show both.
TimelineRows make_rows(std::shared_ptr<const Timeline> timeline);

// Every row that shows the task; device rows come before link rows.
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
struct RowFilter {
  std::vector<bool> collapsed;  // per section; missing: open
  bool memory = true, links = true;
};
inline constexpr int kRowHeight = 18, kHeaderHeight = 20, kDeviceGap = 4;
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
