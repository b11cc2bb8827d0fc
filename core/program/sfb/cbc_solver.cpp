#include "core/program/sfb/cbc_solver.h"

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CoinPackedMatrix.hpp>
#include <CoinPackedVector.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

class Stopper final : public CbcEventHandler {
 public:
  explicit Stopper(std::stop_token stop) : stop_(std::move(stop)) {}
  CbcAction event(CbcEvent) override {
    return stop_.stop_requested() ? CbcEventHandler::stop : noAction;
  }
  CbcEventHandler* clone() const override { return new Stopper(*this); }

 private:
  std::stop_token stop_;
};

// Columns: the ops' a, then the tensors' b. Times in units of the gain, so that Clp's tolerances
// mean the same for every program.
class Constraints {
 public:
  explicit Constraints(const SfbProgram& program)
      : program_(program), ops_(static_cast<int>(program.time.size())) {
    add_reader_rows();
    add_cut_rows();
  }

  void load(OsiClpSolverInterface& solver) const {
    const int columns = ops_ + static_cast<int>(program_.tensors.size());
    std::vector<double> lower(at(columns), 0), upper(at(columns), 1), cost(at(columns));
    for (int i = 0; i < ops_; ++i) cost[at(i)] = program_.time[at(i)] / program_.gain;
    for (int b = ops_; b < columns; ++b)
      cost[at(b)] = program_.tensors[at(b - ops_)].cost / program_.gain;
    cost[SfbProgram::kGradient] -= 1;
    CoinPackedMatrix matrix(false, 0, 0);
    matrix.setDimensions(0, columns);
    for (const CoinPackedVector& row : rows_) matrix.appendRow(row);
    const std::vector<double> least(rows_.size(), 0), most(rows_.size(), solver.getInfinity());
    solver.loadProblem(matrix, lower.data(), upper.data(), cost.data(), least.data(), most.data());
    for (int c = 0; c < columns; ++c) solver.setInteger(c);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void add_reader_rows() {  // sum of the readers' a - a_k >= 0; the update reads the gradient
    std::vector<std::vector<int>> readers(at(ops_));
    readers[SfbProgram::kGradient].push_back(SfbProgram::kUpdate);
    for (const SfbTensor& tensor : program_.tensors)
      if (tensor.maker >= 0)
        readers[at(tensor.maker)].insert(readers[at(tensor.maker)].end(), tensor.readers.begin(),
                                         tensor.readers.end());
    for (int k = 0; k < ops_; ++k) {
      if (k == SfbProgram::kUpdate) continue;
      std::vector<int>& of = readers[at(k)];
      std::sort(of.begin(), of.end());
      of.erase(std::unique(of.begin(), of.end()), of.end());
      CoinPackedVector row;
      for (const int reader : of) row.insert(reader, 1);
      row.insert(k, -1);
      rows_.push_back(std::move(row));
    }
  }

  void add_cut_rows() {  // b_t - a_i + a_j >= 0
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
      const SfbTensor& tensor = program_.tensors[t];
      for (const int reader : tensor.readers) {
        CoinPackedVector row;
        row.insert(ops_ + static_cast<int>(t), 1);
        row.insert(reader, -1);
        if (tensor.maker >= 0) row.insert(tensor.maker, 1);
        rows_.push_back(std::move(row));
      }
    }
  }

  const SfbProgram& program_;
  int ops_;
  std::vector<CoinPackedVector> rows_;
};

}  // namespace

SfbSolution solve_by_cbc(const SfbProgram& program, double seconds, std::stop_token stop) {
  SfbSolution solution;
  solution.choice.assign(program.time.size(), 0);
  if (program.gain <= 0) return solution;  // nothing to save
  solution.optimal = false;
  if (seconds <= 0 || stop.stop_requested()) return solution;

  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  Constraints(program).load(solver);
  CbcModel model(solver);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setUseElapsedTime(true);
  model.setMaximumSeconds(seconds);
  const Stopper stopper(std::move(stop));
  model.passInEventHandler(&stopper);
  model.initialSolve();
  model.branchAndBound();

  if (const double* best = model.bestSolution()) {
    SfbChoice choice(program.time.size());
    for (std::size_t i = 0; i < choice.size(); ++i) choice[i] = best[i] > 0.5 ? 1 : 0;
    CHECK(is_feasible(program, choice), "Cbc breaks a constraint");
    const double saved = objective(program, choice);
    if (saved < -1e-9 * program.gain)
      solution.choice = std::move(choice), solution.objective = saved;
  }
  solution.optimal = model.isProvenOptimal();
  return solution;
}

}  // namespace strato
