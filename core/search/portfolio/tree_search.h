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
//   - selection: known strategies cost nothing, exhausted subtrees are left alone; values, first
//     play, widening, the root's prior and the order of groups and actions are as
//     TreeSearchOptions says; an
//     infeasible strategy's reward says how far it is over memory (tree_rewards.h);
//   - part of the evaluations goes to improving the best strategy by changing a few groups
//     (local_search.h), earlier where the first looks do not beat data parallelism;
//   - a prior that is not uniform decides whole strategies, and local improvement goes on from the
//     best of them, where that is better (tree_proposer.h);
//   - where there are few strategies, they are gone through in the order of the bounds of their
//     programs, until nothing else can be better; else local improvement leaves out what cannot be
//     better, as bounds say (bound_use.h);
//   - where strategies are finished (TreeSearchOptions::finish), that is chosen group by group for
//     the best one, and most of local improvement goes to a strategy of its own that is not
//     finished (local_proposers.h), unless finishing gains little at the outset
//     (special_proposers.h);
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

#include "core/search/api/planner.h"
#include "core/search/mcts/tree_options.h"
#include "core/search/tree/search_tree.h"

namespace strato {

// Deterministic for (problem, options, seed) when iterations and not time is the limit. Goes on
// from `request.resume` as if it had never stopped when the earlier number of iterations was a
// multiple of the batch and the steering is what it was (and the problem has few strategies for
// either number of iterations, or for none). Another prior, limit or weighting may go on with it,
// but actions, order and seed have to be the same: else an InputError. `prior`: null: uniform.
PlanResult tree_search(const PlanRequest& request, const TreeSearchOptions& options,
                       PriorProvider* prior = nullptr);

}  // namespace strato
