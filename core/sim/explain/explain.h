// Why a step takes as long as it does: the critical path cut into reasons, what each device waits
// for, what would happen if something were faster, how sure the step time is, and all of it in
// words. Pure functions of a timeline; deterministic; safe from any thread.
#pragma once

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/sim/engine/simulate.h"

namespace strato {

enum class Reason : std::uint8_t {
  Compute,    // ops and updates
  Reshuffle,  // split, concat, sum
  Transfer,   // point to point
  Collective,
  DeviceBusy,  // ready, but its device's compute stream runs something else
  LinkBusy,    // ready, but a link or a communication stream is taken
  Straggler,   // the other members of a collective or sum were ready and waited for the slowest
};
inline constexpr std::size_t kReasons = 7;
std::string_view name_of(Reason reason);  // "compute", "device busy", ...

// The critical path as pieces that cover [0, step time] without a hole, first to last. The path is
// critical_path(): in each piece one of its tasks runs. While a later task of the path is already
// ready and waits for what the running one holds, the piece is DeviceBusy (a compute stream) or
// LinkBusy (a link, a communication stream): so any piece, made shorter, shortens the step until
// another path takes over. Under fair links, LinkBusy is also the time that sharing adds to a task.
// Straggler hides what it is made of: the work of the last member after all others were ready.
struct PathPiece {
  Nanos begin, end;
  Reason reason;
  TaskId task;     // that runs (or holds what is waited for) in this piece
  TaskId waiting;  // of DeviceBusy, LinkBusy and Straggler: the task that waits
};
std::vector<PathPiece> path_pieces(const Timeline& timeline);

// Returns the part of the pieces' time that each reason costs.
std::array<Nanos, kReasons> time_by_reason(const std::vector<PathPiece>& pieces);

// A stretch in which a compute stream runs nothing, and why the task after it did not start sooner:
// the reason on the path to that task, as path_pieces() has it. An idle stretch is cut where the
// reason changes, so that gaps and busy time add up to the step time.
struct Gap {
  Nanos begin, end;
  Reason reason;  // Transfer, Collective, LinkBusy, Straggler; Compute, Reshuffle, DeviceBusy: of
                  // another device; of the last gap (nothing follows): Straggler
  TaskId next;    // invalid: none follows
  TaskId cause;   // what held it up longest; of the last gap: the step's last task
};
std::vector<Gap> gaps(const Timeline& timeline, DeviceId device);
IdVector<DeviceId, std::vector<Gap>> gaps(
    const Timeline& timeline);  // of all devices, much cheaper

// The step time if one thing were faster, by simulation of the same program with shorter tasks; no
// task gets below 1 ns.
//   Op:      the tasks that compute it (or apply the update), on all devices.
//   Device:  all tasks on its compute stream. GpuType: of all devices of the type; Devices: of all.
//   Link:    of the tasks that use it, the bandwidth part of the duration, until another of the
//            task's links (taken to carry the same bytes) becomes the slowest; latencies stay.
//   Network: the bandwidth part of all communication.
struct WhatIf {
  enum class What : std::uint8_t { Op, Device, GpuType, Devices, Link, Network } what;
  OpId op;
  DeviceId device;
  GpuTypeId gpu;
  LinkId link;
  std::string name;  // "Conv_17", "v100:0", "all V100-SXM2-32GB", "all devices", "the network"
  Nanos faster;      // step time with it 10 % faster
  Nanos free;        // step time with it infinitely fast
};
struct WhatIfOptions {
  std::size_t ops = 12;  // the ops with most time on the critical path
  bool devices = true;   // each that is used, each of several GPU types, and all
  bool links = true;     // each that is used, and the network
  int threads = 0;       // 0: one per core; does not change the result
};
// Largest gain first (by `free`, then `faster`, then id). Empty when stopped.
std::vector<WhatIf> what_if(const Timeline& timeline, const WhatIfOptions& options,
                            std::stop_token stop = {});

// The step time's error bar: errors of one source and op family (or kind of communication) go
// together, different ones are independent; along the critical path.
struct ErrorBar {
  Nanos low, high;                            // one standard error below and above
  double relative = 0;                        // of the step time
  double analytic = 0, fit = 0, profile = 0;  // shares of the critical path's time by source
};
ErrorBar error_bar(const Timeline& timeline, const CostModel& cost);

// The cost of one task with its source.
Estimate explain_task(const Timeline& timeline, TaskId task, const CostModel& cost);

// Lists what is in memory at a device's peak, and what would help.
struct MemoryReport {
  DeviceId device;
  Nanos moment;
  Bytes peak, capacity;
  struct Held {
    TensorId tensor;
    Bytes bytes;
    bool resident;
    TaskId made_by, held_for;  // its writer and its last reader; invalid: resident
  };
  std::vector<Held> largest;        // up to 10, largest first
  std::array<Bytes, 6> by_role{};   // TensorRole
  std::vector<std::string> advice;  // empty when it fits; each with its figure
};
// The advice names op groups if there is a `grouping`.
MemoryReport memory_report(const Timeline& timeline, DeviceId device,
                           const Grouping* grouping = nullptr);

// The step in one paragraph: "A step takes 119 ms, and communication limits it: ...". Without
// what-ifs it says less. `what_ifs` as what_if() sorts them.
std::string why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs,
                const ErrorBar& error, std::optional<Nanos> lower_bound = {});

}  // namespace strato
