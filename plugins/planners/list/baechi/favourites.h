// Favourite children (Hanen, Munier: "An approximation algorithm for scheduling dependent tasks on
// m processors with small communication delays", ETFA 1995; Baechi's m-SCT): a node has at most one
// favourite child and one favourite parent, and the two are best run on one device one after the
// other. Chosen by the linear program
//   min w   with   t_j >= t_i + p_i + c_ij x_ij for each edge,   w >= t_i + p_i,   0 <= x_ij <= 1,
//                  sum_j x_ij >= children of i - 1,   sum_i x_ij >= parents of j - 1,
// p, c: mean times; j is the favourite child of i where x_ij < threshold (1/2 in the paper of Hanen
// and Munier, 0.1 in Baechi's). Of equal makespans those that save longer transfers are preferred:
// the sum of the times saved has a small part in the goal.
//
// For graphs of 100,000 nodes the program is made smaller, in this order:
//  1. An edge between a node without other children and one without other parents is a favourite
//     in some optimum: such chains become one node. Edges without a transfer get no x.
//  2. What is left is cut along a depth-first topological order into pieces of at most `piece`
//     nodes; each is a program of its own, with the earliest starts and the times left to the end
//     of step that the rest imposes (t-level and b-level with all transfers).
//  3. Edges between pieces, and all edges of a piece whose program needs too many iterations, are
//     decided greedily: the longest path first, then the longest transfer, where both ends are
//     free.
// A graph of no more than `piece` chains is the program of the paper. Deterministic: the limits are
// sizes and iterations, not times.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/schedule/dag/levels.h"

namespace strato::baechi {

struct FavouriteOptions {
  double threshold = 0.5;
  int piece = 200;  // nodes; 0: no program, all greedily
};

struct Favourites {
  std::vector<NodeIndex> child, parent;  // by node; -1: none
  // Counts the edges that each rule decided, and the programs.
  int by_chain = 0, by_program = 0, by_greed = 0;
  int programs = 0, given_up = 0;
};

// Asked to stop, it decides greedily what is left.
Favourites find_favourites(const Dag& dag, const Weights& weights, const FavouriteOptions& options,
                           const std::stop_token& stop = {});

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
// Solves the linear program of one piece. Nothing when Clp needs more iterations than it may; the
// same in each call. Safe from any thread: every call has a model of its own, and prints nothing.
std::optional<FavouriteSolution> solve(const FavouritePiece& piece);

}  // namespace strato::baechi
