// Monte-Carlo tree search over partial strategies (TAG 4.2.2), for any prior and any evaluator.
//
// A vertex decides the op groups so far, in descending order of compute time; an edge is an action
// for the next group (actions.h). A leaf is scored with the undecided groups following the first
// one (the root: plain data parallel); its reward is baseline time / time - 1, and -1 when it does
// not fit in memory. Leaves are collected in batches under virtual visits, evaluated together, and
// backed up in the order in which they were collected: the batch is an option of its own, so the
// number of threads changes nothing.
//
// Beyond the paper, each switchable (variant=paper switches all off):
//   - strategies that the tree already knows are backed up at no cost; exhausted subtrees are left
//     alone;
//   - an unvisited action is worth its parent's value less `fpu`, actions are tried in order of a
//     rough estimate, "as the first group" first, and at most widening * visits^0.5 of them are
//     open;
//   - values are put on [0, 1] between the best reward and a low quantile of all rewards;
//   - groups after the first are decided by their share of compute and gradient synchronisation
//     together;
//   - an infeasible strategy's reward says how far it is over memory;
//   - part of the evaluations goes to improving the best strategy by changing a few groups
//     (local_search.h), earlier where the first looks do not beat data parallelism;
//   - the first group's prior is mostly uniform (`root_mix`), and its actions are opened by prior
//     and by rank in turns: a network that is sure of the wrong devices keeps nobody from the right
//     ones;
//   - where the prior is not uniform, it decides a few strategies from the first group to the last,
//     and local improvement goes on from the best of them, where that is better (tree_proposer.h);
//   - where there are few strategies, the turns of local improvement go through them in the order
//     of their bounds, until nothing else can be better (bound_use.h);
//   - local improvement leaves out what cannot be better, as bounds of lowered programs say
//     (bound_use.h);
//   - where strategies are finished (TreeSearchOptions::finish), that is chosen group by group for
//     the best one, and most of local improvement goes to a strategy of its own that is not
//     finished (local_proposers.h); where finishing gains less than two per cent at the outset,
//     the search goes on unfinished, and its incumbent is finished now and then, without going on
//     from there (special_proposers.h);
//   - while nothing fits in memory, what leaves the most room is tried first, and groups are spread
//     over devices in stretches along the graph (memory_estimate.h; TAG 3.3).
//
// A person steers through the tree that is resumed (steer.h): pinned groups are decided so in every
// strategy that is evaluated (undecided groups follow the first group that is free), excluded
// branches are left alone, and with a focus all leaves are below it while local improvement rests.
//
// PlannerOptions::seeds are evaluated first, beyond the iterations; the best is where local
// improvement starts, and the result is never worse than any of them (with pins: than any of them
// with the pins). Their decisions that are no actions become further actions of the tree, which no
// other group is given: so a stored tree of a seeded search goes on without its seeds. A seed with
// groups of its own, splits or an order counts as it is, but only what it says about the problem's
// groups is searched on from.
#pragma once

#include <memory>
#include <stop_token>

#include "core/search/api/planner.h"
#include "core/search/mcts/tree_options.h"
#include "core/search/tree/search_tree.h"

namespace strato {

// Deterministic for (problem, options, seed) when iterations and not time is the limit. Goes on
// from `resume` as if it had never stopped when the earlier number of iterations was a multiple of
// the batch and the steering is what it was (and the problem has few strategies for either number
// of iterations, or for none). Another prior, limit or weighting may go on with it, but actions,
// order and seed have to be the same: else an InputError.
PlanResult tree_search(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                       const PlannerOptions& common, const TreeSearchOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume);

}  // namespace strato
