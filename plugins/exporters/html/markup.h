// The parts of the page: text made safe for HTML, and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strato::html {

// Names may hold anything: <, &, quotes; what is no UTF-8 or not allowed in a document becomes U+FFFD.
std::string escaped(std::string_view text);

// "<td>" of plain text; right-aligned when it is a figure.
std::string cell(std::string_view text);
std::string figure(std::string_view text);

class Table {
 public:
  explicit Table(const std::vector<std::string>& headings);
  void row(std::string_view cells) { text_ += "<tr>" + std::string(cells) + "</tr>\n"; }
  std::string text() const { return text_ + "</table></div>\n"; }

 private:
  std::string text_;
};

}  // namespace strato::html
