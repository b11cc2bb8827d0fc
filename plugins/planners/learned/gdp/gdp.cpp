// The planners "gdp", "hdp" and "placeto": one policy network, three methods. Here is "gdp" (GDP):
// a policy that places ops on devices, learned by trying.
//
// It starts from weights that were trained on many graphs and adapts them to this one
// ("GDP-generalization + finetune", section 4.3), or from nothing ("GDP-one"). Its trainer asks the
// quick planners of the registry, which must outlive the planner.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/learned/gdp/planners/hdp.h"
#include "plugins/planners/learned/gdp/planners/placeto.h"
#include "plugins/planners/learned/gdp/training/trainer.h"

namespace strato::gdp {
namespace {

enum class StartMode { Finetune, One, ZeroShot };

struct GdpOptions {
  bool paper = false;
  StartMode mode = StartMode::Finetune;
  PpoOptions ppo{.learn = {.imitation = 0.3}};
  PlacementOptions task;
  NetworkSize size;
  std::filesystem::path weights;
  std::string attention_of;

  void follow_paper() {
    mode = StartMode::One;
    ppo = PpoOptions::of_paper();
    task.replicate = false;
    task.colocate = Colocate::Parameters;
    size.paper = task.paper = true;
  }
  OptionTable option_table() {
    constexpr OptionRange kCount{1, 10'000}, kPart{0, 1}, kWeight{0, 100}, kRate{0, 10},
        kUnits{1, 4096};
    return {
        {"mode",
         mode,
         {"finetune", "one", "zero-shot"},
         "finetune: adapt trained weights to this graph; one: from nothing (variant=paper); "
         "zero-shot: one round of the trained policy, which is how finetune begins; learn nothing"},
        {"weights", weights, "file of the network's weights; empty: the bundled ones"},
        {"replicate", task.replicate,
         "a unit may run on all devices, not only on one (variant=paper: false)"},
        {"colocate",
         task.colocate,
         {"parameters", "gradients"},
         "gradients: a backward op goes with its forward op; parameters: only what reads a "
         "parameter and its update stay together (variant=paper)"},
        {"rollouts", ppo.rollouts, kCount, "placements tried a round (variant=paper: 400)"},
        {"minibatches", ppo.minibatches, kCount, "steps an epoch (variant=paper: 40)"},
        {"epochs", ppo.epochs, {1, 1'000}, "times that a round is learned from (variant=paper: 5)"},
        {"changes", ppo.changes, kPart,
         "part of the trials that change one block of the best placement"},
        {"imitation", ppo.learn.imitation, kWeight,
         "weight of giving the best placement as the answer (variant=paper: 0)"},
        {"rate", ppo.learn.rate, kRate, "of learning (Adam)"},
        {"entropy", ppo.learn.entropy, kRate,
         "weight of the policy's entropy: how long it keeps trying other things"},
        {"segment", size.segment, kUnits,
         "units that attend to each other and to the segment before"},
        {"attention", size.attention, "false: every unit on its own (GDP 4.4)"},
        {"superposition", size.superposition,
         "false: layers are not conditioned on the graph (GDP 4.4)"},
        {"attention-of", attention_of,
         "an op: tell to which others the policy attends when it places it"},
        {"variant", paper, {"default", "paper"}, "paper: as printed, with tables 3 and 4"}};
  }
};

// Fresh, or a copy of weights that are there.
Network network_for(const GdpOptions& options, std::uint64_t seed, std::string& note) {
  if (options.mode == StartMode::One) return Network::make(options.size, seed);
  if (!options.weights.empty()) return Network::load(options.weights);
  const bool ours = options.size == NetworkSize{};
  if (ours && std::filesystem::exists(bundled_weights())) return Network::load(bundled_weights());
  note = ours ? "; from fresh weights (stratoscope-cli train gdp makes trained ones)"
              : "; from fresh weights: the bundled ones are of other sizes";
  return Network::make(options.size, seed);
}

// By unit: the mean attention of these ones; they are distinct.
std::vector<double> mean_attention(const AttentionWeights& weights,
                                   std::span<const std::int32_t> units) {
  std::vector<double> sum(at(weights.units), 0.0);
  for (const std::int32_t unit : units) weights.add(unit, 1.0 / std::ssize(units), sum);
  return sum;
}

class PolicyAttention final : public Attention {
 public:
  PolicyAttention(AttentionWeights weights, Units units)
      : weights_(std::move(weights)), units_(std::move(units)), ops_(at(weights_.units), 0) {
    for (const std::int32_t unit : units_.of_op) ++ops_[at(unit)];
  }

  std::vector<double> of(std::span<const OpId> ops) const override {
    std::set<std::int32_t> looking;
    for (const OpId op : ops) looking.insert(units_.of_op.at(op.index()));
    const std::vector<double> by_unit =
        mean_attention(weights_, std::vector(looking.begin(), looking.end()));
    std::vector<double> by_op;
    for (const std::int32_t unit : units_.of_op)
      by_op.push_back(by_unit[at(unit)] / ops_[at(unit)]);
    return by_op;
  }

 private:
  const AttentionWeights weights_;
  const Units units_;
  std::vector<int> ops_;  // by unit: how many
};

// Tells where the policy looks when it places the op: its strongest in words, all as a curve.
void add_attention(PlanResult& result, const Problem& problem, const PlacementTask& task,
                   const Network& network, OpId op) {
  const std::int32_t unit = task.units().of_op[op.index()];
  const AttentionWeights weights = network.attention(task.features());
  if (weights.weight.empty()) return;
  const std::vector<double> seen = mean_attention(weights, {&unit, 1});
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t most = std::min<std::size_t>(5, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most),
                            std::greater(), [&](std::size_t u) { return seen[u]; });
  std::string words;
  for (const std::size_t u : std::span(order).first(most))
    words += fmt::format("{}{} {:.1f} %", words.empty() ? "" : ", ",
                         problem.graph->op(task.units().leader[u]).name, 100 * seen[u]);
  const std::string title = "Attention of " + problem.graph->op(op).name;
  result.facts.push_back({title, words});
  PlanResult::Curve curve{
      title, "Share", "Units in the order of the graph", "% of its attention", {}};
  for (std::size_t u = 0; u < seen.size(); ++u)
    curve.points.emplace_back(static_cast<double>(u), 100.0 * seen[u]);
  result.curves.push_back(std::move(curve));
}

OpId op_named(const Problem& problem, const std::string& name) {
  if (name.empty()) return {};
  const OpId op = problem.graph->find_op(name);
  if (op.valid()) return op;
  throw InputError("", "--set attention-of=" + name, "the graph has no op of this name",
                   "give one of its ops: inspect lists them");
}

class Gdp final : public Planner {
 public:
  explicit Gdp(const PluginRegistry& registry) : registry_(registry) {}
  std::string name() const override { return "gdp"; }
  std::vector<OptionHelp> options() const override { return list_options<GdpOptions>(); }
  Trainer* trainer() override {
    if (trainer_ == nullptr) trainer_ = make_trainer(&registry_);
    return trainer_.get();
  }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    const GdpOptions options = read_options<GdpOptions>(common.set);
    const OpId looked_at = op_named(problem, options.attention_of);
    std::string note;
    Network network = network_for(options, common.seed, note);
    PlacementOptions placing = options.task;
    placing.neighbours = network.size().neighbours;
    placing.interchangeable = common.constraints == nullptr;
    PlacementSearch search(problem, evaluator, placing, common, observer, std::move(stop));
    PlacementTask& task = search.task;
    if (const std::int64_t left = search.left(); !options.ppo.paper && left > 0) {
      std::vector<Placement> given = answers(network.probabilities(task.features()), task);
      given.resize(std::min(given.size(), static_cast<std::size_t>(left)));
      task.evaluate(given);
    }
    RoundReport last;
    std::int64_t rounds = 0;
    for (bool more = search.left() > 0; more; ++rounds) {
      Round round = try_round(network, task, options.ppo, rounds, common.seed, search.left());
      last = round.report;
      search.end_round(last.mean_reward, last.entropy);
      more = options.mode != StartMode::ZeroShot && search.left() > 0;
      if (more) learn(network, task, std::move(round), options.ppo);
    }
    PlanResult result = search.finish();
    result.note = fmt::format("{} rounds on {} units{}", rounds, task.units().count, note);
    result.facts = {{"Units placed as one", fmt::to_string(task.units().count)},
                    {"Choices of a unit", fmt::to_string(task.choices().size())},
                    {"Policy's entropy", fmt::format("{:.3f} nats", last.entropy)},
                    {"Mean reward of the last round", fmt::format("{:.3f}", last.mean_reward)}};
    if (looked_at.valid()) add_attention(result, problem, task, network, looked_at);
    return result;
  }
  std::shared_ptr<const Attention> attention(const Problem& problem,
                                             const PlannerOptions& common) const override {
    const GdpOptions options = read_options<GdpOptions>(common.set);
    std::string note;
    const Network network = network_for(options, common.seed, note);
    if (!note.empty())
      throw InputError(
          "", "planner gdp", "there are no trained weights to look at",
          "make some (stratoscope-cli train gdp), or name a file (--set weights=FILE)");
    PlacementOptions placing = options.task;
    placing.neighbours = network.size().neighbours;
    const auto evaluator = make_simulating_evaluator(problem, 1);  // is asked nothing
    const PlacementTask task(problem, *evaluator, placing);
    AttentionWeights weights = network.attention(task.features());
    if (weights.weight.empty()) return nullptr;
    return std::make_shared<const PolicyAttention>(std::move(weights), task.units());
  }

 private:
  const PluginRegistry& registry_;
  std::unique_ptr<Trainer> trainer_;
};

std::unique_ptr<Planner> make(std::string_view name, const PluginRegistry& registry) {
  if (name == "hdp") return make_hdp();
  if (name == "placeto") return make_placeto();
  return std::make_unique<Gdp>(registry);
}

}  // namespace
}  // namespace strato::gdp

STRATOSCOPE_PLANNER(strato::gdp::make)
