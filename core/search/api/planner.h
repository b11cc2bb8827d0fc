// A planner makes a strategy for a problem. It sees the problem and an evaluator, reports through
// an observer, and stops soon after it is asked to, with the best that it has.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/api/option_table.h"
#include "core/search/api/planner_options.h"
#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct SearchTree;  // core/search/tree/search_tree.h

struct Progress {
  std::int64_t iterations = 0;  // done so far, over all continuations of this run
  std::int64_t evaluations = 0;
  double elapsed_seconds = 0;
  std::optional<Score> best;
};

// Called from the planner's thread, one call at a time; must return quickly. The arguments are
// snapshots.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_progress(const Progress&) {}
  virtual void on_improvement(const Strategy&, const Score&, const Progress&) {}
  virtual void on_tree(std::shared_ptr<const SearchTree>) {}  // a snapshot, now and then
};

struct PlanningSteps;  // core/schedule/list/steps.h

struct PlanResult {
  Strategy strategy;  // complete; may have groups of its own: see problem_for()
  Score score;
  std::int64_t evaluations = 0;
  // The number of evaluations after which the first strategy was faster than data parallel with
  // AllReduce (TAG table 7); set by run_planner.
  std::optional<std::int64_t> evaluations_to_beat_data_parallel;
  std::string note;  // e.g. that a baseline won, and which
  // The planner says more about its result, for people, in order: a proven bound, a gap,
  // how much was fused.
  struct Fact {
    std::string name, value;
  };
  std::vector<Fact> facts;
  // The planner draws its own course, in order: how often trials hit, what a policy earned.
  // Curves with the same title belong into one chart; `x` and `y` name the axes.
  struct Curve {
    std::string title, name, x, y;
    std::vector<std::pair<double, double>> points;  // x ascending
  };
  std::vector<Curve> curves;
  std::shared_ptr<const PlanningSteps> steps;  // of a white-box planner that was asked; else null
  std::shared_ptr<const SearchTree> tree;      // of a tree search; else null
};

class Attention;  // core/search/api/attention.h
class Trainer;    // core/search/api/trainer.h

class Planner {
 public:
  virtual ~Planner() = default;
  virtual std::string name() const = 0;
  virtual std::vector<OptionHelp> options() const { return {}; }
  // A fixed strategy that others are measured against: run_planner returns it as it is, even when
  // another baseline is faster.
  virtual bool is_baseline() const { return false; }
  // True: scores shall carry runtime feedback (which costs time).
  virtual bool wants_feedback() const { return false; }

  // A planner that learns has a trainer, which belongs to it; others give null.
  virtual Trainer* trainer() { return nullptr; }

  // Where the planner's policy looks, as a search with these options begins with it, before it
  // learns from the problem. Null: it has no attention to tell of. The library that the planner
  // comes from has to outlive it. Throws InputError for options, and for weights that are not
  // there. Takes a while: one pass of the network over the graph.
  virtual std::shared_ptr<const Attention> attention(const Problem&, const PlannerOptions&) const {
    return nullptr;
  }

  // `resume`: the tree of an earlier result on the same problem to go on from, or null.
  virtual PlanResult plan(const Problem& problem, Evaluator& evaluator,
                          const PlannerOptions& options, Observer& observer, std::stop_token stop,
                          std::shared_ptr<const SearchTree> resume) = 0;
};

}  // namespace strato
