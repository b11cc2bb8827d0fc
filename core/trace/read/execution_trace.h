// Private to core/trace/read: graphs of operators as JSON: those of PyTorch's
// ExecutionTraceObserver (schemas 1.0.1 to 1.1.1), and those of Chakra's jsonizer
// ("workload_graph"). They have no times; Chakra's have durations.
#pragma once

#include <filesystem>
#include <stop_token>

#include "core/trace/value/trace.h"

namespace strato::trace {

// Throws InputError, and ReadingStopped.
Trace read_execution_trace(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace strato::trace
