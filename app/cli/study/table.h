// Tables of studies whose cells are what planners find: ours beside theirs, and where the direction
// differs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/cli/study/searches.h"
#include "core/io/json.h"

namespace strato::cli {

// One cell: what the paper has, and what we have or why we have nothing ("OOM", "not built", ...).
struct StudyValue {
  Reported theirs;
  std::optional<double> ours;
  std::string missing;  // in place of ours
};

enum class StudyUnit { Percent, Seconds, Number };

// Which way the paper's figures point, and ours with them or not.
struct Directions {
  int compared = 0;
  std::vector<std::string> differ;  // a sentence each
  void compare(bool same, std::string sentence);
  void add(const Directions& other);
};

struct StudyTable {
  std::vector<std::vector<std::string>> cells;  // the first row is the header
  std::vector<std::string> notes;               // lines below it
  Directions directions;
  Json rows = Json::array(), searches = Json::array();
  std::set<StudySearch> listed;  // in `searches`
};

// What the tables of one study are made with.
struct StudyMaker {
  const SearchStudy& study;
  const SearchLimits& limits;
  StudySearches& searches;

  // Of a cell of the table, with its first seed.
  StudySearch search(const SearchRow& row, const SearchColumn& column) const;
  // Runs it, and notes it in `table`.
  const StudyResult& run(const StudySearch& search, const SearchRow& row, StudyTable& table) const;
};

StudyTable speedup_table(const StudyMaker& maker);
StudyTable sfb_table(const StudyMaker& maker);
StudyTable iterations_table(const StudyMaker& maker);
StudyTable strategy_table(const StudyMaker& maker);
StudyTable duplicated_table(const StudyMaker& maker);
StudyTable placements_table(const StudyMaker& maker);
StudyTable splits_table(const StudyMaker& maker);
StudyTable make_table(const StudyMaker& maker);  // of the study's kind

std::string table_text(const StudyMaker& maker, const StudyTable& table);
Json table_json(const StudyMaker& maker, const StudyTable& table);

// Pieces that the kinds share.
std::string value_text(double value, StudyUnit unit);
std::optional<double> number(const Reported& reported);  // nothing: none was printed
std::string reported_text(const Reported& reported, StudyUnit unit);
std::string ours_text(const StudyValue& value, StudyUnit unit);
Json reported_json(const Reported& reported);
Json value_json(const SearchColumn& column, const StudyValue& value);
bool is_in_paper(const SearchStudy& study, std::size_t column);  // it has a value of some row
std::string missing_text(const StudyResult& result);             // why it has no strategy
// -1, 0 or 1: `value` is below, about, or above zero.
int sign_of(double value, double tolerance);

}  // namespace strato::cli
