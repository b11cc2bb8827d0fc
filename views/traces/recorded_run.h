// A run that profilers recorded, as rows for the eye: one for each rank, on one axis that begins
// where the first of them does. Pure data, made once; safe to build on any thread.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/trace/analyse/analysis.h"
#include "core/trace/analyse/course.h"
#include "core/trace/read/read_trace.h"
#include "views/timeline/slice_row.h"

namespace strato {

// What a slice is: an entry of the legend (recorded_text.h).
enum Look : std::uint8_t {
  kComputing,
  kFirstCollective,                                 // communication: one for each trace::Collective
  kOther = kFirstCollective + trace::kCollectives,  // copies and the like
  kHostWait,
  kKernelWait,
  kIdle,
  kHost,  // what a thread of the host does
  kLooks
};
std::uint8_t look_of(trace::Activity activity, trace::Collective collective);

struct RecordedSlices : SliceTimes {
  std::vector<std::uint8_t> look;    // parallel to the others
  std::vector<std::uint32_t> event;  // of a stream: indices of the trace's events; else empty

  void add(std::int64_t from, std::int64_t to, std::uint8_t its_look) {
    SliceTimes::add(from, to);
    look.push_back(its_look);
  }
};

// All streams of a rank as one.
struct RankRow {
  std::int64_t rank = 0;
  Nanos shift;            // from the trace's own times to those of the axis
  RecordedSlices busy;    // computing, exposed communication, other
  RecordedSlices idle;    // in between, by cause
  RecordedSlices hidden;  // communication under computation
};
// Of a course whose times are moved by `shift`.
RankRow make_rank_row(std::int64_t rank, const trace::Course& course, Nanos shift);

// One step of all ranks: from where the first begins it to where the last ends it.
struct RecordedStep {
  std::int64_t number = 0;
  Nanos begin, end;
  Nanos length;        // of a rank, on average
  bool steady = true;  // on all ranks
};

struct RecordedRun {
  std::filesystem::path path;
  trace::TraceSet set;
  trace::Analysis analysis;
  std::vector<RankRow> rows;  // as the traces
  std::vector<RecordedStep> steps;
  Nanos length;  // of the axis

  bool timed() const;                     // else there is nothing on the axis
  bool has_kernels() const;               // on at least one rank
  bool is_late(std::size_t index) const;  // a straggler
};
// Analyses the traces, of which there is at least one.
std::shared_ptr<const RecordedRun> make_run(std::filesystem::path path, trace::TraceSet set);

struct StreamRow {
  trace::LaneId lane;
  RecordedSlices slices;
};
// The streams of a rank that ran something; without any, the threads of its host. Of events inside
// others the outer ones are there; what overlaps is cut.
std::vector<StreamRow> streams_of(const RecordedRun& run, std::size_t index);

// What a rank does in a stretch of time. Outside of its own time it is idle.
struct RangeTimes {
  std::array<Nanos, kLooks> by{};
  Nanos hidden;  // communication under computation
  Nanos whole;

  Nanos exposed() const;  // communication
  Nanos idle() const;     // for any reason
};
RangeTimes times_in(const RankRow& row, Nanos begin, Nanos end);

}  // namespace strato
