// Planners whose results tests know: of a fixed strategy, one that refuses, one that waits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/tournament.h"
#include "core/search/tree/search_tree.h"
#include "views/models/strategy_edits.h"

namespace strato {

inline Strategy all_on(const Problem& problem, int device) {
  std::vector<GroupId> groups;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) groups.emplace_back(g);
  return with_decision(data_parallel(problem), groups,
                       decision_on_device(DeviceId(static_cast<std::size_t>(device))));
}

// Closed until a test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, stop, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any opened_;
  bool open_ = false;
};

// "dp", "dp-again": data parallel; "ordered": that with priorities; "one": all on device 0;
// "refuses": throws; "waits": reports something, and ends when it is stopped or the gate opens;
// "fails": a bug.
class TinyPlanner final : public Planner {
 public:
  TinyPlanner(std::string name, Gate& gate) : name_(std::move(name)), gate_(gate) {}
  std::string name() const override { return name_; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    if (name_ == "refuses") throw InputError("", "", "it has no use for lenet", "");
    if (name_ == "fails") throw std::runtime_error("a bug");
    PlanResult result;
    result.strategy = name_ == "one" ? all_on(problem, 0) : data_parallel(problem);
    if (name_ == "ordered") result.strategy.priorities.assign(problem.graph->op_count(), 1);
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    result.facts = {{"proven", "nothing"}};
    if (name_ == "waits") {
      Progress progress{40, 40, 0.1, result.score};
      observer.on_improvement(result.strategy, result.score, progress);
      observer.on_progress(progress);
      gate_.wait(stop);
    }
    return result;
  }

 private:
  const std::string name_;
  Gate& gate_;
};

inline PlannerFactory tiny_factory(Gate& gate) {
  return [&gate](std::string_view name) {
    return std::make_unique<TinyPlanner>(std::string(name), gate);
  };
}

inline std::vector<PluginInfo> tiny_planners() {
  std::vector<PluginInfo> planners;
  const auto add = [&](const char* name, Effort effort) {
    planners.push_back({PluginKind::Planner, name, std::string("Tiny: ") + name, {}, {}, effort});
  };
  add("dp", Effort::Quick);
  add("dp-again", Effort::Quick);
  add("one", Effort::Quick);
  add("refuses", Effort::Slow);
  add("waits", Effort::Search);
  return planners;
}

inline PlannerOptions as_they_are(int threads = 2) {
  PlannerOptions options;
  options.iterations = 100;
  options.floor = false;
  options.threads = threads;
  return options;
}

}  // namespace strato
