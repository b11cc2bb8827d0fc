#include "plugins/planners/learned/autodist/search/ranker.h"

#include <numeric>
#include <unordered_set>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::autodist {
namespace {

constexpr double kPriorScale = 2;  // score that the logarithm of the predefined estimate costs
constexpr double kQuick = 10;      // how much faster the estimate's own few parameters learn

struct Batch {
  at::Tensor rows, whole;  // [variables, plans, features], [plans, components]
};

Batch batch_of(std::span<const PlanFeatures* const> plans) {
  std::vector<at::Tensor> rows, whole;
  for (const PlanFeatures* plan : plans) {
    rows.push_back(learned::view_of(plan->rows).view({-1, static_cast<std::int64_t>(kFeatures)}));
    whole.push_back(learned::view_of(plan->whole));
  }
  return {at::stack(rows, 1), at::stack(whole)};
}

}  // namespace

struct Ranker::State : learned::Trainable {
  State(const RankerOptions& of, std::uint64_t seed) : options(of), width(of.width) {
    const auto in = static_cast<std::int64_t>(kFeatures);
    input.weight = parameters.matrix(in, 4 * width);
    recurrent = parameters.matrix(width, 4 * width);
    input.bias = parameters.declare({4 * width}, 0);
    hidden = parameters.dense(2 * width, width);
    out = parameters.declare({width, 1}, 0);
    weights = parameters.declare({static_cast<std::int64_t>(kComponents), 1}, 0);
    trust = parameters.declare({1}, 0);
    parameters.allocate(seed, at::kCPU);
    std::vector<float> theta;
    for (std::size_t i = 0; i < kComponents; ++i) {
      Components one{};
      one[i] = 1;
      theta.push_back(static_cast<float>(CommunicationModel::combine(one)));
    }
    constants = at::tensor(theta).unsqueeze(1);
  }

  // -log(z * theta), scaled; both theta and the scale adapt.
  at::Tensor estimate(const at::Tensor& whole) const {
    const at::Tensor seconds = at::matmul(whole, constants * at::exp(kQuick * parameters[weights]));
    return -kPriorScale * (1 + kQuick * parameters[trust]) * at::log(seconds + 1e-3);
  }

  at::Tensor scores(const Batch& batch) const {
    const std::int64_t plans = batch.whole.size(0), variables = batch.rows.size(0);
    const at::Tensor gates_of_input = apply(input, batch.rows);
    at::Tensor h = at::zeros({plans, width}), c = h, sum = h;
    for (std::int64_t v = 0; v < variables; ++v) {
      const at::Tensor all = at::addmm(gates_of_input[v], h, parameters[recurrent]);
      const at::Tensor gates = at::sigmoid(all.narrow(1, 0, 3 * width));
      c = (gates.narrow(1, 0, width) * c) +
          gates.narrow(1, width, width) * at::tanh(all.narrow(1, 3 * width, width));
      h = gates.narrow(1, 2 * width, width) * at::tanh(c);
      sum = sum + h;
    }
    const at::Tensor state =
        at::cat({h, sum / std::max<double>(1, static_cast<double>(variables))}, 1);
    return (estimate(batch.whole) + product(at::relu(apply(hidden, state)), out)).squeeze(1);
  }

  RankerOptions options;
  std::int64_t width;
  learned::Dense input, hidden;
  std::size_t recurrent, out, weights, trust;
  at::Tensor constants;
};

Ranker::Ranker(const RankerOptions& options, std::uint64_t seed) {
  learned::on_one_thread();
  state_ = std::make_unique<State>(options, seed);
}
Ranker::~Ranker() = default;

std::vector<double> Ranker::scores(std::span<const PlanFeatures* const> plans) const {
  if (plans.empty()) return {};
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  const at::Tensor scores = state_->scores(batch_of(plans)).contiguous();
  const float* begin = scores.data_ptr<float>();
  return {begin, begin + plans.size()};
}

double Ranker::learn(std::span<const PlanFeatures* const> plans, std::span<const double> costs,
                     int steps, Random& random) {
  CHECK(plans.size() == costs.size(), "one cost a plan");
  learned::on_one_thread();
  if (plans.size() < 2) return 0;
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(plans.size(), static_cast<std::size_t>(state_->options.batch));
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    random.shuffle(std::span(order));
    std::vector<const PlanFeatures*> chosen;
    std::vector<double> chosen_costs;
    for (std::size_t i = 0; i < count; ++i) {
      chosen.push_back(plans[order[i]]);
      chosen_costs.push_back(costs[order[i]]);
    }
    const at::Tensor cost = at::tensor(chosen_costs);
    const at::Tensor faster = (cost.unsqueeze(1) < cost.unsqueeze(0)).to(at::kFloat);
    const at::Tensor score = state_->scores(batch_of(chosen));
    const at::Tensor lead = score.unsqueeze(1) - score.unsqueeze(0);
    const at::Tensor loss = (at::softplus(-lead) * faster).sum() / faster.sum().clamp_min(1);
    sum += state_->minimise(loss, {state_->options.rate, 1e-4, 1.0});
  }
  return steps > 0 ? sum / steps : 0;
}

std::optional<double> ranking_accuracy(std::span<const Judged> trials) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < trials.size(); ++i)
    for (std::size_t j = i + 1; j < trials.size(); ++j) {
      if (trials[i].cost == trials[j].cost) continue;
      ++pairs;
      if (trials[i].score == trials[j].score)
        right += 0.5;
      else
        right += (trials[i].score > trials[j].score) == (trials[i].cost < trials[j].cost);
    }
  if (pairs == 0) return std::nullopt;
  return right / pairs;
}

std::optional<double> fidelity_level(std::span<const Judged> recent, double accuracy,
                                     std::size_t fewest) {
  std::vector<Judged> sorted(recent.begin(), recent.end());
  std::ranges::stable_sort(sorted, {}, &Judged::score);
  for (std::size_t count = sorted.size(); count >= std::max<std::size_t>(fewest, 2); --count) {
    const std::optional<double> here = ranking_accuracy(std::span(sorted).first(count));
    if (here && *here >= accuracy) return sorted[count - 1].score;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> tokens_of(const SyncPlan& plan) {
  std::vector<std::uint64_t> tokens;
  std::int32_t last_group = -1;
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const NodeConfig& sync = plan[v];
    Hasher hasher;
    hasher.number(v).number(sync.sharded).number(sync.axis).number(sync.parts.size());
    for (const SyncPart& part : sync.parts) {
      hasher.number(part.synchroniser).number(part.encoding).number(part.server.value());
      hasher.number(part.stations.size()).number(part.merge_group >= 0);
    }
    const std::int32_t group = sync.parts.front().merge_group;
    hasher.number(group >= 0 && group == last_group);
    last_group = sync.parts.back().merge_group;
    tokens.push_back(hasher.finish().low);
  }
  return tokens;
}

std::uint64_t kind_of(const SyncPlan& plan) {
  Hasher hasher;
  for (const NodeConfig& sync : plan) {
    const SyncPart& part = sync.parts.front();
    hasher.number(sync.sharded).number(part.synchroniser).number(part.encoding);
  }
  return hasher.finish().low;
}

std::vector<std::size_t> choose_diverse(std::span<const double> scores,
                                        std::span<const std::vector<std::uint64_t>> tokens,
                                        std::size_t count, double diversity) {
  CHECK(scores.size() == tokens.size(), "one score a proposal");
  std::vector<std::size_t> chosen;
  if (scores.empty()) return chosen;
  const auto [low, high] = std::ranges::minmax(scores);
  const double range = high > low ? high - low : 1;
  std::unordered_set<std::uint64_t> covered;
  std::vector<char> taken(scores.size(), 0);
  while (chosen.size() < std::min(count, scores.size())) {
    std::size_t best = scores.size();
    double best_gain = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (taken[i] != 0) continue;
      const auto fresh = std::ranges::count_if(
          tokens[i], [&](std::uint64_t token) { return !covered.contains(token); });
      const double part = tokens[i].empty()
                              ? 0
                              : static_cast<double>(fresh) / static_cast<double>(tokens[i].size());
      const double gain = (scores[i] - low) / range + diversity * part;
      if (best == scores.size() || gain > best_gain) best = i, best_gain = gain;
    }
    taken[best] = 1;
    covered.insert(tokens[best].begin(), tokens[best].end());
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace strato::autodist
