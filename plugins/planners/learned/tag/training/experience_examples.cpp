#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/tag/training/experience.h"

namespace strato::tag {
namespace {

using Actions = std::vector<std::int32_t>;

// The first groups decided, the rest open.
Strategy partial_strategy(const TrainingInstance& instance, const Actions& decided) {
  Strategy strategy;
  strategy.groups.resize(instance.order.size());
  for (std::size_t depth = 0; depth < decided.size(); ++depth)
    strategy.groups[instance.order[depth]] = instance.maker.actions()[at(decided[depth])];
  return strategy;
}

Strategy completed(const TrainingInstance& instance, const Actions& decided) {
  return complete(partial_strategy(instance, decided), *instance.problem.cluster);
}

// The actions of a strategy in the search's order; empty when one is not among them.
Actions actions_of(const TrainingInstance& instance, const Strategy& strategy) {
  Actions result;
  for (const GroupId group : instance.order) {
    const std::int32_t action = instance.maker.action_of(*strategy.groups[group]);
    if (action < 0) return {};
    result.push_back(action);
  }
  return result;
}

Actions decided_at(const SearchTree& tree, std::int32_t vertex) {
  Actions decided;
  for (const SearchTree::Vertex* v = &tree.vertices[at(vertex)]; v->parent >= 0;
       v = &tree.vertices[at(v->parent)])
    decided.push_back(v->action);
  std::ranges::reverse(decided);
  return decided;
}

// pi(s) = softmax(ln N(s)) = N / sum N at vertices that were visited often (TAG 4.2.2).
void add_visits(const SearchTree& tree, const ProblemKey& key, int least,
                std::vector<Record>& records) {
  for (std::size_t i = 0; i < tree.vertices.size(); ++i) {
    const SearchTree::Vertex& vertex = tree.vertices[i];
    if (vertex.visits < least || vertex.child_count < 2) continue;
    Record record{key, decided_at(tree, static_cast<std::int32_t>(i)), {}};
    float sum = 0;
    for (const std::int32_t child : tree.children(static_cast<std::int32_t>(i))) {
      const SearchTree::Vertex& below = tree.vertices[at(child)];
      if (below.visits <= 0) continue;
      record.target.emplace_back(below.action, static_cast<float>(below.visits));
      sum += static_cast<float>(below.visits);
    }
    for (auto& [action, part] : record.target) part /= sum;
    if (!record.target.empty()) records.push_back(std::move(record));
  }
}

// Depths to learn from on the way to one strategy: the first three always, where most of the
// search's visits are and where the dearest groups are decided, and others that lie the denser the
// closer they are to the root.
std::vector<std::size_t> chosen_depths(std::size_t groups, int count, Random& random) {
  constexpr int kAlways = 3;
  std::vector<std::size_t> depths;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform();
    const auto drawn = static_cast<std::size_t>(u * u * static_cast<double>(groups));
    depths.push_back(i < kAlways ? std::min(at(i), groups - 1) : drawn);
  }
  std::ranges::sort(depths);
  depths.erase(std::ranges::unique(depths).begin(), depths.end());
  return depths;
}

Record prefix(const ProblemKey& key, const Actions& actions, std::size_t depth) {
  return {key, {actions.begin(), actions.begin() + static_cast<std::ptrdiff_t>(depth)}, {}};
}

// ln of what each next decision costs, the rest following the first group: time, or missing memory
// where nothing fits. Infinite for what does not fit where something does.
std::vector<double> costs_of_next(const TrainingInstance& instance, Evaluator& evaluator,
                                  const Actions& decided) {
  std::vector<Strategy> strategies;
  for (std::size_t a = 0; a < instance.maker.actions().size(); ++a) {
    Actions more = decided;
    more.push_back(static_cast<std::int32_t>(a));
    strategies.push_back(completed(instance, more));
  }
  const std::vector<Score> scores = evaluator.evaluate(strategies);
  const bool any_fits = std::ranges::any_of(scores, &Score::feasible);
  std::vector<double> costs;
  for (const Score& score : scores) {
    const std::int64_t amount = any_fits ? score.step_time.value : score.overflow.value;
    costs.push_back(score.feasible == any_fits
                        ? std::log(static_cast<double>(std::max<std::int64_t>(amount, 1)))
                        : std::numeric_limits<double>::infinity());
  }
  return costs;
}

// softmax(-cost / temperature). Below the root most decisions change little, and what is looked for
// is the one that gains: there the temperature is a part of the gain over going on like the first.
void fill_values(const std::vector<double>& costs, double temperature, Record& record) {
  constexpr double kPartOfGain = 1.0 / 6, kColdest = 1e-6;
  const double best = *std::ranges::min_element(costs);
  if (!record.decided.empty()) {
    const double gain = costs[at(record.decided.front())] - best;
    temperature = std::clamp(gain * kPartOfGain, kColdest, temperature);
  }
  std::vector<double> weights;
  for (const double cost : costs) weights.push_back(std::exp((best - cost) / temperature));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t a = 0; a < weights.size(); ++a) {
    const auto part = static_cast<float>(weights[a] / sum);
    if (part > 1e-4F) record.target.emplace_back(static_cast<std::int32_t>(a), part);
  }
}

// The same device set with AllReduce instead of PS: what a group without parameters has anyway.
std::int32_t legal_twin(const FeatureMaker& maker, const StateFeatures& state,
                        std::int32_t action) {
  if (state.legal[at(action)] > 0) return action;
  Decision twin = maker.actions()[at(action)];
  if (twin.mode != Mode::ReplicatePs) return -1;
  twin.mode = Mode::ReplicateAllReduce;
  const std::int32_t index = maker.action_of(twin);
  return index >= 0 && state.legal[at(index)] > 0 ? index : -1;
}

std::vector<float> target_row(const TrainingInstance& instance, const StateFeatures& state,
                              const Record& record) {
  std::vector<float> row(instance.maker.actions().size(), 0.0F);
  float sum = 0;
  for (const auto& [action, part] : record.target) {
    const std::int32_t twin = legal_twin(instance.maker, state, action);
    if (twin < 0) continue;
    row[at(twin)] += part;
    sum += part;
  }
  if (sum <= 0) return {};
  for (float& part : row) part /= sum;
  return row;
}

bool fits(const TrainingInstance& instance, const Record& record) {
  const auto known = [&](std::int32_t action) {
    return action >= 0 && at(action) < instance.maker.actions().size();
  };
  return record.decided.size() < instance.order.size() && !record.target.empty() &&
         std::ranges::all_of(record.decided, known) &&
         std::ranges::all_of(record.target, [&](const auto& t) {
           return known(t.first) && t.second > 0 && t.second <= 1.0001F;
         });
}

// Which examples see feedback is a matter of what they are: the same after a pause.
bool sees_feedback(const TrainingInstance& instance, const Record& record) {
  if (instance.feedback >= 1) return true;
  Hasher hash;
  hash.number(record.instance.model).number(record.instance.cluster);
  for (const std::int32_t action : record.decided) hash.number(action);
  return Random(hash.finish().low).uniform() < instance.feedback;
}

}  // namespace

Searched search_records(const TrainingInstance& instance, const SearchOrder& order,
                        const Network& network, const TrainSettings& settings,
                        std::stop_token stop) {
  const auto evaluator = make_simulating_evaluator(instance.problem, 1, !order.uniform);
  NetworkPrior guided(network, 0);
  PlannerOptions common;
  common.iterations = settings.iterations;
  common.seed = order.seed;
  common.threads = 1;
  if (order.go_on) common.seeds.push_back(completed(instance, order.known));
  Observer observer;
  const PlanResult result = tree_search({instance.problem, *evaluator, common, observer, stop},
                                        settings.search, order.uniform ? nullptr : &guided);
  if (stop.stop_requested()) return {};
  Searched searched;
  std::vector<Record>& records = searched.records;
  if (settings.targets.visits) add_visits(*result.tree, order.key, settings.visits, records);
  searched.best = actions_of(instance, result.strategy);
  searched.score = result.score;
  if (!order.known.empty()) {
    const Score known = evaluator->evaluate(completed(instance, order.known));
    if (!searched.score.better_than(known)) {
      searched.best = order.known;
      searched.score = known;
    }
  }
  const Actions& best = searched.best;
  if (best.empty()) return searched;
  Random random(order.seed);
  for (const std::size_t depth : chosen_depths(best.size(), settings.depths, random)) {
    Record record = prefix(order.key, best, depth);
    if (settings.targets.best) {
      records.push_back(record);
      records.back().target = {{best[depth], 1.0F}};
    }
    if (!settings.targets.values) continue;
    fill_values(costs_of_next(instance, *evaluator, record.decided), settings.temperature, record);
    records.push_back(std::move(record));
  }
  return searched;
}

std::vector<Example> make_examples(const TrainingInstance& instance,
                                   std::span<const Record> records) {
  std::vector<Strategy> strategies;
  for (const Record& record : records) {
    if (!fits(instance, record))
      throw InputError("", "an example", "does not fit its model and cluster",
                       "start the training without the checkpoint");
    strategies.push_back(completed(instance, record.decided));
  }
  const auto evaluator = make_simulating_evaluator(instance.problem, 1, true);
  const std::vector<Score> scores = evaluator->evaluate(strategies);
  std::vector<Example> examples;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Strategy partial = partial_strategy(instance, records[i].decided);
    const GroupId next = instance.order[records[i].decided.size()];
    const Score seen = sees_feedback(instance, records[i]) ? scores[i] : Score();
    auto state = std::make_shared<StateFeatures>(instance.maker.state({partial, next, seen}));
    std::vector<float> target = target_row(instance, *state, records[i]);
    examples.push_back({instance.maker.problem(), std::move(state), std::move(target)});
  }
  return examples;
}

}  // namespace strato::tag
