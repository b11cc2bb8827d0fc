#include "core/search/evaluate/program_bound.h"

#include <algorithm>

namespace strato {

Nanos ProgramBound::of(const Strategy& strategy) {
  LowerOptions options;
  options.fold = &fold_;
  lowering_.lower(CompleteStrategy(strategy, *cluster_), program_, options);
  ends_.assign(program_.tasks.size(), Nanos(0));
  busy_.assign(program_.resource_count(), Nanos(0));
  Nanos bound;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    for (const TaskId before : program_.dependencies[i])
      ends_[i] = std::max(ends_[i], ends_[before.index()]);
    const Nanos duration = program_.tasks[TaskId(i)].duration;
    bound = std::max(bound, ends_[i] += duration);
    for (const ResourceId resource : program_.resources[i])
      bound = std::max(bound, busy_[resource.index()] += duration);
  }
  return bound;
}

}  // namespace strato
