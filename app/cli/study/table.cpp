#include "app/cli/study/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/output.h"
#include "core/io/file.h"

namespace strato::cli {
namespace {

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string option_text(const std::string& text, const std::string& model) {
  const std::string resources = (home_directory() / "resources").string();
  return replaced(replaced(text, "{model}", model), "{resources}", resources);
}

// A planner that had to do without its network says so: the column is not what it seems.
void add_remark(const StudySearch& search, const std::string& note, StudyTable& table) {
  const auto at = note.find("no network");
  if (at == std::string::npos) return;
  const std::string remark = search.planner + ": " + note.substr(at, note.find(';', at) - at);
  if (std::find(table.notes.begin(), table.notes.end(), remark) == table.notes.end())
    table.notes.push_back(remark);
}

std::string direction_text(const Directions& directions) {
  if (directions.compared == 0) return "Direction: nothing to compare.\n";
  std::string text =
      fmt::format("Direction: as in the paper in {} of {} comparisons.\n",
                  static_cast<std::size_t>(directions.compared) - directions.differ.size(),
                  directions.compared);
  for (const std::string& sentence : directions.differ) text += "  differs: " + sentence + "\n";
  return text;
}

std::string effort_text(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  const bool searches =
      study.kind != SearchStudyKind::Placements && study.kind != SearchStudyKind::Splits;
  if (!searches && maker.limits.seeds == 1) return "Calibration " + study.calibration;
  std::string text =
      fmt::format("{} evaluations a search", maker.limits.iterations.value_or(study.iterations));
  text += maker.limits.seeds == 1 ? ", one seed"
                                  : fmt::format(", mean of {} seeds", maker.limits.seeds);
  if (study.kind == SearchStudyKind::Iterations)
    text += fmt::format(", {} random clusters", maker.limits.topologies.value_or(study.topologies));
  return text + ", calibration " + study.calibration;
}

}  // namespace

void Directions::compare(bool same, std::string sentence) {
  ++compared;
  if (!same) differ.push_back(std::move(sentence));
}

void Directions::add(const Directions& other) {
  compared += other.compared;
  differ.insert(differ.end(), other.differ.begin(), other.differ.end());
}

StudySearch StudyMaker::search(const SearchRow& row, const SearchColumn& column) const {
  StudySearch search;
  search.model = row.model;
  search.batch = row.batch;
  search.dimensions = row.dimensions;
  search.cluster = row.cluster.empty() ? column.cluster : row.cluster;
  search.gpus = row.gpus > 0 ? row.gpus : column.gpus;
  search.per_gpu_batch = study.per_gpu_batch;
  search.floor = study.floor;
  search.framework = study.framework;
  search.calibration = study.calibration;
  search.groups = study.groups;
  search.planner = column.planner;
  for (const auto& [key, value] : column.set) search.set[key] = option_text(value, row.model);
  const std::int64_t usual = column.iterations > 0 ? column.iterations : study.iterations;
  search.iterations = limits.iterations.value_or(usual);
  return search;
}

const StudyResult& StudyMaker::run(const StudySearch& search, const SearchRow& row,
                                   StudyTable& table) const {
  const std::string title =
      fmt::format("{}: {}, {}", study.name, row.label, search.planner) +
      (search.cluster.empty() ? fmt::format(", cluster {}", search.topology) : "");
  const StudyResult& result = searches.run(search, limits, title);
  if (result.state == StudyResult::Refused) {
    const std::string note =
        fmt::format("{} refused {}: {}", search.planner, row.label, result.note);
    if (std::find(table.notes.begin(), table.notes.end(), note) == table.notes.end())
      table.notes.push_back(note);
  }
  if (result.state == StudyResult::Found) add_remark(search, result.note, table);
  if (!table.listed.insert(search).second) return result;
  Json json = {{"model", row.label}, {"batch", row.batch}};
  json.update(searches.json(search));
  table.searches.push_back(std::move(json));
  return result;
}

StudyTable make_table(const StudyMaker& maker) {
  switch (maker.study.kind) {
    case SearchStudyKind::Speedup:
      return speedup_table(maker);
    case SearchStudyKind::Sfb:
      return sfb_table(maker);
    case SearchStudyKind::Iterations:
      return iterations_table(maker);
    case SearchStudyKind::Strategy:
      return strategy_table(maker);
    case SearchStudyKind::Duplicated:
      return duplicated_table(maker);
    case SearchStudyKind::Placements:
      return placements_table(maker);
    case SearchStudyKind::Splits:
      return splits_table(maker);
  }
  return {};
}

std::string table_text(const StudyMaker& maker, const StudyTable& made) {
  Table table(made.cells.front());
  for (std::size_t i = 1; i < made.cells.size(); ++i) table.add(made.cells[i]);
  std::string text =
      fmt::format("{} ({})\n{}\n\n", maker.study.name, maker.study.source, effort_text(maker));
  text += table.text() + "\n";
  for (const std::string& note : made.notes) text += note + "\n";
  text += direction_text(made.directions);
  if (maker.searches.stopped()) text += "Stopped: cells with \"-\" were not reached.\n";
  return text;
}

Json table_json(const StudyMaker& maker, const StudyTable& table) {
  const SearchStudy& study = maker.study;
  Json json = {{"name", study.name},
               {"source", study.source},
               {"kind", name_of(study.kind)},
               {"calibration", study.calibration},
               {"iterations", maker.limits.iterations.value_or(study.iterations)},
               {"seeds", maker.limits.seeds}};
  if (study.kind == SearchStudyKind::Iterations)
    json["topologies"] = maker.limits.topologies.value_or(study.topologies);
  json["rows"] = table.rows;
  json["directions"] = {{"compared", table.directions.compared},
                        {"differ", table.directions.differ}};
  json["notes"] = table.notes;
  json["searches"] = table.searches;
  json["stopped"] = maker.searches.stopped();
  return json;
}

std::string value_text(double value, StudyUnit unit) {
  switch (unit) {
    case StudyUnit::Percent:
      return fmt::format("{:.1f} %", value);
    case StudyUnit::Seconds:
      return fmt::format("{:.4f}", value);
    case StudyUnit::Number:
      return fmt::format("{:.1f}", value);
  }
  return {};
}

std::optional<double> number(const Reported& reported) {
  const double* value = std::get_if<double>(&reported);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::string reported_text(const Reported& reported, StudyUnit unit) {
  if (const double* number = std::get_if<double>(&reported)) return value_text(*number, unit);
  return std::holds_alternative<OutOfMemory>(reported) ? "OOM" : "-";
}

std::string ours_text(const StudyValue& value, StudyUnit unit) {
  return value.ours ? value_text(*value.ours, unit) : value.missing;
}

Json reported_json(const Reported& reported) {
  if (const double* number = std::get_if<double>(&reported)) return *number;
  return std::holds_alternative<OutOfMemory>(reported) ? Json("OOM") : Json();
}

Json value_json(const SearchColumn& column, const StudyValue& value) {
  Json json = {{"column", column.label},
               {"theirs", reported_json(value.theirs)},
               {"ours", value.ours ? Json(*value.ours) : Json()}};
  if (!value.ours) json["missing"] = value.missing == "-" ? "not reached" : value.missing;
  return json;
}

bool is_in_paper(const SearchStudy& study, std::size_t column) {
  return std::ranges::any_of(study.rows, [&](const SearchRow& row) {
    return !std::holds_alternative<std::monostate>(row.values[column]);
  });
}

std::string missing_text(const StudyResult& result) {
  switch (result.state) {
    case StudyResult::Found:
      return result.score.feasible ? "" : "OOM";
    case StudyResult::NotBuilt:
      return "not built";
    case StudyResult::Refused:
      return "refused";
    case StudyResult::NotDone:
      return "-";
  }
  return {};
}

int sign_of(double value, double tolerance) {
  return value > tolerance ? 1 : value < -tolerance ? -1 : 0;
}

}  // namespace strato::cli
