#include "app/cli/tune_report.h"

#include <fmt/format.h>

#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

Json round_json(const TuneRound& round) {
  Json json = {{"round", round.plan.round},
               {"planner", round.plan.made_by},
               {"verdict", name_of(round.verdict)},
               {"predicted_s", to_seconds(round.plan.predicted.score.step_time)}};
  if (round.verdict == TuneRound::Verdict::Failed) {
    json["problem"] = round.problem;
    return json;
  }
  json["measured_s"] = to_seconds(round.measured);
  json["error"] = round.error();
  json["cost_change"] = round.change;
  return json;
}

double gain_of(const TuneResult& result) {
  return 1 - result.best_measured / result.rounds[*result.first].measured;
}

}  // namespace

std::string round_text(const TuneRound& round) {
  const std::string start =
      fmt::format("round {:<2} {:<14} {:>9} predicted", round.plan.round, round.plan.made_by,
                  time_text(round.plan.predicted.score.step_time));
  if (round.verdict == TuneRound::Verdict::Failed)
    return fmt::format("{}, failed: {}\n", start, round.problem);
  return fmt::format("{} {:>9} measured {:>8}, costs changed {:>6}, {}\n", start,
                     time_text(round.measured),
                     (round.error() < 0 ? "" : "+") + percent_text(round.error()),
                     percent_text(round.change), name_of(round.verdict));
}

std::string tune_text(const TuneResult& result, double wall_seconds) {
  const std::string end =
      fmt::format("{} after {} round{} and {} s\n", name_of(result.end), result.rounds.size(),
                  result.rounds.size() == 1 ? "" : "s", significant_text(wall_seconds));
  if (!result.best) return fmt::format("\nno strategy ran: {}", end);
  const TuneRound &first = result.rounds[*result.first], &best = result.rounds[*result.best];
  return fmt::format(
      "\nstart          {} a step ({})\n"
      "best           {} a step ({}, round {}): {} less\n"
      "end            {}",
      time_text(first.measured), first.plan.made_by, time_text(result.best_measured),
      best.plan.made_by, best.plan.round, percent_text(gain_of(result)), end);
}

Json tune_json(const TuneResult& result, double wall_seconds) {
  Json rounds = Json::array();
  for (const TuneRound& round : result.rounds) rounds.push_back(round_json(round));
  Json json = {{"rounds", rounds}, {"end", name_of(result.end)}, {"wall_s", wall_seconds}};
  if (!result.best) return json;
  json["start_s"] = to_seconds(result.rounds[*result.first].measured);
  json["best_s"] = to_seconds(result.best_measured);
  json["best_round"] = *result.best;
  json["gain"] = gain_of(result);
  return json;
}

}  // namespace strato::cli
