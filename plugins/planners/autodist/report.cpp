#include "plugins/planners/autodist/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "plugins/planners/autodist/limit.h"

namespace strato::autodist {
namespace {

constexpr std::size_t kPhases = 5;

std::string percent(std::optional<double> part) {
  return part ? fmt::format("{:.0f} %", 100 * *part) : "-";
}

// `figure` of each fifth of the trials, in order.
std::string by_phase(std::span<const Trial> trials,
                     const std::function<std::optional<double>(std::span<const Trial>)>& figure) {
  std::string text;
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    const std::size_t begin = trials.size() * phase / kPhases;
    const std::size_t end = trials.size() * (phase + 1) / kPhases;
    text += (phase == 0 ? "" : ", ") + percent(figure(trials.subspan(begin, end - begin)));
  }
  return text;
}

// Of pairs inside of rounds: scores of other rounds are of another state of the simulator.
std::optional<double> accuracy_of(std::span<const Trial> trials) {
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

std::span<const Trial> own_trials(const Search& search) {
  const auto first =
      std::ranges::find_if(search.trials(), [](const Trial& t) { return t.round >= 0; });
  return {first, search.trials().end()};
}

std::size_t trials_until_best(std::span<const Trial> trials) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < trials.size(); ++i)
    if (trials[i].score.better_than(trials[best].score)) best = i;
  return best + 1;
}

}  // namespace

std::optional<double> hit_rate(std::span<const Trial> trials) {
  double hits = 0, all = 0;
  for (const Trial& trial : trials)
    if (trial.round >= 0) hits += trial.hit, ++all;
  return all > 0 ? std::optional(hits / all) : std::nullopt;
}

std::string note_of(const Search& search) {
  const auto trials = own_trials(search);
  const double best = cost_of(search.best().score), built = cost_of(*search.best_builder_score());
  std::string text =
      fmt::format("{} trials; best builder: {}", trials.size(), search.best_builder());
  if (best < built && search.best_builder_score()->feasible)
    text += fmt::format(", which takes {:.2f} times as long", built / best);
  return text;
}

std::vector<PlanResult::Fact> facts_of(const Search& search, const SyncTask& task) {
  const auto trials = own_trials(search);
  std::vector<PlanResult::Fact> facts = {
      {"Best builder", fmt::format("{}, {:.3f} ms", search.best_builder(),
                                   1e3 * to_seconds(search.best_builder_score()->step_time))},
      {"No exact data parallelism is below",
       fmt::format("{:.3f} ms", 1e3 * to_seconds(data_parallel_limit(task)))},
      {"Trials better than it (hit rate)", percent(hit_rate(trials))},
      {"Hit rate by phase", by_phase(trials, hit_rate)}};
  if (trials.empty()) return facts;
  facts.push_back({"Trials until the best", std::to_string(trials_until_best(trials))});
  const auto levels = std::ranges::count_if(search.rounds(), &RoundFigures::level);
  if (!accuracy_of(trials)) return facts;
  facts.push_back({"Ranking accuracy by phase", by_phase(trials, accuracy_of)});
  facts.push_back({"Rounds with a fidelity level", std::to_string(levels)});
  return facts;
}

}  // namespace strato::autodist
