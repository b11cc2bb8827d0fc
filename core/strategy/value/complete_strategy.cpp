#include "core/strategy/value/complete_strategy.h"

#include <utility>

namespace strato {

CompleteStrategy::CompleteStrategy(const Strategy& strategy, const Cluster& cluster) {
  Strategy whole = complete(strategy, cluster);
  const Digest digest = whole.digest();
  made_ = std::make_shared<const Made>(Made{std::move(whole), digest});
}

}  // namespace strato
