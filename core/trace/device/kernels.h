// What ran on the devices of one rank, and how long each kind of it took.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/trace/device/intervals.h"
#include "core/trace/value/trace.h"

namespace strato::trace {

struct Kernel {
  const Event* event;
  KernelType type;
};

// Kernels, copies and fills by their start; those that start in `within`, if given. They borrow
// from the trace.
std::vector<Kernel> kernels_of(const Trace& trace, const Interval* within = nullptr);

// When kernels of a type run.
Intervals busy(std::span<const Kernel> kernels, KernelType type);
Intervals busy(std::span<const Kernel> kernels);

struct KernelTime {
  std::string name;
  KernelType type = KernelType::Computation;
  std::int64_t count = 0;
  Nanos total, longest;
};
// The names that take the longest, by total time; at most `most` of them.
std::vector<KernelTime> longest_kernels(const Trace& trace, std::span<const Kernel> kernels,
                                        std::size_t most);

}  // namespace strato::trace
