// Random small training graphs of real ops: perceptrons, attention, convolutions, recurrent merges
// of time and batch, embeddings; with views, ops of several outputs, shared weights and splits
// along other axes than the batch.
#pragma once

#include <vector>

#include "core/base/random.h"
#include "tests/property/random_problem.h"

namespace strato {

// On a random cluster, with random groups.
RandomProblem random_model_problem(Random& random);
// Of a graph in random groups; on a random cluster, or on the one that is given.
RandomProblem problem_of(std::shared_ptr<const Graph> graph, Random& random,
                         std::shared_ptr<const Cluster> cluster = nullptr);
// Often none, else any number of ops, each along one of its axes; or updates alone, where the group
// of the first is replicated (sharded data parallelism).
std::vector<OpSplit> random_splits(const RandomProblem& problem, const Strategy& strategy,
                                   Random& random);
// Rows of most replicated groups, or some of them, share states; 0: each group has its own of
// ZeRO's stages.
Strategy with_shared_states(const RandomProblem& problem, const Strategy& strategy, Random& random,
                            std::int32_t stage = 0);

}  // namespace strato
