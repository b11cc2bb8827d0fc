// Why a step takes as long as it does: the critical path cut into reasons, what each device waits for,
// what would happen if something were faster, how sure the step time is, and all of it in words.
// Pure functions of a timeline; deterministic; safe from any thread.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/cost_model.h"
#include "core/sim/simulate.h"

namespace strato {

enum class Reason : std::uint8_t {
  Compute,        // ops and updates
  Reshuffle,      // split, concat, sum
  Transfer,       // point to point
  Collective,
  DeviceBusy,     // ready, but its device's compute stream runs something else
  LinkBusy,       // ready, but a link or a communication stream is taken
  Straggler,      // a collective's other members were ready and waited for the slowest
};
inline constexpr std::size_t kReasons = 7;
std::string_view name_of(Reason reason);   // "compute", "device busy", ...

// The critical path as pieces that cover [0, step time] without a hole, first to last. Merged, the
// pieces of one reason say how much of the step that reason costs.
struct PathPiece {
  Nanos begin, end;
  Reason reason;
  TaskId task;     // that runs (or holds what is waited for) in this piece
  TaskId waiting;  // of DeviceBusy, LinkBusy and Straggler: the task that waits
};
std::vector<PathPiece> path_pieces(const Timeline& timeline);

// A stretch in which a compute stream runs nothing, and why the task after it did not start sooner.
struct Gap {
  Nanos begin, end;
  Reason reason;   // what the next task waited for: Transfer, Collective, LinkBusy, Straggler, Compute
                   // (of another device); of the last gap (nothing follows): Straggler
  TaskId next;     // invalid: none follows
  TaskId cause;    // what it waited for; invalid: none
};
std::vector<Gap> gaps(const Timeline& timeline, DeviceId device);

// The step time if one thing were faster, by simulation of the same program with shorter tasks.
struct WhatIf {
  enum class What : std::uint8_t { Op, Device, Link } what;
  OpId op;  // all its tasks on all devices; the rest of the program as it is
  DeviceId device;
  LinkId link;
  std::string name;
  Nanos faster;  // step time with it 10 % faster
  Nanos free;    // step time with it infinitely fast (1 ns a task)
};
struct WhatIfOptions {
  std::size_t ops = 12;  // the ops with most time on the critical path
  bool devices = true, links = true;
  int threads = 0;
};
// Largest gain first (by `free`, then `faster`, then id). Empty when stopped.
std::vector<WhatIf> what_if(const Timeline& timeline, const WhatIfOptions& options,
                            std::stop_token stop = {});

// The step time's error bar: errors of one source and op family (or kind of communication) go together,
// different ones are independent; along the critical path.
struct ErrorBar {
  Nanos low, high;       // one standard error below and above
  double relative = 0;   // of the step time
  double analytic = 0, fit = 0, profile = 0;  // shares of the critical path's time by source
};
ErrorBar error_bar(const Timeline& timeline, const CostModel& cost);

// The cost of one task with its source.
Estimate explain_task(const Timeline& timeline, TaskId task, const CostModel& cost);

// What is in memory at a device's peak, and what would help.
struct MemoryReport {
  DeviceId device;
  Nanos moment;
  Bytes peak, capacity;
  std::vector<Timeline::Alive> largest;  // up to 10
  std::array<Bytes, 6> by_role;          // TensorRole
  std::vector<std::string> advice;       // empty when it fits; each with its figure
};
MemoryReport memory_report(const Timeline& timeline, DeviceId device);

// One paragraph: "119.3 ms: 61 % computes, ...". `what_ifs` may be empty.
std::string why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs, const ErrorBar& error);

}  // namespace strato
