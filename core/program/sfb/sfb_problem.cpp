#include "core/program/sfb/sfb_problem.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/linear/solver.h"

namespace strato {
namespace {

// For each op, the least time of a way from the gradient to it, both included, and the update.
std::vector<double> times_of_ways(const SfbProblem& program) {
  const std::size_t ops = program.time.size();
  std::vector<std::vector<std::size_t>> makers(ops);
  for (const SfbTensor& tensor : program.tensors)
    for (const int reader : tensor.readers)
      if (tensor.maker >= 0) makers[at(reader)].push_back(at(tensor.maker));
  std::vector<double> way(ops, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> open = {SfbProblem::kGradient};
  way[SfbProblem::kGradient] =
      program.time[SfbProblem::kGradient] + program.time[SfbProblem::kUpdate];
  std::vector<char> done(ops, 0);
  while (!open.empty()) {
    const auto nearest =
        std::ranges::min_element(open, {}, [&](std::size_t each) { return way[each]; });
    const std::size_t op = *nearest;
    open.erase(nearest);
    if (std::exchange(done[op], 1)) continue;
    for (const std::size_t maker : makers[op]) {
      if (done[maker] || way[op] + program.time[maker] >= way[maker]) continue;
      way[maker] = way[op] + program.time[maker];
      open.push_back(maker);
    }
  }
  return way;
}

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

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

class Network {
 public:
  explicit Network(std::size_t nodes) : first_(nodes, -1), level_(nodes), next_(nodes) {}

  void add(int from, int to, double capacity) {
    if (capacity <= 0) return;
    push(from, to, capacity);
    push(to, from, 0);
  }

  // Dinic's algorithm. Stops early once the flow is `enough`.
  double flow(int from, int to, double enough) {
    double total = 0;
    while (total < enough && layers(from, to)) {
      next_ = first_;
      while (total < enough) {
        const double sent = send(from, to, kUnbounded);
        if (sent <= 0) break;
        total += sent;
      }
    }
    return total;
  }

  // Sets level() >= 0 for what can still be reached.
  bool layers(int from, int to) {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<int> queue = {from};
    level_[at(from)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (int e = first_[at(queue[i])]; e >= 0; e = edges_[at(e)].next)
        if (edges_[at(e)].capacity > 0 && level_[at(edges_[at(e)].to)] < 0) {
          level_[at(edges_[at(e)].to)] = level_[at(queue[i])] + 1;
          queue.push_back(edges_[at(e)].to);
        }
    return level_[at(to)] >= 0;
  }
  bool reached(std::size_t node) const { return level_[node] >= 0; }

 private:
  struct Edge {
    int to, next;
    double capacity;
  };
  void push(int from, int to, double capacity) {
    edges_.push_back({to, first_[at(from)], capacity});
    first_[at(from)] = static_cast<int>(edges_.size()) - 1;
  }

  // What is subtracted is the least of the capacities on the way, which becomes exactly zero.
  double send(int node, int to, double limit) {
    if (node == to) return limit;
    for (int& e = next_[at(node)]; e >= 0; e = edges_[at(e)].next) {
      Edge& edge = edges_[at(e)];
      if (edge.capacity <= 0 || level_[at(edge.to)] != level_[at(node)] + 1) continue;
      const double sent = send(edge.to, to, std::min(limit, edge.capacity));
      if (sent <= 0) continue;
      if (edge.capacity < kUnbounded) edge.capacity -= sent;
      edges_[at(e ^ 1)].capacity += sent;
      return sent;
    }
    return 0;
  }

  std::vector<int> first_, level_, next_;
  std::vector<Edge> edges_;
};

}  // namespace

double objective(const SfbProblem& program, const SfbChoice& choice) {
  double sum = 0;
  for (std::size_t i = 0; i < program.time.size(); ++i)
    if (choice[i]) sum += program.time[i];
  for (const SfbTensor& tensor : program.tensors) {
    if (tensor.maker >= 0 && choice[at(tensor.maker)]) continue;
    const bool read =
        std::ranges::any_of(tensor.readers, [&](int reader) { return choice[at(reader)] != 0; });
    if (read) sum += tensor.cost;
  }
  return choice[SfbProblem::kGradient] ? sum - program.gain : sum;
}

bool is_feasible(const SfbProblem& program, const SfbChoice& choice) {
  std::vector<char> wanted(program.time.size(), 0);
  wanted[SfbProblem::kUpdate] = 1;
  wanted[SfbProblem::kGradient] = choice[SfbProblem::kUpdate];
  for (const SfbTensor& tensor : program.tensors)
    for (const int reader : tensor.readers)
      if (tensor.maker >= 0 && choice[at(reader)]) wanted[at(tensor.maker)] = 1;
  for (std::size_t i = 0; i < choice.size(); ++i)
    if (choice[i] && !wanted[i]) return false;
  return true;
}

ReducedSfbProblem reduce(const SfbProblem& program) {
  const std::vector<double> way = times_of_ways(program);
  ReducedSfbProblem reduced;
  reduced.program.gain = program.gain;
  std::vector<int> number(program.time.size(), -1);
  for (std::size_t i = 0; i < program.time.size(); ++i) {
    if (i > SfbProblem::kUpdate && way[i] >= program.gain) continue;
    number[i] = static_cast<int>(reduced.kept.size());
    reduced.kept.push_back(static_cast<int>(i));
    reduced.program.time.push_back(program.time[i]);
  }
  for (const SfbTensor& tensor : program.tensors) {
    SfbTensor kept{-1, tensor.cost, {}};
    if (tensor.maker >= 0) kept.maker = number[at(tensor.maker)];
    for (const int reader : tensor.readers)
      if (const int to = number[at(reader)]; to >= 0) kept.readers.push_back(to);
    if (!kept.readers.empty()) reduced.program.tensors.push_back(std::move(kept));
  }
  return reduced;
}

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

SfbSolution solve_by_cut(const SfbProblem& program) {
  const std::size_t ops = program.time.size();
  const int rest = static_cast<int>(ops + program.tensors.size()), start = rest + 1;
  Network network(static_cast<std::size_t>(start) + 1);
  network.add(start, SfbProblem::kGradient, kUnbounded);
  network.add(start, SfbProblem::kUpdate, kUnbounded);
  for (std::size_t i = 0; i < ops; ++i) network.add(static_cast<int>(i), rest, program.time[i]);
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const SfbTensor& tensor = program.tensors[t];
    const int node = static_cast<int>(ops + t);
    for (const int reader : tensor.readers) network.add(reader, node, kUnbounded);
    network.add(node, tensor.maker >= 0 ? tensor.maker : rest, tensor.cost);
  }
  SfbSolution solution;
  solution.choice.assign(ops, 0);
  network.flow(start, rest, program.gain);
  if (network.layers(start, rest)) return solution;  // stopped early: nothing is gained
  SfbChoice choice(ops, 0);
  for (std::size_t i = 0; i < ops; ++i) choice[i] = network.reached(i) ? 1 : 0;
  const double best = objective(program, choice);
  if (best < -1e-9 * program.gain) {  // not by rounding alone
    solution.choice = std::move(choice);
    solution.objective = best;
  }
  return solution;
}

}  // namespace strato
