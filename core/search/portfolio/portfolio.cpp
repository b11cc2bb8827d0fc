#include "core/search/portfolio/portfolio.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/search/constraints/bound_constraints.h"
#include "core/search/portfolio/tree_search.h"

namespace strato {
namespace {

// Iterations before anything else; before local improvement, while nothing beats data parallelism.
constexpr std::int64_t kFirstTree = 48, kFirstLook = 8;
// Turns of local improvement of which the second search, once it has begun, has all but the first:
// finished strategies are soon as good as they get.
constexpr std::int64_t kUnfinishedTurns = 4;

// Throws InputError for a seed that is no strategy of this problem.
std::vector<Strategy> seeds_in_groups_of(const Problem& problem,
                                         const std::vector<Strategy>& seeds) {
  std::vector<Strategy> result;
  for (const Strategy& seed : seeds) {
    const Grouping& grouping = *problem_for(problem, seed).grouping;
    validate(seed, grouping, *problem.cluster);
    if (grouping.digest() == problem.grouping->digest())
      result.push_back(complete(seed, *problem.cluster));
  }
  return result;
}

std::string pinned_note(const ActionTable& table, const Grouping& grouping, bool fits) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < table.pinned().size(); ++g)
    if (table.pinned()[g] >= 0) names.push_back(grouping.group(GroupId(g)).name);
  if (names.empty()) return "";
  if (fits) return fmt::format("; pinned: {}", fmt::join(names, ", "));
  return fmt::format(
      "; nothing fits in memory with what is pinned: {}; unpin a group, or pin it to "
      "more devices or to model parallelism",
      fmt::join(names, ", "));
}

}  // namespace

Portfolio::Portfolio(const PlanRequest& request, const TreeSearchOptions& options,
                     PriorProvider* prior)
    : request_(request),
      report_(request.observer),
      seeds_(seeds_in_groups_of(request.problem, request.options.seeds)),
      search_(request, options, prior, seeds_,
              [this](const Strategy& strategy, const Score& score) {
                Progress now = progress();
                now.best = score;
                report_.improvement(strategy, now);
              }) {
  search_.beat = [this] { report_.progress(progress(), false); };
}

std::vector<Score> Portfolio::evaluate(std::span<const Strategy> strategies, std::size_t repeated) {
  evaluations_ += static_cast<std::int64_t>(strategies.size() - repeated);
  return request_.evaluator.evaluate(strategies);
}

// The first leaf of all. The baseline is data parallelism itself, whatever is pinned and however
// strategies are finished.
void Portfolio::evaluate_root() {
  const bool is_baseline = search_.table.pinned().empty() && !search_.finishing.exists();
  if (!is_baseline)
    search_.rewards.set_baseline(
        evaluate(search_.table.strategy_of(ActionVector(search_.table.groups(), 0))).step_time);
  const std::vector<Score> scores = evaluate(leaves_.propose({.most = 1}).strategies);
  if (is_baseline) search_.rewards.set_baseline(scores.front().step_time);
  leaves_.accept(scores);
}

// The best of them is where local improvement starts. What they say beside the decisions of their
// groups is not searched: as they are, they are only a bound that the result keeps; not while a
// person steers: who asks for groups to be decided so means the result, too.
void Portfolio::evaluate_seeds() {
  for (const Strategy& seed : seeds_) {
    const ActionVector actions = search_.table.actions_of(seed);
    if (!search_.tree.is_excluded(actions))
      search_.consider(actions, evaluate(search_.finishing.seen_by_tree(actions)));
  }
  if (!search_.table.pinned().empty() || search_.tree.has_excluded()) return;
  for (const Strategy& seed : search_.common.seeds) {
    Strategy whole = complete(seed, *search_.problem.cluster);
    const Score score = evaluate(whole);
    if (search_.incumbent.is_improved_by(score))
      search_.incumbent.keep_aside(std::move(whole), score);
  }
}

// Where the decisions that look best do not beat data parallelism for all groups, changing a few of
// it does so sooner.
bool Portfolio::is_local_turn(std::size_t want) const {
  if (search_.options.polish <= 0 || !may_improve_locally()) return false;
  const Score& best = search_.incumbent.score();
  const bool unbeaten = best.feasible && best.step_time >= search_.rewards.baseline();
  if (tree_iterations_ < (unbeaten || search_.bounds.is_small() ? kFirstLook : kFirstTree))
    return false;
  const auto after = static_cast<double>(local_iterations_) + static_cast<double>(want);
  return after <= search_.options.polish * (static_cast<double>(tree_iterations_) + after);
}

// Returns the iterations that it took, by which `iterations` grows.
std::size_t Portfolio::take_turn(Proposer& proposer, std::size_t most, std::int64_t& iterations,
                                 std::int64_t round) {
  std::size_t done = 0;
  for (bool more = true; more && done < most;) {
    const Proposal proposal = proposer.propose({most - done, round, iterations});
    done += proposal.iterations;
    iterations += static_cast<std::int64_t>(proposal.iterations);
    if (!proposal.strategies.empty())
      proposer.accept(evaluate(proposal.strategies, proposal.repeated));
    more = proposal.more;
  }
  return done;
}

// Once, in the second round of local improvement.
std::size_t Portfolio::roll_out_turn(std::size_t want) {
  const bool now = search_.options.decide && search_.prior != nullptr &&
                   !search_.bounds.is_small() && local_iterations_ == search_.options.batch;
  return now ? take_turn(roll_outs_, want, local_iterations_) : 0;
}

// Not before there is something that is finished.
bool Portfolio::is_unfinished_turn() const {
  if (!search_.finishing.is_chosen() || search_.finishing.is_left_to_others() ||
      search_.bounds.is_small())
    return false;
  if (local_iterations_ / search_.options.batch % kUnfinishedTurns == 0) return false;
  return unfinished_.has_begun() || !search_.incumbent.strategy().duplicated.empty();
}

std::size_t Portfolio::local_turn(std::size_t want) {
  const auto round = [&] { return local_iterations_ / search_.options.batch; };
  std::size_t done = roll_out_turn(want);
  if (done == want) return done;
  if (is_unfinished_turn())
    if (const std::size_t more = take_turn(unfinished_, want - done, local_iterations_))
      return done + more;
  if (done == 0) done = take_turn(finishings_, want, local_iterations_, round());
  done += take_turn(space_, want - done, local_iterations_);
  if (space_.is_proven()) return done;
  const std::int64_t own = unfinished_.has_begun() ? round() / kUnfinishedTurns : round();
  return done + take_turn(improvements_, want - done, local_iterations_, own);
}

// A round that has found less to do is made up for: later ones begin where they would have.
std::size_t Portfolio::next_want(std::int64_t limit) const {
  const std::int64_t round = search_.options.batch - iterations() % search_.options.batch;
  if (search_.common.budget_seconds > 0)
    return report_.elapsed() >= search_.common.budget_seconds ? 0 : static_cast<std::size_t>(round);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(limit - iterations(), 0, round));
}

PlanResult Portfolio::run() {
  if (request_.resume)
    restore(*request_.resume);
  else
    evaluate_root();
  const std::int64_t limit = iterations() + std::max<std::int64_t>(search_.common.iterations, 0);
  evaluate_seeds();
  while (!search_.stop.stop_requested()) {
    const std::size_t want = next_want(limit);
    if (want == 0) break;
    const bool local = is_local_turn(want);
    std::int64_t uncounted = 0;
    if (tree_iterations_ >= kFirstTree && search_.options.graded_overflow)
      take_turn(packings_, 1, uncounted);
    std::size_t done = local ? local_turn(want) : take_turn(leaves_, want, tree_iterations_);
    if (space_.is_proven()) break;
    if (done == 0 && local)
      done = take_turn(leaves_, want, tree_iterations_);
    else if (done == 0 && search_.options.polish > 0 && may_improve_locally())
      done = local_turn(want);
    if (done == 0) break;
    report_.progress(progress(), false);
    report_.tree([this] { return snapshot(); });
  }
  if (!search_.incumbent.exists()) {
    // All that was seen is excluded: data parallelism, with the pins.
    const ActionVector actions = search_.tree.completed_actions(0);
    search_.incumbent.take({actions, search_.finishing.flags_of_tree()},
                           evaluate(search_.finishing.seen_by_tree(actions)), Incumbent::Given);
  }
  report_.progress(progress(), true);
  PlanResult result = this->result();
  request_.observer.on_tree(result.tree);
  return result;
}

Progress Portfolio::progress() const {
  return {iterations(), evaluations_, report_.elapsed(), search_.incumbent.best_score()};
}

std::shared_ptr<const SearchTree> Portfolio::snapshot() {
  auto tree = std::make_shared<SearchTree>(search_.tree.snapshot());
  tree->iterations = iterations();
  tree->seed = search_.common.seed;
  tree->problem = search_.problem.digest();
  SearchState& state = tree->state;
  state.local_iterations = local_iterations_;
  state.baseline_ns = search_.rewards.baseline().value;
  state.pinned_since = pinned_since_;
  state.pins = search_.table.digest_of_pins();
  state.unfinished = search_.finishing.is_left_to_others();
  state.contradicted = search_.bounds.is_contradicted();
  state.barred = barred_;
  search_.incumbent.save(state);
  for (Proposer* proposer : stored()) proposer->save(state);
  unfinished_.save(state);
  return tree;
}

std::string Portfolio::note() const {
  const Incumbent& incumbent = search_.incumbent;
  const auto wins = [&](Incumbent::Origin origin) {
    const std::int64_t count = incumbent.wins(origin);
    return fmt::format("{} improvement{}", count, count == 1 ? "" : "s");
  };
  std::string text = fmt::format(
      "{} iterations in the tree ({}, {} actions a group), {} in local improvement ({})",
      tree_iterations_, wins(Incumbent::Tree), search_.table.actions().size(), local_iterations_,
      wins(Incumbent::Local));
  if (search_.tree.is_exhausted())
    text += search_.tree.has_focus() ? "; the whole branch in focus was searched"
                                     : "; the whole tree was searched";
  if (space_.is_proven())
    text += "; nothing else can be faster: the bounds of all other strategies say so";
  return text + pinned_note(search_.table, *search_.problem.grouping, incumbent.score().feasible);
}

PlanResult Portfolio::result() {
  PlanResult result;
  result.strategy = search_.incumbent.strategy();
  result.score = *search_.incumbent.best_score();
  result.evaluations = evaluations_;
  result.note = note();
  result.tree = snapshot();
  if (const Strategy* aside = search_.incumbent.better_aside()) {
    result.strategy = *aside;
    if (!search_.incumbent.has_candidate_aside())
      result.note += "; nothing faster than a strategy that was known before";
  }
  return result;
}

PlanResult tree_search(const PlanRequest& request, const TreeSearchOptions& options,
                       PriorProvider* prior) {
  TreeSearchOptions own = options;
  const auto constraints = bind_constraints(request.options.constraints.get(), request.problem);
  if (constraints) own.pins = constraints->pins();
  // A strategy that is repaired, or computed in micro-batches or by columns, is another one than is
  // bounded; what is computed again only adds to it.
  if (constraints || request.options.micro_batches.count > 1 || request.options.tensor > 1)
    own.bounds = false;
  return Portfolio(request, own, prior).run();
}

}  // namespace strato
