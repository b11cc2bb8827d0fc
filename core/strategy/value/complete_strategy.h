// A strategy in which every group is decided, with its digest. A strategy becomes one where it
// enters the rooms that evaluate it (Evaluator::evaluate(), Lowering::lower()), and is neither
// completed nor digested again behind that border. A value that is cheap to copy; immutable, so any
// thread may read it.
#pragma once

#include <memory>

#include "core/strategy/value/strategy.h"

namespace strato {

class CompleteStrategy {
 public:
  // Decides what is undecided as complete() does.
  CompleteStrategy(const Strategy& strategy, const Cluster& cluster);

  const Strategy& operator*() const { return made_->strategy; }
  const Strategy* operator->() const { return &made_->strategy; }
  const Digest& digest() const { return made_->digest; }

 private:
  struct Made {
    Strategy strategy;
    Digest digest;
  };
  std::shared_ptr<const Made> made_;
};

}  // namespace strato
