#include "core/report/markup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/utf8.h"

namespace strato::html {
namespace {

// Light or dark as the reader's system is, colours that differ for colour-blind eyes too (after
// Okabe and Ito), nothing that is loaded from elsewhere.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --muted: #59636e; --line: #d8dee4; --page: #ffffff;
  --compute: #0072b2; --update: #7b5ea7; --reshuffle: #8a8f98; --transfer: #d55e00; --collective: #009e73; --bad: #c62828;
  --total: #8a8f98; --less: #0072b2; --more: #c86a00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --muted: #9aa4b0; --line: #363c44; --page: #16191d;
  --compute: #56b4e9; --update: #b49ae0; --reshuffle: #9aa0a8; --transfer: #f0914a; --collective: #3fc79a; --bad: #ff6b5e;
  --total: #9aa0a8; --less: #56b4e9; --more: #e69f00; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 2rem auto; max-width: 1180px;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 0; }
.note, .tick, figcaption { color: var(--muted); }
.bad { color: var(--bad); font-weight: 600; }
.answers { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1rem 0; }
.answers b { display: block; font-size: 1.4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.figure { text-align: right; white-space: nowrap; } td { overflow-wrap: anywhere; }
.bar { display: inline-block; width: 10rem; height: .7rem; background: var(--line); vertical-align: middle; }
.bar i { display: block; height: 100%; background: var(--compute); } .bar i.over { background: var(--bad); }
svg { width: 100%; height: auto; } svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .device, svg .value { text-anchor: end; } svg .tick { fill: var(--muted); text-anchor: middle; } svg .grid { stroke: var(--line); }
.compute { fill: var(--compute); background: var(--compute); } .update { fill: var(--update); background: var(--update); }
.reshuffle { fill: var(--reshuffle); background: var(--reshuffle); } .transfer { fill: var(--transfer); background: var(--transfer); }
.collective { fill: var(--collective); background: var(--collective); }
.total { fill: var(--total); } .less { fill: var(--less); } .more { fill: var(--more); }
tr.best td { font-weight: 600; } small { color: var(--muted); white-space: nowrap; }
.key span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; vertical-align: -1px; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
)";

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the character that begins here; 0: there is none that a document may have.
std::size_t character_at(std::string_view text) {
  const std::size_t size = character_size(text);
  const bool control = size == 1 ? text[0] < 0x20 && text[0] != '\t' && text[0] != '\n'
                                 : size == 2 && text < "\xC2\xA0";
  const bool no_character = text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return control || no_character ? 0 : size;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEntities = {
      {{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}, {"'", "&#39;"}}};
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    const auto entity = std::ranges::find(kEntities, character,
                                          &std::pair<std::string_view, std::string_view>::first);
    result += length == 0 ? kReplacement : entity != kEntities.end() ? entity->second : character;
    text.remove_prefix(character.size());
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t end = 0, last = 0;
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, last)) + "…";
    if (count + 1 == most) last = end;
    end += std::max<std::size_t>(1, character_at(text.substr(end)));
  }
  return std::string(text);
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
      escaped(title), kStyle, body);
}

std::string section(std::string_view title, const std::string& content) {
  return "<h2>" + escaped(title) + "</h2>\n" + content;
}

std::string cell(std::string_view text) { return "<td>" + escaped(text) + "</td>"; }
std::string figure(std::string_view text, bool bad) {
  return fmt::format("<td class=\"figure{}\">{}</td>", bad ? " bad" : "", escaped(text));
}

std::string paragraph(std::string_view text) { return "<p>" + escaped(text) + "</p>\n"; }
std::string note(std::string_view text) { return "<p class=\"note\">" + escaped(text) + "</p>\n"; }

Table::Table(const std::vector<std::string>& headings) {
  text_ = "<div class=\"wide\"><table>\n<tr>";
  for (const std::string& heading : headings) text_ += "<th>" + escaped(heading) + "</th>";
  text_ += "</tr>\n";
}

void Table::row(const std::vector<std::string>& cells, bool best) {
  text_ += fmt::format("<tr{}>{}</tr>\n", best ? " class=\"best\"" : "", fmt::join(cells, ""));
}

}  // namespace strato::html
