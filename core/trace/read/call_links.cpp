#include "core/trace/read/call_links.h"

#include <algorithm>

namespace strato::trace {

void CallLinks::add_operator(const Event& event, std::int64_t external, bool described) {
  operators_[event.lane].push_back({event.start, event.end(), event.call, described});
  if (external != 0 && described) of_external_.emplace(external, event.call);
}

void CallLinks::add_kernel(std::int64_t correlation, std::int64_t external) {
  if (correlation != 0) kernel_externals_.emplace(correlation, external);
}

CallId CallLinks::call_around(const Event& launch) const {
  const auto of_lane = operators_.find(launch.lane);
  if (of_lane == operators_.end()) return CallId();
  const auto& operators = of_lane->second;
  auto at = std::ranges::upper_bound(operators, launch.start, {}, &Operator::start);
  CallId best;
  for (int looked = 0; at != operators.begin() && looked < 8; ++looked) {
    --at;
    if (launch.start >= at->end) continue;
    if (at->described) return at->call;
    if (!best.valid()) best = at->call;
  }
  return best;
}

void CallLinks::resolve(Trace& trace) const {
  CallLinks sorted;
  sorted.operators_ = operators_;
  for (auto& [lane, operators] : sorted.operators_)
    std::ranges::stable_sort(operators, {}, &Operator::start);
  Launches launches;
  for (const Event& event : trace.events)
    if (event.kind == EventKind::Runtime && kernel_externals_.contains(event.correlation))
      launches.emplace(event.correlation, &event);
  for (Event& event : trace.events) {
    const auto kernel = kernel_externals_.find(event.correlation);
    if (!runs_on_device(event.kind) || event.call.valid() || kernel == kernel_externals_.end())
      continue;
    // Old profilers number kernels by themselves: then this is another operator's number.
    const bool own_number = kernel->second == event.correlation;
    const auto known = of_external_.find(kernel->second);
    const auto launch = launches.find(event.correlation);
    if (!own_number && known != of_external_.end())
      event.call = known->second;
    else if (launch != launches.end())
      event.call = sorted.call_around(*launch->second);
  }
}

}  // namespace strato::trace
