// Step times and speed-ups: TAG figure 5 and tables 5 and 8.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/study/table.h"

namespace strato::cli {
namespace {

constexpr double kSameSpeed = 0.5;  // percent

// Means over the seeds of a cell: step time, and speed-up over another planner where there is one.
struct Speed {
  std::optional<double> seconds, percent;
  std::string missing;  // in place of the percentage, or of both
};

const std::string& over_of(const SearchRow& row, const SearchColumn& column) {
  return row.over.empty() || column.over.empty() ? column.over : row.over;
}

// A column of that name, else a planner.
SearchColumn column_named(const SearchStudy& study, const SearchColumn& column,
                          const std::string& name) {
  for (const SearchColumn& other : study.columns)
    if (other.label == name) return other;
  SearchColumn other;
  other.label = other.planner = name;
  other.cluster = column.cluster;
  other.gpus = column.gpus;
  return other;
}

// What a column is faster than; "A|B": the faster one of the two.
std::vector<SearchColumn> other_columns(const SearchStudy& study, const SearchRow& row,
                                        const SearchColumn& column) {
  std::vector<SearchColumn> others;
  std::string names = over_of(row, column);
  for (std::size_t end = 0; end != std::string::npos;) {
    end = names.find('|');
    others.push_back(column_named(study, column, names.substr(0, end)));
    if (end != std::string::npos) names.erase(0, end + 1);
  }
  return others;
}

// The fastest of them; why there is none.
const StudyResult& fastest_other(const StudyMaker& maker, const SearchRow& row,
                                 const SearchColumn& column, std::uint64_t seed,
                                 StudyTable& table) {
  const StudyResult* fastest = nullptr;
  for (const SearchColumn& other : other_columns(maker.study, row, column)) {
    StudySearch search = maker.search(row, other);
    search.seed = seed;
    const StudyResult& result = maker.run(search, row, table);
    if (fastest == nullptr || !missing_text(*fastest).empty() ||
        (missing_text(result).empty() && result.score.better_than(fastest->score)))
      fastest = &result;
  }
  return *fastest;
}

Speed speed_of(const StudyMaker& maker, const SearchRow& row, const SearchColumn& column,
               StudyTable& table) {
  Speed speed;
  double seconds = 0, percent = 0;
  for (int seed = 1; seed <= maker.limits.seeds; ++seed) {
    StudySearch search = maker.search(row, column);
    search.seed = static_cast<std::uint64_t>(seed);
    const StudyResult& ours = maker.run(search, row, table);
    speed.missing = missing_text(ours);
    if (!speed.missing.empty()) return speed;
    seconds += to_seconds(ours.score.step_time) / maker.limits.seeds;
    if (column.over.empty()) continue;
    const StudyResult& base = fastest_other(maker, row, column, search.seed, table);
    const std::string missing = missing_text(base);
    if (!missing.empty())
      speed.missing = missing == "OOM" ? over_of(row, column) + " OOM" : missing;
    percent += 100 * (base.score.step_time / ours.score.step_time - 1) / maker.limits.seeds;
    if (speed.missing == "-") return speed;
  }
  speed.seconds = seconds;
  if (!column.over.empty() && speed.missing.empty()) speed.percent = percent;
  return speed;
}

std::string_view speed_words(int sign) {
  return sign > 0 ? "faster" : sign < 0 ? "slower" : "as fast";
}

void compare_with_paper(const SearchRow& row, const SearchColumn& column, const Reported& theirs,
                        const Speed& ours, Directions& directions) {
  const std::string where = fmt::format("{}, {}", row.label, column.label);
  if (std::holds_alternative<OutOfMemory>(theirs)) {
    if (ours.missing == "-" || ours.missing == "not built") return;
    directions.compare(!ours.percent, where + ": the paper ran out of memory, we do not");
    return;
  }
  const double* reported = std::get_if<double>(&theirs);
  if (reported == nullptr && !column.range) return;
  const double at = reported != nullptr ? *reported : column.range->first;
  const int wanted = sign_of(at, kSameSpeed);
  const int or_else = reported != nullptr ? wanted : sign_of(column.range->second, kSameSpeed);
  if (!ours.percent) {
    if (ours.missing.ends_with("OOM"))
      directions.compare(false, where + ": we run out of memory, the paper does not");
    return;
  }
  const int got = sign_of(*ours.percent, kSameSpeed);
  directions.compare(got >= wanted && got <= or_else,
                     fmt::format("{}: {} ({:.1f} %), in the paper {}", where, speed_words(got),
                                 *ours.percent, speed_words(wanted)));
}

// Two columns on one cluster: the paper has one of them ahead, and so should we.
void compare_columns(const SearchStudy& study, const SearchRow& row,
                     const std::vector<Speed>& speeds, Directions& directions) {
  for (std::size_t a = 0; a < speeds.size(); ++a) {
    for (std::size_t b = a + 1; b < speeds.size(); ++b) {
      const SearchColumn &left = study.columns[a], &right = study.columns[b];
      const double* theirs_a = std::get_if<double>(&row.values[a]);
      const double* theirs_b = std::get_if<double>(&row.values[b]);
      if (left.cluster != right.cluster || left.gpus != right.gpus || left.over != right.over ||
          theirs_a == nullptr || theirs_b == nullptr || !speeds[a].percent || !speeds[b].percent)
        continue;
      const int wanted = sign_of(*theirs_a - *theirs_b, kSameSpeed);
      const int got = sign_of(*speeds[a].percent - *speeds[b].percent, kSameSpeed);
      directions.compare(
          wanted * got >= 0,
          fmt::format("{}: {} is ahead of {} here, behind it in the paper", row.label,
                      got > 0 ? left.label : right.label, got > 0 ? right.label : left.label));
    }
  }
}

// "over DP-NCCL: 8.0 % to 456.1 % in the paper; ours 3.2 % to 80.1 %".
void note_range(const SearchColumn& column, const std::vector<double>& ours, StudyTable& table) {
  if (!column.range) return;
  const auto [low, high] = *column.range;
  std::string note = fmt::format("{}: {:.0f} % to {:.0f} % in the paper", column.label, low, high);
  if (!ours.empty()) {
    const auto [least, most] = std::minmax_element(ours.begin(), ours.end());
    const auto inside = std::count_if(
        ours.begin(), ours.end(),
        [&, lowest = low, highest = high](double v) { return v >= lowest && v <= highest; });
    note += fmt::format("; ours {:.1f} % to {:.1f} %, {} of {} within", *least, *most, inside,
                        ours.size());
  }
  table.notes.push_back(note);
}

// Columns that differ in what they are faster than only have one step time.
bool repeats_an_earlier_one(const SearchStudy& study, std::size_t column) {
  const SearchColumn& at = study.columns[column];
  return std::any_of(study.columns.begin(),
                     study.columns.begin() + static_cast<std::ptrdiff_t>(column),
                     [&](const SearchColumn& c) {
                       return c.planner == at.planner && c.cluster == at.cluster &&
                              c.gpus == at.gpus && c.set == at.set;
                     });
}

std::string step_time_header(const SearchColumn& column) {
  return (column.set.empty() && column.gpus == 0
              ? fmt::format("{} on {}", column.planner, column.cluster)
              : column.label) +
         ", s";
}

std::string seconds_text(const Speed& speed) {
  return speed.seconds ? value_text(*speed.seconds, StudyUnit::Seconds) : speed.missing;
}

Json row_json(const SearchStudy& study, const SearchRow& row, const std::vector<Speed>& speeds) {
  Json cells = Json::array();
  for (std::size_t c = 0; c < speeds.size(); ++c) {
    const auto& ours = study.kind == SearchStudyKind::Sfb ? speeds[c].seconds : speeds[c].percent;
    Json cell = value_json(study.columns[c], {row.values[c], ours, speeds[c].missing});
    if (speeds[c].seconds) cell["step_time_s"] = *speeds[c].seconds;
    if (speeds[c].percent) cell["speedup_percent"] = *speeds[c].percent;
    cells.push_back(std::move(cell));
  }
  return {{"model", row.label}, {"batch", row.batch}, {"cells", cells}};
}

std::vector<Speed> speeds_of(const StudyMaker& maker, const SearchRow& row, StudyTable& table) {
  std::vector<Speed> speeds;
  for (const SearchColumn& column : maker.study.columns)
    speeds.push_back(speed_of(maker, row, column, table));
  table.rows.push_back(row_json(maker.study, row, speeds));
  return speeds;
}

// The paper's speed-up of a column over another one of the table.
std::optional<double> reported_speedup(const SearchStudy& study, const SearchRow& row,
                                       std::size_t column) {
  const double* with = std::get_if<double>(&row.values[column]);
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const double* without = std::get_if<double>(&row.values[c]);
    if (study.columns[c].label == study.columns[column].over && with != nullptr &&
        without != nullptr)
      return 100 * (*without / *with - 1);
  }
  return std::nullopt;
}

// Of a range, the note tells.
bool shows_paper(const SearchStudy& study, std::size_t column) {
  return !study.columns[column].range && is_in_paper(study, column);
}

std::string optional_percent(const std::optional<double>& value, const std::string& missing) {
  return value ? value_text(*value, StudyUnit::Percent) : missing;
}

}  // namespace

StudyTable speedup_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  std::vector<std::string> header = {"model"};
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const bool beside = shows_paper(study, c);
    if (beside) header.push_back(study.columns[c].label + ": paper");
    header.push_back(beside ? "ours" : study.columns[c].label);
  }
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    if (!repeats_an_earlier_one(study, c)) header.push_back(step_time_header(study.columns[c]));
  }
  table.cells.push_back(std::move(header));
  std::vector<std::vector<double>> ours(study.columns.size());
  for (const SearchRow& row : study.rows) {
    const std::vector<Speed> speeds = speeds_of(maker, row, table);
    std::vector<std::string> line = {row.label};
    for (std::size_t c = 0; c < speeds.size(); ++c) {
      const SearchColumn& column = study.columns[c];
      if (shows_paper(study, c)) line.push_back(reported_text(row.values[c], StudyUnit::Percent));
      line.push_back(optional_percent(speeds[c].percent, speeds[c].missing));
      if (speeds[c].percent) ours[c].push_back(*speeds[c].percent);
      compare_with_paper(row, column, row.values[c], speeds[c], table.directions);
    }
    for (std::size_t c = 0; c < speeds.size(); ++c)
      if (!repeats_an_earlier_one(study, c)) line.push_back(seconds_text(speeds[c]));
    compare_columns(study, row, speeds, table.directions);
    table.cells.push_back(std::move(line));
  }
  for (std::size_t c = 0; c < study.columns.size(); ++c)
    note_range(study.columns[c], ours[c], table);
  return table;
}

StudyTable sfb_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  std::vector<std::string> header = {"model"};
  for (const SearchColumn& column : study.columns) {
    header.insert(header.end(), {column.label + ": paper", "ours"});
    if (!column.over.empty()) header.insert(header.end(), {"speed-up: paper", "ours"});
  }
  table.cells.push_back(std::move(header));
  for (const SearchRow& row : study.rows) {
    const std::vector<Speed> speeds = speeds_of(maker, row, table);
    std::vector<std::string> line = {row.label};
    for (std::size_t c = 0; c < speeds.size(); ++c) {
      line.push_back(reported_text(row.values[c], StudyUnit::Seconds));
      line.push_back(seconds_text(speeds[c]));
      if (study.columns[c].over.empty()) continue;
      const std::optional<double> theirs = reported_speedup(study, row, c);
      line.push_back(optional_percent(theirs, "-"));
      line.push_back(optional_percent(speeds[c].percent, speeds[c].missing));
      if (theirs) compare_with_paper(row, study.columns[c], *theirs, speeds[c], table.directions);
    }
    table.cells.push_back(std::move(line));
  }
  return table;
}

}  // namespace strato::cli
