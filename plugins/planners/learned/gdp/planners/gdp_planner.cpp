#include "plugins/planners/learned/gdp/planners/gdp_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/option_table.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/gdp/planners/learning_curve.h"
#include "plugins/planners/learned/gdp/policy/attention.h"
#include "plugins/planners/learned/gdp/policy/ppo.h"
#include "plugins/planners/learned/gdp/policy/search_budget.h"
#include "plugins/planners/learned/gdp/policy/warm_starts.h"
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
  OptionTable option_table();
};

OptionTable GdpOptions::option_table() {
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
      {"rollouts", ppo.rollouts, {1, 10'000}, "placements tried a round (variant=paper: 400)"},
      {"minibatches", ppo.minibatches, {1, 10'000}, "steps an epoch (variant=paper: 40)"},
      {"epochs", ppo.epochs, {1, 1'000}, "times that a round is learned from (variant=paper: 5)"},
      {"changes",
       ppo.changes,
       {0, 1},
       "part of the trials that change one block of the best placement"},
      {"imitation",
       ppo.learn.imitation,
       {0, 100},
       "weight of giving the best placement as the answer (variant=paper: 0)"},
      {"rate", ppo.learn.rate, {0, 10}, "of learning (Adam)"},
      {"entropy",
       ppo.learn.entropy,
       {0, 10},
       "weight of the policy's entropy: how long it keeps trying other things"},
      {"segment",
       size.segment,
       {1, 4096},
       "units that attend to each other and to the segment before"},
      {"attention", size.attention, "false: every unit on its own (GDP 4.4)"},
      {"superposition", size.superposition,
       "false: layers are not conditioned on the graph (GDP 4.4)"},
      {"attention-of", attention_of,
       "an op: tell to which others the policy attends when it places it"},
      {"variant", paper, {"default", "paper"}, "paper: as printed, with tables 3 and 4"}};
}

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

class Gdp final : public Planner {
 public:
  explicit Gdp(const PluginRegistry& registry) : registry_(registry) {}
  std::string name() const override { return "gdp"; }
  std::vector<OptionHelp> options() const override { return list_options<GdpOptions>(); }
  Trainer* trainer() override {
    if (trainer_ == nullptr) trainer_ = make_trainer(&registry_);
    return trainer_.get();
  }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override;
  std::shared_ptr<const Attention> attention(const Problem& problem,
                                             const PlannerOptions& options) const override;

 private:
  const PluginRegistry& registry_;
  std::unique_ptr<Trainer> trainer_;
};

// Tells where the policy looks when it places the op: its strongest in words, all as a curve.
void add_attention(PlanResult& result, const Problem& problem, const PlacementTask& task,
                   const Network& network, OpId op) {
  const std::int32_t unit = task.units().of_op[op.index()];
  const AttentionWeights weights = network.attention(task.features());
  if (weights.weight.empty()) return;
  const std::vector<double> seen = mean_attention(weights, {&unit, 1});
  std::vector<std::int32_t> order(seen.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr std::size_t kTold = 5;
  const auto most = std::min(kTold, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most),
                            std::greater(),
                            [&](std::int32_t u) { return seen[static_cast<std::size_t>(u)]; });
  std::string words;
  for (std::size_t i = 0; i < most; ++i) {
    const auto u = static_cast<std::size_t>(order[i]);
    words += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ",
                         problem.graph->op(task.units().leader[u]).name, 100 * seen[u]);
  }
  const std::string title = "Attention of " + problem.graph->op(op).name;
  result.facts.push_back({title, words});
  PlanResult::Curve curve{
      title, "Share", "Units in the order of the graph", "% of its attention", {}};
  for (std::size_t u = 0; u < seen.size(); ++u)
    curve.points.emplace_back(static_cast<double>(u), 100.0 * seen[u]);
  result.curves.push_back(std::move(curve));
}

// The policy's own answers are tried first.
void ask(const Network& network, PlacementTask& task, std::int64_t most) {
  std::vector<Placement> given = answers(network.probabilities(task.features()), task);
  given.resize(std::min(given.size(), static_cast<std::size_t>(most)));
  task.evaluate(given);
}

OpId op_named(const Problem& problem, const std::string& name) {
  if (name.empty()) return {};
  const OpId op = problem.graph->find_op(name);
  if (op.valid()) return op;
  throw InputError("", "--set attention-of=" + name, "the graph has no op of this name",
                   "give one of its ops: inspect lists them");
}

PlanResult Gdp::plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                     Observer& observer, std::stop_token stop, std::shared_ptr<const SearchTree>) {
  const GdpOptions options = read_options<GdpOptions>(common.set);
  const OpId looked_at = op_named(problem, options.attention_of);
  std::string note;
  Network network = network_for(options, common.seed, note);
  PlacementOptions task_options = options.task;
  task_options.neighbours = network.size().neighbours;
  task_options.interchangeable = common.constraints == nullptr;
  PlacementTask task(problem, evaluator, task_options);
  SearchBudget budget(task, common, observer, std::move(stop));
  task.evaluate(task.known_placements());
  const WarmStarts starts(problem, task, evaluator, common.seeds);
  if (!options.ppo.paper && budget.left() > 0) ask(network, task, budget.left());
  RoundReport last;
  LearningCurve curve;
  std::int64_t rounds = 0;
  for (bool more = budget.left() > 0; more; ++rounds) {
    Round round = try_round(network, task, options.ppo, rounds, common.seed, budget.left());
    last = round.report;
    curve.add_round(task.evaluations(), last.mean_reward, task.reward(*task.best_score()),
                    last.entropy);
    budget.report(false);
    more = options.mode != StartMode::ZeroShot && budget.left() > 0;
    if (more) learn(network, task, std::move(round), options.ppo);
  }
  budget.report(true);
  PlanResult result = starts.result_of(task);
  result.note = fmt::format("{} rounds on {} units{}", rounds, task.units().count, note);
  result.facts = {{"Units placed as one", std::to_string(task.units().count)},
                  {"Choices of a unit", std::to_string(task.choices().size())},
                  {"Policy's entropy", fmt::format("{:.3f} nats", last.entropy)},
                  {"Mean reward of the last round", fmt::format("{:.3f}", last.mean_reward)}};
  result.curves = curve.curves();
  if (looked_at.valid()) add_attention(result, problem, task, network, looked_at);
  return result;
}

std::shared_ptr<const Attention> Gdp::attention(const Problem& problem,
                                                const PlannerOptions& common) const {
  const GdpOptions options = read_options<GdpOptions>(common.set);
  std::string note;
  const Network network = network_for(options, common.seed, note);
  if (!note.empty())
    throw InputError("", "planner gdp", "there are no trained weights to look at",
                     "make some (stratoscope-cli train gdp), or name a file (--set weights=FILE)");
  PlacementOptions task_options = options.task;
  task_options.neighbours = network.size().neighbours;
  const auto evaluator = make_simulating_evaluator(problem, 1);  // is asked nothing
  const PlacementTask task(problem, *evaluator, task_options);
  return attention_of(network, task.features(), task.units());
}

}  // namespace

std::unique_ptr<Planner> make_gdp(const PluginRegistry& registry) {
  return std::make_unique<Gdp>(registry);
}

}  // namespace strato::gdp
