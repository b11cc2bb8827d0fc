#include "core/program/sfb/sfb_integer.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/linear/solver.h"

namespace strato {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Ops that read what each op makes, ascending; the update reads the gradient.
std::vector<std::vector<int>> readers_of(const SfbProblem& problem) {
  std::vector<std::vector<int>> readers(problem.time.size());
  readers[SfbProblem::kGradient].push_back(SfbProblem::kUpdate);
  for (const SfbTensor& tensor : problem.tensors)
    if (tensor.maker >= 0)
      readers[at(tensor.maker)].insert(readers[at(tensor.maker)].end(), tensor.readers.begin(),
                                       tensor.readers.end());
  for (std::vector<int>& of : readers) {
    std::ranges::sort(of);
    of.erase(std::unique(of.begin(), of.end()), of.end());
  }
  return readers;
}

// Columns: the ops' a, then the tensors' b. Times in units of the gain, so that Clp's tolerances
// mean the same for every problem.
LinearProgram formulate(const SfbProblem& problem) {
  LinearProgram program;
  for (const double time : problem.time) program.add_column(0, 1, time / problem.gain);
  program.cost[SfbProblem::kGradient] -= 1;
  const int ops = program.columns();
  for (const SfbTensor& tensor : problem.tensors)
    program.add_column(0, 1, tensor.cost / problem.gain);
  program.integers = program.columns();
  const auto readers = readers_of(problem);
  for (int k = 0; k < ops; ++k) {  // sum of the readers' a - a_k >= 0
    if (k == SfbProblem::kUpdate) continue;
    LinearProgram::Terms terms{{k, -1}};
    for (const int reader : readers[at(k)]) terms.emplace_back(reader, 1);
    program.add_constraint(std::move(terms), 0, LinearProgram::kInfinity);
  }
  for (std::size_t t = 0; t < problem.tensors.size(); ++t)  // b_t - a_i + a_j >= 0
    for (const int reader : problem.tensors[t].readers) {
      LinearProgram::Terms terms{{ops + static_cast<int>(t), 1}, {reader, -1}};
      if (problem.tensors[t].maker >= 0) terms.emplace_back(problem.tensors[t].maker, 1);
      program.add_constraint(std::move(terms), 0, LinearProgram::kInfinity);
    }
  return program;
}

}  // namespace

SfbSolution solve_by_cbc(const SfbProblem& problem, double seconds, std::stop_token stop) {
  SfbSolution solution;
  solution.choice.assign(problem.time.size(), 0);
  if (problem.gain <= 0) return solution;  // nothing to save
  solution.optimal = false;
  if (seconds <= 0 || stop.stop_requested()) return solution;
  IntegerSearch search;
  search.seconds = seconds;
  search.stop = std::move(stop);
  const IntegerSolution found = solve_integer(formulate(problem), search);
  solution.optimal = found.proven;
  if (found.values.empty()) return solution;
  SfbChoice choice(problem.time.size());
  for (std::size_t i = 0; i < choice.size(); ++i) choice[i] = found.values[i] > 0.5 ? 1 : 0;
  CHECK(is_feasible(problem, choice), "Cbc breaks a constraint");
  const double saved = objective(problem, choice);
  if (saved < -1e-9 * problem.gain) solution.choice = std::move(choice), solution.objective = saved;
  return solution;
}

}  // namespace strato
