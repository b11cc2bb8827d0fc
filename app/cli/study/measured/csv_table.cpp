#include "app/cli/study/measured/csv_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/file.h"

namespace strato::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::vector<std::string> values_of(std::string_view line) {
  std::vector<std::string> values;
  for (std::size_t end = 0; end != std::string_view::npos; line.remove_prefix(end + 1)) {
    end = line.find(',');
    values.emplace_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) break;
  }
  return values;
}

}  // namespace

std::size_t CsvRow::line() const { return table_->lines_[index_].number; }

const std::string& CsvRow::text(std::string_view column) const {
  const auto found = std::ranges::find(table_->columns_, column);
  if (found == table_->columns_.end())
    throw InputError(table_->file_, "line 1", fmt::format("has no column \"{}\"", column),
                     "give all columns of the format");
  return table_->lines_[index_].values[static_cast<std::size_t>(found - table_->columns_.begin())];
}

void CsvRow::fail(std::string_view column, const std::string& problem,
                  const std::string& remedy) const {
  throw InputError(table_->file_, fmt::format("line {}, {}", line(), column), problem, remedy);
}

double CsvRow::number(std::string_view column) const {
  const auto number = number_from<double>(text(column), 0.0, 1e18);
  if (!number || *number == 0)
    fail(column, fmt::format("\"{}\" is not a number above zero", text(column)), "give one");
  return *number;
}

std::int32_t CsvRow::count(std::string_view column) const {
  const auto number = number_from<std::int32_t>(text(column), 1, 1'000'000'000);
  if (!number)
    fail(column, fmt::format("\"{}\" is not a whole number from 1 on", text(column)), "give one");
  return *number;
}

CsvTable CsvTable::read(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMost = std::uintmax_t{64} << 20;
  return parse(read_file(file, kMost), file.string());
}

CsvTable CsvTable::parse(std::string_view text, const std::string& file) {
  CsvTable table;
  table.file_ = file;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    std::vector<std::string> values = values_of(line);
    if (table.columns_.empty()) {
      table.columns_ = std::move(values);
      continue;
    }
    if (values.size() != table.columns_.size())
      throw InputError(
          file, fmt::format("line {}", number),
          fmt::format("has {} values, and the header {}", values.size(), table.columns_.size()),
          "give a table of comma-separated values with a header");
    table.lines_.push_back({number, std::move(values)});
  }
  return table;
}

bool CsvTable::has(std::string_view column) const {
  return std::ranges::find(columns_, column) != columns_.end();
}

}  // namespace strato::cli
