// How many evaluations a search takes to beat data parallelism, on random clusters (TAG table 7).
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/study/table.h"
#include "core/cluster/vary/random_cluster.h"

namespace strato::cli {
namespace {

// One search. `evaluations`: nothing when data parallelism was not beaten.
struct Attempt {
  std::optional<std::int64_t> evaluations;
};

// By topology, then by column; nothing where it was not searched.
using Attempts = std::vector<std::vector<std::optional<Attempt>>>;

// On one device there is nothing to decide: such clusters are left out.
std::vector<std::uint64_t> seeds_of_clusters(const StudyMaker& maker) {
  const int count = maker.limits.topologies.value_or(maker.study.topologies);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = maker.study.first_seed; static_cast<int>(seeds.size()) < count; ++seed)
    if (random_cluster(seed).device_count() > 1) seeds.push_back(seed);
  return seeds;
}

// All seeds of a cell: their mean; not beaten with one seed is not beaten.
std::optional<Attempt> attempt(const StudyMaker& maker, const SearchRow& row,
                               const SearchColumn& column, std::uint64_t topology,
                               std::string& missing, StudyTable& table) {
  Attempt result{0};
  for (int seed = 1; seed <= maker.limits.seeds; ++seed) {
    StudySearch search = maker.search(row, column);
    search.seed = static_cast<std::uint64_t>(seed);
    search.topology = topology;
    search.until_beaten = true;
    const StudyResult& found = maker.run(search, row, table);
    if (found.state != StudyResult::Found) {
      missing = missing_text(found);
      return std::nullopt;
    }
    if (!found.evaluations_to_beat) {
      result.evaluations.reset();
    } else if (result.evaluations) {
      *result.evaluations += *found.evaluations_to_beat;
    }
  }
  if (result.evaluations) *result.evaluations /= maker.limits.seeds;
  return result;
}

struct Cell {
  std::optional<double> mean;  // over the clusters where some planner of the row beat it
  int beaten = 0, tried = 0;
};

// A cluster on which no planner beats data parallelism says nothing about how fast it is beaten.
// One that only others beat counts with all evaluations of the search.
Cell cell_of(const Attempts& attempts, std::size_t column, std::int64_t limit) {
  Cell cell;
  double sum = 0;
  int counted = 0;
  for (const auto& of_cluster : attempts) {
    if (!of_cluster[column]) continue;
    ++cell.tried;
    const auto& evaluations = of_cluster[column]->evaluations;
    cell.beaten += evaluations ? 1 : 0;
    const bool by_some = std::any_of(of_cluster.begin(), of_cluster.end(),
                                     [](const auto& a) { return a && a->evaluations; });
    if (!by_some) continue;
    sum += static_cast<double>(evaluations.value_or(limit));
    ++counted;
  }
  if (counted > 0) cell.mean = sum / counted;
  return cell;
}

void compare_columns(const StudyMaker& maker, const SearchRow& row, const std::vector<Cell>& cells,
                     Directions& directions) {
  const SearchStudy& study = maker.study;
  for (std::size_t a = 0; a < cells.size(); ++a) {
    for (std::size_t b = a + 1; b < cells.size(); ++b) {
      const double* theirs_a = std::get_if<double>(&row.values[a]);
      const double* theirs_b = std::get_if<double>(&row.values[b]);
      if (theirs_a == nullptr || theirs_b == nullptr || !cells[a].mean || !cells[b].mean) continue;
      const int wanted = sign_of(*theirs_a - *theirs_b, 0);
      const int got = sign_of(*cells[a].mean - *cells[b].mean, 0);
      directions.compare(wanted == got,
                         fmt::format("{}: {} takes {:.1f} evaluations and {} {:.1f}; in the paper "
                                     "{:.1f} and {:.1f}",
                                     row.label, study.columns[a].label, *cells[a].mean,
                                     study.columns[b].label, *cells[b].mean, *theirs_a, *theirs_b));
    }
  }
}

// Means over the models of one column and of the one that it is over.
struct Ratio {
  double sum = 0, other = 0;
  void add(const std::optional<double>& value, const std::optional<double>& of_other) {
    if (!value || !of_other) return;
    sum += *value;
    other += *of_other;
  }
  std::string text() const { return other > 0 ? fmt::format("{:.2f}", sum / other) : "not known"; }
};

void note_ratios(const SearchStudy& study, const std::vector<std::vector<Cell>>& rows,
                 StudyTable& table) {
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    for (std::size_t o = 0; o < study.columns.size(); ++o) {
      if (study.columns[o].label != study.columns[c].over) continue;
      Ratio theirs, ours;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        theirs.add(number(study.rows[r].values[c]), number(study.rows[r].values[o]));
        ours.add(rows[r][c].mean, rows[r][o].mean);
      }
      table.notes.push_back(
          fmt::format("{} over {}, mean over the models: {} in the paper, {} here",
                      study.columns[c].label, study.columns[o].label, theirs.text(), ours.text()));
    }
  }
}

Json cell_json(const SearchColumn& column, const Reported& theirs, const Cell& cell,
               const std::string& missing) {
  Json json = value_json(column, {theirs, cell.mean, missing});
  json["beaten"] = cell.beaten;
  json["clusters"] = cell.tried;
  return json;
}

}  // namespace

StudyTable iterations_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  std::vector<std::string> header = {"model"};
  for (const SearchColumn& column : study.columns)
    header.insert(header.end(), {column.label + ": paper", "ours", "beaten on"});
  table.cells.push_back(std::move(header));
  const std::vector<std::uint64_t> clusters = seeds_of_clusters(maker);
  std::vector<std::vector<Cell>> all;
  for (const SearchRow& row : study.rows) {
    std::vector<std::string> missing(study.columns.size(), "never");
    Attempts attempts;
    for (const std::uint64_t cluster : clusters) {
      attempts.emplace_back();
      for (std::size_t c = 0; c < study.columns.size(); ++c)
        attempts.back().push_back(
            attempt(maker, row, study.columns[c], cluster, missing[c], table));
    }
    std::vector<std::string> line = {row.label};
    std::vector<Cell> cells;
    Json list = Json::array();
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      cells.push_back(cell_of(attempts, c, maker.search(row, study.columns[c]).iterations));
      const Cell& cell = cells.back();
      line.push_back(reported_text(row.values[c], StudyUnit::Number));
      line.push_back(ours_text({{}, cell.mean, missing[c]}, StudyUnit::Number));
      line.push_back(cell.tried > 0 ? fmt::format("{} of {}", cell.beaten, cell.tried) : "-");
      list.push_back(cell_json(study.columns[c], row.values[c], cell, missing[c]));
    }
    table.rows.push_back({{"model", row.label}, {"batch", row.batch}, {"cells", list}});
    table.cells.push_back(std::move(line));
    compare_columns(maker, row, cells, table.directions);
    all.push_back(std::move(cells));
  }
  note_ratios(study, all, table);
  table.notes.push_back(
      "Means are over the clusters on which some planner of the row beats data parallelism; where "
      "a "
      "planner does not, all evaluations of its search count.");
  return table;
}

}  // namespace strato::cli
