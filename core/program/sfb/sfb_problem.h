// The integer program of sufficient factor broadcasting (TAG 4.2.3) for one gradient: which ops
// around it shall every device compute on the whole batch, so that nothing is left to synchronise?
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

#include <cstdint>
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

}  // namespace strato
