// More than two plans side by side: the figures of each, and what each decides for the op groups
// and variables of one of them, the reference. For why one is faster than another: compare_plans.
// Values; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

struct MatrixPlan {
  PlanFigures figures;
  std::optional<PlanPrice> price;
  std::string fullest;              // the name of its fullest device (problem_change.h)
  Bytes peak, capacity;             // of it
  Bytes sent_between, sent_inside;  // by messages between machines (each once), and inside them
  std::size_t unmatched_ops = 0;    // of its model, that the reference's does not have
  double seconds_per_sample() const;
};

// An op group or variable of the reference, in all plans; the vectors are by plan.
struct MatrixRow {
  GroupId group;  // invalid: of a variable
  OpId update;    // invalid: of an op group
  std::string name;
  std::vector<std::string> decisions;  // in words; "-": the plan's model has no such ops
  std::vector<Nanos> times;  // of a group: of the critical path; of a variable: it travels
  bool differs = false;      // between any two plans
  Nanos spread() const;      // of the times
};

// A cause of time (compare_plans.h), in all plans.
struct MatrixCause {
  std::string text;          // "waiting for 1080ti", "AllReduce"
  std::vector<Nanos> times;  // of the critical path, by plan
  Nanos spread() const;
};

struct PlanMatrix {
  std::vector<MatrixPlan> plans;     // as given; the reference is the last one
  std::vector<MatrixCause> causes;   // largest spread first; of each plan they add up to its step
  std::vector<MatrixRow> groups;     // largest spread first; all of the reference's
  std::vector<MatrixRow> variables;  // so, too
  bool same_model = true, same_cluster = true;  // for all plans
  // The fastest one that fits, by sample (batches may differ); of all where none does.
  std::size_t best() const;
  double above_best(std::size_t plan) const;  // 0.1: a sample takes 10 % longer than in the best
};
// Takes at least one plan; the last one is the reference, whose groups and variables are the rows.
PlanMatrix compare_many(std::span<const PlanToCompare> plans);
// "heft is the fastest of 3 plans: 182 ms a step. mcts takes 12 % longer, data parallel 31 %." Of
// other batches: by sample.
std::string sentence_of(const PlanMatrix& matrix);

}  // namespace strato
