#include "core/trace/analyse/memory.h"

#include <algorithm>
#include <map>

namespace strato::trace {

std::vector<MemoryPeak> memory_peaks(const Trace& trace) {
  std::map<std::int64_t, MemoryPeak> peaks;
  for (const MemorySample& sample : trace.memory) {
    const auto [found, is_first] = peaks.try_emplace(sample.device);
    MemoryPeak& peak = found->second;
    peak.device = sample.device;
    if (is_first || sample.allocated > peak.allocated) {
      peak.allocated = sample.allocated;
      peak.at = sample.at;
    }
    peak.reserved = std::max(peak.reserved, sample.reserved);
  }
  std::vector<MemoryPeak> result;
  for (const auto& [device, peak] : peaks) result.push_back(peak);
  return result;
}

}  // namespace strato::trace
