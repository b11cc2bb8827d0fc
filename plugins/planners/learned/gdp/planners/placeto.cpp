#include "plugins/planners/learned/gdp/planners/placeto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/at.h"

namespace strato::gdp {
namespace {

// One draw from a row of logarithms.
std::int32_t drawn_from(std::span<const float> row, Random& random) {
  double left = random.uniform();
  for (std::size_t c = 0; c < row.size(); ++c) {
    left -= std::exp(static_cast<double>(row[c]));
    if (left < 0) return static_cast<std::int32_t>(c);
  }
  return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
}

double entropy_of(std::span<const float> row) {
  double sum = 0;
  for (const float logarithm : row) sum -= std::exp(static_cast<double>(logarithm)) * logarithm;
  return sum;
}

}  // namespace

// Groups in the order of their first units.
Placeto::Placeto(PlacementTask& task, Network& network, const PlacetoOptions& options)
    : task_(task), network_(network), options_(options) {
  constexpr std::int64_t kTime = kFamilies + kShapeColumns;  // column of a unit's time
  const GraphFeatures& graph = task.features();
  const auto time = [&](std::int32_t unit) {
    return graph.unit[static_cast<std::size_t>(unit * kUnitColumns + kTime)];
  };
  std::map<std::int32_t, std::size_t> place;
  for (std::int32_t u = 0; u < graph.units; ++u) {
    const std::int32_t group = task.group_of()[at(u)];
    const auto [found, fresh] = place.try_emplace(group, units_.size());
    if (fresh) units_.emplace_back();
    units_[found->second].push_back(u);
  }
  for (auto& units : units_) std::swap(units.front(), *std::ranges::max_element(units, {}, time));
  usual_.resize(units_.size(), 0);
  times_.resize(units_.size(), 0);
}

GraphFeatures Placeto::features(const Placement& placement, std::size_t turn) const {
  GraphFeatures graph = task_.features();
  graph.placed.assign(placement.begin(), placement.end());
  graph.turn.assign(placement.size() * kTurnColumns, 0.0F);
  for (std::size_t g = 0; g <= turn; ++g)
    for (const std::int32_t unit : units_[g])
      graph.turn[at(unit) * kTurnColumns + (g == turn ? 1 : 0)] = 1;
  return graph;
}

Episode Placeto::play(const Placement& start, const std::function<bool()>& go_on, Random& random) {
  Episode episode;
  Placement now = start;
  if (!go_on()) return episode;
  double reward = task_.reward(task_.evaluate({now})[0]);
  for (std::size_t turn = 0; turn < units_.size() && go_on(); ++turn) {
    const Probabilities policy = network_.probabilities(features(now, turn));
    const std::span<const float> row = policy.row(units_[turn].front());
    Episode::Step step{static_cast<std::int32_t>(turn), now, drawn_from(row, random), 0, 0};
    step.logarithm = row[at(step.choice)];
    for (const std::int32_t unit : units_[turn]) now[at(unit)] = step.choice;
    const double next = now == step.before ? reward : task_.reward(task_.evaluate({now})[0]);
    step.reward = next - reward;
    reward = next;
    episode.entropy += entropy_of(row);
    episode.steps.push_back(std::move(step));
  }
  episode.reward = reward;
  if (!episode.steps.empty()) episode.entropy /= static_cast<double>(episode.steps.size());
  return episode;
}

// Discounted sums of what follows, against the usual ones, as multiples of their spread.
std::vector<double> Placeto::advantages(const Episode& episode) {
  constexpr double kMost = 3, kSmall = 1e-5;
  std::vector<double> result(episode.steps.size());
  double after = 0, square = 0;
  for (std::size_t t = result.size(); t-- > 0;) {
    after = episode.steps[t].reward + options_.discount * after;
    const double usual = times_[t] == 0 ? 0 : usual_[t] / times_[t];
    usual_[t] += after;
    ++times_[t];
    result[t] = after - usual;
    square += result[t] * result[t] / static_cast<double>(result.size());
  }
  for (double& advantage : result)
    advantage = std::clamp(advantage / (std::sqrt(square) + kSmall), -kMost, kMost);
  return result;
}

void Placeto::learn(const Episode& episode) {
  const std::vector<double> advantage = advantages(episode);
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    for (std::size_t t = 0; t < episode.steps.size(); ++t) {
      const Episode::Step& step = episode.steps[t];
      const std::size_t decider = at(units_[at(step.group)].front());
      const std::vector<float> zeros(step.before.size(), 0.0F);
      RollOut trial{step.before, zeros, zeros, advantage[t]};
      trial.choice_of[decider] = step.choice;
      trial.logarithm[decider] = step.logarithm;
      trial.drawn[decider] = 1;
      network_.improve(features(step.before, at(step.group)), std::span(&trial, 1), options_.learn);
    }
  }
}

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

struct PlacetoPlannerOptions : WholeOpOptions {
  PlacetoOptions placeto;

  OptionTable option_table() {
    return OptionTable(
               {{"epochs", placeto.epochs, {1, 1'000}, "times that an episode is learned from"},
                {"rate", placeto.learn.rate, {0, 10}, "of learning (Adam)"},
                {"entropy", placeto.learn.entropy, {0, 10}, "weight of the policy's entropy"},
                {"discount", placeto.discount, {0, 1}, "of what later moves of an episode gain"}})
        .add(WholeOpOptions::option_table());
  }
};

class PlacetoPlanner final : public Planner {
 public:
  std::string name() const override { return "placeto"; }
  std::vector<OptionHelp> options() const override { return list_options<PlacetoPlannerOptions>(); }
  // Every episode starts from the best of what is known before anything is learned.
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    const auto options = read_options<PlacetoPlannerOptions>(common.set);
    PlacementSearch search(problem, evaluator, options.placement, common, observer,
                           std::move(stop));
    const Placement start = search.task.best();
    Network network = Network::make(network_size(), common.seed);
    Placeto placeto(search.task, network, options.placeto);
    Random random(common.seed);
    const auto go_on = [&] { return search.left() > 0; };
    std::int64_t episodes = 0;
    Episode last;
    for (; go_on(); ++episodes) {
      last = placeto.play(start, go_on, random);
      if (!last.steps.empty()) search.end_round(last.reward, last.entropy);
      if (go_on()) placeto.learn(last);
    }
    PlanResult result = search.finish();
    result.note = fmt::format("{} episodes of {} moves", episodes, placeto.groups());
    result.facts = {{"Moves of an episode", fmt::to_string(placeto.groups())},
                    {"Policy's entropy", fmt::format("{:.3f} nats", last.entropy)}};
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_placeto() { return std::make_unique<PlacetoPlanner>(); }

}  // namespace strato::gdp
