#include "core/compare/comparison_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quantity_text.h"

namespace strato {
namespace {

constexpr std::size_t kBars = 9;
constexpr std::size_t kRows = 500;  // of groups and variables
constexpr std::size_t kMostLabel = 44;  // characters beside a bar

constexpr const char* kPageStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --muted: #59636e; --line: #d8dee4; --page: #fff;
  --total: #8a8f98; --less: #0072b2; --more: #c86a00; --bad: #c62828; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --muted: #9aa4b0; --line: #363c44;
  --page: #16191d; --total: #9aa0a8; --less: #56b4e9; --more: #e69f00; --bad: #ff6b5e; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  margin: 2rem auto; max-width: 1180px; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.note { color: var(--muted); } .bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
td.figure { text-align: right; white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .value { text-anchor: end; } svg line { stroke: var(--muted); }
.total { fill: var(--total); } .less { fill: var(--less); } .more { fill: var(--more); }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
)";

bool is_continuation(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// Length of the character that begins here; 0: it is none that a document may hold.
std::size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80U) return first >= 0x20U || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : first >= 0xC2U ? 2 : 0;
  if (length == 0 || first > 0xF4U || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(static_cast<unsigned char>(text[i]))) return 0;
  return length;
}

std::string safe(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character(text);
    switch (length == 1 ? text[0] : '\0') {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        if (length == 0) {
          result += "\xEF\xBF\xBD";
        } else {
          result += text.substr(0, length);
        }
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

// At most so many characters; bytes that are none count as one.
std::string shortened(std::string_view text, std::size_t most) {
  std::size_t end = 0, last = 0;
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, last)) + "…";
    if (count + 1 == most) last = end;
    end += std::max<std::size_t>(1, character(text.substr(end)));
  }
  return std::string(text);
}

std::string words(std::string_view text) { return "<td>" + safe(text) + "</td>"; }
std::string figure(std::string_view text) {
  return "<td class=\"figure\">" + safe(text) + "</td>";
}

class HtmlTable {
 public:
  explicit HtmlTable(std::initializer_list<std::string_view> heads) {
    text_ = "<div class=\"wide\"><table><tr>";
    for (const std::string_view head : heads) text_ += "<th>" + safe(head) + "</th>";
    text_ += "</tr>\n";
  }
  void add(std::initializer_list<std::string> cells) {
    text_ += "<tr>";
    for (const std::string& cell : cells) text_ += cell;
    text_ += "</tr>\n";
  }
  std::string text() const { return text_ + "</table></div>\n"; }

 private:
  std::string text_;
};

std::string section(std::string_view title, const std::string& content) {
  return fmt::format("<h2>{}</h2>\n{}", title, content);
}

// --- the waterfall ---

struct Bar {
  std::string label, value;
  const char* kind;
  Nanos begin, end;
};

std::vector<Bar> bars_of(const PlanComparison& comparison) {
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  std::vector<Bar> bars = {
      {from.label, time_text(from.step_time), "total", Nanos(0), from.step_time}};
  Nanos at = from.step_time;
  for (const Cause& cause : folded(comparison.causes, kBars)) {
    const Nanos next = at + cause.change();
    bars.push_back({cause.text, signed_time_text(cause.change()), next < at ? "less" : "more",
                    std::min(at, next), std::max(at, next)});
    at = next;
  }
  bars.push_back({to.label, time_text(to.step_time), "total", Nanos(0), to.step_time});
  return bars;
}

std::string waterfall_svg(const PlanComparison& comparison) {
  constexpr int labels = 300, width = 900, row = 24, room = width - labels - 90;
  const std::vector<Bar> bars = bars_of(comparison);
  Nanos high(1);
  for (const Bar& bar : bars) high = std::max(high, bar.end);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                width, row * bars.size() + 8, safe(comparison.sentence));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double x = labels + room * (bar.begin / high);
    const double length = std::max(1.0, room * ((bar.end - bar.begin) / high));
    const std::size_t y = row * i + 4;
    svg += fmt::format("<text x=\"0\" y=\"{}\">{}</text>", y + 15,
                       safe(shortened(bar.label, kMostLabel)));
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>", bar.kind, x,
        y + 2, length, row - 6);
    svg += fmt::format("<text class=\"value\" x=\"{}\" y=\"{}\">{}</text>\n", width, y + 15,
                       safe(bar.value));
  }
  return svg + "</svg>\n";
}

// --- tables ---

std::string plans_table(const PlanComparison& comparison) {
  HtmlTable table({"Plan", "Step time", "Samples/s", "Memory", "Model", "Cluster"});
  for (const PlanFigures* plan : {&comparison.plans.from, &comparison.plans.to})
    table.add({words(plan->label), figure(time_text(plan->step_time)),
               figure(significant_text(plan->samples_per_second())),
               plan->fits ? words("fits")
                          : "<td class=\"bad\">does not fit: " + safe(plan->why_not) + "</td>",
               words(plan->model), words(plan->cluster)});
  return table.text();
}

template <class Row, class Add>
std::string differing_rows(const std::vector<Row>& rows, HtmlTable table, Add&& add) {
  std::size_t differ = 0;
  for (const Row& row : rows)
    if (row.differs && ++differ <= kRows) add(table, row);
  if (differ == 0) return "<p class=\"note\">Nothing differs.</p>\n";
  std::string text = table.text();
  if (differ > kRows) text += fmt::format("<p class=\"note\">and {} more</p>\n", differ - kRows);
  return text;
}

std::string groups_table(const PlanComparison& comparison) {
  return differing_rows(
      comparison.groups,
      HtmlTable({"Op group", "Ops", comparison.plans.from.label, comparison.plans.to.label,
                 "On the critical path", "Busy"}),
      [](HtmlTable& table, const GroupChange& row) {
        table.add({words(row.name), figure(std::to_string(row.ops)), words(row.decision.from),
                   words(row.decision.to), figure(signed_time_text(row.change())),
                   figure(signed_time_text(row.busy.to - row.busy.from))});
      });
}

std::string variables_table(const PlanComparison& comparison) {
  return differing_rows(
      comparison.variables,
      HtmlTable({"Variable", "Size", comparison.plans.from.label, comparison.plans.to.label,
                 "Communication"}),
      [](HtmlTable& table, const VariableChange& row) {
        table.add({words(row.name), figure(bytes_text(row.bytes)), words(row.synchronised.from),
                   words(row.synchronised.to),
                   figure(signed_time_text(row.communication.to - row.communication.from))});
      });
}

std::string devices_table(const PlanComparison& comparison) {
  HtmlTable table({"Device", "Memory", "then", "Computes", "then", "Communicates", "then"});
  const auto memory = [](const std::optional<DeviceUse>& use) {
    if (!use) return figure("–");
    const std::string text = bytes_text(use->peak) + " of " + bytes_text(use->capacity);
    return use->fits() ? figure(text) : "<td class=\"figure bad\">" + safe(text) + "</td>";
  };
  const auto share = [](const std::optional<DeviceUse>& use, Nanos DeviceUse::*time, Nanos step) {
    return figure(use && step > Nanos(0) ? percent_text((*use).*time / step) : "–");
  };
  const Nanos from = comparison.plans.from.step_time, to = comparison.plans.to.step_time;
  for (const DeviceChange& row : comparison.devices)
    table.add({words(row.name), memory(row.use.from), memory(row.use.to),
               share(row.use.from, &DeviceUse::compute_busy, from),
               share(row.use.to, &DeviceUse::compute_busy, to),
               share(row.use.from, &DeviceUse::communication_busy, from),
               share(row.use.to, &DeviceUse::communication_busy, to)});
  return table.text();
}

std::string traffic_table(const PlanComparison& comparison) {
  HtmlTable table({"Sent", "Where", "Bytes", "then", "Messages", "then"});
  for (const TrafficChange& row : comparison.traffic)
    table.add({words(row.what), words(row.where), figure(bytes_text(row.bytes.from)),
               figure(bytes_text(row.bytes.to)), figure(std::to_string(row.messages.from)),
               figure(std::to_string(row.messages.to))});
  return table.text();
}

std::string price_section(const PlanComparison& comparison) {
  if (!comparison.price.from && !comparison.price.to) return {};
  HtmlTable table({"Plan", "An hour", "Of machines used", "A step", "A million samples"});
  const auto add = [&](const PlanFigures& plan, const std::optional<PlanPrice>& price) {
    if (price)
      table.add({words(plan.label), figure(price_text(price->per_hour)),
                 figure(price_text(price->used_per_hour)), figure(price_text(price->per_step)),
                 figure(price_text(price->per_million_samples))});
  };
  add(comparison.plans.from, comparison.price.from);
  add(comparison.plans.to, comparison.price.to);
  return section("Price", table.text());
}

std::string notes(const PlanComparison& comparison) {
  std::string text;
  if (!comparison.match.same_graph)
    text += "<p>The models differ: " + safe(text_of(comparison.match)) + ".</p>\n";
  for (const std::string& line : comparison.others) text += "<p>" + safe(line) + "</p>\n";
  return text;
}

}  // namespace

std::string comparison_html(const PlanComparison& comparison) {
  const std::string title =
      safe(fmt::format("{} and {}", comparison.plans.from.label, comparison.plans.to.label));
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
             "<style>{1}</style></head><body>\n<h1>{0}</h1>\n<p>{2}</p>\n",
             title, kPageStyle, safe(comparison.sentence)) +
         plans_table(comparison) + notes(comparison) +
         section("From step to step", waterfall_svg(comparison)) +
         section("Op groups that differ", groups_table(comparison)) +
         section("Variables that differ", variables_table(comparison)) +
         section("Devices", devices_table(comparison)) +
         section("What is sent", traffic_table(comparison)) + price_section(comparison) +
         "<p class=\"note\">Simulated by Stratoscope.</p>\n</body></html>\n";
}

}  // namespace strato
