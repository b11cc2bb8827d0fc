#include "core/sim/explain/critical_path.h"

#include "core/sim/explain/causes.h"

namespace strato {

std::vector<CriticalStep> critical_path(const Timeline& timeline) {
  std::vector<CriticalStep> path;
  for (const ChainStep& step : Causes(timeline).chain_to(last_task(timeline)))
    path.push_back({step.task, step.why});
  return path;
}

}  // namespace strato
