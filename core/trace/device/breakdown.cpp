#include "core/trace/device/breakdown.h"

#include <map>

#include "core/trace/device/launches.h"

namespace strato::trace {

double Breakdown::overlap_fraction() const {
  const Nanos communication = busy[static_cast<std::size_t>(KernelType::Communication)];
  return communication == Nanos(0) ? 0 : overlapped / communication;
}

Breakdown breakdown(std::span<const Kernel> kernels) {
  Breakdown result;
  const Intervals all = busy(kernels);
  if (all.empty()) return result;
  const Intervals compute = busy(kernels, KernelType::Computation);
  const Intervals communication = busy(kernels, KernelType::Communication);
  for (int type = 0; type < kKernelTypes; ++type)
    result.busy[static_cast<std::size_t>(type)] =
        length(busy(kernels, static_cast<KernelType>(type)));
  result.total = all.back().end - all.front().begin;
  result.idle = result.total - length(all);
  result.compute = length(compute);
  result.non_compute = result.total - result.compute - result.idle;
  result.overlapped = overlap(communication, compute);
  result.exposed = length(communication) - result.overlapped;
  return result;
}

std::vector<IdleCauses> idle_causes(const Trace& trace, std::span<const Kernel> kernels) {
  const Launches launches(trace);
  struct Stream {
    IdleCauses causes;
    Nanos end;
  };
  std::map<LaneId, Stream> streams;
  for (const Kernel& kernel : kernels) {
    const Event& event = *kernel.event;
    const auto [found, is_first] =
        streams.try_emplace(event.lane, Stream{{event.lane, {}, {}, {}}, {}});
    Stream& stream = found->second;
    if (!is_first) {
      const Nanos gap = event.start - stream.end;
      const Event* launch = launches.of(event);
      if (launch != nullptr && launch->start > stream.end)
        stream.causes.host_wait += gap;
      else if (gap < kConsecutiveDelay)
        stream.causes.kernel_wait += gap;
      else
        stream.causes.other += gap;
    }
    stream.end = event.end();
  }
  std::vector<IdleCauses> result;
  for (const auto& [lane, stream] : streams) result.push_back(stream.causes);
  return result;
}

}  // namespace strato::trace
