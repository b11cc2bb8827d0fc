#include "core/compare/page/comparison_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quantity_text.h"
#include "core/report/markup.h"

namespace strato {
namespace {

constexpr std::size_t kBars = 9;
constexpr std::size_t kRows = 500;      // of groups and variables
constexpr std::size_t kMostLabel = 44;  // characters beside a bar

using html::cell;
using html::figure;

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
                                width, row * bars.size() + 8, html::escaped(comparison.sentence));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double x = labels + room * (bar.begin / high);
    const double length = std::max(1.0, room * ((bar.end - bar.begin) / high));
    const std::size_t y = row * i + 4;
    svg += fmt::format("<text x=\"0\" y=\"{}\">{}</text>", y + 15,
                       html::escaped(html::shortened(bar.label, kMostLabel)));
    svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                       bar.kind, x, y + 2, length, row - 6);
    svg += fmt::format("<text class=\"value\" x=\"{}\" y=\"{}\">{}</text>\n", width, y + 15,
                       html::escaped(bar.value));
  }
  return svg + "</svg>\n";
}

// --- tables ---

std::string plans_table(const PlanComparison& comparison) {
  html::Table table({"Plan", "Step time", "Samples/s", "Memory", "Model", "Cluster"});
  for (const PlanFigures* plan : {&comparison.plans.from, &comparison.plans.to})
    table.row({cell(plan->label), figure(time_text(plan->step_time)),
               figure(significant_text(plan->samples_per_second())),
               plan->fits
                   ? cell("fits")
                   : "<td class=\"bad\">does not fit: " + html::escaped(plan->why_not) + "</td>",
               cell(plan->model), cell(plan->cluster)});
  return table.text();
}

template <class Row, class Add>
std::string differing_rows(const std::vector<Row>& rows, html::Table table, Add&& add) {
  std::size_t differ = 0;
  for (const Row& row : rows)
    if (row.differs && ++differ <= kRows) add(table, row);
  if (differ == 0) return html::note("Nothing differs.");
  return table.text() +
         (differ > kRows ? html::note(fmt::format("and {} more", differ - kRows)) : "");
}

std::string groups_table(const PlanComparison& comparison) {
  return differing_rows(
      comparison.groups,
      html::Table({"Op group", "Ops", comparison.plans.from.label, comparison.plans.to.label,
                   "On the critical path", "Busy"}),
      [](html::Table& table, const GroupChange& row) {
        table.row({cell(row.name), figure(fmt::to_string(row.ops)), cell(row.decision.from),
                   cell(row.decision.to), figure(signed_time_text(row.change())),
                   figure(signed_time_text(row.busy.to - row.busy.from))});
      });
}

std::string variables_table(const PlanComparison& comparison) {
  return differing_rows(
      comparison.variables,
      html::Table({"Variable", "Size", comparison.plans.from.label, comparison.plans.to.label,
                   "Communication"}),
      [](html::Table& table, const VariableChange& row) {
        table.row({cell(row.name), figure(bytes_text(row.bytes)), cell(row.synchronised.from),
                   cell(row.synchronised.to),
                   figure(signed_time_text(row.communication.to - row.communication.from))});
      });
}

std::string devices_table(const PlanComparison& comparison) {
  html::Table table({"Device", "Memory", "then", "Computes", "then", "Communicates", "then"});
  const auto memory = [](const std::optional<DeviceUse>& use) {
    if (!use) return figure("–");
    const std::string text = bytes_text(use->peak) + " of " + bytes_text(use->capacity);
    return use->fits() ? figure(text) : "<td class=\"figure bad\">" + html::escaped(text) + "</td>";
  };
  const auto share = [](const std::optional<DeviceUse>& use, Nanos DeviceUse::*time, Nanos step) {
    return figure(use && step > Nanos(0) ? percent_text((*use).*time / step) : "–");
  };
  const Nanos from = comparison.plans.from.step_time, to = comparison.plans.to.step_time;
  for (const DeviceChange& row : comparison.devices)
    table.row({cell(row.name), memory(row.use.from), memory(row.use.to),
               share(row.use.from, &DeviceUse::compute_busy, from),
               share(row.use.to, &DeviceUse::compute_busy, to),
               share(row.use.from, &DeviceUse::communication_busy, from),
               share(row.use.to, &DeviceUse::communication_busy, to)});
  return table.text();
}

std::string traffic_table(const PlanComparison& comparison) {
  html::Table table({"Sent", "Where", "Bytes", "then", "Messages", "then"});
  for (const TrafficChange& row : comparison.traffic)
    table.row({cell(row.what), cell(row.where), figure(bytes_text(row.bytes.from)),
               figure(bytes_text(row.bytes.to)), figure(fmt::to_string(row.messages.from)),
               figure(fmt::to_string(row.messages.to))});
  return table.text();
}

std::string price_section(const PlanComparison& comparison) {
  if (!comparison.price.from && !comparison.price.to) return {};
  html::Table table({"Plan", "An hour", "Of machines used", "A step", "A million samples"});
  const auto add = [&](const PlanFigures& plan, const std::optional<PlanPrice>& price) {
    if (price)
      table.row({cell(plan.label), figure(price_text(price->per_hour)),
                 figure(price_text(price->used_per_hour)), figure(price_text(price->per_step)),
                 figure(price_text(price->per_million_samples))});
  };
  add(comparison.plans.from, comparison.price.from);
  add(comparison.plans.to, comparison.price.to);
  return html::section("Price", table.text());
}

std::string notes(const PlanComparison& comparison) {
  std::string text;
  if (!comparison.match.same_graph)
    text += "<p>The models differ: " + html::escaped(text_of(comparison.match)) + ".</p>\n";
  for (const std::string& line : comparison.others) text += "<p>" + html::escaped(line) + "</p>\n";
  return text;
}

}  // namespace

std::string comparison_html(const PlanComparison& comparison) {
  const std::string title =
      fmt::format("{} and {}", comparison.plans.from.label, comparison.plans.to.label);
  return html::page(title, "<p>" + html::escaped(comparison.sentence) + "</p>\n" +
                               plans_table(comparison) + notes(comparison) +
                               html::section("From step to step", waterfall_svg(comparison)) +
                               html::section("Op groups that differ", groups_table(comparison)) +
                               html::section("Variables that differ", variables_table(comparison)) +
                               html::section("Devices", devices_table(comparison)) +
                               html::section("What is sent", traffic_table(comparison)) +
                               price_section(comparison) + html::note("Simulated by Stratoscope."));
}

}  // namespace strato
