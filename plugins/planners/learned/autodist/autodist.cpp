// The planner "autodist" (AutoDist): every variable synchronised in its own way, found by algorithm
// 1; or one of the hand-designed builders as it is.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/digest.h"
#include "core/plugin/api/plugin.h"
#include "core/search/constraints/constraints.h"
#include "plugins/planners/learned/autodist/search/race.h"

namespace strato::autodist {
namespace {

// The best of them, of which there is one at least; each is evaluated once.
PlanResult best_of(const std::vector<Strategy>& strategies, Evaluator& evaluator) {
  const std::vector<Score> scores = evaluator.evaluate(strategies);
  const auto best = std::ranges::min_element(scores, &Score::better_than);
  PlanResult result;
  result.strategy = strategies[static_cast<std::size_t>(best - scores.begin())];
  result.score = *best;
  result.evaluations = std::ssize(strategies);
  return result;
}

struct AutoDistOptions {
  bool paper = false;
  bool random_sampler = false;
  Race::Options race;
  BuilderOptions build;
  std::string builder;
  bool all_replicas = false;  // only on all devices

  void follow_paper() {
    race.search.known = false;
    race.search.changes = race.search.sampler.adjacent = race.search.sampler.sharded = 0;
    all_replicas = true;
  }
  OptionTable option_table() {
    constexpr OptionRange kPart{0, 1}, kMegabytes{0, 1e6}, kCount{1, 10'000}, kMany{1, 100'000},
        kVariables{1, 1 << 30}, kWeight{0, 100};
    SearchOptions& search = race.search;
    return {
        {"builder", builder,
         fmt::format("a hand-designed strategy instead of a search: {}",
                     fmt::join(builder_names(), ", "))},
        {"chunk", build.chunk, kVariables, "adjacent variables of one message (builder allreduce)"},
        {"bucket", build.bucket, OptionUnit::MB, kMegabytes,
         "most MB of one message (builders horovod, parallax, allgather, random-axis)"},
        {"partition", build.large, OptionUnit::MB, kMegabytes,
         "MB from which on builders divide a variable"},
        {"sampler",
         random_sampler,
         {"full", "random"},
         "random: the guided sampler without simulator and changes (Random+G)"},
        {"learned", search.learned, "false: nothing is learned; proposals are tried as they come"},
        {"changes", search.changes, kPart,
         "part of the proposals that change good plans (variant=paper: 0)"},
        {"trials", race.trials, kCount, "tried a round"},
        {"proposals", search.proposals, kMany, "made a round, of which the simulator chooses"},
        {"diversity", search.diversity, kWeight,
         "weight of being different against the simulator's score"},
        {"accuracy", search.accuracy, kPart, "of ranking, below the fidelity level"},
        {"steps", search.steps, kCount, "of learning a round"},
        {"rate", search.ranker.rate, {0, 10}, "of learning (Adam)"},
        {"small", search.sampler.small, OptionUnit::MB, kMegabytes,
         "MB; smaller variables are never divided"},
        {"large", search.sampler.large, OptionUnit::MB, kMegabytes,
         "MB; larger variables are always divided"},
        {"rows", race.rows, "false: gradients of lookups are sent whole, as dense ones"},
        {"replicas",
         all_replicas,
         {"best", "all"},
         "all: a replica on every device; best: on fewer, too, where AllReduce is faster so "
         "(variant=paper: all; builders: all)"},
        {"adjacent", search.sampler.adjacent, kPart,
         "part of the samples whose messages are of adjacent variables (variant=paper: 0)"},
        {"sharded", search.sampler.sharded, kPart,
         "part of the samples in which replicas keep some variables in parts, as ZeRO does; 0: "
         "never "
         "(variant=paper: 0)"},
        {"variant",
         paper,
         {"default", "paper"},
         "paper: as printed; builders teach nothing, and samples only"}};
  }
  static AutoDistOptions from(const PlannerOptions& given) {
    AutoDistOptions options = read_options<AutoDistOptions>(given.set);
    if (options.random_sampler) {
      options.race.search.learned = false;
      if (!given.set.contains("changes")) options.race.search.changes = 0;
    }
    options.race.seed = options.build.seed = given.seed;
    return options;
  }
};

// One search: its budget, and what its observer is told.
class Run {
 public:
  // `known`: the complete strategies that it starts from.
  Run(const Problem& problem, const std::vector<Strategy>& choices,
      const std::vector<Strategy>& known, Evaluator& evaluator, const AutoDistOptions& options,
      const PlannerOptions& common, Observer& observer, std::stop_token stop,
      EvaluationRecord record)
      : problem_(problem),
        common_(common),
        stop_(std::move(stop)),
        record_(std::move(record)),
        start_(known.empty() ? std::nullopt : std::optional(best_of(known, evaluator))),
        known_(trials_in(record_)),
        trials_(record_, [&](std::span<const Strategy> s) { return evaluator.evaluate(s); }),
        race_(problem, choices, known, options.race,
              [this](std::span<const Strategy> s) { return trials_.run(s); }),
        reporter_(observer) {
    race_.found = [this] {
      if (trials_.next_known() == 0)
        reporter_.improvement(race_.best_strategy(), progress(race_.best().score));
    };
  }

  PlanResult run() {
    if (start_) reporter_.improvement(start_->strategy, {0, 0, reporter_.elapsed(), start_->score});
    while (trials_.next_known() > 0 && !stop_.stop_requested())
      if (!race_.play(trials_.next_known())) refuse_trials();
    if (known_ > 0) begun_ = reporter_.elapsed();
    // Builders take no more than half of it: what they are compared with is tried, too.
    const std::size_t known = trials_.next_known();  // where it was stopped before them
    if (!race_.has_best()) race_.play(known > 0 ? known : std::max<std::size_t>(1, left() / 2));
    report();
    while (left() > 0 && race_.play(left())) report();
    reporter_.progress(progress(race_.best().score), true);
    return result();
  }

 private:
  // Trials; 0: it is over.
  std::size_t left() const {
    if (stop_.stop_requested()) return 0;
    if (common_.budget_seconds > 0)
      return reporter_.elapsed() - begun_ < common_.budget_seconds ? std::size_t{1} << 40 : 0;
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, common_.iterations - (trials_in(record_) - known_)));
  }
  void report() {
    reporter_.progress(progress(race_.best().score), false);
    reporter_.tree([&] { return tree_of(record_, problem_, common_.seed); });
  }
  Progress progress(const Score& best) const {
    return {trials_in(record_), trials_in(record_), reporter_.elapsed(), best};
  }
  PlanResult result() const {
    PlanResult result;
    result.strategy = race_.best_strategy();
    result.score = race_.best().score;
    result.evaluations = trials_in(record_);
    result.tree = tree_of(record_, problem_, common_.seed);
    const SearchHistory history = race_.history();
    result.note = note_of(history);
    result.facts = facts_of(history, race_.best_task());
    result.curves = curves_of(history);
    tell_replicas(result);
    take_start(result);
    return result;
  }
  void tell_replicas(PlanResult& result) const {
    const std::size_t here = race_.best_task().devices.size();
    const std::size_t all = problem_.cluster->device_count();
    if (here == all) return;
    const auto milliseconds = [](const Score& score) { return 1e3 * to_seconds(score.step_time); };
    result.facts.push_back(
        {"Replicas",
         fmt::format("on {} of {} devices: {:.3f} ms there before the search, {:.3f} ms "
                     "on all",
                     here, all, milliseconds(*race_.best_began_with()),
                     milliseconds(*race_.first_began_with()))});
  }
  // A start strategy is never lost: what the search cannot change may still be the best.
  void take_start(PlanResult& result) const {
    if (!start_ || !start_->score.better_than(result.score)) return;
    result.strategy = start_->strategy;
    result.score = start_->score;
    result.note += "; a start strategy is the best";
  }

  const Problem& problem_;
  const PlannerOptions& common_;
  const std::stop_token stop_;
  EvaluationRecord record_;
  const std::optional<PlanResult> start_;
  const std::int64_t known_;
  RecordedTrials trials_;
  Race race_;
  Reporter reporter_;
  double begun_ = 0;
};

// All that trials follow from but the problem and what they showed.
std::string conditions_of(const PlannerOptions& options) {
  std::string text = fmt::format("seed={}", options.seed);
  for (const auto& [key, value] : options.set) text += fmt::format(" {}={}", key, value);
  if (!options.seeds.empty()) {
    Hasher starts;
    for (const Strategy& strategy : options.seeds) starts.text(strategy.digest().hex());
    text += fmt::format(" starts={}", starts.finish().hex());
  }
  if (options.constraints)
    text += fmt::format(" constraints={}",
                        Hasher().text(constraints_json(*options.constraints)).finish().hex());
  return text;
}

class AutoDist final : public Planner {
 public:
  std::string name() const override { return "autodist"; }
  std::vector<OptionHelp> options() const override { return list_options<AutoDistOptions>(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    const AutoDistOptions options = AutoDistOptions::from(common);
    EvaluationRecord record = record_for(conditions_of(common), resume.get());
    if (!options.builder.empty())
      return told(best_of(built(problem, options), evaluator), "builder " + options.builder,
                  observer);
    std::vector<Strategy> known;
    for (const Strategy& strategy : common.seeds)
      known.push_back(complete(strategy, *problem.cluster));
    const std::vector<Strategy> choices = replications_of(problem, known, !options.all_replicas);
    const SyncTask first(problem, choices.front(), options.race.rows);
    if (first.devices.size() < 2 || first.variables.empty()) {
      known.insert(known.begin(), first.base);
      return told(best_of(known, evaluator), "there is nothing to synchronise", observer);
    }
    return Run(problem, choices, known, evaluator, options, common, observer, std::move(stop),
               std::move(record))
        .run();
  }

 private:
  static PlanResult told(PlanResult result, std::string note, Observer& observer) {
    result.note = std::move(note);
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
  // With equal shares or with shares by speed.
  static std::vector<Strategy> built(const Problem& problem, const AutoDistOptions& options) {
    std::vector<Strategy> strategies;
    for (const Strategy& choice : replications_of(problem, {}, false)) {
      const SyncTask task(problem, choice, options.race.rows);
      strategies.push_back(strategy_of(task, build(options.builder, task, options.build)));
    }
    return strategies;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<AutoDist>(); }

}  // namespace
}  // namespace strato::autodist

STRATOSCOPE_PLANNER(strato::autodist::make)
