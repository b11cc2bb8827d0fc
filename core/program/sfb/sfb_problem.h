// The integer program of sufficient factor broadcasting (TAG 4.2.3) for one gradient, and its
// solution, by Cbc, as TAG has it, or as a minimum cut: which ops around the gradient shall every
// device compute on the whole batch, so that nothing is left to synchronise?
//
//   min  sum_i a_i time_i  +  sum_t b_t cost_t  -  a_g gain
//   a_k <= sum of a_i over the ops i that read what k makes, for all ops but the updates
//   b_t >= a_i - a_j  for every tensor t, its maker j and each of its readers i
//
// With time_i = (D-1) T_i, cost_t = D(D-1) L_t/tau and gain = 2 (D-1)/D L_gl/tau it is the printed
// one. A tensor with several readers is in the cut once: "for every tensor that is produced by a
// replicated op and consumed by a duplicated op, D(D-1) transfers of the tensor are needed".
//
// Values; functions here are safe from any thread.
#pragma once

#include <stop_token>
#include <vector>

namespace strato {

struct SfbTensor {
  int maker = -1;            // an op of the program; -1: never duplicated
  double cost = 0;           // ns to have it whole on every device
  std::vector<int> readers;  // ops of the program, ascending
  friend bool operator==(const SfbTensor&, const SfbTensor&) = default;
};

struct SfbProblem {
  // By op: extra ns when it is duplicated. Op 0 makes the gradient (g), op 1 updates the parameter
  // (l); the others lead to op 0.
  std::vector<double> time;
  std::vector<SfbTensor> tensors;
  double gain = 0;  // ns that synchronising the gradient takes

  static constexpr int kGradient = 0, kUpdate = 1;
  friend bool operator==(const SfbProblem&, const SfbProblem&) = default;
};

using SfbChoice = std::vector<char>;  // by op: is it duplicated?

double objective(const SfbProblem& program, const SfbChoice& choice);
bool is_feasible(const SfbProblem& program, const SfbChoice& choice);

struct SfbSolution {
  SfbChoice choice;
  double objective = 0;  // ns saved, negative; 0 when nothing is duplicated
  bool optimal = true;   // false: the time limit came first
};

// Without the ops that cannot pay: a choice that holds op i holds all ops of some way from the
// gradient to it, so where even the quickest way takes as much time as there is to gain, i is never
// duplicated. `kept` (ascending; the first two always are) are the numbers that its ops have in
// `program`. Optima stay optima; around equal layers, what remains is mostly equal.
struct ReducedSfbProblem {
  SfbProblem program;
  std::vector<int> kept;
};
ReducedSfbProblem reduce(const SfbProblem& program);

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
