// The planner "autodist" (AutoDist): every variable synchronised in its own way, found by algorithm
// 1; or one of the hand-designed builders as it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/plugin/plugin.h"
#include "core/search/reporter.h"
#include "plugins/planners/autodist/known_starts.h"
#include "plugins/planners/autodist/replication.h"
#include "plugins/planners/autodist/report.h"
#include "plugins/planners/autodist/search.h"
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
  SearchOptions search;
  BuilderOptions build;
  std::string builder;
  int trials = 10;
  bool rows = true, fewer = true;

  static AutoDistOptions from(const PlannerOptions& given);
};

AutoDistOptions AutoDistOptions::from(const PlannerOptions& given) {
  AutoDistOptions options;
  const bool paper = given.choice("variant", "default", {"default", "paper"}) == "paper";
  SearchOptions& search = options.search;
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
  options.trials = whole_option(given, "trials", options.trials, 10'000);
  options.rows = given.boolean("rows", true);
  options.builder = given.text("builder", "");
  const bool narrows = given.choice("replicas", paper ? "all" : "best", {"best", "all"}) == "best";
  options.fewer = narrows && options.builder.empty();
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
  Run(const Problem& problem, const SyncTask& task, Evaluator& evaluator,
      const AutoDistOptions& options, const PlannerOptions& common, Observer& observer,
      std::stop_token stop, TrialRecord record, KnownStarts starts, SyncPlan likely)
      : problem_(problem),
        task_(task),
        options_(options),
        common_(common),
        stop_(std::move(stop)),
        record_(std::move(record)),
        starts_(std::move(starts)),
        likely_(std::move(likely)),
        known_(record_.count()),
        trials_(record_, [&](std::span<const Strategy> s) { return evaluator.evaluate(s); }),
        search_(
            task, options.search, [this](std::span<const Strategy> s) { return trials_.run(s); },
            common.seed),
        reporter_(observer) {
    search_.found = [this](const Trial& trial) {
      if (trials_.next_known() == 0)
        reporter_.improvement(strategy_of(task_, trial.plan), progress(trial.score));
    };
  }

  PlanResult run() {
    if (starts_.best)
      reporter_.improvement(*starts_.best, {0, 0, reporter_.elapsed(), starts_.best_score});
    search_.know(starts_.plans, starts_.scores);
    search_.try_builders(
        batch_of(all_builds(task_, common_.seed).size() + (likely_.empty() ? 0 : 1)), likely_);
    while (trials_.next_known() > 0 && !stop_.stop_requested())
      if (!search_.play_round(trials_.next_known())) refuse_trials();
    if (known_ > 0) begun_ = reporter_.elapsed();
    report();
    while (left() > 0 && search_.play_round(batch_of(static_cast<std::size_t>(options_.trials))))
      report();
    reporter_.progress(progress(search_.best().score), true);
    return result();
  }

 private:
  // Trials; 0: it is over.
  std::int64_t left() const {
    if (stop_.stop_requested()) return 0;
    if (common_.budget_seconds > 0)
      return reporter_.elapsed() - begun_ < common_.budget_seconds ? std::int64_t{1} << 40 : 0;
    return std::max<std::int64_t>(0, common_.iterations - (record_.count() - known_));
  }
  std::size_t batch_of(std::size_t wanted) const {
    if (const std::size_t known = trials_.next_known()) return known;
    return std::min(wanted, static_cast<std::size_t>(left()));
  }
  void report() {
    reporter_.progress(progress(search_.best().score), false);
    reporter_.tree([&] { return record_.as_tree(problem_, common_.seed); });
  }
  Progress progress(const Score& best) const {
    return {record_.count(), record_.count(), reporter_.elapsed(), best};
  }
  PlanResult result() const {
    PlanResult result;
    result.strategy = strategy_of(task_, search_.best().plan);
    result.score = search_.best().score;
    result.evaluations = record_.count();
    result.tree = record_.as_tree(problem_, common_.seed);
    result.note = note_of(search_);
    result.facts = facts_of(search_, task_);
    result.curves = curves_of(search_);
    take_starts(result);
    return result;
  }
  // A start strategy is never lost: what the search cannot change may still be the best.
  void take_starts(PlanResult& result) const {
    if (!starts_.best || !starts_.best_score.better_than(result.score)) return;
    result.strategy = *starts_.best;
    result.score = starts_.best_score;
    result.note += "; a start strategy is the best";
  }

  const Problem& problem_;
  const SyncTask& task_;
  const AutoDistOptions& options_;
  const PlannerOptions& common_;
  const std::stop_token stop_;
  TrialRecord record_;
  const KnownStarts starts_;
  const SyncPlan likely_;  // empty: none
  const std::int64_t known_;
  RecordedTrials trials_;
  Search search_;
  Reporter reporter_;
  double begun_ = 0;
};

// All that trials follow from but what they showed. The plans stand for constraints and costs, too.
std::string conditions_of(const PlannerOptions& options, const Replication& base) {
  std::string text = "seed=" + std::to_string(options.seed);
  for (const auto& [key, value] : options.set) text += " " + key + "=" + value;
  if (!options.seeds.empty()) text += " starts=" + digest_of_starts(options.seeds);
  const Strategy plans[] = {base.strategy, base.likely};
  return text + " plans=" + digest_of_starts(plans);
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
    const std::vector<Strategy> none;
    const std::vector<Strategy>& known = options.builder.empty() ? common.seeds : none;
    const Replication base = best_replication(
        problem, known, {options.fewer, options.rows, options.search.sampler}, common);
    TrialRecord record = record_for(conditions_of(common, base), resume.get());
    const SyncTask task(problem, base.strategy, options.rows, options.search.sampler.sharded > 0);
    if (!options.builder.empty()) return built(task, evaluator, options, observer);
    KnownStarts starts = KnownStarts::of(task, known, evaluator);
    if (task.devices.size() < 2 || task.variables.empty()) {
      PlanResult result = plain(task, evaluator, observer);
      if (starts.best && starts.best_score.better_than(result.score)) {
        result.strategy = *starts.best;
        result.score = starts.best_score;
      }
      return result;
    }
    SyncPlan likely;
    if (options.search.known) likely = plan_of(task, base.likely).value_or(SyncPlan());
    PlanResult result = Run(problem, task, evaluator, options, common, observer, std::move(stop),
                            std::move(record), std::move(starts), std::move(likely))
                            .run();
    const std::size_t all = problem.cluster->device_count();
    if (base.devices < all)
      result.facts.push_back(
          {"Replicas", fmt::format("on {} of {} devices: {:.3f} ms there before the "
                                   "search, {:.3f} ms on all",
                                   base.devices, all, 1e3 * to_seconds(base.step_time),
                                   1e3 * to_seconds(base.on_all))});
    return result;
  }

 private:
  static PlanResult scored(const Strategy& strategy, Evaluator& evaluator, Observer& observer) {
    PlanResult result;
    result.strategy = strategy;
    result.score = evaluator.evaluate(strategy);
    result.evaluations = 1;
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
  static PlanResult built(const SyncTask& task, Evaluator& evaluator,
                          const AutoDistOptions& options, Observer& observer) {
    const SyncPlan plan = build(options.builder, task, options.build);
    PlanResult result = scored(strategy_of(task, plan), evaluator, observer);
    result.note = "builder " + options.builder;
    return result;
  }
  static PlanResult plain(const SyncTask& task, Evaluator& evaluator, Observer& observer) {
    PlanResult result = scored(task.base, evaluator, observer);
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
