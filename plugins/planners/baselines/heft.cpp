#include "plugins/planners/baselines/heft.h"

#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/baselines/heft_schedule.h"

namespace strato {
namespace {

class Heft final : public Planner {
 public:
  std::string name() const override { return "heft"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<ListPlannerSettings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    const Dag dag = dag_of(problem);
    const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
    auto settings = read_options<ListPlannerSettings>(options.set);
    settings.algorithm = "HEFT (Topcuoglu et al. 2002, section 4.1)";
    return plan_by_schedule(problem, dag, evaluator, options, observer, stop, settings,
                            [&](double memory, PlanningSteps* steps) {
                              return heft::schedule(dag, transfers, *problem.cluster, memory,
                                                    steps);
                            });
  }
};

}  // namespace

std::unique_ptr<Planner> make_heft() { return std::make_unique<Heft>(); }

}  // namespace strato
