#include "core/trace/device/kernels.h"

#include <algorithm>
#include <map>
#include <optional>

namespace strato::trace {

std::vector<Kernel> kernels_of(const Trace& trace, const Interval* within) {
  std::vector<Kernel> kernels;
  std::vector<std::optional<KernelType>> types(trace.names.size());
  for (const Event& event : trace.events) {
    if (!runs_on_device(event.kind)) continue;
    if (within != nullptr && (event.start < within->begin || event.start >= within->end)) continue;
    std::optional<KernelType>& type = types[event.name.index()];
    if (!type) type = kernel_type(event.kind, trace.name(event));
    kernels.push_back({&event, *type});
  }
  return kernels;
}

Intervals busy(std::span<const Kernel> kernels, KernelType type) {
  std::vector<Interval> all;
  for (const Kernel& kernel : kernels)
    if (kernel.type == type) all.push_back({kernel.event->start, kernel.event->end()});
  return merged(std::move(all));
}

Intervals busy(std::span<const Kernel> kernels) {
  std::vector<Interval> all;
  all.reserve(kernels.size());
  for (const Kernel& kernel : kernels) all.push_back({kernel.event->start, kernel.event->end()});
  return merged(std::move(all));
}

std::vector<KernelTime> longest_kernels(const Trace& trace, std::span<const Kernel> kernels,
                                        std::size_t most) {
  std::map<NameId, KernelTime> by_name;
  for (const Kernel& kernel : kernels) {
    KernelTime& time = by_name[kernel.event->name];
    time.type = kernel.type;
    ++time.count;
    time.total += kernel.event->duration;
    time.longest = std::max(time.longest, kernel.event->duration);
  }
  std::vector<KernelTime> times;
  for (auto& [name, time] : by_name) {
    time.name = trace.names[name];
    times.push_back(std::move(time));
  }
  std::ranges::stable_sort(times, std::greater(), &KernelTime::total);
  if (times.size() > most) times.resize(most);
  return times;
}

}  // namespace strato::trace
