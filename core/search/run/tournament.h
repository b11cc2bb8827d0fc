// Any set of planners on any set of problems, side by side: what each finds, how soon, and who is
// best over all of them.
//
// Each planner runs on one thread, so that its result and its evaluations do not depend on the
// pool; only the wall times do. Ties share the better rank (1, 1, 3).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

// Called from any thread, several at a time. Throws InputError for a name that it does not know.
using PlannerFactory = std::function<std::unique_ptr<Planner>(std::string_view)>;

struct TournamentProblem {
  std::string name;  // for people: "vgg19 on tag-testbed"
  Problem problem;
};

struct TournamentSetup {
  std::vector<TournamentProblem> problems;
  std::vector<std::string> planners;
  // The same for every planner, but `threads`: that many planners run side by side (0: one per
  // core).
  PlannerOptions options;
};

// A problem's measures without any planner.
struct TournamentFacts {
  Score data_parallel;  // with AllReduce on all devices: what speed-ups are measured against
  Nanos lower_bound;
};

// One planner on one problem.
struct TournamentCell {
  std::size_t problem = 0, planner = 0;  // indices into the setup
  std::string error;                     // why the planner does not serve the problem; else empty
  PlanResult result;                     // when there is no error; without the tree
  double wall_seconds = 0;
  double seconds_to_best = 0;  // from the start until it had what it returned
  bool stopped = false;        // ended by the stop token: the best until then

  double speedup = 0;      // over data parallelism, feasible or not
  double above_bound = 0;  // step time / lower bound - 1
  double memory_part = 0;  // the fullest device's peak as part of its capacity
  Bytes memory_peak;       // of that device
  bool has_result() const { return error.empty(); }
};

struct TournamentProgress {
  std::size_t done = 0, cells = 0;
  double elapsed_seconds = 0;
};

// Called from the threads of the pool, but one call at a time; must return quickly, and must not
// call back into the tournament. References last as long as the call.
class TournamentObserver {
 public:
  virtual ~TournamentObserver() = default;
  virtual void on_start(std::size_t /*problem*/, std::size_t /*planner*/) {}
  // Forwards the progress that the planner of a running cell reports.
  virtual void on_progress(std::size_t /*problem*/, std::size_t /*planner*/, const Progress&) {}
  virtual void on_cell(const TournamentCell&, const TournamentProgress&) {}
};

struct TournamentRow {
  std::size_t planner = 0;
  double mean_rank = 0;  // over the problems it has a cell of; one that it does not serve is last
  std::size_t wins = 0;  // problems on which nobody was better, alone or not
  std::size_t fits = 0;  // problems with a result that fits in memory
  std::size_t cells = 0;
  double speedup = 0;  // geometric mean over the results that fit; 0: there is none
  double wall_seconds = 0;
};

struct Tournament {
  std::vector<std::optional<TournamentFacts>> facts;  // by problem; nothing: it was never begun
  // Cells by problem and planner; nothing: the cell was not done when it was stopped.
  std::vector<std::vector<std::optional<TournamentCell>>> cells;

  const TournamentCell* cell(std::size_t problem, std::size_t planner) const;
  // 1 + how many were better there; 0: no cell.
  std::size_t rank(std::size_t problem, std::size_t planner) const;
  // The best cell of a problem, the first of equals; null: there is no result.
  const TournamentCell* best(std::size_t problem) const;
  // Best mean rank first; then by speed-up, then by the setup's order.
  std::vector<TournamentRow> ranking() const;
};

// Blocks until every cell is done, or soon after a stop is asked for: what runs then ends with the
// best it has, the rest is left out. An InputError of a planner is its cell's error; anything else
// that is thrown ends the tournament and is thrown on.
Tournament run_tournament(const TournamentSetup& setup, const PlannerFactory& make_planner,
                          TournamentObserver& observer, std::stop_token stop);

}  // namespace strato
