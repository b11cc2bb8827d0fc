// A table of comma-separated values with a header, as published measurements come.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace strato::cli {

class CsvTable;

// One line. Each function throws InputError with the line and the column.
class CsvRow {
 public:
  CsvRow(const CsvTable& table, std::size_t index) : table_(&table), index_(index) {}

  std::size_t line() const;  // of the file, from 1
  const std::string& text(std::string_view column) const;
  double number(std::string_view column) const;  // above zero
  std::int32_t count(std::string_view column) const;
  [[noreturn]] void fail(std::string_view column, const std::string& problem,
                         const std::string& remedy) const;

 private:
  const CsvTable* table_;
  std::size_t index_;
};

class CsvTable {
 public:
  // Throws InputError for a line of another number of values than the header has.
  static CsvTable read(const std::filesystem::path& file);
  static CsvTable parse(std::string_view text, const std::string& file);

  const std::string& file() const { return file_; }
  bool has(std::string_view column) const;
  std::size_t size() const { return lines_.size(); }
  CsvRow row(std::size_t index) const { return {*this, index}; }

 private:
  friend class CsvRow;
  std::string file_;
  std::vector<std::string> columns_;
  struct Line {
    std::size_t number;
    std::vector<std::string> values;
  };
  std::vector<Line> lines_;
};

}  // namespace strato::cli
