// Private to core/trace/read: which call of a collective a kernel of NCCL's belongs to. Newer
// profilers write it at the kernel; older ones only at the operator that launches it
// ("record_param_comms", "nccl:all_reduce").
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

class CallLinks {
 public:
  // An operator that communicates. `external`: the profiler's number of it; 0: none.
  void add_operator(const Event& event, std::int64_t external, bool described);
  // A kernel that communicates and says nothing of its call.
  void add_kernel(std::int64_t correlation, std::int64_t external);

  // Gives those kernels of `trace` their calls: those of the operator with the same number, or of
  // the innermost one around the launch, best one that is described.
  void resolve(Trace& trace) const;

 private:
  struct Operator {
    Nanos start, end;
    CallId call;
    bool described;
  };
  using Launches = std::unordered_map<std::int64_t, const Event*>;  // by correlation
  CallId call_around(const Event& launch) const;

  std::map<LaneId, std::vector<Operator>> operators_;                // in the order of the file
  std::unordered_map<std::int64_t, CallId> of_external_;             // described ones
  std::unordered_map<std::int64_t, std::int64_t> kernel_externals_;  // by correlation
};

}  // namespace strato::trace
