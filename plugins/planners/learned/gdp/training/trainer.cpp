#include "plugins/planners/learned/gdp/training/trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/parallel.h"
#include "plugins/planners/learned/kit/training/peers.h"
#include "plugins/planners/learned/kit/training/training.h"

namespace strato::gdp {
namespace {

struct TrainSettings {
  enum class Method {
    Replay,  // imitate the best known placements of all pairs of model and cluster met so far
    Ppo,     // GDP-batch: learn from own roll-outs, one pair after another
  };
  Method method = Method::Replay;
  NetworkSize size;
  int groups = 60;
  learned::RunSettings run{.held_out = 8, .report = 50};

  // Replay.
  double rate = 5e-4;
  int memory = 400;    // latest pairs that are learned from
  int first = 16;      // pairs before the first step
  int visits = 4;      // new pairs at once
  int updates = 16;    // steps from these to the next
  int minibatch = 4;   // pairs a step learns from
  int search = 200;    // evaluations of a pair's search for the best placement
  double whole = 0.5;  // part of the pairs on which every unit goes to one device

  // Ppo.
  PpoOptions ppo{.learn = {.imitation = 1}};
  int rounds = 4;  // in a visit

  OptionTable option_table();
};

OptionTable TrainSettings::option_table() {
  constexpr OptionRange kCount{1, 100'000}, kPart{0, 1}, kWeight{0, 100};
  // One option for the rates of both methods.
  const auto read_rate = [this, kPart](const std::string& text) {
    OptionTable({{"rate", rate, kPart, ""}, {"rate", ppo.learn.rate, kPart, ""}})
        .read({{"rate", text}});
  };
  const auto write_rate = [this] {
    return fmt::format("{}", method == Method::Ppo ? ppo.learn.rate : rate);
  };
  OptionTable table = {
      {"method",
       method,
       {"replay", "ppo"},
       "replay: imitate the best known placements of all pairs of a model and a cluster met so "
       "far; "
       "ppo: learn from own trials on one pair after another (GDP-batch, as in the paper)"},
      {"rate", read_rate, write_rate, "from 0 to 1",
       fmt::format("of learning (Adam); of ppo {}", PpoOptions().learn.rate)},
      {"memory", memory, kCount, "replay: the latest pairs, which are learned from"},
      {"first", first, kCount, "replay: pairs before the first step"},
      {"visits", visits, kCount, "replay: new pairs at once"},
      {"updates", updates, kCount, "replay: steps from new pairs to new pairs"},
      {"minibatch", minibatch, kCount, "replay: pairs that a step learns from"},
      {"search", search, kCount, "replay: evaluations of the search for a pair's best placement"},
      {"whole", whole, kPart, "replay: part of the pairs whose units go to one device each"},
      {"rounds", rounds, kCount, "ppo: in a visit of a model on a cluster"},
      {"rollouts", ppo.rollouts, kCount, "ppo: placements tried a round"},
      {"minibatches", ppo.minibatches, kCount, "ppo: steps an epoch"},
      {"epochs", ppo.epochs, kCount, "ppo: times that a round is learned from"},
      {"entropy", ppo.learn.entropy, kWeight, "ppo: weight of the policy's entropy"},
      {"imitation", ppo.learn.imitation, kWeight,
       "ppo: weight of giving the best placement as the answer; 0: PPO alone"},
      {"attention", size.attention, "false: every unit on its own"},
      {"superposition", size.superposition, "false: layers are not conditioned on the graph"}};
  return table.add(run.option_table());
}

// What both methods have in common. `options` and the heuristics must outlive it.
class PolicyLearner : public learned::Learner {
 public:
  PolicyLearner(const TrainingOptions& options, const TrainSettings& settings,
                const PluginRegistry* heuristics)
      : options_(options), settings_(settings), teacher_{settings.search, heuristics} {}

  std::string fingerprint() const {
    return learned::fingerprint_of(settings_) + pairs_.problems().fingerprint();
  }
  std::string old_fingerprint() const {
    std::string text = fmt::format("seed={} {}", options_.seed, pairs_.problems().digest().hex());
    for (const auto& [key, value] : options_.set)
      if (key != "report" && key != "device" && key != "patience")
        text += fmt::format(" {}={}", key, value);
    if (options_.processes > 1)
      text += fmt::format(" processes={} rank={}", options_.processes, options_.rank);
    return text;
  }

  learned::TrainedNetwork& network() override { return network_; }
  // The first one of several processes measures. The network is not asked.
  void hold_out(const Phase& phase, const std::stop_token& stop) override {
    if (options_.rank > 0) return;
    phase("searching what only measures");
    held_out_.resize(static_cast<std::size_t>(settings_.run.held_out));
    parallel_for(held_out_.size(), options_.threads, [&](std::size_t i) {
      const auto number = static_cast<std::int64_t>(i);
      auto& [lesson, answer] = held_out_[i];
      lesson = std::make_unique<Lesson>(pairs_, pairs_.held_out_pair(number));
      answer = lesson->search(teacher_, random_stream("held out", number), stop);
    });
    std::erase_if(held_out_, [](const HeldOut& one) { return one.answer.empty(); });
  }
  // Measures how near the policy is to the best known placements.
  void measure(TrainingPoint& point) override {
    if (held_out_.empty()) return;
    double loss = 0, logarithm = 0;
    const auto count = static_cast<double>(held_out_.size());
    for (const auto& [lesson, answer] : held_out_) {
      const GraphFeatures& features = lesson->task().features();
      loss += network_.loss({&features, answer}) / count;
      logarithm += std::log(lesson->ratio(network_.probabilities(features))) / count;
    }
    point.held_out_loss = loss;
    point.held_out_ratio = std::exp(logarithm);
  }

 protected:
  // Every process has numbers of its own.
  std::int64_t of_this_process(std::int64_t number) const {
    return number * options_.processes + options_.rank;
  }
  std::uint64_t random_stream(const char* purpose, std::int64_t number) const {
    return learned::random_stream(options_.seed, purpose, number);
  }
  void tell_pair(const Phase& phase, const Pair& pair) const {
    phase("placing " + pairs_.problems().name(pair.key));
  }

  const TrainingOptions& options_;
  const TrainSettings settings_;
  const TeacherOptions teacher_;
  Network network_ = settings_.run.start.empty() ? Network::make(settings_.size, options_.seed)
                                                 : Network::load(settings_.run.start);
  const TrainingPairs pairs_{options_, settings_.groups, settings_.run.held_out, settings_.whole,
                             network_.size().neighbours};

 private:
  struct HeldOut {
    std::unique_ptr<Lesson> lesson;
    Placement answer;
  };
  std::vector<HeldOut> held_out_;
};

class PpoLearner final : public PolicyLearner {
 public:
  using PolicyLearner::PolicyLearner;

  // The rate is that of the options: a visit is no step of the network. The loss is minus the mean
  // reward of the last round.
  std::optional<double> learn(std::int64_t step, double, const Phase& phase,
                              const std::stop_token& stop) override {
    const learned::NetworkState before = network_.state();
    const Pair pair = pairs_.pair(of_this_process(step));
    tell_pair(phase, pair);
    Lesson lesson(pairs_, pair, options_.threads);
    PlacementTask& task = lesson.task();
    task.evaluate(task.known_placements());
    std::optional<double> loss;
    try {
      loss = play_rounds(task, step, stop);
    } catch (const learned::PeerLost&) {
      network_.restore(before);
      throw;
    }
    if (!loss) {
      network_.restore(before);
      return loss;
    }
    collected.examples += task.evaluations();
    ++collected.searches;
    return loss;
  }
  double rate() const override { return settings_.ppo.learn.rate; }

 private:
  // All processes make the same number of steps of the network: of several, none stops amid.
  std::optional<double> play_rounds(PlacementTask& task, std::int64_t step,
                                    const std::stop_token& stop) {
    const auto stopped = [&] { return options_.processes == 1 && stop.stop_requested(); };
    const std::uint64_t seed = random_stream("rounds", of_this_process(step));
    double loss = 0;
    for (int number = 0; number < settings_.rounds && !stopped(); ++number) {
      Round round = try_round(network_, task, settings_.ppo, number, seed, settings_.ppo.rollouts);
      loss = -round.report.mean_reward;
      gdp::learn(network_, task, std::move(round), settings_.ppo);
    }
    return stopped() ? std::nullopt : std::optional(loss);
  }
};

class ReplayLearner final : public PolicyLearner {
 public:
  using PolicyLearner::PolicyLearner;

  // All that is due: a process that took over a later step searches what it lacks.
  void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) override {
    while (collected.searches < settings_.first + step / settings_.updates * settings_.visits) {
      const int count = collected.searches == 0 ? settings_.first : settings_.visits;
      // Every process searches pairs of its own.
      const std::int64_t first =
          collected.searches * options_.processes + std::int64_t{options_.rank} * count;
      tell_pair(phase, pairs_.pair(first));
      if (!memory_.search(first, count, teacher_, stop)) return;
      collected.searches += count;
      collected.examples = static_cast<std::int64_t>(memory_.size());
      phase("learning");
    }
  }
  std::optional<InputError> nothing_to_learn() const override {
    if (collected.searches == 0 || memory_.size() > 0) return std::nullopt;
    return InputError("", "training", "none of the models fits on the clusters that were tried",
                      "add larger clusters or smaller batches");
  }
  std::optional<double> learn(std::int64_t step, double rate, const Phase&,
                              const std::stop_token&) override {
    Random random(random_stream("minibatch", of_this_process(step)));
    return network_.imitate(memory_.minibatch(settings_.minibatch, random), rate);
  }
  double rate() const override { return settings_.rate; }
  std::string experience() const override { return write_lessons(memory_.records()); }
  void restore(std::string_view experience, const std::string& file) override {
    memory_.restore(read_lessons(experience, file));
    collected.examples = static_cast<std::int64_t>(memory_.size());
  }

 private:
  LessonMemory memory_{pairs_, static_cast<std::size_t>(settings_.memory)};
};

std::unique_ptr<PolicyLearner> make_learner(const TrainingOptions& options,
                                            const TrainSettings& settings,
                                            const PluginRegistry* heuristics) {
  if (settings.method == TrainSettings::Method::Ppo)
    return std::make_unique<PpoLearner>(options, settings, heuristics);
  return std::make_unique<ReplayLearner>(options, settings, heuristics);
}

class GdpTrainer final : public Trainer {
 public:
  explicit GdpTrainer(const PluginRegistry* heuristics) : heuristics_(heuristics) {}
  std::vector<OptionHelp> options() const override { return list_options<TrainSettings>(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    refuse_unknown_options("the trainer of 'gdp'", list_options<TrainSettings>(), options.set);
    const auto settings = read_options<TrainSettings>(options.set);
    const auto learner = make_learner(options, settings, heuristics_);
    const auto read_old = [&](std::string_view bytes, const std::string& file) {
      learned::Checkpoint checkpoint =
          learned::parse_old_checkpoint(bytes, "gdp", file, read_old_lessons);
      if (checkpoint.fingerprint == learner->old_fingerprint())
        checkpoint.fingerprint = learned::full_fingerprint(options, learner->fingerprint());
      return checkpoint;
    };
    return learned::run_training({"gdp", settings.run, learner->fingerprint(), read_old}, options,
                                 *learner, observer, stop);
  }

 private:
  const PluginRegistry* heuristics_;
};

}  // namespace

std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics) {
  return std::make_unique<GdpTrainer>(heuristics);
}

}  // namespace strato::gdp
