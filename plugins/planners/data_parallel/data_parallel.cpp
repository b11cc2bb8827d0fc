// Data parallelism on all devices of the cluster, the baselines of TAG section 5.2:
//   dp-allreduce               equal shares, gradients all-reduced (DP-NCCL)
//   dp-allreduce-proportional  shares in proportion to each device's speed (DP-NCCL-P)
//   dp-ps                      equal shares, gradients summed at parameter servers
#include <utility>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

class DataParallel final : public Planner {
 public:
  explicit DataParallel(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = name_ == "dp-ps"          ? data_parallel(problem, Mode::ReplicatePs)
                      : name_ == "dp-allreduce" ? data_parallel(problem)
                                                : data_parallel_proportional(problem);
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }

 private:
  std::string name_;
};

std::unique_ptr<Planner> make(std::string_view name) {
  CHECK(name == "dp-allreduce" || name == "dp-allreduce-proportional" || name == "dp-ps",
        "the manifest names no other planner");
  return std::make_unique<DataParallel>(std::string(name));
}

}  // namespace

STRATOSCOPE_PLANNER(make)
