// The planner "placeto": see placeto.h.
#include "plugins/planners/gdp/placeto.h"

#include <fmt/format.h>

#include "core/search/tree/search_tree.h"
#include "plugins/planners/gdp/course.h"
#include "plugins/planners/gdp/planner_options.h"
#include "plugins/planners/gdp/planners.h"

namespace strato::gdp {
namespace {

// Half as wide as GDP's: it is asked, and learns, once a move.
NetworkSize network_size() {
  NetworkSize size;
  size.graph_width = size.width = 64;
  size.heads = 4;
  size.head_width = 16;
  size.inner = 128;
  size.superposition = false;
  size.stepwise = true;
  return size;
}

class PlacetoPlanner final : public Planner {
 public:
  std::string name() const override { return "placeto"; }
  std::vector<OptionHelp> options() const override {
    const PlacetoOptions d;
    return with_whole_op_help(
        {{"epochs", fmt::format("{}", d.epochs), "times that an episode is learned from"},
         {"rate", fmt::format("{}", d.learn.rate), "of learning (Adam)"},
         {"entropy", fmt::format("{}", d.learn.entropy), "weight of the policy's entropy"},
         {"discount", fmt::format("{}", d.discount), "of what later moves of an episode gain"}});
  }

  // Every episode starts from the best of what is known before anything is learned.
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    PlacetoOptions options;
    options.epochs = whole_option(common, "epochs", options.epochs, 1'000);
    options.learn.rate = number_option(common, "rate", options.learn.rate, 10);
    options.learn.entropy = number_option(common, "entropy", options.learn.entropy, 10);
    options.discount = number_option(common, "discount", options.discount, 1);
    PlacementTask task(problem, evaluator, whole_op_placement(common));
    Budget budget(task, common, observer, std::move(stop));
    task.evaluate(task.known_placements());
    const Starts starts(problem, task, evaluator, common.seeds);
    const Placement start = task.best();
    Network network = Network::make(network_size(), common.seed);
    Placeto placeto(task, network, options);
    Random random(common.seed);
    std::int64_t episodes = 0;
    Episode last;
    Course course;
    for (; budget.left() > 0; ++episodes) {
      last = placeto.play(
          start, [&] { return budget.left() > 0; }, random);
      if (!last.steps.empty())
        course.add_round(task.evaluations(), last.reward, task.reward(*task.best_score()),
                         last.entropy);
      if (budget.left() > 0) placeto.learn(last);
      budget.report(false);
    }
    budget.report(true);
    PlanResult result = starts.result_of(task);
    result.note = fmt::format("{} episodes of {} moves", episodes, placeto.groups());
    result.facts = {{"Moves of an episode", std::to_string(placeto.groups())},
                    {"Policy's entropy", fmt::format("{:.3f} nats", last.entropy)}};
    result.curves = course.curves();
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_placeto() { return std::make_unique<PlacetoPlanner>(); }

}  // namespace strato::gdp
