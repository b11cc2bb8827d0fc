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
//   and
//     by rank in turns: a network that is sure of the wrong devices keeps nobody from the right
//     ones;
//   - where the prior is not uniform, it decides a few strategies from the first group to the last,
//     and local improvement goes on from the best of them, where that is better (tree_decide.cpp);
//   - where there are few strategies, the turns of local improvement go through them in the order
//     of their bounds, until nothing else can be better (small_space.h);
//   - local improvement leaves out what cannot be better, as bounds of lowered programs say
//     (sieve.h);
//   - where strategies are finished (TreeSearchOptions::finish), that is chosen group by group for
//     the best one, and most of local improvement goes to a strategy of its own that is plain
//     (plain_lane.cpp); where finishing gains less than two per cent at the outset, the search goes
//     on plain, and what it has is finished now and then, without going on from there;
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

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/evaluate/actions.h"
#include "core/search/tree/search_tree.h"

namespace strato {

struct PriorQuery {
  const Strategy& partial;
  GroupId next;  // the group that the prior is asked for
  const Score&
      score;  // of the completed partial strategy; with feedback when the evaluator gives it
};

// Prior probabilities G(s, a) of the next group's actions.
class PriorProvider {
 public:
  virtual ~PriorProvider() = default;
  // One row of actions.size() non-negative numbers a query; an empty row means uniform.
  // Deterministic.
  virtual std::vector<std::vector<float>> priors(const Problem& problem,
                                                 const std::vector<Decision>& actions,
                                                 std::span<const PriorQuery> queries) = 0;
  // Whether every row is empty: then nobody needs to ask.
  virtual bool is_uniform() const { return false; }
};
std::unique_ptr<PriorProvider> make_uniform_prior();

struct TreeSearchOptions {
  double c = 0.2;         // weight of exploration in PUCT
  bool normalise = true;  // values between a low quantile and the best reward become [0, 1]
  double low_quantile = 0.25;
  bool relative_prior =
      true;  // G(s, a) times the number of actions: c does not depend on their number
  bool max_backup = false;  // Q is the best reward below instead of the mean
  bool first_play = true;   // an unvisited action is worth its parent's value - fpu, else 0
  double fpu = 0.1;
  // Part of the first group's prior that is uniform; its actions, which the other groups follow,
  // are opened by prior and by rank in turns: a prior that is sure of itself may be wrong.
  double root_mix = 0.9;
  double widening = 5;  // open actions <= widening * sqrt(visits); 0: all
  double noise = 3;     // ranks by which the seed moves actions of equal prior
  bool free_repeats = true;
  bool follow_first = true;
  bool graded_overflow = true;
  bool order_by_cost =
      true;              // after the first group: by compute and synchronisation, not compute alone
  double polish = 0.75;  // part of the evaluations spent on local improvement
  bool bounds = true;    // few strategies: in the order of their bounds (small_space.h)
  bool decide =
      true;  // local improvement may begin at strategies that the prior decides as a whole
  bool sieve = false;  // local improvement evaluates nothing whose bound is no better (sieve.h)
  int batch = 8;
  ActionOptions actions;
  // Decisions that groups keep, by PlannerOptions::constraints (tree_search() fills it in); empty:
  // none. All else that is demanded is up to the evaluator, which repairs what it is asked about.
  IdVector<GroupId, std::optional<Decision>> pins;
  // Applied to every complete strategy before it is evaluated or returned; deterministic, and only
  // a function of the strategy. Empty: nothing is done.
  std::function<void(Strategy&)> finish;
  // False: the tree looks at finished strategies, but the best ones are tried without `finish`,
  // too, as a whole and group by group. Then `finish` only adds to Strategy::duplicated.
  bool finish_always = true;

  bool paper = false;  // variant=paper: what the paper says; other keys override it
  void follow_paper();
  OptionTable option_table();
  static TreeSearchOptions from(const PlannerOptions& given) {
    return read_options<TreeSearchOptions>(given.set);
  }
};

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
