// Another plan, seen on the graph of the plan that is shown: everything is by op of that graph, so
// it does not matter in which groups, on which cluster or for which model the other one is. Values;
// made on any thread.
#pragma once

#include <memory>
#include <span>

#include "core/compare/changes.h"
#include "core/compare/compare_plans.h"
#include "views/graph/graph_content.h"
#include "views/graph/op_figures.h"
#include "views/models/second_plan.h"

namespace strato {

struct PlanOnGraph {
  std::shared_ptr<const Problem> shown;  // whose graph it is
  std::shared_ptr<const OtherPlan> plan;
  std::shared_ptr<const OpMatch> match;  // from the other plan's graph to this one
  // Of the other outcome, by op of this graph; zero where the other graph has none.
  std::shared_ptr<const OpFigures> figures;
  OpDecisions decisions;    // from those of the other plan to those of `strategy`
  std::size_t missing = 0;  // ops that the other graph does not have

  OpId other(OpId op) const { return match->from_of_to[op]; }
  bool differs(OpId op) const;  // also where the other graph does not have it
  bool is_of(const Problem& problem) const { return shown->graph == problem.graph; }
};
// `strategy`: complete, for `shown`. What `known` (or null) has of the same plan is not made again.
std::shared_ptr<const PlanOnGraph> plan_on_graph(const std::shared_ptr<const Problem>& shown,
                                                 const Strategy& strategy,
                                                 const std::shared_ptr<const OtherPlan>& plan,
                                                 const PlanOnGraph* known);

// Of these ops, how many are decided otherwise.
std::size_t differing(std::span<const OpId> ops, const PlanOnGraph& plan);
// What is decided for them, from the other plan to the one shown.
Pair<std::string> words_for(std::span<const OpId> ops, const PlanOnGraph& plan);

// Where the other plan runs them, in device groups of its cluster, each op counting the same;
// empty: it has none of them.
std::vector<PlacementStripe> stripes_of(std::span<const OpId> ops, const PlanOnGraph& plan);

// How all of them are decided in it: "AllReduce"; empty: not alike.
QString mode_of(std::span<const OpId> ops, const PlanOnGraph& plan);

}  // namespace strato
