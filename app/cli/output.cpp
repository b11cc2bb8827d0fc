#include "app/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace strato::cli {
namespace {

// Code points, which is columns for all that we print.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_quantity(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '-') cell.remove_prefix(1);
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell == "-");
}

// Control characters are U+FFFD, but for line ends and tabs: names come from files, and those may
// speak to the terminal. So are the second ones of ISO 6429 (U+0080 to U+009F), and what is no
// UTF-8.
std::string printable(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t size = character_size(text.substr(i));
    const bool second = byte == 0xc2 && i + 1 < text.size() &&
                        (static_cast<unsigned char>(text[i + 1]) & 0xe0U) == 0x80;
    const bool first = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (size == 0 || first || second)
      shown += kReplacement;
    else
      shown += text.substr(i, size);
    if (size > 1) i += size - 1;
  }
  return shown;
}

}  // namespace

void print(std::string_view text) {
  const std::string shown = ::isatty(STDOUT_FILENO) != 0 ? printable(text) : std::string(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw InputError("standard output", "", std::string("cannot be written: ") + std::strerror(errno),
                   "free some space, or send it elsewhere");
}

void remark(std::string_view text) { fmt::print(stderr, "stratoscope-cli: {}\n", printable(text)); }

std::string Table::text() const {
  std::vector<std::size_t> width(rows_[0].size(), 0);
  std::vector<bool> right(rows_[0].size(), rows_.size() > 1);
  for (const std::size_t column : left_) right[column] = false;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      width[c] = std::max(width[c], width_of(rows_[r][c]));
      if (r > 0 && !rows_[r][c].empty() && !is_quantity(rows_[r][c])) right[c] = false;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(width[c] - width_of(row[c]), ' ');
      line += " " + (right[c] ? padding + row[c] : row[c] + padding) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) != 0) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(std::string_view text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r{}\x1b[K", printable(text));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace strato::cli
