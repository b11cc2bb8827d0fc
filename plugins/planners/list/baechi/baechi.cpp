#include "plugins/planners/list/baechi/baechi.h"

#include <fmt/format.h>

#include "core/plugin/api/planner_function.h"
#include "core/schedule/dag/dag_of.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/list/baechi/earliest_task_first.h"
#include "plugins/planners/list/baechi/memory_topo.h"

namespace strato {
namespace {

struct Given {
  explicit Given(const Problem& problem)
      : dag(dag_of(problem)),
        cluster(*problem.cluster),
        transfers(dag, cluster, *problem.cost),
        weights(mean_weights(dag, cluster, transfers)) {}

  const Dag dag;
  const Cluster& cluster;
  const TransferTimes transfers;
  const Weights weights;
};

PlanResult plan_with(const PlanRequest& request, const Given& given, ListPlannerSettings settings,
                     std::string algorithm, const MakeSchedule& make) {
  settings.algorithm = std::move(algorithm);
  return plan_by_schedule(request.problem, given.dag, request.evaluator, request.options,
                          request.observer, request.stop, settings, make);
}

struct MemoryTopoSettings : ListPlannerSettings {
  OptionTable option_table() {
    return ListPlannerSettings::option_table(
        "paper: one schedule; of a co-location group only the nodes seen so far take memory");
  }
};

PlanResult m_topo_plan(const PlanRequest& request, const MemoryTopoSettings& settings) {
  const Given given(request.problem);
  return plan_with(request, given, settings, "m-TOPO (Baechi)",
                   [&](double memory, PlanningSteps* steps) {
                     return baechi::memory_topo(given.dag, given.transfers, given.cluster,
                                                {memory, !settings.paper}, steps);
                   });
}

PlanResult plan_earliest_first(const PlanRequest& request, const Given& given,
                               const ListPlannerSettings& settings, std::string algorithm,
                               const baechi::Favourites* favourites) {
  const std::vector<Nanos> levels = b_levels(given.dag, given.weights);
  return plan_with(request, given, settings, std::move(algorithm),
                   [&](double memory, PlanningSteps* steps) {
                     return baechi::earliest_task_first(given.dag, given.transfers, given.cluster,
                                                        memory, levels, favourites, steps);
                   });
}

PlanResult m_etf(const PlanRequest& request, const ListPlannerSettings& settings) {
  const Given given(request.problem);
  return plan_earliest_first(request, given, settings, "m-ETF (Baechi; Hwang et al. 1989)",
                             nullptr);
}

struct FavouriteChildSettings : ListPlannerSettings {
  baechi::FavouriteOptions favourites;

  void follow_paper() {
    paper = true;
    favourites.threshold = 0.1;
  }
  OptionTable option_table() {
    OptionTable table = ListPlannerSettings::option_table();
    return table.add({{"threshold",
                       favourites.threshold,
                       {.low = 0, .high = 0.5, .above_low = true},
                       "a child is the favourite where x is below this; variant=paper: 0.1"},
                      {"piece",
                       favourites.piece,
                       {0, 100'000},
                       "nodes in one linear program for the favourite children; 0: all greedily"}});
  }
};

std::string in_words(const baechi::Favourites& favourites) {
  std::string text =
      fmt::format("{} of {} ops have one: {} in chains, {} by {} linear program{}, {} greedily",
                  favourites.by_chain + favourites.by_program + favourites.by_greed,
                  favourites.child.size(), favourites.by_chain, favourites.by_program,
                  favourites.programs, favourites.programs == 1 ? "" : "s", favourites.by_greed);
  if (favourites.given_up > 0)
    text += fmt::format("; {} programs were given up", favourites.given_up);
  return text;
}

PlanResult m_sct(const PlanRequest& request, const FavouriteChildSettings& settings) {
  const Given given(request.problem);
  const auto favourites =
      baechi::find_favourites(given.dag, given.weights, settings.favourites, request.stop);
  PlanResult result = plan_earliest_first(request, given, settings,
                                          "m-SCT (Baechi; Hanen and Munier 1995)", &favourites);
  result.facts.push_back({"favourite children", in_words(favourites)});
  return result;
}

}  // namespace

std::unique_ptr<Planner> make_baechi(std::string_view name) {
  if (name == "m-topo") return make_planner(name, m_topo_plan, true);
  if (name == "m-etf") return make_planner(name, m_etf, true);
  return make_planner(name, m_sct, true);
}

}  // namespace strato
