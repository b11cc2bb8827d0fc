#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/learned/autodist/plan/communication_model.h"
#include "plugins/planners/learned/autodist/search/search.h"

namespace strato::autodist {
namespace {

constexpr std::size_t kPhases = 5, kQuarters = 4;

std::string percent(std::optional<double> part) {
  return part ? fmt::format("{:.0f} %", 100 * *part) : "-";
}

template <class T>
std::span<T> in_phase(std::span<T> all, std::size_t phase) {
  const std::size_t begin = all.size() * phase / kPhases;
  return all.subspan(begin, all.size() * (phase + 1) / kPhases - begin);
}

// `figure` of each fifth of the trials, in order.
template <class Figure>
std::string by_phase(std::span<const PlanTrial> trials, const Figure& figure) {
  std::vector<std::string> figures;
  for (std::size_t phase = 0; phase < kPhases; ++phase)
    figures.push_back(percent(figure(in_phase(trials, phase))));
  return fmt::format("{}", fmt::join(figures, ", "));
}

// Only pairs inside of rounds count: scores of other rounds are of another state of the simulator.
std::optional<double> accuracy_of(std::span<const PlanTrial> trials) {
  double sum = 0, rounds = 0;
  for (std::size_t begin = 0; begin < trials.size();) {
    std::vector<Judged> judged;
    std::size_t end = begin;
    for (; end < trials.size() && trials[end].round == trials[begin].round; ++end)
      if (trials[end].judged) judged.push_back({*trials[end].judged, cost_of(trials[end].score)});
    if (const auto accuracy = ranking_accuracy(judged)) sum += *accuracy, ++rounds;
    begin = end;
  }
  return rounds > 0 ? std::optional(sum / rounds) : std::nullopt;
}

std::span<const PlanTrial> own_trials(const SearchHistory& history) {
  const auto first =
      std::ranges::find_if(history.trials, [](const PlanTrial& t) { return t.round >= 0; });
  return {first, history.trials.end()};
}

using Points = std::vector<std::pair<double, double>>;

Points hit_rates(std::span<const PlanTrial> trials) {
  Points points;
  double hits = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    hits += trials[i].hit;
    const double count = static_cast<double>(i + 1);
    points.emplace_back(count, 100 * hits / count);
  }
  return points;
}

// Nothing where the best builder or all trials so far do not fit: there is no ratio then.
Points improvements(std::span<const PlanTrial> trials, const Score& builder) {
  Points points;
  std::optional<Score> best;
  for (std::size_t i = 0; i < trials.size() && builder.feasible; ++i) {
    if (!best || trials[i].score.better_than(*best)) best = trials[i].score;
    if (best->feasible && best->step_time.value > 0)
      points.emplace_back(static_cast<double>(i + 1), builder.step_time / best->step_time);
  }
  return points;
}

// By trial: 0 for the slowest quarter to 3 for the fastest.
std::vector<std::size_t> quarters_of(std::span<const PlanTrial> trials) {
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t t) { return cost_of(trials[t].score); });
  std::vector<std::size_t> quarter(trials.size());
  for (std::size_t i = 0; i < order.size(); ++i) quarter[order[i]] = i * kQuarters / order.size();
  return quarter;
}

// Pairs of one round, which were judged by one state of the simulator; each counts for the quarter
// of its faster trial. Equal costs are no pair.
Points accuracy_by_quarter(std::span<const PlanTrial> trials,
                           std::span<const std::size_t> quarter) {
  std::array<double, kQuarters> right{}, pairs{};
  for (std::size_t a = 0; a < trials.size(); ++a) {
    for (std::size_t b = a + 1; b < trials.size() && trials[b].round == trials[a].round; ++b) {
      const double difference = cost_of(trials[a].score) - cost_of(trials[b].score);
      if (!trials[a].judged || !trials[b].judged || difference == 0) continue;
      const std::size_t fast = difference < 0 ? a : b, slow = difference < 0 ? b : a;
      right[quarter[fast]] += *trials[fast].judged > *trials[slow].judged;
      ++pairs[quarter[fast]];
    }
  }
  Points points;
  for (std::size_t q = 0; q < kQuarters; ++q)
    if (pairs[q] > 0) points.emplace_back(static_cast<double>(q + 1), 100 * right[q] / pairs[q]);
  return points;
}

auto best_of(std::span<const PlanTrial> trials) {
  return std::ranges::min_element(trials, &Score::better_than, &PlanTrial::score);
}

constexpr const char* kPlanner = "autodist 5";  // with the version of what its trials mean

[[noreturn]] void damaged(const std::string& problem) {
  throw InputError("", "search state", problem, "start a new search");
}

}  // namespace

std::optional<double> hit_rate(std::span<const PlanTrial> trials) {
  double hits = 0, all = 0;
  for (const PlanTrial& trial : trials)
    if (trial.round >= 0) hits += trial.hit, ++all;
  return all > 0 ? std::optional(hits / all) : std::nullopt;
}

std::string note_of(const SearchHistory& history) {
  const auto trials = own_trials(history);
  const Score& built = *history.best_builder_score;
  const double best = cost_of(best_of(history.trials)->score), long_time = cost_of(built);
  std::string text =
      fmt::format("{} trials; best builder: {}", trials.size(), history.best_builder);
  if (best < long_time && built.feasible)
    text += fmt::format(", which takes {:.2f} times as long", long_time / best);
  return text;
}

std::vector<PlanResult::Fact> facts_of(const SearchHistory& history, const SyncTask& task) {
  const auto trials = own_trials(history);
  std::vector<PlanResult::Fact> facts = {
      {"Best builder", fmt::format("{}, {:.3f} ms", history.best_builder,
                                   1e3 * to_seconds(history.best_builder_score->step_time))},
      {"No exact data parallelism is below",
       fmt::format("{:.3f} ms", 1e3 * to_seconds(data_parallel_limit(task)))},
      {"Trials better than it (hit rate)", percent(hit_rate(trials))},
      {"Hit rate by phase", by_phase(trials, hit_rate)}};
  if (trials.empty()) return facts;
  facts.push_back({"Trials until the best", fmt::to_string(best_of(trials) - trials.begin() + 1)});
  if (!accuracy_of(trials)) return facts;
  facts.push_back({"Ranking accuracy by phase", by_phase(trials, accuracy_of)});
  facts.push_back({"Rounds with a fidelity level",
                   fmt::to_string(std::ranges::count_if(history.rounds, &RoundFigures::level))});
  return facts;
}

std::vector<PlanResult::Curve> curves_of(const SearchHistory& history) {
  const auto trials = own_trials(history);
  std::vector<PlanResult::Curve> curves = {
      {"Trials better than the best builder", "Hit rate", "Trials", "% of trials so far",
       hit_rates(trials)},
      {"Best trial over the best builder", "Best so far", "Trials", "Times as fast",
       improvements(trials, *history.best_builder_score)}};
  const std::vector<std::size_t> quarter = quarters_of(trials);
  for (std::size_t phase = 0; phase < kPhases; ++phase)
    curves.push_back(
        {"Ranking accuracy by speed of trials", fmt::format("{}/{}", phase + 1, kPhases),
         "Quarter of trials (4: the fastest)", "% of pairs",
         accuracy_by_quarter(in_phase(trials, phase), in_phase(std::span(quarter), phase))});
  std::erase_if(curves, [](const PlanResult::Curve& curve) { return curve.points.empty(); });
  return curves;
}

void refuse_trials() { damaged("its trials are not those of this search"); }

std::int64_t trials_in(const EvaluationRecord& record) {
  return std::transform_reduce(record.batches.begin(), record.batches.end(), std::int64_t{0},
                               std::plus(), [](const auto& batch) { return std::ssize(batch); });
}

std::shared_ptr<const SearchTree> tree_of(const EvaluationRecord& record, const Problem& problem,
                                          std::uint64_t seed) {
  auto tree = std::make_shared<SearchTree>();
  tree->actions = {*data_parallel(problem).groups.front()};
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) tree->order.emplace_back(g);
  tree->iterations = trials_in(record);
  tree->vertices.emplace_back().visits = static_cast<std::int32_t>(tree->iterations);
  tree->seed = seed;
  tree->problem = problem.digest();
  tree->record = record;
  return tree;
}

EvaluationRecord record_for(const std::string& options, const SearchTree* resume) {
  if (resume == nullptr) return {kPlanner, options, {}};
  if (!resume->record || resume->record->planner != kPlanner)
    damaged("it is of another planner, or of another version");
  for (const auto& batch : resume->record->batches)
    for (const auto& [time, feasible, overflow] : batch)
      if (time < 0 || overflow < 0) damaged("a trial has an impossible time or overflow");
  if (trials_in(*resume->record) != resume->iterations) damaged("its trials are not all there");
  if (const std::string& was = resume->record->options; was != options)
    throw InputError("", "search state", "it was made with other options (" + was + ")",
                     "go on with the same, or start a new search");
  return *resume->record;
}

std::vector<Score> RecordedTrials::run(std::span<const Strategy> strategies) {
  if (at_ < replayed_) {
    const auto& known = record_.batches[at_++];
    if (known.size() != strategies.size()) refuse_trials();
    std::vector<Score> scores;
    for (const auto& [time, feasible, overflow] : known)
      scores.push_back({Nanos(time), feasible, Bytes(overflow), nullptr});
    return scores;
  }
  std::vector<Score> scores = inner_(strategies);
  auto& batch = record_.batches.emplace_back();
  for (const Score& score : scores)
    batch.push_back({score.step_time.value, score.feasible, score.overflow.value});
  return scores;
}

}  // namespace strato::autodist
