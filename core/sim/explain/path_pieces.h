// Cuts the critical path into reasons, which add up to the step time, and says what each device
// waits for. Pure functions of a timeline; deterministic; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/sim/explain/critical_path.h"

namespace strato {

enum class Reason : std::uint8_t {
  Compute,    // ops and updates
  Reshuffle,  // split, concat, sum
  Transfer,   // point to point
  Collective,
  DeviceBusy,  // ready, but its device's compute stream runs something else
  LinkBusy,    // ready, but a link or a communication stream is taken
  Straggler,   // the other members of a collective or sum were ready and waited for the slowest
  Process,     // a device waits for the process that starts its kernels (Task::issue)
};
inline constexpr std::size_t kReasons = 8;
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

// What would have to be less: a device that is busy is busy with computing.
Reason root_of(Reason reason);
// As time_by_reason, by root.
std::array<Nanos, kReasons> time_by_root(const std::vector<PathPiece>& pieces);

// A stretch in which a compute stream runs nothing, and why the task after it did not start sooner:
// the reason on the path to that task. An idle stretch is cut where the reason changes, so that
// gaps and busy time add up to the step time.
struct Gap {
  Nanos begin, end;
  Reason reason;  // Transfer, Collective, LinkBusy, Straggler; Compute, Reshuffle, DeviceBusy: of
                  // another device; of the last gap (nothing follows): Straggler
  TaskId next;    // invalid: none follows
  TaskId cause;   // what held it up longest; of the last gap: the step's last task
};
IdVector<DeviceId, std::vector<Gap>> gaps(const Timeline& timeline);

}  // namespace strato
