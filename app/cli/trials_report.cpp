#include "app/cli/trials_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quantity_text.h"
#include "core/search/run/run_record.h"

namespace strato::cli {
namespace {

Json trial_json(const Trial& trial) {
  Json json = {{"predicted_s", to_seconds(trial.predicted.step_time)}};
  if (trial.score.feasible) {
    json["measured_s"] = to_seconds(trial.score.step_time);
  } else {
    json["problem"] = trial.problem;
  }
  if (trial.known) json["known"] = true;
  return json;
}

std::int64_t known_of(const TrialsResult& result) {
  return std::ranges::count_if(result.trials, &Trial::known);
}

}  // namespace

std::string trial_text(std::size_t number, const Trial& trial) {
  const std::string start =
      fmt::format("trial {:<4} {:>9} predicted", number, time_text(trial.predicted.step_time));
  if (!trial.score.feasible) return fmt::format("{}, failed: {}\n", start, trial.problem);
  return fmt::format("{} {:>9} measured{}\n", start, time_text(trial.score.step_time),
                     trial.known ? ", from before" : "");
}

std::string trials_text(const TrialsResult& result, double wall_seconds) {
  std::string text = fmt::format("\ntrials         {} ({} failed, {} known from before)\n",
                                 result.trials.size(), result.failed(), known_of(result));
  if (result.start)
    text += fmt::format("start          {} a step (dp-allreduce)\n", time_text(*result.start));
  const Score& best = result.plan.score;
  text += best.feasible ? fmt::format("best           {} a step\n", time_text(best.step_time))
                        : "best           no trial ran\n";
  if (result.start && best.feasible)
    text += fmt::format("speed-up       {}\n", factor_text(*result.start / best.step_time));
  text += fmt::format("took           {}{}\n", time_text(nanos_from_seconds(wall_seconds)),
                      result.stopped ? " (stopped early)" : "");
  if (!result.plan.note.empty()) text += fmt::format("note           {}\n", result.plan.note);
  std::size_t width = 0;
  for (const auto& [name, value] : result.plan.facts) width = std::max(width, name.size());
  if (width > 0) text += "\nFacts\n";
  for (const auto& [name, value] : result.plan.facts)
    text += fmt::format("  {:<{}}  {}\n", name, width, value);
  return text;
}

Json trials_json(const TrialsResult& result, double wall_seconds) {
  Json trials = Json::array();
  for (const Trial& trial : result.trials) trials.push_back(trial_json(trial));
  Json json = {{"trials", std::move(trials)}, {"failed", result.failed()},
               {"known", known_of(result)},   {"stopped", result.stopped},
               {"wall_s", wall_seconds},      {"note", result.plan.note}};
  if (result.start) json["start_s"] = to_seconds(*result.start);
  if (result.plan.score.feasible) json["best_s"] = to_seconds(result.plan.score.step_time);
  for (const auto& [name, value] : result.plan.facts) json["facts"][name] = value;
  if (!result.plan.curves.empty()) json["curves"] = Json::parse(curves_text(result.plan.curves));
  return json;
}

}  // namespace strato::cli
