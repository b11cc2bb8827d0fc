#include "core/linear/solver.h"

#include <CbcEventHandler.hpp>
#include <CbcHeuristic.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcHeuristicRINS.hpp>
#include <CbcModel.hpp>
#include <CglGomory.hpp>
#include <CglMixedIntegerRounding2.hpp>
#include <CglProbing.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <chrono>
#include <numeric>

namespace strato {
namespace {

// Gives a program the form that Clp and Cbc take.
template <class Model>
void load(const LinearProgram& program, Model& model) {
  std::vector<CoinBigIndex> begin{0};
  std::vector<int> columns;
  std::vector<double> factors, least, most;
  for (const LinearProgram::Constraint& constraint : program.constraints) {
    for (const auto& [column, factor] : constraint.terms) {
      columns.push_back(column);
      factors.push_back(factor);
    }
    begin.push_back(static_cast<CoinBigIndex>(columns.size()));
    least.push_back(constraint.least);
    most.push_back(constraint.most);
  }
  const CoinPackedMatrix matrix(false, program.columns(), static_cast<int>(least.size()),
                                begin.back(), factors.data(), columns.data(), begin.data(),
                                nullptr);
  model.loadProblem(matrix, program.lower.data(), program.upper.data(), program.cost.data(),
                    least.data(), most.data());
}

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

void add_cuts_and_heuristics(CbcModel& model, bool has_solution) {
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

// Above 1e30 Cbc means that there is none.
void raise(double& bound, double objective) {
  if (objective <= 1e30) bound = std::max(bound, objective);
}

void branch_and_bound(const LinearProgram& program, const IntegerSearch& search,
                      const Deadline& deadline, const OsiClpSolverInterface& solver,
                      IntegerSolution& solution) {
  CbcModel model(solver);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setUseElapsedTime(true);
  model.setMaximumSeconds(std::max(0.01, deadline.seconds_left()));
  const CbcStopper stopper(deadline);
  model.passInEventHandler(&stopper);
  if (search.thorough) add_cuts_and_heuristics(model, !search.start.empty());
  model.initialSolve();
  if (!search.priorities.empty()) model.passInPriorities(search.priorities.data(), false);
  if (!search.start.empty())
    model.setBestSolution(search.start.data(), program.columns(), program.objective(search.start),
                          false);
  model.branchAndBound();
  if (const double* best = model.bestSolution())
    solution.values.assign(best, best + program.columns());
  solution.proven = model.status() == 0;
  raise(solution.bound, model.getBestPossibleObjValue());
}

}  // namespace

int LinearProgram::add_column(double least, double most, double price) {
  lower.push_back(least);
  upper.push_back(most);
  cost.push_back(price);
  return columns() - 1;
}

void LinearProgram::add_constraint(Terms terms, double least, double most) {
  std::ranges::sort(terms);
  Constraint& constraint = constraints.emplace_back(Constraint{{}, least, most});
  for (const auto& [column, factor] : terms) {
    if (!constraint.terms.empty() && constraint.terms.back().first == column)
      constraint.terms.back().second += factor;
    else
      constraint.terms.emplace_back(column, factor);
  }
  std::erase_if(constraint.terms, [](const auto& term) { return term.second == 0; });
}

double LinearProgram::objective(const std::vector<double>& values) const {
  return std::inner_product(cost.begin(), cost.end(), values.begin(), 0.0);
}

std::optional<std::vector<double>> solve_linear(const LinearProgram& program, int most_iterations) {
  ClpSimplex model;
  model.setLogLevel(0);
  load(program, model);
  model.setMaximumIterations(most_iterations);
  model.dual();
  if (!model.isProvenOptimal()) return std::nullopt;
  const double* values = model.primalColumnSolution();
  return std::vector<double>(values, values + program.columns());
}

IntegerSolution solve_integer(const LinearProgram& program, const IntegerSearch& search) {
  const Deadline deadline(search.seconds, search.stop);
  IntegerSolution solution;
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  const ClpStopper stopper(deadline);
  if (search.thorough) solver.getModelPtr()->passInEventHandler(&stopper);
  load(program, solver);
  for (int c = 0; c < program.integers; ++c) solver.setInteger(c);
  if (search.thorough) {
    solver.initialSolve();
    solution.proven = solver.isProvenPrimalInfeasible();
    if (!solver.isProvenOptimal()) return solution;
    raise(solution.bound, solver.getObjValue());
  }
  branch_and_bound(program, search, deadline, solver, solution);
  return solution;
}

}  // namespace strato
