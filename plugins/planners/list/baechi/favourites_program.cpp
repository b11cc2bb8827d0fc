// The linear program of favourites.h for one piece of a graph.
#include <algorithm>

#include "core/base/at.h"
#include "core/linear/solver.h"
#include "plugins/planners/list/baechi/favourites.h"

namespace strato::baechi {
namespace {

// The time of the longest path is this many units, so that Clp's tolerances mean the same for every
// piece.
constexpr double kUnits = 1000;
// All transfers saved are worth this part of the longest path.
constexpr double kSavingsMatter = 1e-3;

// Longest paths when every transfer is paid, and the whole when none is.
struct Paths {
  std::vector<double> before, after;  // by node: to its start, from its end
  double longest = 0;
  double shortest = 0;  // no makespan is below
};

Paths paths_of(const FavouritePiece& piece) {
  std::vector<std::vector<int>> out(piece.nodes.size());
  for (std::size_t e = 0; e < piece.edges.size(); ++e)
    out[at(piece.edges[e].from)].push_back(static_cast<int>(e));
  Paths paths;
  for (const auto& node : piece.nodes) {
    paths.before.push_back(node.earliest);
    paths.after.push_back(node.after);
  }
  std::vector<double> free = paths.before;
  for (std::size_t i = 0; i < piece.nodes.size(); ++i) {
    const auto& node = piece.nodes[i];
    paths.shortest = std::max(paths.shortest, free[i] + node.time + node.after);
    for (const int e : out[i]) {
      const auto& edge = piece.edges[at(e)];
      free[at(edge.to)] = std::max(free[at(edge.to)], free[i] + node.time);
      paths.before[at(edge.to)] =
          std::max(paths.before[at(edge.to)], paths.before[i] + node.time + edge.transfer);
    }
  }
  for (std::size_t i = piece.nodes.size(); i-- > 0;) {
    for (const int e : out[i]) {
      const auto& edge = piece.edges[at(e)];
      paths.after[i] = std::max(
          paths.after[i], edge.transfer + piece.nodes[at(edge.to)].time + paths.after[at(edge.to)]);
    }
    paths.longest = std::max(paths.longest, paths.before[i] + piece.nodes[i].time + paths.after[i]);
  }
  return paths;
}

// Columns: y_e = 1 - x_e by edge, then the t_i, then w.
class Formulation {
 public:
  Formulation(const FavouritePiece& piece, const Paths& paths, double unit)
      : piece_(piece),
        paths_(paths),
        edges_(static_cast<int>(piece.edges.size())),
        nodes_(static_cast<int>(piece.nodes.size())),
        unit_(unit) {
    add_columns();
    add_precedence();
    add_ends();
    add_one_favourite(&FavouritePiece::Edge::from);
    add_one_favourite(&FavouritePiece::Edge::to);
  }
  const LinearProgram& program() const { return program_; }

 private:
  static constexpr double kFree = LinearProgram::kInfinity;

  int start(int node) const { return edges_ + node; }
  int makespan() const { return edges_ + nodes_; }

  void add_columns() {
    double total = 0;
    for (const auto& edge : piece_.edges) total += edge.transfer * unit_;
    for (const auto& edge : piece_.edges)
      program_.add_column(0, edge.transfer > 0 ? 1 : 0,
                          total > 0 ? -kSavingsMatter * kUnits * edge.transfer * unit_ / total : 0);
    for (const auto& node : piece_.nodes) program_.add_column(node.earliest * unit_, kFree);
    program_.add_column(paths_.shortest * unit_, kFree, 1);
  }

  // Paths that are no longer than the shortest makespan with all of their transfers bind nobody:
  // their constraints are left out.
  bool matters(double path) const { return path > paths_.shortest; }

  void add_precedence() {  // t_j - t_i + c y >= p_i + c
    for (int e = 0; e < edges_; ++e) {
      const auto& [from, to, cost] = piece_.edges[at(e)];
      if (!matters(paths_.before[at(from)] + piece_.nodes[at(from)].time + cost +
                   piece_.nodes[at(to)].time + paths_.after[at(to)]))
        continue;
      const double transfer = cost * unit_;
      program_.add_constraint({{start(to), 1}, {start(from), -1}, {e, transfer > 0 ? transfer : 0}},
                              time(from) + transfer, kFree);
    }
  }

  void add_ends() {  // w - t_i >= p_i + what comes after
    for (int i = 0; i < nodes_; ++i) {
      const auto& node = piece_.nodes[at(i)];
      if (!matters(paths_.before[at(i)] + node.time + node.after)) continue;
      program_.add_constraint({{makespan(), 1}, {start(i), -1}}, time(i) + node.after * unit_,
                              kFree);
    }
  }

  void add_one_favourite(int FavouritePiece::Edge::*end) {  // sum of y <= 1
    std::vector<LinearProgram::Terms> of(piece_.nodes.size());
    for (int e = 0; e < edges_; ++e)
      if (const auto& edge = piece_.edges[at(e)]; edge.transfer > 0)
        of[at(edge.*end)].emplace_back(e, 1);
    for (LinearProgram::Terms& edges : of)
      if (edges.size() > 1) program_.add_constraint(std::move(edges), -kFree, 1);
  }

  double time(int node) const { return piece_.nodes[at(node)].time * unit_; }

  const FavouritePiece& piece_;
  const Paths& paths_;
  int edges_, nodes_;
  double unit_;
  LinearProgram program_;
};

}  // namespace

std::optional<FavouriteSolution> solve(const FavouritePiece& piece) {
  FavouriteSolution solution;
  solution.saved.assign(piece.edges.size(), 0);
  const Paths paths = paths_of(piece);
  solution.makespan = paths.longest;
  if (paths.longest <= 0 || piece.edges.empty()) return solution;
  const double unit = kUnits / paths.longest;
  const Formulation formulation(piece, paths, unit);
  const LinearProgram& program = formulation.program();
  const auto values =
      solve_linear(program, static_cast<int>(program.constraints.size()) * 20 + 1000);
  if (!values) return std::nullopt;
  std::copy_n(values->begin(), piece.edges.size(), solution.saved.begin());
  solution.makespan = values->back() / unit;
  return solution;
}

}  // namespace strato::baechi
