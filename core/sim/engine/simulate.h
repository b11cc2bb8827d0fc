// The simulator: program -> timeline, by the semantics that every part of Stratoscope shares:
//
// A task needs all its resources at once. When its last dependency ends it becomes ready and enters
// the queues of all its resources at that moment; it starts when it is first in each and all are
// free. Queue order is (priority, ready time, task id), smallest first. Time is integer
// nanoseconds, ties break by id: the same program gives the same timeline, on any machine.
//
// The process that drives a device starts the tasks on its streams one after the other, in the
// order in which they become ready (at equal times by id), for each as long as Task::issue says,
// and is ahead of the device where it can. A task that starts before its processes have started it
// takes so much longer: frameworks of small kernels are bound by this. Where the program says so
// (Program::issues_after_transfers), what waits for a transfer is started when it has become ready.
//
// Memory:
// buffers are taken when the writing task starts and released when their last reader ends (at the
// writer's end when nothing reads them); residents are there throughout. At equal times, releases
// come first.
#pragma once

#include <memory>

#include "core/sim/timeline/timeline.h"

namespace strato {

// Reuses its queues from call to call. Not thread safe: one per thread.
class Simulator {
 public:
  Simulator();
  ~Simulator();
  Timeline simulate(std::shared_ptr<const Program> program, const SimulateOptions& options = {});
  // The same into a timeline whose arrays are reused: a search allocates nothing from call to call.
  void simulate(std::shared_ptr<const Program> program, const SimulateOptions& options,
                Timeline& timeline);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace strato
