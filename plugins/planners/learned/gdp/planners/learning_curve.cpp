#include "plugins/planners/learned/gdp/planners/learning_curve.h"

namespace strato::gdp {

void LearningCurve::add_round(std::int64_t evaluations, double mean_reward, double best_reward,
                              std::optional<double> entropy) {
  const auto x = static_cast<double>(evaluations);
  mean_.emplace_back(x, mean_reward);
  best_.emplace_back(x, best_reward);
  if (entropy) entropy_.emplace_back(x, *entropy);
}

std::vector<PlanResult::Curve> LearningCurve::curves() const {
  if (mean_.empty()) return {};
  std::vector<PlanResult::Curve> curves = {
      {"Reward", "Mean of a round", "Evaluations", "Reward", mean_},
      {"Reward", "Best so far", "Evaluations", "Reward", best_}};
  if (!entropy_.empty())
    curves.push_back({"Entropy of the policy", "Entropy", "Evaluations", "Nats a unit", entropy_});
  return curves;
}

}  // namespace strato::gdp
