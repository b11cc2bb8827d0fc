// Training steps in a trace.
#pragma once

#include <string>
#include <vector>

#include "core/trace/device/intervals.h"
#include "core/trace/value/trace.h"

namespace strato::trace {

enum class StepSource : std::uint8_t { None, Annotation, Period };

struct Step {
  std::int64_t number = 0;
  Interval time;
  bool steady = true;  // not the first, not far from the median
};

struct Steps {
  StepSource source = StepSource::None;
  std::vector<Step> steps;  // by time
  Nanos typical;            // the median of steady ones; 0: there are no steps

  std::int64_t steady() const;
};

// By annotations "ProfilerStep#N", else by the period in which the names of the kernels return. Of
// two and more steps the first is not steady, nor is one that takes more than 1.5 times the median,
// or less than two thirds of it.
Steps find_steps(const Trace& trace);

}  // namespace strato::trace
