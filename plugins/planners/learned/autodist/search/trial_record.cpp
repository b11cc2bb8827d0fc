#include "plugins/planners/learned/autodist/search/trial_record.h"

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"

namespace strato::autodist {
namespace {

constexpr const char* kPlanner = "autodist 5";  // with the version of what its trials mean

[[noreturn]] void damaged(const std::string& problem) {
  throw InputError("", "search state", problem, "start a new search");
}

}  // namespace

void refuse_trials() { damaged("its trials are not those of this search"); }

std::int64_t TrialRecord::count() const {
  std::int64_t sum = 0;
  for (const std::vector<Score>& batch : batches) sum += std::ssize(batch);
  return sum;
}

std::shared_ptr<const SearchTree> TrialRecord::as_tree(const Problem& problem,
                                                       std::uint64_t seed) const {
  auto tree = std::make_shared<SearchTree>();
  tree->actions = {*data_parallel(problem).groups.front()};
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) tree->order.emplace_back(g);
  tree->vertices.emplace_back().visits = static_cast<std::int32_t>(count());
  tree->iterations = count();
  tree->seed = seed;
  tree->problem = problem.digest();
  EvaluationRecord& record = tree->record.emplace(EvaluationRecord{kPlanner, options, {}});
  for (const std::vector<Score>& batch : batches) {
    auto& evaluations = record.batches.emplace_back();
    for (const Score& score : batch)
      evaluations.push_back({score.step_time.value, score.feasible, score.overflow.value});
  }
  return tree;
}

TrialRecord TrialRecord::from_tree(const SearchTree& tree) {
  if (!tree.record || tree.record->planner != kPlanner)
    damaged("it is of another planner, or of another version");
  TrialRecord record;
  record.options = tree.record->options;
  for (const auto& evaluations : tree.record->batches) {
    std::vector<Score>& batch = record.batches.emplace_back();
    for (const auto& [time, feasible, overflow] : evaluations) {
      if (time < 0 || overflow < 0) damaged("a trial has an impossible time or overflow");
      batch.push_back({Nanos(time), feasible, Bytes(overflow), nullptr});
    }
  }
  if (record.count() != tree.iterations) damaged("its trials are not all there");
  return record;
}

std::vector<Score> RecordedTrials::run(std::span<const Strategy> strategies) {
  if (at_ < replayed_) {
    const std::vector<Score>& known = record_.batches[at_++];
    if (known.size() != strategies.size()) refuse_trials();
    return known;
  }
  std::vector<Score> scores = inner_(strategies);
  record_.batches.push_back(scores);
  for (Score& score : record_.batches.back()) score.feedback.reset();
  return scores;
}

}  // namespace strato::autodist
