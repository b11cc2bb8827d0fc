// The planner "auto": the best of all others, and more.
//
//   1. Every planner that is not a search runs once (by the "effort" of its manifest: quick ones
//      first, then slow ones), and the strategies that were given as seeds are looked at.
//   2. Every search runs exactly as it does on its own: the same problem, seed, options and number
//      of iterations, and scores that are a function of the strategy alone.
//   3. Then the best is improved. Arms are the searches, each in up to two frames (below): the
//      problem's groups, seeded with the best strategies that have them, and what the best has of
//      its own (groups, order, splits). Successive halving (Jamieson and Talwalkar, "Non-stochastic
//      best arm identification", 2016) divides the iterations: each arm gets a turn, the better
//      half by step time saved per evaluation goes on, until one is left with what remains.
//
// So with --iterations the result is, by construction, not worse than that of any planner that is
// installed, or of any seed; and it is deterministic. It costs the time of all others and of
// improve x iterations more; scores are kept, so that nothing is evaluated twice. With --budget 1.
// is the same, but that the planner which is usual for the problem (usual_planner.h) goes first,
// and
// 2. and 3. share what is left: a search gets a tenth of it for itself. When the budget is spent,
// who still runs is asked to stop, and no one else begins.
//
// Going on from a stored result goes on with its tree; what a person has pinned or excluded is
// respected, and where nothing is, the quick planners run again, too.
#pragma once

#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/api/planner_function.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"

namespace strato::portfolio {

struct Entrant {
  std::string name;
  Effort effort;
  std::shared_ptr<Planner> planner;  // null: its library cannot be loaded
  std::string error;                 // why not
};

struct Settings {
  double improve = 0.5;
  std::string without;

  OptionTable option_table() {
    return {{"improve",
             improve,
             {0, 100},
             "iterations spent on improving the best, as a part of --iterations"},
            {"without", without, "planners that are left out: a,b,c"}};
  }
};

// The part of a strategy beyond one decision a group of the problem, held fast while a search
// changes the decisions: groups of its own, splits, an execution order, gradient buckets,
// duplicated ops.
class Frame {
 public:
  // All that is `strategy`'s own; of an empty one the problem's groups and nothing else.
  explicit Frame(const Problem& problem, const Strategy& strategy = {});

  // True when a strategy says anything beyond decisions for the problem's groups.
  static bool is_needed(const Problem& problem, const Strategy& strategy);

  const Problem& problem() const { return problem_; }  // in the groups of the frame
  bool is_empty() const { return empty_; }
  // True when the strategy is in the same groups.
  bool holds(const Strategy& strategy) const;
  Strategy inside(const Strategy& strategy) const;  // its decisions only
  Strategy complete(const Strategy& inside) const;  // with what the frame holds fast

 private:
  Problem problem_;
  bool empty_;
  Strategy rest_;  // without groups
};

// The best strategy so far, whoever found it, and how it came about.
class Leader {
 public:
  struct Step {
    std::string who;
    Score score;
  };

  // Takes a strategy that is better than all before; false: it is not.
  bool offer(const std::string& who, const Strategy& strategy, const Score& score) {
    if (score_ && !score.better_than(*score_)) return false;
    strategy_ = strategy;
    score_ = score;
    if (steps_.empty() || steps_.back().who != who) steps_.push_back({who, score});
    steps_.back().score = score;
    return true;
  }
  const Strategy& strategy() const { return strategy_; }
  const std::optional<Score>& score() const { return score_; }  // nothing: it has none yet
  const std::vector<Step>& steps() const { return steps_; }     // one for several in a row by one

 private:
  Strategy strategy_;
  std::optional<Score> score_;
  std::vector<Step> steps_;
};

// One run.
class Portfolio {
 public:
  // Refers to all of it.
  Portfolio(const PlanRequest& request, const Settings& settings, const PluginRegistry& registry,
            const std::vector<Entrant>& entrants);

  // Goes on with the request's tree, where it has one.
  PlanResult run();

 private:
  // A search that may improve the best: a planner in a frame, going on from where it was.
  struct Arm {
    std::string name;  // for people
    std::shared_ptr<Planner> planner;
    const Frame* frame;
    std::shared_ptr<const SearchTree> tree;
    std::uint64_t seed;
    double gain = 0;  // of its last turn: part of the step time saved by an evaluation
    Score best;       // that it has found
    bool refused = false;
  };
  class Relay;

  void run_new();
  void run_resumed();
  void offer_known();
  void run_all(Effort effort, double budget_seconds);
  PlanResult run_one(const std::string& who, Planner& planner, const Frame& frame,
                     const PlannerOptions& options, std::shared_ptr<const SearchTree> resume,
                     bool shows_tree);
  void improve();
  std::int64_t improving() const {  // iterations
    return std::llround(settings_.improve * static_cast<double>(options_.iterations));
  }
  std::vector<Arm> arms();
  void take_turn(Arm& arm, std::int64_t iterations, double budget_seconds);
  std::vector<Strategy> seeds_for(const Frame& frame) const;
  PlannerOptions options_for(std::int64_t iterations, double budget_seconds) const;
  PlanResult result() const;
  std::string note() const;
  double seconds_left() const;  // of the budget, if there is one
  bool timed() const { return options_.budget_seconds > 0; }
  bool is_spent() const { return timed() && seconds_left() <= 0; }
  Progress progress() const;

  const PlanRequest& request_;
  const Problem& problem_;
  CountingEvaluator evaluator_;
  const PlannerOptions& options_;
  const Settings& settings_;
  const PluginRegistry& registry_;
  std::vector<Entrant> entrants_;  // in the order in which they run
  std::stop_source over_;          // the request's, or of a budget that is spent
  const std::stop_callback<std::function<void()>> passes_on_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  Leader leader_;
  Leader::Step start_from_;         // the best of those that do not search
  std::size_t improved_since_ = 0;  // steps of the leader before it was improved
  struct Found {
    Strategy strategy;
    Score score;
  };
  std::vector<Found> found_;  // by each planner
  std::vector<std::pair<std::string, std::string>> refused_;
  std::map<std::string, std::shared_ptr<const SearchTree>> trees_;  // of the searches
  std::map<std::string, Score> scores_;                             // of the searches
  std::string tree_of_;                                             // whose tree is the result's
  std::deque<Frame> frames_;
  std::size_t ran_ = 0;
  std::int64_t searched_ = 0, planned_ = 0;  // iterations
};

std::unique_ptr<Planner> make_auto(const PluginRegistry& registry);

}  // namespace strato::portfolio
