// What strategies do (TAG table 4), and which ops are duplicated (TAG table 6).
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/study/table.h"

namespace strato::cli {
namespace {

double counted(const StrategySummary& summary, const SearchColumn& column, bool by_bytes) {
  if (column.exchange == "ps") return 100 * (by_bytes ? summary.ps_bytes : summary.ps);
  if (column.exchange == "allreduce")
    return 100 * (by_bytes ? summary.allreduce_bytes : summary.allreduce);
  const auto found = summary.gpus.find(column.gpu);
  return found == summary.gpus.end() ? 0 : found->second;
}

StudyUnit unit_of(const SearchColumn& column) {
  return column.gpu.empty() ? StudyUnit::Percent : StudyUnit::Number;
}

StudyValue strategy_value(const StudyMaker& maker, const SearchRow& row, std::size_t column,
                          bool by_bytes, StudyTable& table) {
  StudyValue value{row.values[column], {}, ""};
  double sum = 0;
  for (int seed = 1; seed <= maker.limits.seeds; ++seed) {
    StudySearch search = maker.search(row, maker.study.columns[column]);
    search.seed = static_cast<std::uint64_t>(seed);
    const StudyResult& found = maker.run(search, row, table);
    value.missing = missing_text(found);
    if (!value.missing.empty()) return value;
    sum += counted(found.summary, maker.study.columns[column], by_bytes);
  }
  value.ours = sum / maker.limits.seeds;
  return value;
}

// Which of two columns has more; `what` is what more of it means.
void compare_pair(const StudyMaker& maker, const SearchRow& row, std::span<const StudyValue> values,
                  std::size_t a, std::size_t b, double tolerance, std::string_view what,
                  Directions& directions) {
  const double* theirs_a = std::get_if<double>(&values[a].theirs);
  const double* theirs_b = std::get_if<double>(&values[b].theirs);
  if (theirs_a == nullptr || theirs_b == nullptr || !values[a].ours || !values[b].ours) return;
  const int wanted = sign_of(*theirs_a - *theirs_b, tolerance);
  const int got = sign_of(*values[a].ours - *values[b].ours, tolerance);
  const SearchColumn &left = maker.study.columns[a], &right = maker.study.columns[b];
  directions.compare(
      wanted == got,
      fmt::format("{}: {} {} and {} {} {}; in the paper {} and {}", row.label, left.label,
                  value_text(*values[a].ours, unit_of(left)), right.label,
                  value_text(*values[b].ours, unit_of(right)), what,
                  value_text(*theirs_a, unit_of(left)), value_text(*theirs_b, unit_of(right))));
}

// How gradients mostly are synchronised; and whether a type of GPU is in use (half a GPU an op).
void compare_strategy(const StudyMaker& maker, const SearchRow& row,
                      std::span<const StudyValue> values, Directions& directions) {
  constexpr double kSameShare = 10, kInUse = 0.5;
  const auto& columns = maker.study.columns;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const double* theirs = std::get_if<double>(&values[c].theirs);
    if (theirs == nullptr || !values[c].ours || columns[c].gpu.empty()) continue;
    const auto word = [](bool used) { return used ? "used" : "rarely used"; };
    const bool wanted = *theirs >= kInUse, got = *values[c].ours >= kInUse;
    directions.compare(
        wanted == got,
        fmt::format("{}: {} {} ({:.1f} GPUs an op), in the paper {} ({:.1f})", row.label,
                    columns[c].label, word(got), *values[c].ours, word(wanted), *theirs));
  }
  for (std::size_t a = 0; a < columns.size(); ++a)
    for (std::size_t b = a + 1; b < columns.size(); ++b)
      if (!columns[a].exchange.empty() && !columns[b].exchange.empty())
        compare_pair(maker, row, values, a, b, kSameShare, "of the gradients", directions);
}

using Counts = std::map<std::string, double>;

// Of one model, mean over the seeds; nothing when it was not searched or not built.
std::optional<Counts> counts_of(const StudyMaker& maker, const SearchRow& row, std::string& missing,
                                StudyTable& table) {
  Counts counts;
  for (int seed = 1; seed <= maker.limits.seeds; ++seed) {
    StudySearch search = maker.search(row, maker.study.columns[0]);
    search.seed = static_cast<std::uint64_t>(seed);
    const StudyResult& found = maker.run(search, row, table);
    if (found.state != StudyResult::Found) {
      missing = missing_text(found);
      return std::nullopt;
    }
    for (const auto& [type, count] : found.duplicated)
      counts[type] += static_cast<double>(count) / maker.limits.seeds;
  }
  return counts;
}

// The paper's name for one of our types; ours where it has none.
std::string label_of(const SearchStudy& study, const std::string& type) {
  for (const OpTypeRow& row : study.op_types)
    if (std::find(row.types.begin(), row.types.end(), type) != row.types.end()) return row.label;
  return type;
}

const double* reported_count(const SearchStudy& study, const std::string& label) {
  for (const OpTypeRow& row : study.op_types)
    if (row.label == label) return &row.reported;
  return nullptr;
}

struct Ranked {
  std::string label;
  double count = 0;
};

// Largest first, ties by name; the paper's are all in it.
std::vector<Ranked> ranked(const SearchStudy& study, const Counts& types) {
  Counts labels;
  for (const OpTypeRow& row : study.op_types) labels[row.label] = 0;
  for (const auto& [type, count] : types) labels[label_of(study, type)] += count;
  std::vector<Ranked> list;
  for (const auto& [label, count] : labels) list.push_back({label, count});
  std::stable_sort(list.begin(), list.end(),
                   [](const Ranked& a, const Ranked& b) { return a.count > b.count; });
  return list;
}

std::string count_words(double count) { return fmt::format("{:g}", count); }

}  // namespace

StudyTable strategy_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  std::vector<std::string> header = {"model"};
  for (const SearchColumn& column : study.columns) {
    header.insert(header.end(), {column.label + ": paper", "ours"});
    if (!column.exchange.empty()) header.push_back("by bytes");
  }
  table.cells.push_back(std::move(header));
  for (const SearchRow& row : study.rows) {
    std::vector<std::string> line = {row.label};
    std::vector<StudyValue> values;
    Json cells = Json::array();
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      const StudyUnit unit = unit_of(study.columns[c]);
      values.push_back(strategy_value(maker, row, c, false, table));
      line.push_back(reported_text(row.values[c], unit));
      line.push_back(ours_text(values.back(), unit));
      cells.push_back(value_json(study.columns[c], values.back()));
      if (study.columns[c].exchange.empty()) continue;
      const StudyValue bytes = strategy_value(maker, row, c, true, table);
      line.push_back(ours_text(bytes, unit));
      cells.back()["ours_by_bytes"] = bytes.ours ? Json(*bytes.ours) : Json();
    }
    compare_strategy(maker, row, values, table.directions);
    table.rows.push_back({{"model", row.label}, {"batch", row.batch}, {"cells", cells}});
    table.cells.push_back(std::move(line));
  }
  return table;
}

StudyTable duplicated_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  std::vector<std::string> header = {"operation", "count: paper", "ours"};
  std::vector<Counts> models;
  Counts all;
  std::string missing;
  for (const SearchRow& row : study.rows) {
    header.push_back(row.label);
    const std::optional<Counts> counts = counts_of(maker, row, missing, table);
    models.push_back(counts.value_or(Counts()));
    for (const auto& [type, count] : models.back()) all[type] += count;
  }
  table.cells.push_back(std::move(header));
  const std::vector<Ranked> list = ranked(study, all);
  const std::size_t top = study.op_types.size();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double* theirs = reported_count(study, list[i].label);
    std::vector<std::string> line = {list[i].label, theirs != nullptr ? count_words(*theirs) : "-",
                                     missing.empty() ? count_words(list[i].count) : missing};
    Json by_model = Json::object();
    for (std::size_t m = 0; m < models.size(); ++m) {
      double count = 0;
      for (const auto& [type, number] : models[m])
        if (label_of(study, type) == list[i].label) count += number;
      line.push_back(count_words(count));
      by_model[study.rows[m].label] = count;
    }
    table.cells.push_back(std::move(line));
    table.rows.push_back({{"operation", list[i].label},
                          {"theirs", theirs != nullptr ? Json(*theirs) : Json()},
                          {"ours", missing.empty() ? Json(list[i].count) : Json()},
                          {"by_model", by_model}});
    if (theirs == nullptr || !missing.empty()) continue;
    table.directions.compare(
        i < top && list[i].count > 0,
        fmt::format("{} is number {} here ({}), one of the first {} in the paper ({})",
                    list[i].label, i + 1, count_words(list[i].count), top, count_words(*theirs)));
  }
  return table;
}

}  // namespace strato::cli
