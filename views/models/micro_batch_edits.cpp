#include "views/models/micro_batch_edits.h"

#include <algorithm>

#include "core/search/evaluate/outcome.h"

namespace strato {

std::vector<std::int32_t> possible_micro_batches(std::int64_t batch, std::int32_t now,
                                                 std::size_t most) {
  const std::int64_t last = std::min<std::int64_t>(batch, 1 << 16);
  std::vector<std::int32_t> counts;
  for (std::int32_t count = 1; count <= last && counts.size() < most; ++count)
    if (batch % count == 0) counts.push_back(count);
  if (now > counts.back()) counts.push_back(now);
  return counts;
}

StrategyChange with_micro_batches(const MicroBatches& wanted) {
  return [wanted](const Regrouping& from) {
    Strategy strategy = from.strategy;
    strategy.micro_batches = wanted.count == 1 ? MicroBatches() : wanted;
    simulate_strategy(from.opened, strategy, false);
    return strategy;
  };
}

}  // namespace strato
