// Which proposals go to trial (AutoDist 2.4, "Filtering"; algorithm 1, lines 2, 4 and 5).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

// A trial with the score that it was given before anything was learned from it.
struct Judged {
  double score = 0;  // higher: thought to be faster
  double cost = 0;   // lower: is faster
};

// Part of the pairs that are in the right order; pairs of equal cost do not count. Nothing: there
// are no pairs.
std::optional<double> ranking_accuracy(std::span<const Judged> trials);

// The fidelity level: the highest score for which the trials with at most this score are ranked
// with at least this accuracy. Nothing: there is none, or fewer than `fewest` trials are below it.
std::optional<double> fidelity_level(std::span<const Judged> recent, double accuracy,
                                     std::size_t fewest = 4);

// A number for each variable's config; equal configs of a variable have equal numbers, and labels
// of messages do not matter.
std::vector<std::uint64_t> tokens_of(const SyncPlan& plan);

// The same for plans in which every variable is sent in the same way: messages, servers and numbers
// of parts may differ.
std::uint64_t kind_of(const SyncPlan& plan);

// Up to `count` of the proposals, for their scores and for how different they are: greedily the one
// that adds most to sum of scores (scaled to 0..1) + `diversity` * part of the configs that no
// chosen one has. That sum is submodular (Chen et al. 2018b, "Learning to optimize tensor
// programs", 3.3).
std::vector<std::size_t> choose_diverse(std::span<const double> scores,
                                        std::span<const std::vector<std::uint64_t>> tokens,
                                        std::size_t count, double diversity);

}  // namespace strato::autodist
