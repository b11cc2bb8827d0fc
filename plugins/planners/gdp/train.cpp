#include "plugins/planners/gdp/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/cluster/random_cluster.h"
#include "plugins/planners/gdp/ppo.h"
#include "plugins/planners/gdp/train_checkpoint.h"

namespace strato::gdp {
namespace {

using Clock = std::chrono::steady_clock;

struct TrainSettings {
  PpoOptions ppo;
  NetworkSize size;
  std::string start, device = "cpu";
  int rounds = 4;    // of PPO in a visit
  int held_out = 6;  // pairs of model and cluster on which nothing is learned
  int report = 20;   // visits from point to point of the curve
  int groups = 60;
  double save_seconds = 30;
};

std::vector<OptionHelp> help() {
  const TrainSettings d;
  return {
      {"rounds", std::to_string(d.rounds), "of PPO in a visit of a model on a cluster"},
      {"rollouts", std::to_string(d.ppo.rollouts), "placements tried a round"},
      {"minibatches", std::to_string(d.ppo.minibatches), "steps an epoch"},
      {"epochs", std::to_string(d.ppo.epochs), "times that a round is learned from"},
      {"rate", fmt::format("{}", d.ppo.learn.rate), "of learning (Adam)"},
      {"entropy", fmt::format("{}", d.ppo.learn.entropy), "weight of the policy's entropy"},
      {"imitation", "1", "weight of giving the best placement as the answer; 0: PPO alone"},
      {"attention", "true", "false: every unit on its own"},
      {"superposition", "true", "false: layers are not conditioned on the graph"},
      {"start", "", "weights to begin with; empty: fresh ones"},
      {"device", "cpu", "where the network computes: cpu, cuda"},
      {"held-out", std::to_string(d.held_out), "visits that only measure; 0: none"},
      {"report", std::to_string(d.report), "visits from point to point of the curve"},
  };
}

TrainSettings settings_from(const TrainingOptions& options) {
  PlannerOptions given;
  given.set = options.set;
  const std::vector<OptionHelp> known = help();
  for (const auto& [key, value] : options.set) {
    if (std::ranges::find(known, key, &OptionHelp::name) != known.end()) continue;
    std::string list;
    for (const OptionHelp& option : known) list += (list.empty() ? "" : ", ") + option.name;
    throw InputError("", "--set " + key + "=" + value, "the trainer of 'gdp' has no such option",
                     "it has: " + list);
  }
  const auto whole = [&](const std::string& key, int& value, int least) {
    const std::int64_t asked = given.integer(key, value);
    if (asked < least || asked > 100'000)
      throw InputError("", "--set " + key + "=" + std::to_string(asked),
                       "the value is out of range",
                       "give a whole number from " + std::to_string(least) + " to 100000");
    value = static_cast<int>(asked);
  };
  TrainSettings settings;
  whole("rounds", settings.rounds, 1);
  whole("rollouts", settings.ppo.rollouts, 1);
  whole("minibatches", settings.ppo.minibatches, 1);
  whole("epochs", settings.ppo.epochs, 1);
  whole("held-out", settings.held_out, 0);
  whole("report", settings.report, 1);
  settings.ppo.learn.rate = given.number("rate", settings.ppo.learn.rate);
  settings.ppo.learn.entropy = given.number("entropy", settings.ppo.learn.entropy);
  settings.ppo.learn.imitation = given.number("imitation", 1);
  settings.size.attention = given.boolean("attention", true);
  settings.size.superposition = given.boolean("superposition", true);
  settings.start = given.text("start", "");
  settings.device = given.text("device", settings.device);
  return settings;
}

std::uint64_t stream(std::uint64_t seed, const char* what, std::int64_t number) {
  return Hasher().text(what).number(seed).number(number).finish().low;
}

class Training {
 public:
  Training(const TrainingOptions& options, TrainingObserver& observer, std::stop_token stop);
  TrainingResult run();

 private:
  struct Pair {
    std::size_t model, cluster;
  };
  Pair pair(const char* what, std::int64_t number) const;
  Problem problem(const Pair& pair) const;
  double visit(std::int64_t number);
  double held_out_loss() const;
  void report();
  void save();
  std::string fingerprint() const;
  std::string note() const;
  bool finished() const;
  double elapsed() const {
    return elapsed_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  const TrainingOptions& options_;
  TrainingObserver& observer_;
  const std::stop_token stop_;
  const TrainSettings settings_;
  std::vector<std::shared_ptr<const Graph>> graphs_;  // training graphs
  std::vector<std::shared_ptr<const Cluster>> clusters_;
  Network network_;
  std::int64_t visits_ = 0, evaluations_ = 0, losses_ = 0;
  double loss_sum_ = 0;  // since the last point
  TrainingPoint last_;
  double elapsed_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
};

Training::Training(const TrainingOptions& options, TrainingObserver& observer, std::stop_token stop)
    : options_(options),
      observer_(observer),
      stop_(std::move(stop)),
      settings_(settings_from(options)),
      clusters_(options.clusters),
      network_(settings_.start.empty() ? Network::make(settings_.size, options.seed)
                                       : Network::load(settings_.start)) {
  if (options.processes > 1)
    throw InputError("", "--processes", "gdp is trained by one process", "leave it out");
  for (const TrainingModel& model : options.models)
    graphs_.push_back(std::make_shared<const Graph>(
        make_training_graph(simplify(*model.graph, false), Optimizer::Adam)));
  // The draw may give a single GPU, on which there is nothing to decide.
  const std::size_t count = clusters_.size() + static_cast<std::size_t>(options.random_clusters);
  for (std::int64_t draw = 0; clusters_.size() < count; ++draw) {
    auto cluster = std::make_shared<const Cluster>(
        random_cluster(stream(options.seed, "training cluster", draw)));
    if (cluster->device_count() > 1) clusters_.push_back(std::move(cluster));
  }
  if (graphs_.empty() || clusters_.empty())
    throw InputError("", "training", "there is no model or no cluster to learn on",
                     "name a model, and ask for random clusters (--clusters 100) or name one");
  if (const auto checkpoint = read_checkpoint(options.checkpoint, fingerprint())) {
    network_ = Network::parse(checkpoint->network, options.checkpoint.string());
    network_.restore_optimizer(checkpoint->optimizer);
    visits_ = checkpoint->visits;
    evaluations_ = checkpoint->evaluations;
    elapsed_before_ = checkpoint->elapsed_seconds;
  }
  network_.move_to(settings_.device);
}

std::string Training::fingerprint() const {
  Hasher hasher;
  for (const auto& graph : graphs_) hasher.digest(graph->digest());
  for (const auto& cluster : clusters_) hasher.digest(cluster->digest());
  std::string text = fmt::format("seed={} {}", options_.seed, hasher.finish().hex());
  for (const auto& [key, value] : options_.set)
    if (key != "report" && key != "device") text += " " + key + "=" + value;
  return text;
}

Training::Pair Training::pair(const char* what, std::int64_t number) const {
  Random random(stream(options_.seed, what, number));
  return {random.below(graphs_.size()), random.below(clusters_.size())};
}

Problem Training::problem(const Pair& pair) const {
  Problem problem;
  problem.graph = graphs_[pair.model];
  problem.cluster = clusters_[pair.cluster];
  problem.cost = make_cost_model(problem.graph, problem.cluster, CostSources());
  MetisOptions grouping;
  grouping.max_groups = settings_.groups;
  problem.grouping = std::make_shared<const Grouping>(group_by_metis(
      *problem.graph, mean_op_times(*problem.graph, *problem.cluster, *problem.cost), grouping));
  return problem;
}

// Minus the mean reward of its last round.
double Training::visit(std::int64_t number) {
  const Pair where = pair("visit", number);
  observer_.on_phase(fmt::format("placing {} on {}", options_.models[where.model].name,
                                 clusters_[where.cluster]->name()));
  const Problem problem = this->problem(where);
  const auto evaluator = make_simulating_evaluator(problem, options_.threads);
  PlacementOptions how;
  how.neighbours = network_.size().neighbours;
  PlacementTask task(problem, *evaluator, how);
  task.evaluate(task.known_placements());
  double loss = 0;
  for (int round = 0; round < settings_.rounds && !stop_.stop_requested(); ++round)
    loss = -play_round(network_, task, settings_.ppo, round,
                       stream(options_.seed, "rounds", number), settings_.ppo.rollouts)
                .mean_reward;
  evaluations_ += task.evaluations();
  return loss;
}

// Of the policy's most probable placements: the root of the time over the best known one's.
double Training::held_out_loss() const {
  double sum = 0;
  for (int i = 0; i < settings_.held_out; ++i) {
    const Problem problem = this->problem(pair("held out", i));
    const auto evaluator = make_simulating_evaluator(problem, options_.threads);
    PlacementOptions how;
    how.neighbours = network_.size().neighbours;
    PlacementTask task(problem, *evaluator, how);
    task.evaluate(task.known_placements());
    const Score score = task.evaluate({greedy(network_.probabilities(task.features()))})[0];
    sum -= task.reward(score) / settings_.held_out;
  }
  return sum;
}

bool Training::finished() const {
  return options_.budget_seconds > 0 ? elapsed() >= options_.budget_seconds
                                     : visits_ >= options_.steps;
}

void Training::report() {
  if (losses_ == 0) return;
  last_.step = visits_;
  last_.loss = loss_sum_ / static_cast<double>(losses_);
  if (settings_.held_out > 0) last_.held_out_loss = held_out_loss();
  last_.elapsed_seconds = elapsed();
  last_.searches = visits_;
  last_.examples = evaluations_;
  loss_sum_ = 0;
  losses_ = 0;
  observer_.on_point(last_);
}

std::string Training::note() const {
  Json models = Json::array(), set = Json::object();
  for (const TrainingModel& model : options_.models)
    models.push_back(fmt::format("{} (batch {})", model.name, model.graph->batch()));
  for (const auto& [key, value] : options_.set) set[key] = value;
  Json note = {{"made_by", "stratoscope-cli train gdp"},
               {"seed", options_.seed},
               {"models", models},
               {"random_clusters", options_.random_clusters},
               {"set", set},
               {"visits", visits_},
               {"evaluations", evaluations_},
               {"loss", last_.loss}};
  if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
  return note.dump();
}

void Training::save() {
  saved_ = Clock::now();
  if (!options_.checkpoint.empty())
    write_checkpoint(options_.checkpoint, {fingerprint(), visits_, evaluations_, elapsed(),
                                           network_.bytes(""), network_.optimizer_state()});
  if (!options_.output.empty()) write_file(options_.output, network_.bytes(note()));
}

// A visit that is stopped amid is done again from the weights before it.
TrainingResult Training::run() {
  while (!finished() && !stop_.stop_requested()) {
    const std::vector<float> before = network_.parameters();
    const std::string optimizer = network_.optimizer_state();
    const std::int64_t evaluations = evaluations_;
    const double loss = visit(visits_);
    if (stop_.stop_requested()) {
      network_.set_parameters(before);
      network_.restore_optimizer(optimizer);
      evaluations_ = evaluations;
      break;
    }
    loss_sum_ += loss;
    ++losses_;
    if (++visits_ % settings_.report == 0) report();
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= settings_.save_seconds)
      save();
  }
  const bool stopped = !finished();
  report();
  save();
  return {last_, stopped};
}

class GdpTrainer final : public Trainer {
 public:
  std::vector<OptionHelp> options() const override { return help(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    return Training(options, observer, std::move(stop)).run();
  }
};

}  // namespace

std::unique_ptr<Trainer> make_trainer() { return std::make_unique<GdpTrainer>(); }

}  // namespace strato::gdp
