// Private to core/trace/read: Nsight Systems' export to SQLite (nsys export --type sqlite):
// kernels, copies and fills of CUPTI by process and device, calls of CUDA's runtime, ranges of
// NVTX. Times are nanoseconds. What a version of the tool leaves out (tables, columns) is not
// there.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

// One trace for each process and device. Throws InputError, and ReadingStopped.
std::vector<Trace> read_nsight(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace strato::trace
