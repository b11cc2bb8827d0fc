// The text in which search trees of versions 1 and 2 say where the search stands.
//
//   tree search:  "local_iterations/local" (the oldest), or "local_iterations baseline pinned_since
//                 pins flags[ g0123][ kaside][ rbarred]/local[/fsecond|/psecond]": `flags` has a
//                 bit each for packed, unfinished and contradicted, and space_next above them;
//                 behind the g a digit for each group, and one for all (1: unfinished, 2: tried
//                 otherwise), or, without g, a number that says nothing any more; a candidate is
//                 "flags,action,action,..."
//   local search: rows of numbers, each ended by a semicolon: 6, 9 or 10 of them with the rest
//                 behind the last
//   AutoDist:     "autodist 5", its options, the number of batches, and one batch of evaluations,
//                 each on its own line
#include <limits>
#include <span>
#include <utility>

#include "core/base/number_from.h"
#include "core/search/tree/legacy_tree.h"

namespace strato {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kAutoDist = "autodist 5";

[[noreturn]] void damaged_state() { damaged_tree("its state is not what the search wrote"); }

// Takes what is before the next `end` off the text; all of it where there is none.
std::string_view take_to(std::string_view& text, char end) {
  const std::size_t place = text.find(end);
  const std::string_view taken = text.substr(0, place);
  text.remove_prefix(place == std::string_view::npos ? text.size() : place + 1);
  return taken;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) parts.push_back(take_to(text, at));
  return parts;
}

std::int64_t whole_number(std::string_view text, std::int64_t least, std::int64_t most) {
  if (const auto value = number_from(text, least, most)) return *value;
  damaged_state();
}

using Row = std::vector<std::int64_t>;

Row row_of(std::string_view text) {
  Row row;
  for (const std::string_view word : split(text, ' '))
    if (!word.empty()) row.push_back(whole_number(word, -kMost - 1, kMost));
  return row;
}

std::int32_t narrow(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) damaged_state();
  return static_cast<std::int32_t>(value);
}

ActionVector actions_of(const Row& row) {
  ActionVector actions;
  for (const std::int64_t action : row) actions.push_back(narrow(action));
  return actions;
}

std::vector<Move> moves_of(const Row& row) {
  if (row.size() % 3 != 0) damaged_state();
  std::vector<Move> moves;
  for (std::size_t i = 0; i < row.size(); i += 3)
    moves.push_back({narrow(row[i]), narrow(row[i + 1]), narrow(row[i + 2])});
  return moves;
}

void read_second_half(std::span<const Row> rows, LocalSearchState& state) {
  if (rows[2].size() < 2) damaged_state();
  state.tried_pairs = {rows[0].begin(), rows[0].end()};
  state.away = actions_of(rows[1]);
  state.neighbours_done = rows[2][0] != 0;
  state.away_time_ns = rows[2][1];
  state.used_starts = {rows[2].begin() + 2, rows[2].end()};
  if (rows.size() < 5) return;
  if (rows[3].size() % 2 != 0) damaged_state();
  for (std::size_t i = 0; i < rows[3].size(); i += 2)
    state.yields.push_back({rows[3][i], rows[3][i + 1]});
}

LocalSearchState read_local(std::string_view text) {
  std::vector<Row> rows;
  while (text.find(';') != std::string_view::npos) rows.push_back(row_of(take_to(text, ';')));
  rows.push_back(row_of(text));
  if ((rows.size() != 6 && rows.size() != 9 && rows.size() != 10) || rows[0].size() != 1)
    damaged_state();
  LocalSearchState state;
  state.steps = rows[0][0];
  state.incumbent = actions_of(rows[1]);
  state.successes = rows[2];
  const std::vector<Move> tried = moves_of(rows[3]);
  state.tried = {tried.begin(), tried.end()};
  state.together = moves_of(rows[4]);
  if (rows.size() > 6) read_second_half(std::span(rows).subspan(5), state);
  return state;
}

// Behind the word's letter.
Candidate read_candidate(std::string_view word) {
  const std::vector<std::string_view> parts = split(word.substr(1), ',');
  if (parts.empty()) damaged_state();
  Candidate candidate;
  for (const char flag : parts.front()) candidate.unfinished.push_back(flag == '1');
  for (const std::string_view part : std::span(parts).subspan(1))
    candidate.actions.push_back(narrow(whole_number(part, 0, kMost)));
  return candidate;
}

void read_finishing(std::string_view digits, SearchState& state) {
  if (digits.empty() || digits.find_first_not_of("0123") != std::string_view::npos) damaged_state();
  for (const char digit : digits.substr(0, digits.size() - 1)) {
    state.incumbent_unfinished.push_back(((digit - '0') & 1) != 0);
    state.tried_otherwise.push_back(((digit - '0') & 2) != 0);
  }
  state.all_tried_otherwise = ((digits.back() - '0') & 2) != 0;
}

void read_words(std::span<const std::string_view> words, const SearchTree& tree,
                SearchState& state) {
  constexpr std::int64_t kMostFlags = std::int64_t{1} << 40;
  state.baseline_ns = whole_number(words[1], 0, kMost);
  state.pinned_since = static_cast<std::uint64_t>(
      whole_number(words[2], 0, static_cast<std::int64_t>(tree.log.size())));
  state.pins = Digest::from_hex(words[3]);
  const std::int64_t flags = whole_number(words[4], 0, kMostFlags);
  state.packed = (flags & 1) != 0;
  state.unfinished = (flags & 2) != 0;
  state.contradicted = (flags & 4) != 0;
  state.space_next = static_cast<std::uint64_t>(flags / 8);
  if (words.size() == 5) return;
  if (!words[5].starts_with('g')) {
    if (words.size() > 6) damaged_state();
    whole_number(words[5], 0, kMost);
    return;
  }
  read_finishing(words[5].substr(1), state);
  for (const std::string_view word : words.subspan(6)) {
    Candidate& candidate = word.starts_with('k') ? state.aside : state.barred;
    if (!candidate.actions.empty() || !(word.starts_with('k') || word.starts_with('r')))
      damaged_state();
    candidate = read_candidate(word);
  }
}

SearchState read_tree_search(std::string_view text, const SearchTree& tree) {
  if (text.find('/') == std::string_view::npos) damaged_state();
  SearchState state;
  const std::vector<std::string_view> words = split(take_to(text, '/'), ' ');
  if (words.size() != 1 && (words.size() < 5 || words.size() > 8)) damaged_state();
  state.local_iterations = whole_number(words[0], 0, tree.iterations);
  if (words.size() > 1) read_words(words, tree, state);
  const bool has_second = text.find('/') != std::string_view::npos;
  const std::string_view local = take_to(text, '/');
  // Of a search that has evaluated nothing the rest is not looked at.
  if (tree.vertices.front().step_time_ns == 0) return state;
  state.local = read_local(local);
  if (!has_second) return state;
  if (!text.starts_with('f') && !text.starts_with('p')) damaged_state();
  state.second = SearchState::Unfinished{text.front() == 'f', read_local(text.substr(1))};
  return state;
}

EvaluationRecord read_record(std::string_view text) {
  EvaluationRecord record;
  record.planner = take_to(text, '\n');
  record.options = take_to(text, '\n');
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty()) damaged_state();
  if (std::cmp_not_equal(whole_number(lines[0], 0, kMost), lines.size() - 1)) damaged_state();
  for (const std::string_view line : std::span(lines).subspan(1)) {
    const Row row = row_of(line);
    if (row.empty() || std::cmp_not_equal(row[0], row.size() / 3) || row.size() % 3 != 1)
      damaged_state();
    auto& batch = record.batches.emplace_back();
    for (std::size_t i = 1; i < row.size(); i += 3)
      batch.push_back({row[i], row[i + 1] != 0, row[i + 2]});
  }
  return record;
}

}  // namespace

void read_legacy_state(std::string_view text, SearchTree& tree) {
  if (text.starts_with(kAutoDist))
    tree.record = read_record(text);
  else if (!text.empty())
    tree.state = read_tree_search(text, tree);
}

}  // namespace strato
