#include "core/search/mcts/tree_search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/mcts/tree_searcher.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

class UniformPrior final : public PriorProvider {
 public:
  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>&,
                                         std::span<const PriorQuery> queries) override {
    return std::vector<std::vector<float>>(queries.size());
  }
  bool is_uniform() const override { return true; }
};

std::vector<std::vector<std::int32_t>> ranked_by_group(const TreeState& tree) {
  std::vector<std::vector<std::int32_t>> ranked(tree.order().size());
  for (std::size_t depth = 0; depth < ranked.size(); ++depth)
    ranked[tree.order()[depth].index()] = tree.ranked()[depth];
  return ranked;
}

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

}  // namespace

TreeSearch::TreeSearch(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                       const PlannerOptions& common, const TreeSearchOptions& options,
                       Observer& observer, const SearchTree* resume)
    : problem_(problem),
      evaluator_(evaluator),
      prior_(prior),
      common_(common),
      options_(options),
      observer_(observer),
      report_(observer),
      seeds_(seeds_in_groups_of(problem, common.seeds)),
      finish_(problem, options.finish),
      tree_(problem, options, common.seed, resume, seeds_),
      local_(problem, tree_.actions(), ranked_by_group(tree_), common.seed),
      lane_(problem, tree_.actions(), ranked_by_group(tree_), ~common.seed) {
  for (const DeviceGroup& group : problem.cluster->groups())
    largest_memory_ =
        std::max(largest_memory_,
                 static_cast<double>(problem.cluster->gpu_types()[group.type].memory.value));
  reset_ways();
  local_.pin(tree_.pinned(), tree_.free_action_count());
  local_.forbid([this](const ActionVector& actions) {
    return is_known(actions) || tree_.is_excluded(actions) || needs_no_look(local_, actions);
  });
  local_.start_again_from([this](const auto& used) { return next_start(used); });
  start_lane();
  start_bounds();
}

Strategy TreeSearch::finished(const ActionVector& actions) const {
  Strategy strategy = tree_.strategy_of(actions);
  if (options_.finish) options_.finish(strategy);
  return strategy;
}

Strategy TreeSearch::completed(const ActionVector& actions, const GroupFlags& left_out) const {
  return finish_.apply(tree_.strategy_of(actions), left_out);
}

Strategy TreeSearch::seen_by_tree(const ActionVector& actions) const {
  return plain_ ? tree_.strategy_of(actions) : finished(actions);
}

// The tree knows finished strategies: without, they are others unless there was nothing to finish.
bool TreeSearch::is_known(const ActionVector& actions) const {
  if (!known_.contains(key_of(actions))) return false;
  const bool as_the_tree =
      std::ranges::all_of(left_out_, [&](bool left_out) { return left_out == plain_; });
  return as_the_tree || seen_by_tree(actions) == completed(actions, left_out_);
}

std::vector<Score> TreeSearch::evaluate(const std::vector<ActionVector>& batch) {
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : batch) strategies.push_back(seen_by_tree(actions));
  return evaluate_all(strategies);
}

std::vector<Score> TreeSearch::evaluate_all(const std::vector<Strategy>& strategies) {
  evaluations_ += static_cast<std::int64_t>(strategies.size());
  return evaluator_.evaluate(strategies);
}

// Infeasible is worse than anything feasible; with grading, the more so the more bytes are missing.
float TreeSearch::reward_of(const Score& score) const {
  if (score.feasible)
    return static_cast<float>(
        std::max(baseline_time_ / std::max(score.step_time, Nanos(1)) - 1, -0.9999));
  if (!options_.graded_overflow) return -1;
  const auto overflow = static_cast<double>(score.overflow.value);
  return static_cast<float>(-1 - overflow / (overflow + largest_memory_));
}

void TreeSearch::improved() {
  const Progress now = progress();
  if (best_seed_ && best_seed_->second.better_than(*best_)) return;  // it was told of a better one
  report_.improvement(incumbent(), now);
}

void TreeSearch::reset_ways() {
  left_out_.assign(tree_.order().size(), plain_);
  ways_tried_.assign(left_out_.size() + 1, false);
}

void TreeSearch::consider(const ActionVector& actions, const Score& score) {
  if (best_ && !score.better_than(*best_)) return;
  if (tree_.is_excluded(actions)) return;
  best_ = score;
  reset_ways();
  local_.restart_from(actions, score);
  ++tree_wins_;
  improved();
}

// Data parallelism itself, whatever is pinned and however strategies are finished.
void TreeSearch::evaluate_baseline() {
  const Strategy plain = tree_.strategy_of(ActionVector(tree_.order().size(), 0));
  ++evaluations_;
  baseline_time_ = evaluator_.evaluate(plain).step_time;
}

void TreeSearch::evaluate_root() {
  const ActionVector actions = tree_.completed_actions(0);
  const bool plain = tree_.pinned().empty() && !options_.finish;
  if (!plain) evaluate_baseline();
  const Score score = evaluate({actions}).front();
  if (plain) baseline_time_ = score.step_time;
  const Known known = learn(actions, score);
  tree_.back_up(0, known.reward, known.step_time_ns);
  ask_priors({{0, 0}}, {score});
  consider(actions, score);
}

// The best of them is where local improvement starts. What they say beside the decisions of their
// groups is not searched: as they are, they are only a bound that the result keeps.
void TreeSearch::evaluate_seeds() {
  for (const Strategy& seed : seeds_) {
    const ActionVector actions = tree_.actions_of(seed);
    if (!tree_.is_excluded(actions)) consider(actions, evaluate({actions}).front());
  }
  for (const Strategy& seed : common_.seeds) keep_seed(seed);
}

// Not while a person steers: who asks for groups to be decided so means the result, too.
void TreeSearch::keep_seed(const Strategy& seed) {
  if (!tree_.pinned().empty() || tree_.has_excluded()) return;
  const Strategy whole = complete(seed, *problem_.cluster);
  ++evaluations_;
  const Score score = evaluator_.evaluate(whole);
  if (best_ && !score.better_than(*best_)) return;
  if (best_seed_ && !score.better_than(best_seed_->second)) return;
  kept_ = {};
  keep(whole, score);
}

// What is better than the incumbent, but nothing to go on from.
void TreeSearch::keep(Strategy strategy, const Score& score) {
  best_seed_ = {std::move(strategy), score};
  Progress now = progress();
  now.best = score;
  report_.improvement(best_seed_->first, now);
}

void TreeSearch::ask_priors(const std::vector<Leaf>& leaves, const std::vector<Score>& scores) {
  if (prior_.is_uniform()) return;
  std::vector<Strategy> partial;
  std::vector<const Leaf*> asked;
  for (const Leaf& leaf : leaves) {
    const TreeNode& node = tree_.node(leaf.node);
    if (static_cast<std::size_t>(node.depth) == tree_.order().size() || !node.children.empty())
      continue;
    Strategy strategy;
    strategy.groups.resize(tree_.order().size());
    for (std::int32_t at = leaf.node; tree_.node(at).parent >= 0; at = tree_.node(at).parent) {
      const GroupId group = tree_.order()[static_cast<std::size_t>(tree_.node(at).depth - 1)];
      strategy.groups[group] = tree_.actions()[static_cast<std::size_t>(tree_.node(at).action)];
    }
    partial.push_back(std::move(strategy));
    asked.push_back(&leaf);
  }
  std::vector<PriorQuery> queries;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto depth = static_cast<std::size_t>(tree_.node(asked[i]->node).depth);
    queries.push_back({partial[i], tree_.order()[depth], scores[asked[i]->evaluation]});
  }
  std::vector<std::vector<float>> rows = prior_.priors(problem_, tree_.actions(), queries);
  CHECK(rows.size() == queries.size(), "one row of priors a query");
  for (std::size_t i = 0; i < rows.size(); ++i) tree_.set_priors(asked[i]->node, rows[i]);
}

// Looks at `want` leaves. Sometimes all that could be selected waits for its evaluation; then what
// was collected so far is evaluated and collecting goes on, so that a round always counts the same.
// False when the tree had none.
bool TreeSearch::tree_round(std::size_t want) {
  std::size_t done = 0;
  while (done < want) {
    Batch batch = collect(want - done);
    const std::size_t now = batch.fresh.size() + batch.repeats;
    if (now == 0 && batch.leaves.empty()) break;
    done += now;
    if (!batch.leaves.empty()) back_up(std::move(batch));
  }
  tree_iterations_ += static_cast<std::int64_t>(done);
  return done > 0;
}

bool TreeSearch::wants_prior(std::int32_t leaf) const {
  const TreeNode& node = tree_.node(leaf);
  return !prior_.is_uniform() && !node.evaluated &&
         static_cast<std::size_t>(node.depth) < tree_.order().size();
}

// Up to `want` leaves that need an evaluation; those that are known are backed up on the way, or
// wait for their prior.
TreeSearch::Batch TreeSearch::collect(std::size_t want) {
  constexpr std::size_t kPatience = 1000;  // selections a leaf: repeats are free, but not for ever
  Batch batch;
  std::unordered_map<Digest, std::size_t> in_batch;
  for (std::size_t i = 0; batch.fresh.size() + batch.repeats < want && i < kPatience * want; ++i) {
    const std::int32_t leaf = batch.leaves.size() < 2 * want ? tree_.select() : -1;
    if (leaf < 0) break;
    ActionVector actions = tree_.completed_actions(leaf);
    const Digest key = key_of(actions);
    if (const auto known = known_.find(key); known != known_.end()) {
      if (!options_.free_repeats) ++batch.repeats;
      if (!wants_prior(leaf)) {
        tree_.back_up(leaf, known->second.reward, known->second.step_time_ns);
        continue;
      }
      batch.is_again.push_back(batch.leaves.size());
      batch.leaves.push_back({leaf, batch.again.size()});
      batch.again.push_back(std::move(actions));
    } else {
      const auto [slot, is_new] = in_batch.emplace(key, batch.fresh.size());
      if (is_new) batch.fresh.push_back(std::move(actions));
      batch.leaves.push_back({leaf, slot->second});
    }
    tree_.add_virtual_visit(leaf, 1);
  }
  return batch;
}

void TreeSearch::back_up(Batch batch) {
  const std::size_t fresh = batch.fresh.size();
  std::vector<ActionVector> all = std::move(batch.fresh);
  all.insert(all.end(), batch.again.begin(), batch.again.end());
  for (std::size_t leaf : batch.is_again) batch.leaves[leaf].evaluation += fresh;
  const std::vector<Score> scores = evaluate(all);
  evaluations_ -= static_cast<std::int64_t>(batch.again.size());
  for (const Leaf& leaf : batch.leaves) {
    const ActionVector& actions = all[leaf.evaluation];
    const Known known = learn(actions, scores[leaf.evaluation]);
    tree_.add_virtual_visit(leaf.node, -1);
    tree_.back_up(leaf.node, known.reward, known.step_time_ns);
    consider(actions, scores[leaf.evaluation]);
  }
  ask_priors(batch.leaves, scores);
}

TreeSearch::Known TreeSearch::learn(const ActionVector& actions, const Score& score) {
  // A vertex with a time was evaluated: so a time is at least one nanosecond.
  const Known known{reward_of(score), std::max<std::int64_t>(score.step_time.value, 1)};
  known_.emplace(key_of(actions), known);
  return known;
}

// TAG 3.3: from where nothing fits on to more aggressive model parallelism. Once, and a handful of
// evaluations that are no iterations. False when there is no need.
bool TreeSearch::pack_round() {
  if (packed_ || !options_.graded_overflow || !best_ || best_->feasible) return false;
  packed_ = true;
  const std::vector<Decision>& actions = tree_.actions();
  std::vector<ActionVector> packings =
      tree_.memory().packings(std::span(actions).first(tree_.free_action_count()));
  for (ActionVector& packing : packings)
    for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
      if (tree_.pinned()[g] >= 0) packing[g] = tree_.pinned()[g];
  const std::vector<Score> scores = evaluate(packings);
  for (std::size_t i = 0; i < packings.size(); ++i) consider(packings[i], scores[i]);
  return !packings.empty();
}

Progress TreeSearch::progress() const {
  std::optional<Score> best = best_;
  if (best_seed_ && (!best || best_seed_->second.better_than(*best))) best = best_seed_->second;
  return {tree_iterations_ + polish_iterations_, evaluations_, report_.elapsed(), best};
}

std::shared_ptr<const SearchTree> TreeSearch::snapshot() const {
  auto tree = std::make_shared<SearchTree>(tree_.snapshot());
  tree->iterations = tree_iterations_ + polish_iterations_;
  tree->seed = common_.seed;
  tree->problem = problem_.digest();
  tree->random_state = state();
  return tree;
}

std::string TreeSearch::note() const {
  const auto wins = [](std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " improvement" : " improvements");
  };
  std::string text = std::to_string(tree_iterations_) + " iterations in the tree (" +
                     wins(tree_wins_) + ", " + std::to_string(tree_.actions().size()) +
                     " actions a group), " + std::to_string(polish_iterations_) +
                     " in local improvement (" + wins(polish_wins_) + ")";
  if (tree_.exhausted())
    text += tree_.has_focus() ? "; the whole branch in focus was searched"
                              : "; the whole tree was searched";
  if (proven_) text += "; nothing else can be faster: the bounds of all other strategies say so";
  return text + pinned_note();
}

std::string TreeSearch::pinned_note() const {
  std::string names;
  for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
    if (tree_.pinned()[g] >= 0)
      names += (names.empty() ? "" : ", ") + problem_.grouping->group(GroupId(g)).name;
  if (names.empty()) return "";
  if (best_ && best_->feasible) return "; pinned: " + names;
  return "; nothing fits in memory with what is pinned: " + names +
         "; unpin a group, or pin it to " + "more devices or to model parallelism";
}

// Everything that was seen is excluded: data parallelism it is, with the pins.
void TreeSearch::accept_anything() {
  const ActionVector actions = tree_.completed_actions(0);
  reset_ways();
  best_ = evaluate({actions}).front();
  local_.restart_from(actions, *best_);
  improved();
}

PlanResult TreeSearch::run(std::stop_token stop, const SearchTree* resume) {
  stop_ = stop;
  if (resume != nullptr)
    restore(*resume);
  else
    evaluate_root();
  const std::int64_t limit =
      tree_iterations_ + polish_iterations_ + std::max<std::int64_t>(common_.iterations, 0);
  evaluate_seeds();
  while (!stop.stop_requested()) {
    const std::int64_t left = limit - tree_iterations_ - polish_iterations_;
    if (common_.budget_seconds > 0 ? report_.elapsed() >= common_.budget_seconds : left <= 0) break;
    // A round that has found less to do is made up for: later ones begin where they would have.
    const std::int64_t round =
        options_.batch - (tree_iterations_ + polish_iterations_) % options_.batch;
    const auto want =
        static_cast<std::size_t>(common_.budget_seconds > 0 ? round : std::min(round, left));
    const bool polishing = is_polish_turn(want);
    if (tree_iterations_ >= kFirstTree) pack_round();
    bool worked = polishing ? polish_round(want) : tree_round(want);
    if (proven_) break;
    if (!worked)
      worked =
          polishing ? tree_round(want) : options_.polish > 0 && may_polish() && polish_round(want);
    if (!worked) break;
    report_.progress(progress(), false);
    report_.tree([this] { return snapshot(); });
  }
  if (!best_) accept_anything();
  report_.progress(progress(), true);
  PlanResult result = this->result();
  observer_.on_tree(result.tree);
  return result;
}

PlanResult TreeSearch::result() {
  PlanResult result;
  result.strategy = incumbent();
  result.score = *best_;
  result.evaluations = evaluations_;
  result.note = note();
  result.tree = snapshot();
  if (best_seed_ && best_seed_->second.better_than(*best_)) {
    result.strategy = best_seed_->first;
    result.score = best_seed_->second;
    if (kept_.actions.empty())
      result.note += "; nothing faster than a strategy that was known before";
  }
  return result;
}

std::unique_ptr<PriorProvider> make_uniform_prior() { return std::make_unique<UniformPrior>(); }

PlanResult tree_search(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                       const PlannerOptions& common, const TreeSearchOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  TreeSearchOptions own = options;
  const auto constraints = bind_constraints(common.constraints.get(), problem);
  if (constraints) own.pins = constraints->pins();
  if (constraints) own.bounds = false;  // what is repaired is another strategy
  return TreeSearch(problem, evaluator, prior, common, own, observer, resume.get())
      .run(stop, resume.get());
}

}  // namespace strato
