#include "plugins/planners/list/baechi/baechi.h"

#include <fmt/format.h>

#include "core/plugin/api/planner_function.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/list/baechi/earliest_task_first.h"

namespace strato {
namespace {

WeighedDag weighed(const Problem& problem) {
  return WeighedDag(dag_of(problem), *problem.cluster, *problem.cost);
}

struct MemoryTopoSettings : ListPlannerSettings {
  OptionTable option_table() {
    return ListPlannerSettings::option_table(
        "paper: one schedule; of a co-location group only the nodes seen so far take memory");
  }
};

PlanResult m_topo_plan(const PlanRequest& request, const MemoryTopoSettings& settings) {
  const WeighedDag given = weighed(request.problem);
  return plan_by_schedule(
      request, given.dag, settings, "m-TOPO (Baechi)", [&](double memory, PlanningSteps* steps) {
        return baechi::memory_topo(given.dag, given.transfers, *request.problem.cluster,
                                   {memory, !settings.paper}, steps);
      });
}

PlanResult plan_earliest_first(const PlanRequest& request, const WeighedDag& given,
                               const ListPlannerSettings& settings, const std::string& algorithm,
                               const baechi::Favourites* favourites) {
  const std::vector<Nanos> levels = b_levels(given.dag, given.weights);
  return plan_by_schedule(
      request, given.dag, settings, algorithm, [&](double memory, PlanningSteps* steps) {
        return baechi::earliest_task_first(given.dag, given.transfers, *request.problem.cluster,
                                           memory, levels, favourites, steps);
      });
}

PlanResult m_etf(const PlanRequest& request, const ListPlannerSettings& settings) {
  const WeighedDag given = weighed(request.problem);
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
  const WeighedDag given = weighed(request.problem);
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
