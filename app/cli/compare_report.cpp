#include "app/cli/compare_report.h"

#include <fmt/format.h>

#include <map>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

constexpr std::size_t kColumnsOfTimes = 8;  // planners; more do not fit beside each other

std::string took_text(double seconds) { return time_text(nanos_from_seconds(seconds)); }

std::string bound_text(const TournamentCell& cell) { return percent_text(cell.above_bound); }

std::string memory_text(const TournamentCell& cell) {
  return fmt::format("{} ({})", percent_text(cell.memory_part), bytes_text(cell.memory_peak));
}

std::string words_of(const TournamentCell& cell) {
  return (cell.stopped ? "stopped: " : "") + (cell.has_result() ? cell.result.note : cell.error);
}

std::string problem_text(const TournamentProblem& named, const TournamentFacts& facts) {
  const Problem& problem = named.problem;
  return fmt::format("{} on {}, batch {}, {} op groups; data parallel {}{}, lower bound {}\n",
                     problem.graph->name(), problem.cluster->name(), problem.graph->batch(),
                     problem.grouping->size(), time_text(facts.data_parallel.step_time),
                     facts.data_parallel.feasible ? "" : " (does not fit)",
                     time_text(facts.lower_bound));
}

std::string one_problem_text(const TournamentSetup& setup, const Tournament& tournament) {
  Table table({"planner", "step time", "speed-up", "above bound", "fits", "fullest device",
               "evaluations", "best after", "took", "note"});
  for (const auto& place : tournament.cells[0]) {
    if (!place) continue;
    const TournamentCell& cell = *place;
    const std::string& planner = setup.planners[cell.planner];
    const std::string took = took_text(cell.wall_seconds);
    if (!cell.has_result()) {
      table.add({planner, "-", "-", "-", "-", "-", "-", "-", took, words_of(cell)});
      continue;
    }
    const Score& score = cell.result.score;
    table.add({planner, time_text(score.step_time), factor_text(cell.speedup), bound_text(cell),
               score.feasible ? "yes" : "no", memory_text(cell),
               std::to_string(cell.result.evaluations), took_text(cell.seconds_to_best), took,
               words_of(cell)});
  }
  return problem_text(setup.problems[0], *tournament.facts[0]) + "\n" + table.text();
}

// A planner's step time on a problem; a star where nobody is better.
std::string time_cell(const Tournament& tournament, std::size_t problem, std::size_t planner) {
  const TournamentCell* cell = tournament.cell(problem, planner);
  if (cell == nullptr || !cell->has_result()) return "-";
  return time_text(cell->result.score.step_time) +
         (cell->result.score.feasible ? "" : " (does not fit)") +
         (tournament.rank(problem, planner) == 1 ? " *" : "");
}

std::string best_names(const TournamentSetup& setup, const Tournament& tournament,
                       std::size_t problem) {
  std::string names;
  std::size_t count = 0;
  for (std::size_t planner = 0; planner < setup.planners.size(); ++planner) {
    const TournamentCell* cell = tournament.cell(problem, planner);
    if (cell == nullptr || !cell->has_result() || tournament.rank(problem, planner) != 1) continue;
    if (++count <= 2) names += (names.empty() ? "" : ", ") + setup.planners[planner];
  }
  return count > 2 ? fmt::format("{} and {} more", names, count - 2) : names;
}

std::string problems_text(const TournamentSetup& setup, const Tournament& tournament) {
  const bool times = setup.planners.size() <= kColumnsOfTimes;
  std::vector<std::string> header = {"", "problem", "batch", "data parallel", "lower bound"};
  const std::vector<std::string> best_header = {"best",        "step time", "speed-up",
                                                "above bound", "fits",      "fullest device"};
  const auto& rest = times ? setup.planners : best_header;
  header.insert(header.end(), rest.begin(), rest.end());
  Table table(header);
  for (std::size_t p = 0; p < setup.problems.size(); ++p) {
    if (!tournament.facts[p]) continue;
    const TournamentFacts& facts = *tournament.facts[p];
    std::vector<std::string> row = {std::to_string(p + 1), setup.problems[p].name,
                                    std::to_string(setup.problems[p].problem.graph->batch()),
                                    time_text(facts.data_parallel.step_time) +
                                        (facts.data_parallel.feasible ? "" : " (does not fit)"),
                                    time_text(facts.lower_bound)};
    const TournamentCell* best = tournament.best(p);
    if (times) {
      for (std::size_t planner = 0; planner < setup.planners.size(); ++planner)
        row.push_back(time_cell(tournament, p, planner));
    } else if (best == nullptr) {
      row.insert(row.end(), {"-", "-", "-", "-", "-", "-"});
    } else {
      const Score& score = best->result.score;
      row.insert(row.end(), {best_names(setup, tournament, p), time_text(score.step_time),
                             factor_text(best->speedup), bound_text(*best),
                             score.feasible ? "yes" : "no", memory_text(*best)});
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string ranking_text(const TournamentSetup& setup, const Tournament& tournament) {
  std::vector<std::string> header = {"planner", "mean rank", "best on",
                                     "fits on", "speed-up",  "took"};
  for (std::size_t p = 0; p < setup.problems.size(); ++p) header.push_back(std::to_string(p + 1));
  Table table(header);
  for (const TournamentRow& row : tournament.ranking()) {
    if (row.cells == 0) continue;
    std::vector<std::string> line = {setup.planners[row.planner],
                                     significant_text(row.mean_rank),
                                     std::to_string(row.wins),
                                     std::to_string(row.fits),
                                     row.fits > 0 ? factor_text(row.speedup) : "-",
                                     took_text(row.wall_seconds)};
    for (std::size_t p = 0; p < setup.problems.size(); ++p) {
      const TournamentCell* cell = tournament.cell(p, row.planner);
      line.push_back(cell == nullptr || !cell->has_result()
                         ? "-"
                         : std::to_string(tournament.rank(p, row.planner)));
    }
    table.add(std::move(line));
  }
  return table.text();
}

// Each planner's first words, and on how many problems it has some.
std::string refusals_text(const TournamentSetup& setup, const Tournament& tournament) {
  std::map<std::size_t, std::pair<std::size_t, std::string>> refusals;
  for (const auto& row : tournament.cells)
    for (const auto& cell : row) {
      if (!cell || cell->has_result()) continue;
      auto& [count, words] = refusals[cell->planner];
      if (count++ == 0) words = cell->error;
    }
  std::string text;
  for (const auto& [planner, refusal] : refusals)
    text += fmt::format("{} does not serve {} of {} problems: {}\n", setup.planners[planner],
                        refusal.first, setup.problems.size(), refusal.second);
  return text;
}

Json cell_json(const TournamentSetup& setup, const Tournament& tournament,
               const TournamentCell& cell) {
  Json entry = {{"planner", setup.planners[cell.planner]},
                {"note", cell.has_result() ? cell.result.note : cell.error},
                {"wall_s", cell.wall_seconds},
                {"rank", tournament.rank(cell.problem, cell.planner)}};
  if (cell.stopped) entry["stopped"] = true;
  if (!cell.has_result()) return entry;
  entry["step_time_s"] = to_seconds(cell.result.score.step_time);
  entry["speedup"] = cell.speedup;
  entry["feasible"] = cell.result.score.feasible;
  entry["evaluations"] = cell.result.evaluations;
  entry["seconds_to_best"] = cell.seconds_to_best;
  entry["above_lower_bound"] = cell.above_bound;
  entry["peak_memory_bytes"] = cell.memory_peak.value;
  entry["peak_memory_part"] = cell.memory_part;
  for (const auto& [name, value] : cell.result.facts) {
    Json& fact = entry["facts"][name];  // several of one name follow each other
    fact = fact.is_string() ? fact.get<std::string>() + "; " + value : value;
  }
  return entry;
}

Json problem_json(const TournamentSetup& setup, const Tournament& tournament, std::size_t p) {
  const Problem& problem = setup.problems[p].problem;
  const TournamentFacts& facts = *tournament.facts[p];
  Json list = Json::array();
  for (const auto& cell : tournament.cells[p])
    if (cell) list.push_back(cell_json(setup, tournament, *cell));
  const TournamentCell* best = tournament.best(p);
  return {{"model", problem.graph->name()},
          {"cluster", problem.cluster->name()},
          {"batch", problem.graph->batch()},
          {"baseline_step_time_s", to_seconds(facts.data_parallel.step_time)},
          {"baseline_feasible", facts.data_parallel.feasible},
          {"lower_bound_s", to_seconds(facts.lower_bound)},
          {"best", best == nullptr ? Json() : Json(setup.planners[best->planner])},
          {"planners", list}};
}

Json ranking_json(const TournamentSetup& setup, const Tournament& tournament) {
  Json list = Json::array();
  for (const TournamentRow& row : tournament.ranking()) {
    if (row.cells == 0) continue;
    list.push_back({{"planner", setup.planners[row.planner]},
                    {"mean_rank", row.mean_rank},
                    {"wins", row.wins},
                    {"fits", row.fits},
                    {"problems", row.cells},
                    {"speedup", row.fits > 0 ? Json(row.speedup) : Json()},
                    {"wall_s", row.wall_seconds}});
  }
  return list;
}

}  // namespace

std::string compare_text(const TournamentSetup& setup, const Tournament& tournament) {
  if (setup.problems.size() == 1)
    return tournament.facts[0] ? one_problem_text(setup, tournament) : "nothing was done\n";
  std::string text = problems_text(setup, tournament) + "\n" + ranking_text(setup, tournament);
  const std::string refusals = refusals_text(setup, tournament);
  return refusals.empty() ? text : text + "\n" + refusals;
}

Json compare_json(const TournamentSetup& setup, const Tournament& tournament, double wall_seconds) {
  if (setup.problems.size() == 1 && tournament.facts[0]) {
    Json json = problem_json(setup, tournament, 0);
    json["wall_s"] = wall_seconds;
    return json;
  }
  Json problems = Json::array();
  for (std::size_t p = 0; p < setup.problems.size(); ++p)
    if (tournament.facts[p]) problems.push_back(problem_json(setup, tournament, p));
  return {{"problems", problems},
          {"ranking", ranking_json(setup, tournament)},
          {"wall_s", wall_seconds}};
}

}  // namespace strato::cli
