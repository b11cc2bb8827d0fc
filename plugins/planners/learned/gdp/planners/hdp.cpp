#include "plugins/planners/learned/gdp/planners/hdp.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/at.h"
#include "core/base/error.h"
#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::gdp {
namespace {

constexpr std::int64_t kTypeWidth = 20, kGrouperWidth = 64, kLstmWidth = 64, kMostGroups = 256;
constexpr std::int64_t kShape = kFamilies + kShapeColumns;  // what a group embedding adds up

std::int32_t sample(std::span<const float> probabilities, Random& random) {
  double left = random.uniform();
  for (std::size_t i = 0; i + 1 < probabilities.size(); ++i) {
    left -= static_cast<double>(probabilities[i]);
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(probabilities.size()) - 1;
}

std::vector<std::int32_t> sample_rows(const at::Tensor& logarithms, Random& random) {
  const std::vector<float> rows = learned::floats_of(at::exp(logarithms));
  const auto columns = static_cast<std::size_t>(logarithms.size(1));
  std::vector<std::int32_t> drawn;
  for (std::size_t begin = 0; begin < rows.size(); begin += columns)
    drawn.push_back(sample(std::span(rows).subspan(begin, columns), random));
  return drawn;
}

}  // namespace

Placement HdpDraw::placement() const {
  Placement placement;
  for (const std::int32_t group : group_of) placement.push_back(choice_of[at(group)]);
  return placement;
}

struct HdpModel::State : learned::Trainable {
  State(const GraphFeatures& graph, std::uint64_t seed)
      : units(graph.units),
        groups(std::clamp<std::int64_t>(graph.units / 4, 1, kMostGroups)),
        choices(graph.choices) {
    unit = learned::tensor_of(graph.unit).view({units, kUnitColumns});
    type = learned::view_of(graph.type).clone();
    content = unit.narrow(1, 0, kShape).contiguous();
    std::vector<std::int32_t> from, to;
    for (std::int32_t u = 0; u < graph.units; ++u)
      for (std::int32_t k = 0; k < graph.neighbours; ++k) {
        const std::int64_t other = graph.adjacent[at(u * graph.neighbours + k)];
        if (other >= graph.units) continue;
        from.push_back(u);
        to.push_back(static_cast<std::int32_t>(other));
      }
    edge_from = learned::indices_of(from);
    edge_to = learned::indices_of(to);

    constexpr double kForget = 1;  // it remembers before it has learned to
    const std::int64_t both = 2 * kLstmWidth;
    type_rows = parameters.declare({kTypes, kTypeWidth}, 0.1);
    hidden = parameters.dense(kUnitColumns + kTypeWidth, kGrouperWidth);
    grouper = parameters.dense(kGrouperWidth, groups);
    forward.emplace(parameters, kShape + groups, kLstmWidth, kForget);
    backward.emplace(parameters, kShape + groups, kLstmWidth, kForget);
    decoder.emplace(parameters, 2 * both, both, kForget);
    choice_rows = parameters.declare({choices + 1, both}, 0.1);  // the last one: nothing yet
    attention_key = parameters.matrix(both, both);
    attention_query = parameters.matrix(both, both);
    attention_score = parameters.matrix(both, 1);
    out = parameters.dense(2 * both, choices);
    parameters.allocate(seed, at::kCPU);
  }

  at::Tensor group_logarithms() const {
    const at::Tensor rows = at::cat({unit, parameters[type_rows].index_select(0, type)}, 1);
    return at::log_softmax(apply(grouper, at::relu(apply(hidden, rows))), 1);
  }
  // Describes what a group holds, on average, and with which groups it is connected: [groups,
  // draws,
  // .]. No gradient goes through it (section 3.1 of the paper: the grouper learns from the reward).
  at::Tensor embed_groups(const std::vector<std::vector<std::int32_t>>& group_of) const {
    std::vector<at::Tensor> all;
    for (const std::vector<std::int32_t>& of : group_of) {
      const at::Tensor group = learned::indices_of(of);
      const at::Tensor size =
          at::zeros({groups, 1}).index_add(0, group, at::ones({units, 1})).clamp_min(1);
      const at::Tensor sums = at::zeros({groups, kShape}).index_add(0, group, content);
      at::Tensor links = at::zeros({groups * groups});
      links = links.index_add(
          0, group.index_select(0, edge_from) * groups + group.index_select(0, edge_to),
          at::ones({edge_from.size(0)}));
      all.push_back(at::cat({sums / size, at::log1p(links.view({groups, groups})) / 5}, 1));
    }
    return at::stack(all, 1);
  }
  // Both directions over the groups: [groups, draws, 2 * width].
  at::Tensor encode(const at::Tensor& embedded) const {
    return at::cat({forward->run(embedded), backward->run(embedded.flip(0)).flip(0)}, 2);
  }
  // `choose(group, logarithms)` tells the choices of all draws; returns the sum of the logarithms
  // of what was chosen, [draws].
  template <class Choose>
  at::Tensor place(const at::Tensor& encoded, Choose&& choose) const {
    const std::int64_t draws = encoded.size(1);
    const at::Tensor keys = product(encoded, attention_key);
    learned::LstmState state = decoder->start(draws);
    at::Tensor sum = at::zeros({draws});
    at::Tensor last = at::full({draws}, choices, at::kLong);
    for (std::int64_t g = 0; g < groups; ++g) {
      const at::Tensor input =
          at::cat({encoded[g], parameters[choice_rows].index_select(0, last)}, 1);
      state = decoder->step(input, state);
      const at::Tensor weights = at::softmax(
          product(at::tanh(keys + product(state.h, attention_query)), attention_score), 0);
      const at::Tensor seen = (weights * encoded).sum(0);
      const at::Tensor logarithms = at::log_softmax(apply(out, at::cat({state.h, seen}, 1)), 1);
      last = learned::indices_of(choose(g, logarithms));
      sum = sum + logarithms.gather(1, last.unsqueeze(1)).squeeze(1);
    }
    return sum;
  }
  at::Tensor log_probabilities(std::span<const HdpDraw> draws) const {
    const at::Tensor by_group = group_logarithms();
    std::vector<std::vector<std::int32_t>> group_of;
    std::vector<at::Tensor> grouped;
    for (const HdpDraw& draw : draws) {
      group_of.push_back(draw.group_of);
      grouped.push_back(by_group.gather(1, learned::indices_of(draw.group_of).unsqueeze(1)).sum());
    }
    const at::Tensor placed =
        place(encode(embed_groups(group_of)), [&](std::int64_t group, const at::Tensor&) {
          std::vector<std::int32_t> chosen;
          for (const HdpDraw& draw : draws)
            chosen.push_back(draw.choice_of[static_cast<std::size_t>(group)]);
          return chosen;
        });
    return at::stack(grouped) + placed;
  }

  std::int64_t units, groups, choices;
  at::Tensor unit, type, content, edge_from, edge_to;
  std::size_t type_rows;
  learned::Dense hidden, grouper;
  std::optional<learned::Lstm> forward, backward, decoder;
  std::size_t choice_rows, attention_key, attention_query, attention_score;
  learned::Dense out;
};

HdpModel::HdpModel(const GraphFeatures& graph, std::uint64_t seed) {
  learned::on_one_thread();
  state_ = std::make_unique<State>(graph, seed);
}
HdpModel::~HdpModel() = default;

std::int32_t HdpModel::groups() const { return static_cast<std::int32_t>(state_->groups); }

std::vector<HdpDraw> HdpModel::draw(int count, Random& random) const {
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  const at::Tensor by_group = state_->group_logarithms();
  std::vector<HdpDraw> draws(at(count));
  std::vector<std::vector<std::int32_t>> group_of;
  for (HdpDraw& draw : draws) {
    draw.group_of = sample_rows(by_group, random);
    group_of.push_back(draw.group_of);
  }
  state_->place(state_->encode(state_->embed_groups(group_of)),
                [&](std::int64_t, const at::Tensor& logarithms) {
                  const std::vector<std::int32_t> chosen = sample_rows(logarithms, random);
                  for (std::size_t i = 0; i < draws.size(); ++i)
                    draws[i].choice_of.push_back(chosen[i]);
                  return chosen;
                });
  return draws;
}

double HdpModel::learn(std::span<const HdpDraw> draws, std::span<const double> advantages,
                       double rate) {
  CHECK(draws.size() == advantages.size(), "one advantage a draw");
  learned::on_one_thread();
  std::vector<float> weights;
  for (const double advantage : advantages)
    weights.push_back(static_cast<float>(advantage / static_cast<double>(draws.size())));
  const at::Tensor logarithms = state_->log_probabilities(draws);
  state_->minimise(-(logarithms * at::tensor(weights)).sum(), {rate, 0, 1.0});
  return -logarithms.mean().item<double>();
}

namespace {

struct HdpOptions : WholeOpOptions {
  int rollouts = 16;
  double rate = 0.003;

  OptionTable option_table() {
    return OptionTable({{"rollouts", rollouts, {1, 10'000}, "placements tried a round"},
                        {"rate", rate, {0, 10}, "of learning (Adam)"}})
        .add(WholeOpOptions::option_table());
  }
};

class Hdp final : public Planner {
 public:
  std::string name() const override { return "hdp"; }
  std::vector<OptionHelp> options() const override { return list_options<HdpOptions>(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    HdpOptions options = read_options<HdpOptions>(common.set);
    options.placement.paper = true;
    PlacementSearch search(problem, evaluator, options.placement, common, observer,
                           std::move(stop));
    PlacementTask& task = search.task;
    HdpModel model(task.features(), common.seed);
    Random random(common.seed);
    std::int64_t rounds = 0;
    for (; search.left() > 0; ++rounds) {
      const int count = static_cast<int>(std::min<std::int64_t>(options.rollouts, search.left()));
      const std::vector<HdpDraw> draws = model.draw(count, random);
      std::vector<Placement> placements;
      for (const HdpDraw& draw : draws) placements.push_back(draw.placement());
      std::vector<double> advantages;
      const double usual = task.mean_reward();
      double mean_reward = 0;
      for (const Score& score : task.evaluate(placements)) {
        const double reward = task.reward(score);
        advantages.push_back(reward - (rounds == 0 ? reward : usual));
        task.count_reward(reward);
        mean_reward += reward / static_cast<double>(count);
      }
      const double surprise = model.learn(draws, advantages, options.rate);
      search.end_round(mean_reward, surprise / task.units().count);
    }
    PlanResult result = search.finish();
    result.note =
        fmt::format("{} rounds, {} units in {} groups", rounds, task.units().count, model.groups());
    result.facts = {{"Groups", fmt::to_string(model.groups())},
                    {"Mean reward", fmt::format("{:.3f}", task.mean_reward())}};
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_hdp() { return std::make_unique<Hdp>(); }

}  // namespace strato::gdp
