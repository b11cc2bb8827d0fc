#include "core/search/tree_search.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/search/tree_state.h"

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

Digest key_of(const ActionVector& actions) {
  return Hasher().numbers(std::span<const std::int32_t>(actions)).finish();
}

Digest digest_of_pins(const TreeState& tree) {
  Hasher hasher;
  for (std::int32_t action : tree.pinned()) {
    hasher.number(action);
    if (action < 0) continue;
    const Decision& decision = tree.actions()[static_cast<std::size_t>(action)];
    hasher.number(decision.mode);
    for (const DeviceShare& share : decision.devices)
      hasher.number(share.device.value()).number(share.weight);
  }
  return tree.pinned().empty() ? Digest() : hasher.finish();
}

// Tells the observer, but not more often than it is good for.
class Reporter {
 public:
  explicit Reporter(Observer& observer) : observer_(observer) {}

  double elapsed() const { return seconds(Clock::now() - start_); }
  void improvement(const Strategy& strategy, const Progress& progress) {
    observer_.on_improvement(strategy, *progress.best, progress);
  }
  void progress(const Progress& progress, bool last) {
    if (!last && elapsed() - last_progress_ < 0.1) return;
    last_progress_ = elapsed();
    observer_.on_progress(progress);
  }
  // `make` copies the tree: called only when it is time.
  template <class Make>
  void tree(Make&& make) {
    if (elapsed() - last_tree_ < 0.5) return;
    last_tree_ = elapsed();
    observer_.on_tree(make());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  Observer& observer_;
  Clock::time_point start_ = Clock::now();
  double last_progress_ = 0, last_tree_ = 0;
};

constexpr std::int64_t kFirstTree = 48;  // iterations before anything else

class TreeSearch {
 public:
  TreeSearch(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
             const PlannerOptions& common, const TreeSearchOptions& options, Observer& observer,
             const SearchTree* resume)
      : problem_(problem),
        evaluator_(evaluator),
        prior_(prior),
        common_(common),
        options_(options),
        observer_(observer),
        report_(observer),
        tree_(problem, options, common.seed, resume),
        local_(problem, tree_.actions(), ranked_by_group(tree_), common.seed) {
    for (const DeviceGroup& group : problem.cluster->groups())
      largest_memory_ =
          std::max(largest_memory_,
                   static_cast<double>(problem.cluster->gpu_types()[group.type].memory.value));
    local_.pin(tree_.pinned(), tree_.free_action_count());
    local_.forbid([this](const ActionVector& actions) {
      return known_.contains(key_of(actions)) || tree_.is_excluded(actions);
    });
    local_.start_again_from([this](const auto& used) { return next_start(used); });
  }

  PlanResult run(std::stop_token stop, const SearchTree* resume);

 private:
  // What is kept beside the tree itself, as text in SearchTree::random_state.
  struct Saved {
    std::int64_t polish_iterations = 0;
    std::int64_t baseline_ns = 0;    // of data parallelism; 0 in older files
    std::uint64_t pinned_since = 0;  // number of back-ups before the pins became what they are
    Digest pins;
    bool packed = false;     // pack_round was there
    std::string_view local;  // of the local improvement
  };
  static Saved parse_state(const SearchTree& tree);
  std::string state() const;
  struct Leaf {
    std::int32_t node;
    std::size_t evaluation;  // index into the batch
  };
  struct Batch {
    std::vector<Leaf> leaves;
    std::vector<ActionVector> fresh;  // strategies to evaluate
    // Known ones, of vertices that need a prior: their scores are asked for again, behind the
    // fresh ones, and cost no iteration.
    std::vector<ActionVector> again;
    std::vector<std::size_t> is_again;  // indices of leaves whose evaluation counts from there
    std::size_t repeats = 0;
  };
  struct Known {
    float reward;
    std::int64_t step_time_ns;
  };
  Known learn(const ActionVector& actions, const Score& score);

  void evaluate_root();
  void evaluate_baseline();
  void restore(const SearchTree& tree);
  void restore_known();
  void restore_incumbent(bool pins_changed);
  std::int32_t best_known_vertex() const;
  Strategy finished(const ActionVector& actions) const;
  bool tree_round(std::size_t want);
  Batch collect(std::size_t want);
  bool wants_prior(std::int32_t leaf) const;
  void back_up(Batch batch);
  std::optional<LocalSearch::Start> next_start(const std::set<std::int64_t>& used) const;
  bool polish_round(std::size_t want);
  bool pack_round();
  bool is_polish_turn(std::size_t want) const;
  bool may_polish() const { return local_.has_incumbent() && !tree_.has_focus(); }
  void ask_priors(const std::vector<Leaf>& leaves, const std::vector<Score>& scores);
  std::vector<Score> evaluate(const std::vector<ActionVector>& batch);
  void accept_anything();
  void consider(const ActionVector& actions, const Score& score);
  void improved();
  float reward_of(const Score& score) const;
  Progress progress() const;
  std::shared_ptr<const SearchTree> snapshot() const;
  std::string note() const;
  std::string pinned_note() const;

  const Problem& problem_;
  Evaluator& evaluator_;
  PriorProvider& prior_;
  const PlannerOptions& common_;
  const TreeSearchOptions& options_;
  Observer& observer_;
  Reporter report_;
  TreeState tree_;
  LocalSearch local_;
  double largest_memory_ = 1;

  std::unordered_map<Digest, Known> known_;  // of the tree, by completed actions
  std::size_t pinned_since_ = 0;
  bool packed_ = false;
  Nanos baseline_time_;
  std::optional<Score> best_;  // of local_'s incumbent
  std::int64_t tree_iterations_ = 0, polish_iterations_ = 0, evaluations_ = 0;
  std::int64_t tree_wins_ = 0, polish_wins_ = 0;
};

Strategy TreeSearch::finished(const ActionVector& actions) const {
  Strategy strategy = tree_.strategy_of(actions);
  if (options_.finish) options_.finish(strategy);
  return strategy;
}

std::vector<Score> TreeSearch::evaluate(const std::vector<ActionVector>& batch) {
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : batch) strategies.push_back(finished(actions));
  evaluations_ += static_cast<std::int64_t>(batch.size());
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

void TreeSearch::improved() { report_.improvement(finished(local_.incumbent()), progress()); }

void TreeSearch::consider(const ActionVector& actions, const Score& score) {
  if (best_ && !score.better_than(*best_)) return;
  if (tree_.is_excluded(actions)) return;
  best_ = score;
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

// The best uniform strategy that local improvement has not started from.
std::optional<LocalSearch::Start> TreeSearch::next_start(const std::set<std::int64_t>& used) const {
  std::int32_t best = -1;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tree_.nodes().size()); ++id) {
    const TreeNode& node = tree_.node(id);
    const bool uniform = node.first_action >= 0 && tree_.node(node.parent).first_action < 0;
    if (!uniform || node.closed || node.stale || node.reward <= -1 || used.contains(node.action))
      continue;
    if (best < 0 || node.reward > tree_.node(best).reward) best = id;
  }
  if (best < 0) return std::nullopt;
  const TreeNode& node = tree_.node(best);
  return LocalSearch::Start{node.action,
                            tree_.completed_actions(best),
                            {Nanos(node.step_time_ns), true, Bytes(0), nullptr}};
}

bool TreeSearch::polish_round(std::size_t want) {
  const std::vector<ActionVector> batch = local_.propose(want);
  if (batch.empty()) return false;
  const std::vector<Score> scores = evaluate(batch);
  polish_iterations_ += static_cast<std::int64_t>(batch.size());
  if (!local_.accept(scores)) return true;
  best_ = *std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  ++polish_wins_;
  improved();
  return true;
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

// Depends on counters only, so that a resumed search takes the same turns.
bool TreeSearch::is_polish_turn(std::size_t want) const {
  if (options_.polish <= 0 || tree_iterations_ < kFirstTree || !may_polish()) return false;
  const auto after = static_cast<double>(polish_iterations_) + static_cast<double>(want);
  return after <= options_.polish * (static_cast<double>(tree_iterations_) + after);
}

Progress TreeSearch::progress() const {
  return {tree_iterations_ + polish_iterations_, evaluations_, report_.elapsed(), best_};
}

std::shared_ptr<const SearchTree> TreeSearch::snapshot() const {
  auto tree = std::make_shared<SearchTree>(tree_.snapshot());
  tree->iterations = tree_iterations_ + polish_iterations_;
  tree->seed = common_.seed;
  tree->problem = problem_.digest();
  tree->random_state = state();
  return tree;
}

std::string TreeSearch::state() const {
  const Digest pins = digest_of_pins(tree_);
  std::string text;
  for (std::int64_t number :
       {polish_iterations_, baseline_time_.value, static_cast<std::int64_t>(pinned_since_)})
    text += std::to_string(number) + " ";
  return text + pins.hex() + " " + (packed_ ? "1" : "0") + "/" + local_.state();
}

// "polish_iterations/local" of older files, or "polish_iterations baseline pinned_since
// pins/local".
TreeSearch::Saved TreeSearch::parse_state(const SearchTree& tree) {
  const auto damaged = [] {
    throw InputError("", "search tree", "its state is damaged", "run the search again");
  };
  const std::string_view state = tree.random_state;
  const std::size_t slash = state.find('/');
  if (slash == std::string_view::npos) damaged();
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= slash;) {
    const std::size_t end = std::min(state.find(' ', begin), slash);
    words.push_back(state.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() != 1 && words.size() != 5) damaged();
  const auto number = [&](std::string_view word, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 || value > most)
      damaged();
    return value;
  };
  Saved saved;
  saved.polish_iterations = number(words[0], tree.iterations);
  saved.local = state.substr(slash + 1);
  if (words.size() == 1) return saved;
  saved.baseline_ns = number(words[1], std::numeric_limits<std::int64_t>::max());
  saved.pinned_since =
      static_cast<std::uint64_t>(number(words[2], static_cast<std::int64_t>(tree.log.size())));
  saved.pins = Digest::from_hex(words[3]);
  saved.packed = number(words[4], 1) == 1;
  return saved;
}

void TreeSearch::restore(const SearchTree& tree) {
  if (tree.seed != common_.seed)
    throw InputError("", "search tree", "it was made with seed " + std::to_string(tree.seed),
                     "resume with that seed, or start a new search");
  const Saved saved = parse_state(tree);
  const bool pins_changed = saved.pins != digest_of_pins(tree_);
  pinned_since_ = pins_changed ? tree.log.size() : saved.pinned_since;
  tree_.restore(tree, pins_changed ? std::numeric_limits<std::size_t>::max() : pinned_since_);
  packed_ = saved.packed && !pins_changed;
  polish_iterations_ = saved.polish_iterations;
  tree_iterations_ = tree.iterations - polish_iterations_;
  if (!tree_.node(0).evaluated) return evaluate_root();
  local_.restore(saved.local);
  baseline_time_ = Nanos(saved.baseline_ns > 0 ? saved.baseline_ns : tree_.node(0).step_time_ns);
  restore_known();
  restore_incumbent(pins_changed);
}

void TreeSearch::restore_known() {
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const TreeNode& node = tree_.nodes()[i];
    if (node.closed || node.stale) continue;
    known_.emplace(key_of(tree_.completed_actions(static_cast<std::int32_t>(i))),
                   Known{node.reward, node.step_time_ns});
  }
}

// Of vertices that may be the result; -1: there is none.
std::int32_t TreeSearch::best_known_vertex() const {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const TreeNode& node = tree_.node(id);
    if (node.closed || node.stale || (best >= 0 && node.reward <= tree_.node(best).reward))
      continue;
    if (!tree_.is_excluded(tree_.completed_actions(id))) best = id;
  }
  return best;
}

// Steering may have made the incumbent illegal: then it gets the pins, or, in an excluded branch,
// the best that is known outside takes its place.
void TreeSearch::restore_incumbent(bool pins_changed) {
  ActionVector best = local_.has_incumbent() ? local_.incumbent() : tree_.completed_actions(0);
  for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
    if (tree_.pinned()[g] >= 0) best[g] = tree_.pinned()[g];
  if (tree_.is_excluded(best)) {
    const std::int32_t vertex = best_known_vertex();
    if (vertex < 0) return local_.restart_from({}, {});
    best = tree_.completed_actions(vertex);
  }
  best_ = evaluate({best}).front();
  if (!pins_changed && local_.has_incumbent() && local_.incumbent() == best)
    return local_.set_incumbent_score(*best_);
  local_.restart_from(best, *best_);
  improved();
}

std::string TreeSearch::note() const {
  std::string text = std::to_string(tree_iterations_) + " iterations in the tree (" +
                     std::to_string(tree_wins_) + " improvements, " +
                     std::to_string(tree_.actions().size()) + " actions a group), " +
                     std::to_string(polish_iterations_) + " in local improvement (" +
                     std::to_string(polish_wins_) + " improvements)";
  if (tree_.exhausted())
    text += tree_.has_focus() ? "; the whole branch in focus was searched"
                              : "; the whole tree was searched";
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
  best_ = evaluate({actions}).front();
  local_.restart_from(actions, *best_);
  improved();
}

PlanResult TreeSearch::run(std::stop_token stop, const SearchTree* resume) {
  if (resume != nullptr)
    restore(*resume);
  else
    evaluate_root();
  const std::int64_t limit =
      tree_iterations_ + polish_iterations_ + std::max<std::int64_t>(common_.iterations, 0);
  while (!stop.stop_requested()) {
    const std::int64_t left = limit - tree_iterations_ - polish_iterations_;
    if (common_.budget_seconds > 0 ? report_.elapsed() >= common_.budget_seconds : left <= 0) break;
    const std::int64_t most = common_.budget_seconds > 0 ? options_.batch : left;
    const auto want = static_cast<std::size_t>(std::min<std::int64_t>(options_.batch, most));
    const bool polishing = is_polish_turn(want);
    if (tree_iterations_ >= kFirstTree) pack_round();
    bool worked = polishing ? polish_round(want) : tree_round(want);
    if (!worked)
      worked =
          polishing ? tree_round(want) : options_.polish > 0 && may_polish() && polish_round(want);
    if (!worked) break;
    report_.progress(progress(), false);
    report_.tree([this] { return snapshot(); });
  }
  if (!best_) accept_anything();
  PlanResult result;
  result.strategy = finished(local_.incumbent());
  result.score = *best_;
  result.evaluations = evaluations_;
  result.note = note();
  result.tree = snapshot();
  report_.progress(progress(), true);
  observer_.on_tree(result.tree);
  return result;
}

}  // namespace

std::unique_ptr<PriorProvider> make_uniform_prior() { return std::make_unique<UniformPrior>(); }

PlanResult tree_search(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                       const PlannerOptions& common, const TreeSearchOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  return TreeSearch(problem, evaluator, prior, common, options, observer, resume.get())
      .run(stop, resume.get());
}

}  // namespace strato
