#include "plugins/planners/list/baechi/favourite_program.h"

#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>

namespace strato::baechi {
namespace {

// The time of the longest path is this many units, so that Clp's tolerances mean the same for every
// program.
constexpr double kUnits = 1000;
// All transfers saved are worth this part of the longest path.
constexpr double kSavingsMatter = 1e-3;

// Columns: y_e = 1 - x_e by edge, then the t_i, then w.
class Columns {
 public:
  explicit Columns(const FavouriteProgram& program)
      : edges_(static_cast<int>(program.edges.size())),
        nodes_(static_cast<int>(program.nodes.size())) {}
  int saved(int edge) const { return edge; }
  int start(int node) const { return edges_ + node; }
  int makespan() const { return edges_ + nodes_; }
  int count() const { return makespan() + 1; }

 private:
  int edges_, nodes_;
};

// Longest paths when every transfer is paid, and the whole when none is.
struct Paths {
  std::vector<double> before, after;  // by node: to its start, from its end
  double longest = 0;
  double shortest = 0;  // no makespan is below
};

Paths paths_of(const FavouriteProgram& program) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  std::vector<std::vector<int>> out(program.nodes.size());
  for (std::size_t e = 0; e < program.edges.size(); ++e)
    out[at(program.edges[e].from)].push_back(static_cast<int>(e));
  Paths paths;
  for (const auto& node : program.nodes) {
    paths.before.push_back(node.earliest);
    paths.after.push_back(node.after);
  }
  std::vector<double> free = paths.before;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const auto& node = program.nodes[i];
    paths.shortest = std::max(paths.shortest, free[i] + node.time + node.after);
    for (const int e : out[i]) {
      const auto& edge = program.edges[at(e)];
      free[at(edge.to)] = std::max(free[at(edge.to)], free[i] + node.time);
      paths.before[at(edge.to)] =
          std::max(paths.before[at(edge.to)], paths.before[i] + node.time + edge.transfer);
    }
  }
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    for (const int e : out[i]) {
      const auto& edge = program.edges[at(e)];
      paths.after[i] = std::max(paths.after[i], edge.transfer + program.nodes[at(edge.to)].time +
                                                    paths.after[at(edge.to)]);
    }
    paths.longest =
        std::max(paths.longest, paths.before[i] + program.nodes[i].time + paths.after[i]);
  }
  return paths;
}

class Rows {
 public:
  Rows(const FavouriteProgram& program, const Paths& paths, double unit)
      : program_(program), paths_(paths), columns_(program), unit_(unit) {
    matrix_.setDimensions(0, columns_.count());
    add_precedence();
    add_ends();
    add_one_favourite(&FavouriteProgram::Edge::from);
    add_one_favourite(&FavouriteProgram::Edge::to);
  }

  void load(ClpSimplex& model) const {
    const auto count = static_cast<std::size_t>(columns_.count());
    std::vector<double> lower(count, 0), upper(count, COIN_DBL_MAX), cost(count, 0);
    double total = 0;
    for (const auto& edge : program_.edges) total += edge.transfer * unit_;
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      upper[e] = program_.edges[e].transfer > 0 ? 1 : 0;
      if (total > 0)
        cost[e] = -kSavingsMatter * kUnits * program_.edges[e].transfer * unit_ / total;
    }
    for (std::size_t i = 0; i < program_.nodes.size(); ++i)
      lower[program_.edges.size() + i] = program_.nodes[i].earliest * unit_;
    lower.back() = paths_.shortest * unit_;
    cost.back() = 1;
    model.loadProblem(matrix_, lower.data(), upper.data(), cost.data(), least_.data(),
                      most_.data());
  }

 private:
  // Paths that are no longer than the shortest makespan with all of their transfers bind nobody:
  // their rows are left out.
  bool matters(double path) const { return path > paths_.shortest; }

  void add_precedence() {  // t_j - t_i + c y >= p_i + c
    for (int e = 0; e < static_cast<int>(program_.edges.size()); ++e) {
      const auto& edge = program_.edges[static_cast<std::size_t>(e)];
      const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
      if (!matters(paths_.before[from] + program_.nodes[from].time + edge.transfer +
                   program_.nodes[to].time + paths_.after[to]))
        continue;
      const double transfer = edge.transfer * unit_;
      const int index[] = {columns_.start(edge.to), columns_.start(edge.from), columns_.saved(e)};
      const double value[] = {1, -1, transfer};
      add(transfer > 0 ? 3 : 2, index, value, time(edge.from) + transfer, COIN_DBL_MAX);
    }
  }

  void add_ends() {  // w - t_i >= p_i + what comes after
    for (int i = 0; i < static_cast<int>(program_.nodes.size()); ++i) {
      const auto& node = program_.nodes[static_cast<std::size_t>(i)];
      if (!matters(paths_.before[static_cast<std::size_t>(i)] + node.time + node.after)) continue;
      const int index[] = {columns_.makespan(), columns_.start(i)};
      const double value[] = {1, -1};
      add(2, index, value, time(i) + node.after * unit_, COIN_DBL_MAX);
    }
  }

  void add_one_favourite(int FavouriteProgram::Edge::*end) {  // sum of y <= 1
    std::vector<std::vector<int>> of(program_.nodes.size());
    for (std::size_t e = 0; e < program_.edges.size(); ++e)
      if (program_.edges[e].transfer > 0)
        of[static_cast<std::size_t>(program_.edges[e].*end)].push_back(static_cast<int>(e));
    for (const std::vector<int>& edges : of) {
      if (edges.size() < 2) continue;
      const std::vector<double> ones(edges.size(), 1);
      add(static_cast<int>(edges.size()), edges.data(), ones.data(), -COIN_DBL_MAX, 1);
    }
  }

  void add(int count, const int* index, const double* value, double least, double most) {
    matrix_.appendRow(count, index, value);
    least_.push_back(least);
    most_.push_back(most);
  }
  double time(int node) const {
    return program_.nodes[static_cast<std::size_t>(node)].time * unit_;
  }

  const FavouriteProgram& program_;
  const Paths& paths_;
  Columns columns_;
  double unit_;
  CoinPackedMatrix matrix_{false, 0, 0};
  std::vector<double> least_, most_;
};

}  // namespace

std::optional<FavouriteSolution> solve(const FavouriteProgram& program) {
  FavouriteSolution solution;
  solution.saved.assign(program.edges.size(), 0);
  const Paths paths = paths_of(program);
  solution.makespan = paths.longest;
  if (paths.longest <= 0 || program.edges.empty()) return solution;
  const double unit = kUnits / paths.longest;
  ClpSimplex model;
  model.setLogLevel(0);
  Rows(program, paths, unit).load(model);
  model.setMaximumIterations(model.numberRows() * 20 + 1000);
  model.dual();
  if (!model.isProvenOptimal()) return std::nullopt;
  const double* value = model.primalColumnSolution();
  std::copy_n(value, program.edges.size(), solution.saved.begin());
  solution.makespan = value[program.edges.size() + program.nodes.size()] / unit;
  return solution;
}

}  // namespace strato::baechi
