// Evaluators: the one that lowers and simulates, and the cache in front of it.
#pragma once

#include <memory>

#include "core/search/api/evaluator.h"

namespace strato {

// Lowers and simulates on `threads` threads (0: one per core).
std::unique_ptr<Evaluator> make_simulating_evaluator(const Problem& problem, int threads,
                                                     bool with_feedback = false);

// Remembers scores by the strategies' digests. `inner` must outlive it.
std::unique_ptr<Evaluator> make_caching_evaluator(Evaluator& inner);

}  // namespace strato
