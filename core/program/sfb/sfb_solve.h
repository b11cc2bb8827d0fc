// Solves the integer program of sufficient factor broadcasting: by Cbc, as TAG does, or as a
// minimum cut. Safe from any thread.
#pragma once

#include <stop_token>

#include "core/program/sfb/sfb_problem.h"

namespace strato {

// By Cbc (core/linear/solver.h). Of several optima any, the same in each call. After
// `seconds` (elapsed), or soon after it is asked to stop, the best choice so far: at worst nothing
// is duplicated. Every call has a model of its own, and prints nothing.
SfbSolution solve_by_cbc(const SfbProblem& problem, double seconds, std::stop_token stop = {});

// As a minimum cut (Picard and Ratliff, "Minimum cuts and related problems",
// Networks 5, 1975).
//
// Without duplicating g nothing is gained, and times and costs are not negative: duplicating
// nothing is best then. With g, its update is in, too (nothing else reads the gradient), and what
// is left to minimise is
//   sum_i a_i time_i + sum_t cost_t [some reader of t is duplicated, its maker is not]:
// the cut between the duplicated side, with g and l, and the rest, in a network with an edge of
// capacity time_i from each op to the rest's end, and for each tensor a node between, with an
// unbounded edge from each reader and one of capacity cost_t to the maker (the rest's end, when it
// is never duplicated).
//
// The first constraint need not be told: take out of any choice the ops without a duplicated
// reader, one after the other. No tensor enters the cut by that, since each one's readers are out
// already; their times and the cuts before them go. The smallest optimum satisfies it by itself: it
// is what can be reached from the start, and an op is reached over a tensor from one of its
// readers.
//
// The least flow that proves a cut is also the quick answer to most gradients: as soon as it
// reaches the gain, nothing is to be won, and it stops.
//
// Exactly, in time that is negligible beside Cbc's. Of several optima the one that duplicates the
// fewest ops (they have a smallest one: optimal cuts form a lattice), and nothing where nothing is
// gained.
SfbSolution solve_by_cut(const SfbProblem& program);

}  // namespace strato
