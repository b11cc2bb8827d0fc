#include "plugins/planners/list/baechi/baechi.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"
#include "core/search/tree/search_tree.h"
#include "core/sim/explain/critical_path.h"
#include "plugins/planners/list/baechi/earliest_task_first.h"
#include "plugins/planners/list/baechi/memory_topo.h"

namespace strato {
namespace {

class BaechiPlanner : public Planner {
 public:
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<ListPlannerSettings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    const Dag dag = dag_of(problem);
    const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
    auto settings = read_options<ListPlannerSettings>(options.set);
    settings.algorithm = algorithm();
    std::vector<PlanResult::Fact> facts;
    const MakeSchedule make =
        scheduler({dag, transfers, *problem.cluster, options, settings.paper, stop}, facts);
    PlanResult result =
        plan_by_schedule(problem, dag, evaluator, options, observer, stop, settings, make);
    result.facts.insert(result.facts.end(), facts.begin(), facts.end());
    return result;
  }

 protected:
  struct Given {
    const Dag& dag;
    const TransferTimes& transfers;
    const Cluster& cluster;
    const PlannerOptions& options;
    bool paper;
    std::stop_token stop;
  };
  virtual std::string algorithm() const = 0;
  virtual MakeSchedule scheduler(const Given& given, std::vector<PlanResult::Fact>& facts) = 0;
};

class MemoryTopoPlanner final : public BaechiPlanner {
  std::string name() const override { return "m-topo"; }
  std::string algorithm() const override { return "m-TOPO (Baechi)"; }
  std::vector<OptionHelp> options() const override {
    return ListPlannerSettings()
        .option_table(
            "paper: one schedule; of a co-location group only the nodes seen so far take memory")
        .list();
  }

  MakeSchedule scheduler(const Given& given, std::vector<PlanResult::Fact>&) override {
    return [given](double memory, PlanningSteps* steps) {
      return baechi::memory_topo(given.dag, given.transfers, given.cluster, {memory, !given.paper},
                                 steps);
    };
  }
};

std::vector<NodeIndex> falling(const std::vector<Nanos>& levels) {
  std::vector<NodeIndex> order(levels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<NodeIndex>(i);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](NodeIndex node) { return levels[static_cast<std::size_t>(node)]; });
  return order;
}

void fill_ranking(PlanningSteps* steps, const Dag& dag, const std::vector<Nanos>& levels) {
  if (steps != nullptr)
    steps->ranking = {"b-level (for ties)", levels, falling(levels), critical_path(dag, levels)};
}

class EarliestTaskFirstPlanner final : public BaechiPlanner {
  std::string name() const override { return "m-etf"; }
  std::string algorithm() const override { return "m-ETF (Baechi; Hwang et al. 1989)"; }

  MakeSchedule scheduler(const Given& given, std::vector<PlanResult::Fact>&) override {
    auto levels = b_levels(given.dag, mean_weights(given.dag, given.cluster, given.transfers));
    return [given, levels = std::move(levels)](double memory, PlanningSteps* steps) {
      fill_ranking(steps, given.dag, levels);
      return baechi::earliest_task_first(given.dag, given.transfers, given.cluster, memory, levels,
                                         nullptr, steps);
    };
  }
};

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
  const auto number = [](int value) { return std::to_string(value); };
  const int all = favourites.by_chain + favourites.by_program + favourites.by_greed;
  std::string text = number(all) + " of " + number(static_cast<int>(favourites.child.size())) +
                     " ops have one: " + number(favourites.by_chain) + " in chains, " +
                     number(favourites.by_program) + " by " + number(favourites.programs) +
                     (favourites.programs == 1 ? " linear program, " : " linear programs, ") +
                     number(favourites.by_greed) + " greedily";
  if (favourites.given_up > 0)
    text += "; " + number(favourites.given_up) + " programs were given up";
  return text;
}

class FavouriteChildPlanner final : public BaechiPlanner {
  std::string name() const override { return "m-sct"; }
  std::string algorithm() const override { return "m-SCT (Baechi; Hanen and Munier 1995)"; }
  std::vector<OptionHelp> options() const override {
    return list_options<FavouriteChildSettings>();
  }

  MakeSchedule scheduler(const Given& given, std::vector<PlanResult::Fact>& facts) override {
    const Weights weights = mean_weights(given.dag, given.cluster, given.transfers);
    auto favourites = baechi::find_favourites(
        given.dag, weights, read_options<FavouriteChildSettings>(given.options.set).favourites,
        given.stop);
    facts.push_back({"favourite children", in_words(favourites)});
    return [given, levels = b_levels(given.dag, weights), favourites = std::move(favourites)](
               double memory, PlanningSteps* steps) {
      fill_ranking(steps, given.dag, levels);
      return baechi::earliest_task_first(given.dag, given.transfers, given.cluster, memory, levels,
                                         &favourites, steps);
    };
  }
};

}  // namespace

std::unique_ptr<Planner> make_baechi(std::string_view name) {
  if (name == "m-topo") return std::make_unique<MemoryTopoPlanner>();
  if (name == "m-etf") return std::make_unique<EarliestTaskFirstPlanner>();
  return std::make_unique<FavouriteChildPlanner>();
}

}  // namespace strato
