// Why a step takes as long as it does: what is computed beside an outcome, in the background, and
// figures that add up. Pure functions; safe from any thread.
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/group/grouping.h"
#include "core/search/api/evaluator.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "core/sim/explain/why.h"

namespace strato {

// The gaps of one compute stream, ascending. Those that are long enough to be seen are found
// without a look at the others.
class GapRow {
 public:
  GapRow() = default;
  explicit GapRow(std::vector<Gap> gaps);

  const std::vector<Gap>& all() const { return gaps_; }
  const Gap* at(std::int64_t time) const;  // null: the stream runs something

  // Calls visit(gap) for the gaps in [from, to) of at least `shortest`, in no order.
  template <class Visit>
  void visit_long(std::int64_t from, std::int64_t to, std::int64_t shortest, Visit&& visit) const {
    for (std::size_t size = class_of(shortest); size < by_size_.size(); ++size) {
      const auto& list = by_size_[size];
      for (std::size_t i = first_after(list, from); i < list.size(); ++i) {
        const Gap& gap = gaps_[list[i]];
        if (gap.begin.value >= to) break;
        if ((gap.end - gap.begin).value >= shortest) visit(gap);
      }
    }
  }

 private:
  static std::size_t class_of(std::int64_t length);  // power of two
  std::size_t first_after(const std::vector<std::uint32_t>& list, std::int64_t time) const;

  std::vector<Gap> gaps_;
  std::vector<std::vector<std::uint32_t>> by_size_;
};

// The reasons that the timeline draws.
struct PathReasons {
  std::vector<PathPiece> path;
  IdVector<DeviceId, GapRow> gaps;
};

// What is known about one timeline. Comes in steps: first without what-ifs, then with more of them.
struct Explanation {
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const PathReasons> reasons;
  ErrorBar error;
  std::vector<WhatIf> what_ifs;  // largest gain first
  int parts_done = 0;            // of kWhatIfParts
  Why why;
  QString against_baseline;  // the largest difference to data parallelism; empty: it is that
  bool complete() const;
};
inline constexpr int kWhatIfParts = 3;  // ops, devices, links
inline bool Explanation::complete() const { return parts_done == kWhatIfParts; }

// `baseline` may be null or the timeline itself.
Explanation explain_quickly(std::shared_ptr<const Timeline> timeline, const Timeline* baseline,
                            const CostModel& cost, Nanos lower_bound);
// One more part of the what-ifs; nothing when stopped before its end.
std::optional<Explanation> explain_further(const Explanation& before, Nanos lower_bound,
                                           std::stop_token stop);

// The critical path's time by root_of its reasons, most first; those that cost nothing are left
// out.
struct ReasonTime {
  Reason reason;
  Nanos time;
  std::size_t pieces = 0;
  DeviceId device;  // where most of it is
};
std::vector<ReasonTime> path_composition(const Explanation& explanation);
// "Computes", "Link busy", ...
const char* label_of(Reason reason);
bool is_waiting(Reason reason);  // more is ready than the device, link or slowest member can take

QString rounded_percent(double fraction);  // "12 %": errors are not known better
// "1.92 ms" when measured just so, "≈ 1.92 ms ± 25 %" when estimated.
QString cost_text(const Estimate& cost);
// "measured at 8 and 16 samples on V100, 2 % spread"
QString cost_source_text(const Estimate& cost);

struct DeviceTimes {
  Nanos compute;        // compute stream busy
  Nanos communication;  // a communication stream is busy while the compute stream is not
  Nanos overlapped;     // communication under computation
  Nanos idle;           // neither
};
IdVector<DeviceId, DeviceTimes> device_times(const Timeline& timeline);

struct GroupTimes {
  Nanos compute, communication;  // sums over its tasks on all devices
  Nanos first_start, last_end;
  Nanos waiting;  // sum of (start - ready) of its compute tasks
  std::int64_t tasks = 0;
};
// Of each group what group_times() says of its computing.
IdVector<GroupId, Nanos> computing_times(const Timeline& timeline, const Grouping& grouping);
GroupTimes group_times(const Timeline& timeline, const Grouping& grouping, GroupId group);

const char* label_of(TensorRole role);

}  // namespace strato
