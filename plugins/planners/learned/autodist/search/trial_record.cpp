#include "plugins/planners/learned/autodist/search/trial_record.h"

#include <charconv>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace strato::autodist {
namespace {

constexpr std::string_view kMagic = "autodist 5\n";

[[noreturn]] void damaged(const std::string& problem) {
  throw InputError("", "search state", problem, "start a new search");
}

std::int64_t number_from(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) damaged("the record of trials is damaged");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return value;
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
  std::string& text = tree->random_state;
  text = std::string(kMagic) + options + "\n" + std::to_string(batches.size());
  for (const std::vector<Score>& batch : batches) {
    text += "\n" + std::to_string(batch.size());
    for (const Score& score : batch)
      text += " " + std::to_string(score.step_time.value) + " " + std::to_string(score.feasible) +
              " " + std::to_string(score.overflow.value);
  }
  return tree;
}

TrialRecord TrialRecord::from_tree(const SearchTree& tree) {
  std::string_view text = tree.random_state;
  if (!text.starts_with(kMagic)) damaged("it is of another planner, or of another version");
  text.remove_prefix(kMagic.size());
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) damaged("the record of trials is cut");
  TrialRecord record;
  record.options = text.substr(0, line);
  text.remove_prefix(line + 1);
  for (std::int64_t batches = number_from(text); batches > 0; --batches) {
    std::vector<Score>& batch = record.batches.emplace_back();
    for (std::int64_t left = number_from(text); left > 0; --left) {
      Score& score = batch.emplace_back();
      score.step_time = Nanos(number_from(text));
      score.feasible = number_from(text) != 0;
      score.overflow = Bytes(number_from(text));
    }
  }
  if (!text.empty()) damaged("the record of trials has more than it says");
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
