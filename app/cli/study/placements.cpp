// Planners beside each other, what they say of their own course, and what fusion leaves: Celeritas
// tables 2 to 4, FastT tables 3, 4 and 6, GDP tables 1 and 2, AutoDist figures 5 to 9.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "app/cli/study/fusion.h"
#include "app/cli/study/table.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

// Relative: figures that are no farther apart are equal. Wall times are noisy.
constexpr double kSameStep = 0.005, kSamePlanning = 0.25;

double figure_of(const FusionFigures& figures, Measure measure) {
  switch (measure) {
    case Measure::Nodes:
      return static_cast<double>(figures.nodes);
    case Measure::FusedNodes:
      return static_cast<double>(figures.fused_nodes);
    case Measure::Ccr:
      return figures.ccr;
    default:
      return figures.fused_ccr;
  }
}

// Nothing: the planner drew no such curve.
std::optional<double> figure_of(const StudyResult& found, const SearchColumn& column) {
  if (column.measure == Measure::PlanningTime) return found.planning_seconds;
  if (column.measure == Measure::StepTime) return to_seconds(found.score.step_time);
  const auto end = found.curve_ends.find(column.curve);
  return end == found.curve_ends.end() ? std::nullopt : std::optional(end->second);
}

StudyValue planned_value(const StudyMaker& maker, const SearchRow& row, std::size_t at,
                         StudyTable& table) {
  const SearchColumn& column = maker.study.columns[at];
  StudyValue value{row.values[at], {}, ""};
  double sum = 0;
  for (int seed = 1; seed <= maker.limits.seeds; ++seed) {
    StudySearch search = maker.search(row, column);
    search.seed = static_cast<std::uint64_t>(seed);
    const StudyResult& found = maker.run(search, row, table);
    value.missing = missing_text(found);
    // A strategy that does not fit took its time to be found, too.
    if (value.missing == "OOM" && column.measure != Measure::StepTime) value.missing.clear();
    if (!value.missing.empty()) return value;
    const std::optional<double> figure = figure_of(found, column);
    if (!figure) {
      value.missing = "none";
      return value;
    }
    sum += *figure;
  }
  value.ours = sum / maker.limits.seeds;
  return value;
}

StudyValue value_of(const StudyMaker& maker, const SearchRow& row, std::size_t at,
                    StudyTable& table) {
  const SearchColumn& column = maker.study.columns[at];
  if (!is_of_fusion(column.measure)) return planned_value(maker, row, at, table);
  if (maker.searches.stopped()) return {row.values[at], {}, "-"};
  const Problem& problem = maker.searches.problem(maker.search(row, column));
  return {row.values[at], figure_of(fusion_figures(problem), column.measure), ""};
}

std::string reported(const Reported& theirs) {
  if (const double* number = std::get_if<double>(&theirs)) return significant_text(*number, 4);
  return reported_text(theirs, StudyUnit::Number);
}

std::string ours(const StudyValue& value) {
  return value.ours ? significant_text(*value.ours, 4) : value.missing;
}

// What a method is ranked by, less being better: out of memory is behind everything; nothing where
// it is not known. Of curves more is better.
std::optional<double> rank_of(std::optional<double> figure, bool is_out, Measure measure) {
  if (is_out) return std::numeric_limits<double>::infinity();
  if (figure && measure == Measure::Curve) return -*figure;
  return figure;
}
std::optional<double> their_rank(const StudyValue& value, Measure measure) {
  return rank_of(number(value.theirs), std::holds_alternative<OutOfMemory>(value.theirs), measure);
}
std::optional<double> our_rank(const StudyValue& value, Measure measure) {
  return rank_of(value.ours, value.missing == "OOM", measure);
}

int compare_times(double a, double b, Measure measure) {
  if (a == b) return 0;  // both out of memory, too
  if (std::isinf(a) || std::isinf(b)) return a < b ? -1 : 1;
  const double same = measure == Measure::PlanningTime ? kSamePlanning : kSameStep;
  return sign_of(a - b, same * std::min(std::abs(a), std::abs(b)));
}

// Columns that a paper's reader compares: the same figure on the same GPUs.
bool are_rivals(const SearchColumn& a, const SearchColumn& b) {
  return !is_of_fusion(a.measure) && std::tie(a.measure, a.curve, a.cluster, a.gpus) ==
                                         std::tie(b.measure, b.curve, b.cluster, b.gpus);
}

std::string_view standing(int sign) {
  return sign < 0 ? "is ahead of" : sign > 0 ? "is behind" : "is as good as";
}

void compare_rivals(const SearchStudy& study, const SearchRow& row,
                    const std::vector<StudyValue>& values, Directions& directions) {
  for (std::size_t a = 0; a < values.size(); ++a) {
    for (std::size_t b = a + 1; b < values.size(); ++b) {
      if (!are_rivals(study.columns[a], study.columns[b])) continue;
      const Measure measure = study.columns[a].measure;
      const auto theirs_a = their_rank(values[a], measure);
      const auto theirs_b = their_rank(values[b], measure);
      const auto ours_a = our_rank(values[a], measure), ours_b = our_rank(values[b], measure);
      if (!theirs_a || !theirs_b || !ours_a || !ours_b) continue;
      if (std::isinf(*theirs_a) && std::isinf(*theirs_b)) continue;  // which would be faster?
      const int wanted = compare_times(*theirs_a, *theirs_b, measure);
      const int got = compare_times(*ours_a, *ours_b, measure);
      directions.compare(wanted == got, fmt::format("{}: {} {} {}, in the paper {} it", row.label,
                                                    study.columns[a].label, standing(got),
                                                    study.columns[b].label, standing(wanted)));
    }
  }
}

// Labels from the best to the worst, equal ones joined by "=".
std::string order_text(std::vector<std::pair<double, std::string>> methods, Measure measure) {
  std::ranges::stable_sort(methods, {}, [](const auto& method) { return method.first; });
  std::string text;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (i > 0) {
      const int sign = compare_times(methods[i - 1].first, methods[i].first, measure);
      text += sign == 0 ? " = " : " < ";
    }
    text += methods[i].second + (std::isinf(methods[i].first) ? " (OOM)" : "");
  }
  return text;
}

// The order of methods in a row, the paper's and ours; of those that both have.
void note_order(const SearchStudy& study, const SearchRow& row,
                const std::vector<StudyValue>& values, StudyTable& table) {
  std::vector<bool> done(values.size());
  for (std::size_t first = 0; first < values.size(); ++first) {
    const Measure measure = study.columns[first].measure;
    std::vector<std::pair<double, std::string>> theirs, ours;
    for (std::size_t c = first; c < values.size(); ++c) {
      if (done[c] || !are_rivals(study.columns[first], study.columns[c])) continue;
      done[c] = true;
      const auto their = their_rank(values[c], measure), our = our_rank(values[c], measure);
      if (!their || !our) continue;
      theirs.emplace_back(*their, study.columns[c].label);
      ours.emplace_back(*our, study.columns[c].label);
    }
    if (theirs.size() < 3) continue;  // of two, the direction says it
    table.notes.push_back(fmt::format("{}, paper: {}", row.label, order_text(theirs, measure)));
    table.notes.push_back(fmt::format("{}, ours:  {}", row.label, order_text(ours, measure)));
  }
}

std::optional<double> value_with(const SearchStudy& study, const std::vector<StudyValue>& values,
                                 Measure measure, bool theirs) {
  for (std::size_t c = 0; c < values.size(); ++c)
    if (study.columns[c].measure == measure)
      return theirs ? number(values[c].theirs) : values[c].ours;
  return std::nullopt;
}

// "NMT: 165 times fewer nodes in the paper, 34 here".
void note_fusion(const SearchStudy& study, const SearchRow& row,
                 const std::vector<StudyValue>& values, StudyTable& table) {
  for (const auto& [before, after, what] :
       {std::tuple(Measure::Nodes, Measure::FusedNodes, "fewer nodes"),
        std::tuple(Measure::Ccr, Measure::FusedCcr, "less communication to computing")}) {
    std::vector<double> times;
    for (const bool theirs : {true, false}) {
      const auto all = value_with(study, values, before, theirs);
      const auto left = value_with(study, values, after, theirs);
      if (all && left && *left > 0) times.push_back(*all / *left);
    }
    if (times.size() != 2) continue;
    table.notes.push_back(fmt::format("{}: {} times {} in the paper, {} here", row.label,
                                      significant_text(times[0], 3), what,
                                      significant_text(times[1], 3)));
    table.directions.compare((times[0] > 1) == (times[1] > 1),
                             fmt::format("{}: fusion leaves more", row.label));
  }
}

}  // namespace

StudyTable placements_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  table.cells.push_back({"model"});
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const std::string& label = study.columns[c].label;
    if (is_in_paper(study, c)) table.cells[0].push_back(label + ": paper");
    table.cells[0].push_back(is_in_paper(study, c) ? "ours" : label);
  }
  for (const SearchRow& row : study.rows) {
    std::vector<StudyValue> values;
    std::vector<std::string> line = {row.label};
    Json cells = Json::array();
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      values.push_back(value_of(maker, row, c, table));
      if (is_in_paper(study, c)) line.push_back(reported(row.values[c]));
      line.push_back(ours(values.back()));
      cells.push_back(value_json(study.columns[c], values.back()));
    }
    compare_rivals(study, row, values, table.directions);
    note_order(study, row, values, table);
    note_fusion(study, row, values, table);
    table.rows.push_back({{"model", row.label}, {"batch", row.batch}, {"cells", cells}});
    table.cells.push_back(std::move(line));
  }
  return table;
}

}  // namespace strato::cli
