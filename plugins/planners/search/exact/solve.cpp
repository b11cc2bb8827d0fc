#include "plugins/planners/search/exact/solve.h"

#include <CbcEventHandler.hpp>
#include <CbcHeuristic.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcHeuristicRINS.hpp>
#include <CbcModel.hpp>
#include <CglGomory.hpp>
#include <CglMixedIntegerRounding2.hpp>
#include <CglProbing.hpp>
#include <ClpEventHandler.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "core/schedule/dag/transfer_times.h"
#include "plugins/planners/search/exact/list_schedules.h"
#include "plugins/planners/search/exact/program.h"

namespace strato::exact {
namespace {

class Deadline {
 public:
  Deadline(double seconds, std::stop_token stop)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::min(seconds, 1e6)))),
        stop_(std::move(stop)) {}
  bool is_over() const { return stop_.stop_requested() || Clock::now() >= end_; }
  double seconds_left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
  std::stop_token stop_;
};

class CbcStopper final : public CbcEventHandler {
 public:
  explicit CbcStopper(const Deadline& deadline) : deadline_(deadline) {}
  CbcAction event(CbcEvent) override {
    return deadline_.is_over() ? CbcEventHandler::stop : noAction;
  }
  CbcEventHandler* clone() const override { return new CbcStopper(*this); }

 private:
  const Deadline& deadline_;
};

class ClpStopper final : public ClpEventHandler {
 public:
  explicit ClpStopper(const Deadline& deadline) : deadline_(deadline) {}
  int event(Event) override { return deadline_.is_over() ? 5 : -1; }
  ClpEventHandler* clone() const override { return new ClpStopper(*this); }

 private:
  const Deadline& deadline_;
};

void load(const Program& program, OsiClpSolverInterface& solver) {
  const double infinity = solver.getInfinity();
  const auto open = [&](double bound) { return std::clamp(bound, -infinity, infinity); };
  std::vector<CoinBigIndex> begin{0};
  std::vector<int> columns;
  std::vector<double> factors, least, most;
  for (const Row& row : program.rows()) {
    for (const auto& [column, factor] : row.terms) {
      columns.push_back(column);
      factors.push_back(factor);
    }
    begin.push_back(static_cast<CoinBigIndex>(columns.size()));
    least.push_back(open(row.least));
    most.push_back(open(row.most));
  }
  const CoinPackedMatrix matrix(false, program.columns(), static_cast<int>(least.size()),
                                begin.back(), factors.data(), columns.data(), begin.data(),
                                nullptr);
  std::vector<double> cost(static_cast<std::size_t>(program.columns()), 0);
  cost.back() = 1;
  solver.loadProblem(matrix, program.lower().data(), program.upper().data(), cost.data(),
                     least.data(), most.data());
  for (int c = 0; c < program.integers(); ++c) solver.setInteger(c);
}

void strengthen(CbcModel& model, bool has_solution) {
  CglProbing probing;
  probing.setMaxPass(1);
  probing.setMaxProbe(10);
  probing.setMaxLook(20);
  probing.setRowCuts(3);
  CglGomory gomory;
  CglMixedIntegerRounding2 rounding_cuts;
  model.addCutGenerator(&probing, -1, "probing");
  model.addCutGenerator(&gomory, -98, "gomory");
  model.addCutGenerator(&rounding_cuts, -98, "rounding");
  CbcRounding rounding(model);
  model.addHeuristic(&rounding);
  CbcHeuristicRINS rins(model);
  model.addHeuristic(&rins);
  if (has_solution) return;
  CbcHeuristicFPump pump(model);
  model.addHeuristic(&pump);
}

// Placement is branched on before order.
void branch_on_placement_first(CbcModel& model, const Program& program) {
  std::vector<int> priorities;
  for (int c = 0; c < program.integers(); ++c)
    priorities.push_back(program.is_placement(c) ? 1 : 2);
  model.passInPriorities(priorities.data(), false);
}

// Returns the end when everything runs one after another and every transfer takes longest.
Nanos latest_end(const Dag& dag, const TransferTimes& transfers) {
  Nanos end;
  for (std::size_t i = 0; i < dag.size(); ++i) {
    Nanos longest;
    for (std::size_t type = 0; type < dag.gpu_type_count(); ++type)
      longest = std::max(longest, dag.time(static_cast<NodeIndex>(i), GpuTypeId(type)));
    end += longest;
  }
  for (std::size_t e = 0; e < dag.edge_count(); ++e)
    end += transfers.longest(static_cast<std::int32_t>(e));
  return end;
}

// Nothing is shorter than the longest path, nor than all work shared evenly, at each node's best
// times.
Nanos simple_bound(const Dag& dag, const Cluster& cluster) {
  std::vector<Nanos> ready(dag.size());
  Nanos longest, work;
  for (std::size_t i = 0; i < dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    Nanos time = Nanos::max();
    for (std::size_t type = 0; type < dag.gpu_type_count(); ++type)
      time = std::min(time, dag.time(node, GpuTypeId(type)));
    const Nanos end = ready[i] + time;
    work += time;
    longest = std::max(longest, end);
    for (const DagEdge& edge : dag.successors(node))
      ready[static_cast<std::size_t>(edge.node)] =
          std::max(ready[static_cast<std::size_t>(edge.node)], end);
  }
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  return std::max(longest, Nanos((work.value + devices - 1) / devices));
}

class Solving {
 public:
  Solving(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster, Schedule first,
          const Deadline& deadline)
      : dag_(dag),
        transfers_(transfers),
        cluster_(cluster),
        deadline_(deadline),
        program_(dag, transfers, cluster,
                 first.fits ? first.makespan : latest_end(dag, transfers)) {
    solution_.first_makespan = first.makespan;
    solution_.bound = simple_bound(dag, cluster);
    solution_.schedule = std::move(first);
  }

  Solution run() && {
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    solver.getModelPtr()->setLogLevel(0);
    const ClpStopper clp_stopper(deadline_);
    solver.getModelPtr()->passInEventHandler(&clp_stopper);
    load(program_, solver);
    solver.initialSolve();
    if (solver.isProvenPrimalInfeasible()) {
      finish();
    } else if (solver.isProvenOptimal()) {
      raise_bound(solver.getObjValue());
      branch(solver);
    }
    return std::move(solution_);
  }

 private:
  // There is no schedule shorter than the known one; where that one does not fit, there is none at
  // all.
  void finish() {
    solution_.proven = true;
    solution_.bound = solution_.schedule.makespan;
  }

  void branch(const OsiClpSolverInterface& solver) {
    CbcModel model(solver);
    model.setLogLevel(0);
    model.solver()->messageHandler()->setLogLevel(0);
    model.setUseElapsedTime(true);
    model.setMaximumSeconds(std::max(0.01, deadline_.seconds_left()));
    const CbcStopper stopper(deadline_);
    model.passInEventHandler(&stopper);
    strengthen(model, solution_.schedule.fits);
    model.initialSolve();
    branch_on_placement_first(model, program_);
    if (solution_.schedule.fits) {
      const std::vector<double> start = program_.solution_of(solution_.schedule);
      model.setBestSolution(start.data(), program_.columns(), start.back(), false);
    }
    model.branchAndBound();
    if (const double* best = model.bestSolution()) take(best);
    if (model.status() == 0 && !model.isSecondsLimitReached())
      finish();
    else
      raise_bound(model.getBestPossibleObjValue());
  }

  void take(const double* values) {
    const Program::Choice choice =
        program_.choice_of({values, static_cast<std::size_t>(program_.columns())});
    std::vector<std::int64_t> place(dag_.size());
    for (std::size_t at = 0; at < choice.order.size(); ++at)
      place[static_cast<std::size_t>(choice.order[at])] = static_cast<std::int64_t>(at);
    Schedule schedule =
        schedule_in_order(dag_, transfers_, cluster_, choice.device, topological_by(dag_, place));
    CHECK(schedule.fits, "Cbc breaks a memory limit");
    if (!solution_.schedule.fits || schedule.makespan < solution_.schedule.makespan)
      solution_.schedule = std::move(schedule);
  }

  void raise_bound(double objective) {
    if (!(objective >= 0) || objective > 1e30) return;
    solution_.bound = std::max(solution_.bound, program_.bound_of(objective));
    if (solution_.schedule.fits)
      solution_.bound = std::min(solution_.bound, solution_.schedule.makespan);
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  const Deadline& deadline_;
  Program program_;
  Solution solution_;
};

}  // namespace

Solution solve(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
               double seconds, std::stop_token stop) {
  Schedule first = best_list_schedule(dag, transfers, cluster, stop);
  const Deadline deadline(seconds, std::move(stop));
  return Solving(dag, transfers, cluster, std::move(first), deadline).run();
}

}  // namespace strato::exact
