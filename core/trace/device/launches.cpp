#include "core/trace/device/launches.h"

#include <algorithm>

namespace strato::trace {

Launches::Launches(const Trace& trace) {
  for (const Event& event : trace.events)
    if (event.kind == EventKind::Runtime && event.correlation != 0)
      by_correlation_.emplace(event.correlation, &event);
}

const Event* Launches::of(const Event& kernel) const {
  const auto found =
      kernel.correlation == 0 ? by_correlation_.end() : by_correlation_.find(kernel.correlation);
  return found == by_correlation_.end() ? nullptr : found->second;
}

std::vector<LaunchBound> launch_bound(const Trace& trace, std::span<const Kernel> kernels,
                                      std::size_t most) {
  const Launches launches(trace);
  std::vector<LaunchBound> stretches;
  bool open = false;
  Nanos end, gap_before, busy_since;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Event& event = *kernels[i].event;
    const Nanos gap = i == 0 ? Nanos(0) : event.start - end;
    if (gap > Nanos(0)) {
      const Event* launch = launches.of(event);
      const bool host = launch != nullptr && launch->start > end;
      busy_since = Nanos(0);
      if (host && !open) stretches.push_back({{end, event.start}, Nanos(0), 0});
      open = host;
      if (host) {
        stretches.back().idle += gap;
        stretches.back().time.end = event.start;
      }
      gap_before = gap;
    }
    const Nanos new_end = i == 0 ? event.end() : std::max(end, event.end());
    busy_since += i == 0 ? Nanos(0) : new_end - std::max(end, event.start);
    end = new_end;
    if (open && busy_since >= gap_before) open = false;
    if (open) {
      ++stretches.back().kernels;
      stretches.back().time.end = end;
    }
  }
  std::ranges::stable_sort(stretches, std::greater(), &LaunchBound::idle);
  if (stretches.size() > most) stretches.resize(most);
  return stretches;
}

}  // namespace strato::trace
