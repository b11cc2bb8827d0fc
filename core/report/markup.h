// The parts of a report as an HTML page: text made safe for HTML, and tables.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace strato::html {

// Names may hold anything: <, &, quotes; what is no UTF-8 or not allowed in a document becomes
// U+FFFD.
std::string escaped(std::string_view text);

// Returns at most so many characters, the last one an ellipsis where there are more; bytes that are
// none count as one. The text is not escaped.
std::string shortened(std::string_view text, std::size_t most);

// A whole document; `title` is plain text.
std::string page(std::string_view title, std::string_view body);
std::string section(std::string_view title, const std::string& content);
std::string note(std::string_view text);  // a paragraph of plain text

// "<td>" of plain text; right-aligned when it is a figure.
std::string cell(std::string_view text);
std::string figure(std::string_view text);

class Table {
 public:
  explicit Table(const std::vector<std::string>& headings);
  void row(std::initializer_list<std::string> cells);
  void row(std::string_view cells) { text_ += "<tr>" + std::string(cells) + "</tr>\n"; }
  void best_row(std::string_view cells) {  // in thick letters
    text_ += "<tr class=\"best\">" + std::string(cells) + "</tr>\n";
  }
  std::string text() const { return text_ + "</table></div>\n"; }

 private:
  std::string text_;
};

}  // namespace strato::html
