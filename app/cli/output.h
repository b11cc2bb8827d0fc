// What goes to standard output and to the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strato::cli {

// No control character of the text reaches a terminal, in any of what follows.
void print(std::string_view text);
void flush_output();  // throws InputError when standard output could not take it (a full disk)

// One line on standard error, for a person: warnings and reports.
void remark(std::string_view text);

// An aligned table: the first row is the header; cells that begin with a digit go to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // This column goes to the left whatever its cells begin with: names and words.
  void align_left(std::size_t column) { left_.push_back(column); }
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_;
};

// One line that is written over in place; nothing at all when standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  bool shown() const { return terminal_; }
  void show(std::string_view text);
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace strato::cli
