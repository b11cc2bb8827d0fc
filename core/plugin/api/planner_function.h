// Planners that are one function of what they are asked and of their settings; and a planner with a
// refiner behind it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

// Evaluates the strategies together and tells the observer of the best, the first among equals.
PlanResult best_of(const PlanRequest& request, std::vector<Strategy> strategies);

struct NoSettings {
  OptionTable option_table() { return {}; }
};

template <class Settings>
class PlannerFunction final : public Planner {
 public:
  using Plan = std::function<PlanResult(const PlanRequest&, const Settings&)>;

  PlannerFunction(std::string_view name, Plan plan, bool is_baseline,
                  std::size_t most_devices = kMostDevices)
      : name_(name),
        plan_(std::move(plan)),
        is_baseline_(is_baseline),
        most_devices_(most_devices) {}
  std::string name() const override { return name_; }
  std::vector<OptionHelp> options() const override { return list_options<Settings>(); }
  bool is_baseline() const override { return is_baseline_; }
  std::size_t most_devices() const override { return most_devices_; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    return plan_({problem, evaluator, options, observer, std::move(stop), std::move(resume)},
                 read_options<Settings>(options.set));
  }

 private:
  std::string name_;
  Plan plan_;
  bool is_baseline_;
  std::size_t most_devices_;
};

template <class Settings>
std::unique_ptr<Planner> make_planner(std::string_view name,
                                      PlanResult (*plan)(const PlanRequest&, const Settings&),
                                      bool is_baseline = false,
                                      std::size_t most_devices = Planner::kMostDevices) {
  return std::make_unique<PlannerFunction<Settings>>(name, plan, is_baseline, most_devices);
}

// "PLANNER+REFINER" is one planner: the refiner goes over each of its results.
std::unique_ptr<Planner> refined_planner(std::unique_ptr<Planner> planner,
                                         std::unique_ptr<Refiner> refiner);

}  // namespace strato
