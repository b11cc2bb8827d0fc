// A planner makes a strategy for a problem. It sees the problem and an evaluator, reports through
// an observer, and stops soon after it is asked to, with the best that it has.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/program/value/offload.h"
#include "core/program/value/recompute.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/option_table.h"
#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Constraints;    // core/search/constraints/constraints.h
struct SearchTree;     // core/search/tree/search_tree.h
struct PlanningSteps;  // core/schedule/list/steps.h
class Trainer;         // core/search/api/trainer.h

// The options of one planning run.
struct PlannerOptions {
  std::int64_t iterations = 800;  // evaluations, roughly; planners without a search ignore it
  double budget_seconds = 0;      // when positive: stop after this time instead of iterations
  std::uint64_t seed = 1;
  int threads = 0;  // 0: one per core; the result does not depend on it
  OptionTexts set;  // planner's own options (--set key=value)
  // Complete strategies in the problem's groups that are known already: searches start from them,
  // other planners ignore them.
  std::vector<Strategy> seeds;
  // A person's demands on the result, whichever planner makes it: see run_planner. Null:
  // nothing.
  std::shared_ptr<const Constraints> constraints;
  // False: the planner's own result, even where a simple baseline is better (studies of papers).
  bool floor = true;
  // The strategies that are looked at have so many micro-batches, but those that say so themselves
  // and those with ops split along another axis than the batch.
  MicroBatches micro_batches = {};
  // The op groups in them that all-reduce gradients have rows of so many columns
  // (MeshRoles::tensor) where that divides their devices, but those that have rows already.
  std::int32_t tensor = 1;
  // What those compute again that do not say so themselves.
  Recompute recompute = Recompute::None;
  // What those keep on hosts that do not say so themselves.
  Offload offload = Offload::None;
  bool record_steps = false;  // fill PlanResult::steps where the planner can; costs time and memory
};

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

// Tells an observer what a search does, but not more often than it is good for.
class Reporter {
 public:
  explicit Reporter(Observer& observer) : observer_(observer) {}

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
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
  Observer& observer_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_progress_ = 0, last_tree_ = 0;
};

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

// The attention of a planner's policy when it places an op. Immutable; safe from several threads.
class Attention {
 public:
  virtual ~Attention() = default;
  // Returns by op of the graph its part of the attention when these ops are placed, the mean over
  // what is placed as one (co-located ops, among which a part is shared equally). Sums to 1; zeros
  // for no op.
  virtual std::vector<double> of(std::span<const OpId> ops) const = 0;
};

// What Planner::plan is given.
struct PlanRequest {
  const Problem& problem;
  Evaluator& evaluator;
  const PlannerOptions& options;
  Observer& observer;
  std::stop_token stop = {};
  std::shared_ptr<const SearchTree> resume = {};
};

class Planner {
 public:
  virtual ~Planner() = default;
  virtual std::string name() const = 0;
  virtual std::vector<OptionHelp> options() const { return {}; }
  // A fixed strategy that others are measured against: run_planner returns it as it is, even when
  // another baseline is faster.
  virtual bool is_baseline() const { return false; }
  // For clusters of how many devices it is: run_planner refuses others. Most planners compare every
  // two devices, or try each.
  static constexpr std::size_t kMostDevices = 1024;
  virtual std::size_t most_devices() const { return kMostDevices; }
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

// Goes over a planner's result and makes it better: "PLANNER+REFINER" on the command line.
class Refiner {
 public:
  virtual ~Refiner() = default;
  virtual std::string name() const = 0;
  virtual std::vector<OptionHelp> options() const { return {}; }
  // `planned` is complete and scored; the result is never worse. Stops soon after it is asked to.
  virtual PlanResult refine(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                            const PlannerOptions& options, Observer& observer,
                            std::stop_token stop) = 0;
};

}  // namespace strato
