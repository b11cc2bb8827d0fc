// The parts of a report as an HTML page: text made safe for HTML, tables, and the simulated step as
// a picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/sim/engine/simulate.h"

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
std::string paragraph(std::string_view text);  // of plain text
std::string note(std::string_view text);       // one in muted letters

// "<td>" of plain text; right-aligned when it is a figure, in another colour when it is a `bad`
// one.
std::string cell(std::string_view text);
std::string figure(std::string_view text, bool bad = false);

class Table {
 public:
  explicit Table(const std::vector<std::string>& headings);
  // Of cell() and figure(); `best`: in thick letters.
  void row(const std::vector<std::string>& cells, bool best = false);
  std::string text() const { return text_ + "</table></div>\n"; }

 private:
  std::string text_;
};

// Two rows a device, what it computes and what it sends: an <svg> whose size does not grow with the
// number of tasks: of each point of a row the kind that fills most of it is drawn, as dark as it is
// full, and equal neighbours are one rectangle. Devices beyond the first `most_devices` are left
// out, and it says so. `across`: what its width stands for, for several pictures of one scale; not
// before the step's end.
std::string timeline_svg(const Timeline& timeline, std::size_t most_devices = 64,
                         Nanos across = Nanos(0));
std::string timeline_key();  // of its colours: a paragraph

}  // namespace strato::html
