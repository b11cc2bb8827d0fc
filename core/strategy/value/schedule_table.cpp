#include "core/strategy/value/schedule_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::int32_t kMostMicros = 1 << 20, kMostChunks = 1 << 16;
constexpr std::string_view kLetters = "FBW";
constexpr const char* kRemedy = "write cells like 0F0, 1B2 or 1W2: chunk, pass, micro-batch";

// As it is written: I and B are not told apart yet.
struct Written {
  ScheduleCell cell;
  bool inputs_only = false;
};

std::optional<std::int32_t> number_of(std::string_view& text, std::int32_t limit) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value >= limit) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Written> read_cell(std::string_view text) {
  Written written;
  const auto chunk = number_of(text, kMostChunks);
  if (!chunk || text.empty()) return std::nullopt;
  written.inputs_only = text.front() == 'I';
  const auto pass = kLetters.find(written.inputs_only ? 'B' : text.front());
  text.remove_prefix(1);
  const auto micro = number_of(text, kMostMicros);
  if (pass == std::string_view::npos || !micro || !text.empty()) return std::nullopt;
  written.cell = {*chunk, static_cast<PassKind>(pass), *micro};
  return written;
}

std::vector<std::string_view> pieces(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::vector<std::vector<Written>> read_rows(const std::vector<std::string_view>& rows,
                                            const std::string& file) {
  std::vector<std::vector<Written>> result;
  for (const std::string_view row : rows) {
    std::vector<Written>& cells = result.emplace_back();
    std::size_t at = 0;
    for (std::string_view text : pieces(row, ",")) {
      ++at;
      for (const std::string_view piece : pieces(text, " \t\r\"")) {
        if (piece.empty()) continue;
        const auto cell = read_cell(piece);
        if (!cell)
          throw InputError(file, fmt::format("row {}, column {}", result.size(), at),
                           fmt::format("\"{}\" is no cell of a schedule", piece.substr(0, 64)),
                           kRemedy);
        cells.push_back(*cell);
      }
    }
  }
  return result;
}

// A B without its W is both, where any is in two.
ScheduleTable table_of(const std::vector<std::vector<Written>>& rows) {
  std::set<std::pair<std::int32_t, std::int32_t>> in_two;
  for (const auto& row : rows)
    for (const auto& [cell, inputs_only] : row)
      if (inputs_only || cell.pass == PassKind::Weights) in_two.emplace(cell.chunk, cell.micro);
  ScheduleTable table;
  for (const auto& row : rows) {
    std::vector<ScheduleCell>& cells = table.emplace_back();
    for (const auto& [cell, inputs_only] : row) {
      cells.push_back(cell);
      if (!in_two.empty() && cell.pass == PassKind::Backward &&
          !in_two.contains({cell.chunk, cell.micro}))
        cells.push_back({cell.chunk, PassKind::Weights, cell.micro});
    }
  }
  return table;
}

[[noreturn]] void refuse_row(std::size_t row, const std::string& problem, const char* remedy) {
  throw InputError("", fmt::format("schedule, row {}", row + 1), problem, remedy);
}

[[noreturn]] void refuse_cell(std::size_t row, std::size_t cell, const ScheduleCell& what,
                              const std::string& problem, const char* remedy) {
  throw InputError(
      "", fmt::format("schedule, row {}, cell {} (\"{}\")", row + 1, cell + 1, name_of(what)),
      problem, remedy);
}

}  // namespace

std::string name_of(const ScheduleCell& cell) {
  return fmt::format("{}{}{}", cell.chunk, kLetters[static_cast<std::size_t>(cell.pass)],
                     cell.micro);
}

ScheduleTable parse_schedule_csv(std::string_view text, const std::string& file) {
  std::vector<std::string_view> rows = pieces(text, "\n");
  while (!rows.empty() && rows.back().find_first_not_of(" \t\r") == std::string_view::npos)
    rows.pop_back();
  if (rows.empty()) throw InputError(file, "", "is an empty schedule", kRemedy);
  return table_of(read_rows(rows, file));
}

ScheduleTable parse_schedule_rows(const std::vector<std::string>& rows) {
  return table_of(read_rows({rows.begin(), rows.end()}, ""));
}

std::vector<std::string> schedule_rows(const ScheduleTable& table) {
  std::vector<std::string> rows;
  for (const std::vector<ScheduleCell>& cells : table) {
    std::string& row = rows.emplace_back();
    for (const ScheduleCell& cell : cells) row += (row.empty() ? "" : " ") + name_of(cell);
  }
  return rows;
}

std::int32_t micro_batch_count(const ScheduleTable& table) {
  std::int32_t count = 0;
  for (const std::vector<ScheduleCell>& row : table)
    for (const ScheduleCell& cell : row) count = std::max(count, cell.micro + 1);
  return count;
}

bool splits_backward(const ScheduleTable& table) {
  return std::ranges::any_of(table, [](const std::vector<ScheduleCell>& row) {
    return std::ranges::find(row, PassKind::Weights, &ScheduleCell::pass) != row.end();
  });
}

void check_table(const ScheduleTable& table, std::int32_t micro_batches) {
  std::map<std::int32_t, std::size_t> row_of;  // by chunk
  std::set<ScheduleCell> seen;
  std::map<std::pair<std::int32_t, PassKind>, std::int32_t> last_of;  // micro-batch, by pass
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table[row].empty()) refuse_row(row, "has no cell", "give each stage its row");
    for (std::size_t i = 0; i < table[row].size(); ++i) {
      const ScheduleCell& cell = table[row][i];
      if (cell.micro >= micro_batches)
        refuse_cell(row, i, cell, fmt::format("is of no micro-batch: there are {}", micro_batches),
                    "micro-batches are counted from 0");
      const std::size_t other = row_of.emplace(cell.chunk, row).first->second;
      if (other != row)
        refuse_cell(row, i, cell, fmt::format("is of a chunk of row {}", other + 1),
                    "keep a chunk in one row");
      if (!seen.insert(cell).second)
        refuse_cell(row, i, cell, "is there twice", "name each cell once");
      std::int32_t& last = last_of.emplace(std::pair(cell.chunk, cell.pass), -1).first->second;
      if (cell.micro < std::exchange(last, cell.micro))
        refuse_cell(row, i, cell, "comes after a later micro-batch",
                    "keep the micro-batches of a pass in their order: so gradients are added up");
    }
  }
  if (table.empty()) refuse_row(0, "is missing", "give each stage its row");
  const PassKind last_pass = splits_backward(table) ? PassKind::Weights : PassKind::Backward;
  for (const auto& [chunk, row] : row_of)
    for (std::int32_t micro = 0; micro < micro_batches; ++micro)
      for (auto pass = PassKind::Forward; pass <= last_pass;
           pass = static_cast<PassKind>(static_cast<int>(pass) + 1))
        if (const ScheduleCell cell{chunk, pass, micro}; !seen.contains(cell))
          refuse_row(row, fmt::format("has no cell {}", name_of(cell)),
                     "give each chunk a forward and a backward pass of every micro-batch");
}

void add_to(Hasher& hasher, const ScheduleTable& table) {
  if (table.empty()) return;
  hasher.text("table").number(table.size());
  for (const std::vector<ScheduleCell>& row : table) {
    hasher.number(row.size());
    for (const ScheduleCell& cell : row)
      hasher.number(cell.chunk).number(cell.pass).number(cell.micro);
  }
}

}  // namespace strato
