// The planner "autodist" (AutoDist): every variable synchronised in its own way, found by algorithm
// 1; or one of the hand-designed builders as it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/search/api/reporter.h"
#include "core/search/constraints/constraints.h"
#include "core/search/constraints/constraints_json.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/autodist/known_starts.h"
#include "plugins/planners/autodist/race.h"
#include "plugins/planners/autodist/replication.h"
#include "plugins/planners/autodist/report.h"
#include "plugins/planners/autodist/trial_record.h"

namespace strato::autodist {
namespace {

constexpr double kMegabyte = 1 << 20;

double number_option(const PlannerOptions& given, const std::string& key, double fallback,
                     double least, double most) {
  const double value = given.number(key, fallback);
  if (value >= least && value <= most) return value;
  throw InputError("", fmt::format("--set {}={}", key, given.text(key, "")),
                   "the value is out of range",
                   fmt::format("give a number from {} to {}", least, most));
}

int whole_option(const PlannerOptions& given, const std::string& key, int fallback, int most) {
  const std::int64_t value = given.integer(key, fallback);
  if (value >= 1 && value <= most) return static_cast<int>(value);
  throw InputError("", fmt::format("--set {}={}", key, value), "the value is out of range",
                   fmt::format("give a whole number from 1 to {}", most));
}

Bytes megabytes_option(const PlannerOptions& given, const std::string& key, Bytes fallback) {
  const double value =
      number_option(given, key, static_cast<double>(fallback.value) / kMegabyte, 0, 1e6);
  return Bytes(std::llround(value * kMegabyte));
}

struct AutoDistOptions {
  Race::Options race;
  BuilderOptions build;
  std::string builder;
  bool fewer = true;  // replicas on fewer devices, too

  static AutoDistOptions from(const PlannerOptions& given);
};

AutoDistOptions AutoDistOptions::from(const PlannerOptions& given) {
  AutoDistOptions options;
  const bool paper = given.choice("variant", "default", {"default", "paper"}) == "paper";
  SearchOptions& search = options.race.search;
  search.known = !paper;
  search.learned = given.boolean("learned", true) &&
                   given.choice("sampler", "full", {"full", "random"}) == "full";
  if (paper || given.text("sampler", "full") == "random") search.changes = 0;
  search.changes = number_option(given, "changes", search.changes, 0, 1);
  if (paper) search.sampler.adjacent = 0;
  search.sampler.adjacent = number_option(given, "adjacent", search.sampler.adjacent, 0, 1);
  if (paper) search.sampler.sharded = 0;
  search.sampler.sharded = number_option(given, "sharded", search.sampler.sharded, 0, 1);
  search.sampler.small = megabytes_option(given, "small", search.sampler.small);
  search.sampler.large = megabytes_option(given, "large", search.sampler.large);
  search.proposals = whole_option(given, "proposals", search.proposals, 100'000);
  search.diversity = number_option(given, "diversity", search.diversity, 0, 100);
  search.accuracy = number_option(given, "accuracy", search.accuracy, 0, 1);
  search.steps = whole_option(given, "steps", search.steps, 10'000);
  search.ranker.rate = number_option(given, "rate", search.ranker.rate, 0, 10);
  options.race.trials = static_cast<std::size_t>(
      whole_option(given, "trials", static_cast<int>(options.race.trials), 10'000));
  options.race.rows = given.boolean("rows", true);
  options.race.seed = given.seed;
  options.builder = given.text("builder", "");
  options.fewer = given.choice("replicas", paper ? "all" : "best", {"best", "all"}) == "best";
  options.build.chunk =
      whole_option(given, "chunk", static_cast<int>(options.build.chunk), 1 << 30);
  options.build.bucket = megabytes_option(given, "bucket", options.build.bucket);
  options.build.large = megabytes_option(given, "partition", options.build.large);
  options.build.seed = given.seed;
  return options;
}

std::string builder_names() {
  std::string names;
  for (const BuilderInfo& info : builder_infos())
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

// One search: its budget, and what its observer is told.
class Run {
 public:
  Run(const Problem& problem, const std::vector<Strategy>& choices, Evaluator& evaluator,
      const AutoDistOptions& options, const PlannerOptions& common, Observer& observer,
      std::stop_token stop, TrialRecord record)
      : problem_(problem),
        common_(common),
        stop_(std::move(stop)),
        record_(std::move(record)),
        start_(best_start(completed(common.seeds, *problem.cluster), evaluator)),
        known_(record_.count()),
        trials_(record_, [&](std::span<const Strategy> s) { return evaluator.evaluate(s); }),
        race_(problem, choices, common.seeds, options.race,
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
        std::max<std::int64_t>(0, common_.iterations - (record_.count() - known_)));
  }
  void report() {
    reporter_.progress(progress(race_.best().score), false);
    reporter_.tree([&] { return record_.as_tree(problem_, common_.seed); });
  }
  Progress progress(const Score& best) const {
    return {record_.count(), record_.count(), reporter_.elapsed(), best};
  }
  PlanResult result() const {
    PlanResult result;
    result.strategy = race_.best_strategy();
    result.score = race_.best().score;
    result.evaluations = record_.count();
    result.tree = record_.as_tree(problem_, common_.seed);
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
  TrialRecord record_;
  const std::optional<KnownStart> start_;
  const std::int64_t known_;
  RecordedTrials trials_;
  Race race_;
  Reporter reporter_;
  double begun_ = 0;
};

// All that trials follow from but the problem and what they showed.
std::string conditions_of(const PlannerOptions& options) {
  std::string text = "seed=" + std::to_string(options.seed);
  for (const auto& [key, value] : options.set) text += " " + key + "=" + value;
  if (!options.seeds.empty()) text += " starts=" + digest_of_starts(options.seeds);
  if (options.constraints)
    text += " constraints=" + Hasher().text(constraints_json(*options.constraints)).finish().hex();
  return text;
}

TrialRecord record_for(const std::string& conditions, const SearchTree* resume) {
  if (resume == nullptr) return {conditions, {}};
  TrialRecord record = TrialRecord::from_tree(*resume);
  if (record.options != conditions)
    throw InputError("", "search state", "it was made with other options (" + record.options + ")",
                     "go on with the same, or start a new search");
  return record;
}

class AutoDist final : public Planner {
 public:
  std::string name() const override { return "autodist"; }
  std::vector<OptionHelp> options() const override;
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    const AutoDistOptions options = AutoDistOptions::from(common);
    TrialRecord record = record_for(conditions_of(common), resume.get());
    if (!options.builder.empty()) return built(problem, evaluator, options, observer);
    const std::vector<Strategy> choices = replications_of(problem, common.seeds, options.fewer);
    const SyncTask first(problem, choices.front(), options.race.rows);
    if (first.devices.size() < 2 || first.variables.empty())
      return plain(first, common.seeds, evaluator, observer);
    return Run(problem, choices, evaluator, options, common, observer, std::move(stop),
               std::move(record))
        .run();
  }

 private:
  // The best of them.
  static PlanResult scored(const std::vector<Strategy>& strategies, Evaluator& evaluator,
                           Observer& observer) {
    const auto [strategy, score] = best_start(strategies, evaluator).value();
    PlanResult result;
    result.strategy = strategy;
    result.score = score;
    result.evaluations = std::ssize(strategies);
    observer.on_improvement(strategy, score, {1, 1, 0, score});
    return result;
  }
  // With equal shares or with shares by speed.
  static PlanResult built(const Problem& problem, Evaluator& evaluator,
                          const AutoDistOptions& options, Observer& observer) {
    std::vector<Strategy> strategies;
    for (const Strategy& choice : replications_of(problem, {}, false)) {
      const SyncTask task(problem, choice, options.race.rows);
      strategies.push_back(strategy_of(task, build(options.builder, task, options.build)));
    }
    PlanResult result = scored(strategies, evaluator, observer);
    result.note = "builder " + options.builder;
    return result;
  }
  static PlanResult plain(const SyncTask& task, std::span<const Strategy> known,
                          Evaluator& evaluator, Observer& observer) {
    std::vector<Strategy> strategies = completed(known, *task.problem.cluster);
    strategies.insert(strategies.begin(), task.base);
    PlanResult result = scored(strategies, evaluator, observer);
    result.note = "there is nothing to synchronise";
    return result;
  }
};

std::vector<OptionHelp> AutoDist::options() const {
  return {
      {"builder", "", "a hand-designed strategy instead of a search: " + builder_names()},
      {"chunk", "64", "adjacent variables of one message (builder allreduce)"},
      {"bucket", "64",
       "most MB of one message (builders horovod, parallax, allgather, random-axis)"},
      {"partition", "4", "MB from which on builders divide a variable"},
      {"sampler", "full", "random: the guided sampler without simulator and changes (Random+G)"},
      {"learned", "true", "false: nothing is learned; proposals are tried as they come"},
      {"changes", "0.7", "part of the proposals that change good plans (variant=paper: 0)"},
      {"trials", "10", "tried a round"},
      {"proposals", "160", "made a round, of which the simulator chooses"},
      {"diversity", "0.3", "weight of being different against the simulator's score"},
      {"accuracy", "0.8", "of ranking, below the fidelity level"},
      {"steps", "30", "of learning a round"},
      {"rate", "0.005", "of learning (Adam)"},
      {"small", "0.0625", "MB; smaller variables are never divided"},
      {"large", "32", "MB; larger variables are always divided"},
      {"rows", "true", "false: gradients of lookups are sent whole, as dense ones"},
      {"replicas", "best",
       "all: a replica on every device; best: on fewer, too, where AllReduce is faster so "
       "(variant=paper: all; builders: all)"},
      {"adjacent", "0.5",
       "part of the samples whose messages are of adjacent variables "
       "(variant=paper: 0)"},
      {"sharded", "0.5",
       "part of the samples in which replicas keep some variables in parts, as ZeRO does; 0: never "
       "(variant=paper: 0)"},
      {"variant", "default", "paper: as printed; builders teach nothing, and samples only"},
  };
}

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<AutoDist>(); }

}  // namespace
}  // namespace strato::autodist

STRATOSCOPE_PLANNER(strato::autodist::make)
