#include "core/search/portfolio/portfolio.h"

#include <algorithm>
#include <string>
#include <utility>

namespace strato {
namespace {

// Iterations before anything else; before local improvement, while nothing beats data parallelism.
constexpr std::int64_t kFirstTree = 48, kFirstLook = 8;
// Turns of local improvement of which the second search, once it has begun, has all but the first:
// finished strategies are soon as good as they get.
constexpr std::int64_t kUnfinishedTurns = 4;

bool has_own_groups(const Strategy& strategy, const Problem& problem) {
  return strategy.grouping != nullptr && strategy.grouping->digest() != problem.grouping->digest();
}

// Throws InputError for a seed that is no strategy of this problem.
std::vector<Strategy> seeds_in_groups_of(const Problem& problem,
                                         const std::vector<Strategy>& seeds) {
  std::vector<Strategy> result;
  for (const Strategy& seed : seeds) {
    validate(seed, *problem_for(problem, seed).grouping, *problem.cluster);
    if (!has_own_groups(seed, problem)) result.push_back(complete(seed, *problem.cluster));
  }
  return result;
}

LocalSearch local_search(const Problem& problem, const ActionTable& table, std::uint64_t seed) {
  Neighbourhood neighbourhood(problem, table.actions(), table.ranked_by_group());
  neighbourhood.pin(table.pinned(), table.free_action_count());
  return {std::move(neighbourhood), seed};
}

bool uses_bounds(const TreeSearchOptions& options) {
  return options.bounds && options.polish > 0 && !(options.finish && options.finish_always);
}

std::string pinned_note(const ActionTable& table, const Grouping& grouping, bool fits) {
  std::string names;
  for (std::size_t g = 0; g < table.pinned().size(); ++g)
    if (table.pinned()[g] >= 0)
      names += (names.empty() ? "" : ", ") + grouping.group(GroupId(g)).name;
  if (names.empty()) return "";
  if (fits) return "; pinned: " + names;
  return "; nothing fits in memory with what is pinned: " + names +
         "; unpin a group, or pin it to " + "more devices or to model parallelism";
}

}  // namespace

Portfolio::Portfolio(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                     const PlannerOptions& common, const TreeSearchOptions& options,
                     Observer& observer, std::stop_token stop, const SearchTree* resume)
    : problem_(problem),
      evaluator_(evaluator),
      prior_(prior),
      common_(common),
      options_(options),
      observer_(observer),
      stop_(std::move(stop)),
      report_(observer),
      seeds_(seeds_in_groups_of(problem, common.seeds)),
      table_(problem, options, common.seed, resume, seeds_),
      tree_(problem, table_, options),
      rewards_(*problem.cluster, options.graded_overflow),
      finishing_(problem, table_, options),
      incumbent_(finishing_,
                 [this](const Strategy& strategy, const Score& score) {
                   Progress now = progress();
                   now.best = score;
                   report_.improvement(strategy, now);
                 }),
      bounds_(problem, table_.legal_by_group(), uses_bounds(options), options.sieve),
      leaves_(problem, table_, options, prior, finishing_, tree_, rewards_, incumbent_),
      packings_(problem, table_, finishing_, tree_, incumbent_),
      roll_outs_(problem, table_, common.seed, prior, finishing_, tree_, incumbent_),
      finishings_(finishing_, tree_, incumbent_),
      unfinished_(local_search(problem, table_, ~common.seed), table_,
                  static_cast<std::size_t>(options.batch), finishing_, tree_, rewards_, bounds_,
                  incumbent_),
      space_(
          [this] {
            return std::make_unique<const SmallSpace>(
                problem_, table_.actions(), table_.legal_by_group(), stop_,
                [this] { report_.progress(progress(), false); });
          },
          finishing_, tree_, rewards_, bounds_, incumbent_),
      improvements_(local_search(problem, table_, common.seed), table_,
                    static_cast<std::size_t>(options.batch), finishing_, tree_, rewards_, bounds_,
                    incumbent_) {}

std::vector<Score> Portfolio::evaluate(std::span<const Strategy> strategies, std::size_t repeated) {
  evaluations_ += static_cast<std::int64_t>(strategies.size() - repeated);
  return evaluator_.evaluate(strategies);
}

// The baseline is data parallelism itself, whatever is pinned and however strategies are finished.
void Portfolio::evaluate_root() {
  const bool is_baseline = table_.pinned().empty() && !finishing_.exists();
  if (!is_baseline)
    rewards_.set_baseline(evaluate(table_.strategy_of(ActionVector(table_.groups(), 0))).step_time);
  const Score score = evaluate(leaves_.root());
  if (is_baseline) rewards_.set_baseline(score.step_time);
  leaves_.accept_root(score);
}

// The best of them is where local improvement starts. What they say beside the decisions of their
// groups is not searched: as they are, they are only a bound that the result keeps; not while a
// person steers: who asks for groups to be decided so means the result, too.
void Portfolio::evaluate_seeds() {
  for (const Strategy& seed : seeds_) {
    const ActionVector actions = table_.actions_of(seed);
    if (!tree_.is_excluded(actions))
      consider(tree_, finishing_, actions, evaluate(finishing_.seen_by_tree(actions)), incumbent_);
  }
  if (!table_.pinned().empty() || tree_.has_excluded()) return;
  for (const Strategy& seed : common_.seeds) {
    Strategy whole = complete(seed, *problem_.cluster);
    const Score score = evaluate(whole);
    if (incumbent_.is_improved_by(score)) incumbent_.keep_aside(std::move(whole), score);
  }
}

// Where the decisions that look best do not beat data parallelism for all groups, changing a few of
// it does so sooner.
bool Portfolio::is_local_turn(std::size_t want) const {
  if (options_.polish <= 0 || !may_improve_locally()) return false;
  const Score& best = incumbent_.score();
  const bool unbeaten = best.feasible && best.step_time >= rewards_.baseline();
  if (tree_iterations_ < (unbeaten || bounds_.is_small() ? kFirstLook : kFirstTree)) return false;
  const auto after = static_cast<double>(local_iterations_) + static_cast<double>(want);
  return after <= options_.polish * (static_cast<double>(tree_iterations_) + after);
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
  const bool now = options_.decide && !prior_.is_uniform() && !bounds_.is_small() &&
                   local_iterations_ == options_.batch;
  return now ? take_turn(roll_outs_, want, local_iterations_) : 0;
}

// Not before there is something that is finished.
bool Portfolio::is_unfinished_turn() const {
  if (!finishing_.is_chosen() || finishing_.is_left_to_others() || bounds_.is_small()) return false;
  if (local_iterations_ / options_.batch % kUnfinishedTurns == 0) return false;
  return unfinished_.has_begun() || !incumbent_.strategy().duplicated.empty();
}

std::size_t Portfolio::local_turn(std::size_t want) {
  const auto round = [&] { return local_iterations_ / options_.batch; };
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
  const std::int64_t round = options_.batch - iterations() % options_.batch;
  if (common_.budget_seconds > 0)
    return report_.elapsed() >= common_.budget_seconds ? 0 : static_cast<std::size_t>(round);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(limit - iterations(), 0, round));
}

PlanResult Portfolio::run(const SearchTree* resume) {
  if (resume != nullptr)
    restore(*resume);
  else
    evaluate_root();
  const std::int64_t limit = iterations() + std::max<std::int64_t>(common_.iterations, 0);
  evaluate_seeds();
  while (!stop_.stop_requested()) {
    const std::size_t want = next_want(limit);
    if (want == 0) break;
    const bool local = is_local_turn(want);
    std::int64_t uncounted = 0;
    if (tree_iterations_ >= kFirstTree && options_.graded_overflow)
      take_turn(packings_, 1, uncounted);
    std::size_t done = local ? local_turn(want) : take_turn(leaves_, want, tree_iterations_);
    if (space_.is_proven()) break;
    if (done == 0 && local)
      done = take_turn(leaves_, want, tree_iterations_);
    else if (done == 0 && options_.polish > 0 && may_improve_locally())
      done = local_turn(want);
    if (done == 0) break;
    report_.progress(progress(), false);
    report_.tree([this] { return snapshot(); });
  }
  if (!incumbent_.exists()) {  // all that was seen is excluded: data parallelism, with the pins
    const ActionVector actions = tree_.completed_actions(0);
    incumbent_.take({actions, finishing_.flags_of_tree()}, evaluate(leaves_.root()),
                    Incumbent::Given);
  }
  report_.progress(progress(), true);
  PlanResult result = this->result();
  observer_.on_tree(result.tree);
  return result;
}

Progress Portfolio::progress() const {
  return {iterations(), evaluations_, report_.elapsed(), incumbent_.best_score()};
}

std::shared_ptr<const SearchTree> Portfolio::snapshot() {
  auto tree = std::make_shared<SearchTree>(tree_.snapshot());
  tree->iterations = iterations();
  tree->seed = common_.seed;
  tree->problem = problem_.digest();
  SearchState& state = tree->state;
  state.local_iterations = local_iterations_;
  state.baseline_ns = rewards_.baseline().value;
  state.pinned_since = pinned_since_;
  state.pins = table_.digest_of_pins();
  state.unfinished = finishing_.is_left_to_others();
  state.contradicted = bounds_.is_contradicted();
  state.barred = barred_;
  incumbent_.save(state);
  for (Proposer* proposer : stored()) proposer->save(state);
  unfinished_.save(state);
  return tree;
}

std::string Portfolio::note() const {
  const auto wins = [](std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " improvement" : " improvements");
  };
  std::string text = std::to_string(tree_iterations_) + " iterations in the tree (" +
                     wins(incumbent_.wins(Incumbent::Tree)) + ", " +
                     std::to_string(table_.actions().size()) + " actions a group), " +
                     std::to_string(local_iterations_) + " in local improvement (" +
                     wins(incumbent_.wins(Incumbent::Local)) + ")";
  if (tree_.is_exhausted())
    text += tree_.has_focus() ? "; the whole branch in focus was searched"
                              : "; the whole tree was searched";
  if (space_.is_proven())
    text += "; nothing else can be faster: the bounds of all other strategies say so";
  return text + pinned_note(table_, *problem_.grouping, incumbent_.score().feasible);
}

PlanResult Portfolio::result() {
  PlanResult result;
  result.strategy = incumbent_.strategy();
  result.score = *incumbent_.best_score();
  result.evaluations = evaluations_;
  result.note = note();
  result.tree = snapshot();
  if (const Strategy* aside = incumbent_.better_aside()) {
    result.strategy = *aside;
    if (!incumbent_.has_candidate_aside())
      result.note += "; nothing faster than a strategy that was known before";
  }
  return result;
}

}  // namespace strato
