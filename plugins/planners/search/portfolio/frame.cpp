#include "plugins/planners/search/portfolio/frame.h"

namespace strato::portfolio {

Frame::Frame(const Problem& problem, const Strategy& strategy)
    : problem_(problem_for(problem, strategy)), empty_(false), rest_(strategy) {
  rest_.groups.clear();
  if (problem_.grouping->digest() == problem.grouping->digest()) rest_.grouping.reset();
}

bool Frame::is_needed(const Problem& problem, const Strategy& strategy) {
  return !Frame(problem).holds(strategy) || !strategy.priorities.empty() ||
         !strategy.splits.empty() || !strategy.duplicated.empty() || strategy.bucket > Bytes(0);
}

bool Frame::holds(const Strategy& strategy) const {
  const Grouping* own = strategy.grouping ? strategy.grouping.get() : nullptr;
  if (own == nullptr) return rest_.grouping == nullptr;
  return own->digest() == problem_.grouping->digest();
}

Strategy Frame::inside(const Strategy& strategy) const {
  Strategy result;
  result.groups = strategy.groups;
  return result;
}

// Decisions that a search adds itself (TAG duplicates ops) outrank the frame's; a result in groups
// of its own has left the frame.
Strategy Frame::complete(const Strategy& inside) const {
  if (empty_ || inside.grouping != nullptr) return inside;
  Strategy result = rest_;
  result.groups = inside.groups;
  if (!inside.duplicated.empty()) result.duplicated = inside.duplicated;
  return result;
}

std::vector<Score> FramedEvaluator::score(std::span<const CompleteStrategy> strategies) {
  std::vector<CompleteStrategy> whole;
  whole.reserve(strategies.size());
  for (const CompleteStrategy& strategy : strategies)
    whole.emplace_back(frame_.complete(*strategy), cluster());
  return inner_.score(whole);
}

}  // namespace strato::portfolio
