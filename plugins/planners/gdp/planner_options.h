// What the planners of this plugin share: options with ranges, and the budget of a search.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/search/api/reporter.h"
#include "plugins/planners/gdp/placement_task.h"

namespace strato::gdp {

// Throw InputError outside of 1 to `most`, or 0 to `most`.
int whole_option(const PlannerOptions& given, const std::string& key, int fallback, int most);
double number_option(const PlannerOptions& given, const std::string& key, double fallback,
                     double most);
Colocate colocate_from(const PlannerOptions& given, const std::string& fallback);

// Of the planners that place whole ops, with parameters' units, unless told otherwise ("replicate",
// "colocate").
PlacementOptions whole_op_placement(const PlannerOptions& given);
// An option list that ends with these two.
std::vector<OptionHelp> with_whole_op_help(std::vector<OptionHelp> own);

// How much of a search is left, and what its observer is told. Refers to all that it is given.
class Budget {
 public:
  Budget(PlacementTask& task, const PlannerOptions& options, Observer& observer,
         std::stop_token stop);
  // Evaluations; 0 when it is over.
  std::int64_t left() const;
  void report(bool last);

 private:
  Progress progress() const;

  PlacementTask& task_;
  const PlannerOptions& options_;
  const std::stop_token stop_;
  Reporter reporter_;
};

// Strategies that the caller knows (PlannerOptions::seeds): those that the task's choices can say
// are placements to begin from, and the best of them all is never lost.
class Starts {
 public:
  // Evaluates them, after the known placements.
  Starts(const Problem& problem, PlacementTask& task, Evaluator& evaluator,
         const std::vector<Strategy>& known);
  // The best of the task or of these, without note and facts.
  PlanResult result_of(const PlacementTask& task) const;

 private:
  std::optional<Strategy> best_;
  Score score_;
};

}  // namespace strato::gdp
