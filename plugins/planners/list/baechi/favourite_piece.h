// The linear program of favourites.h for one piece of a graph.
#pragma once

#include <optional>
#include <vector>

namespace strato::baechi {

struct FavouritePiece {
  struct Node {
    double time = 0;      // p
    double earliest = 0;  // start, by what is outside
    double after = 0;     // from its end to the end of the step, outside
  };
  struct Edge {
    int from = 0, to = 0;
    double transfer = 0;  // c
  };
  std::vector<Node> nodes;  // in a topological order
  std::vector<Edge> edges;
};

struct FavouriteSolution {
  std::vector<double> saved;  // 1 - x, by edge
  double makespan = 0;
};

// Nothing when Clp needs more iterations than it may; the same in each call. Safe from any thread:
// every call has a model of its own, and prints nothing.
std::optional<FavouriteSolution> solve(const FavouritePiece& piece);

}  // namespace strato::baechi
