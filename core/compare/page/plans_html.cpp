#include "core/compare/page/plans_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/report/markup.h"

namespace strato {
namespace {

constexpr std::size_t kRows = 500;          // of groups and variables
constexpr std::size_t kBars = 9;            // of the waterfall
constexpr std::size_t kMostLabel = 44;      // characters beside a bar
constexpr std::size_t kMostHeading = 40;    // characters of a plan's name above a column
constexpr std::size_t kMostPictured = 128;  // devices, over all timelines
constexpr std::size_t kLeastPictured = 8;   // of each

using html::cell;
using html::figure;
using Cells = std::vector<std::string>;

// --- what both pages have ---

// A table of the rows that differ, under a note; `cells_of` makes the cells of one.
template <class Row, class CellsOf>
std::string differing_rows(const std::vector<Row>& rows, html::Table table, const CellsOf& cells_of,
                           const std::string& note = {}) {
  std::size_t differ = 0;
  for (const Row& row : rows)
    if (row.differs && ++differ <= kRows) table.row(cells_of(row));
  if (differ == 0) return html::note("Nothing differs.");
  return note + table.text() +
         (differ > kRows ? html::note(fmt::format("and {} more", differ - kRows)) : "");
}

using Price = std::pair<std::string, std::optional<PlanPrice>>;  // of the plan of this name

std::string price_section(const std::vector<Price>& prices) {
  html::Table table({"Plan", "An hour", "Of machines used", "A step", "A million samples"});
  bool any = false;
  for (const auto& [label, price] : prices) {
    if (!price) continue;
    any = true;
    table.row({cell(label), figure(price_text(price->per_hour)),
               figure(price_text(price->used_per_hour)), figure(price_text(price->per_step)),
               figure(price_text(price->per_million_samples))});
  }
  return any ? html::section("Price", table.text()) : std::string();
}

std::string memory_text(Bytes peak, Bytes capacity) {
  return fmt::format("{} of {}", bytes_text(peak), bytes_text(capacity));
}

// --- two plans ---

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

std::string groups_table(const PlanComparison& comparison) {
  return differing_rows(comparison.groups,
                        html::Table({"Op group", "Ops", comparison.plans.from.label,
                                     comparison.plans.to.label, "On the critical path", "Busy"}),
                        [](const GroupChange& row) -> Cells {
                          return {cell(row.name),
                                  figure(fmt::to_string(row.ops)),
                                  cell(row.decision.from),
                                  cell(row.decision.to),
                                  figure(signed_time_text(row.change())),
                                  figure(signed_time_text(row.busy.to - row.busy.from))};
                        });
}

std::string variables_table(const PlanComparison& comparison) {
  return differing_rows(
      comparison.variables,
      html::Table({"Variable", "Size", comparison.plans.from.label, comparison.plans.to.label,
                   "Communication"}),
      [](const VariableChange& row) -> Cells {
        return {cell(row.name), figure(bytes_text(row.bytes)), cell(row.synchronised.from),
                cell(row.synchronised.to),
                figure(signed_time_text(row.communication.to - row.communication.from))};
      });
}

std::string devices_table(const PlanComparison& comparison) {
  html::Table table({"Device", "Memory", "then", "Computes", "then", "Communicates", "then"});
  const auto memory = [](const std::optional<DeviceUse>& use) {
    return use ? figure(memory_text(use->peak, use->capacity), !use->fits()) : figure("–");
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

std::string notes(const PlanComparison& comparison) {
  std::string text;
  if (!comparison.match.same_graph)
    text += html::paragraph("The models differ: " + text_of(comparison.match) + ".");
  for (const std::string& line : comparison.others) text += html::paragraph(line);
  return text;
}

// --- several ---

class PlansPage {
 public:
  explicit PlansPage(std::span<const PlanToCompare> plans)
      : plans_(plans), matrix_(compare_many(plans)), best_(matrix_.best()) {}

  std::string write() const {
    std::vector<Price> prices;
    for (const MatrixPlan& plan : matrix_.plans)
      prices.emplace_back(plan.figures.label, plan.price);
    return html::page(
        title(), html::paragraph(sentence_of(matrix_)) + figures() + notes() +
                     html::section("Beside the fastest", differences()) +
                     html::section("Where the step goes", causes()) +
                     html::section("Timelines", timelines()) + html::section("Devices", devices()) +
                     html::section("Op groups that differ", rows(matrix_.groups, "Op group")) +
                     html::section("Variables that differ", rows(matrix_.variables, "Variable")) +
                     price_section(prices) + html::note("Simulated by Stratoscope."));
  }

 private:
  std::string title() const {
    const PlanFigures& last = matrix_.plans.back().figures;
    std::string text = fmt::format("{} plans", plans_.size());
    if (matrix_.same_model) text += " of " + last.model;
    if (matrix_.same_cluster) text += " on " + last.cluster;
    return text;
  }

  std::vector<std::string> columns(std::string_view first) const {
    std::vector<std::string> heads = {std::string(first)};
    for (const MatrixPlan& plan : matrix_.plans)
      heads.push_back(html::shortened(plan.figures.label, kMostHeading));
    return heads;
  }

  std::string figures() const {
    html::Table table({"Plan", "Step time", "A sample", "Samples/s", "Fullest device", "",
                       "Between machines", "Model", "Cluster"});
    for (std::size_t p = 0; p < matrix_.plans.size(); ++p) {
      const MatrixPlan& plan = matrix_.plans[p];
      const PlanFigures& own = plan.figures;
      table.row(
          {cell(own.label), figure(time_text(own.step_time)),
           figure(p == best_ ? "best" : fmt::format("{:+.1f} %", 100 * matrix_.above_best(p))),
           figure(significant_text(own.samples_per_second())), cell(plan.fullest),
           memory_cell(memory_text(plan.peak, plan.capacity), own.fits),
           figure(bytes_text(plan.sent_between)), cell(own.model), cell(own.cluster)},
          p == best_);
    }
    return table.text();
  }

  static std::string memory_cell(const std::string& text, bool fits) {
    return figure(fits ? text : text + ", too much", !fits);
  }

  std::string notes() const {
    std::string text;
    for (const MatrixPlan& plan : matrix_.plans)
      if (plan.unmatched_ops > 0)
        text += html::note(fmt::format("{}: {} ops are not in the model of {}.", plan.figures.label,
                                       plan.unmatched_ops, matrix_.plans.back().figures.label));
    return text;
  }

  // Why each is slower, in a sentence.
  std::string differences() const {
    if (plans_.size() == 1) return html::note("There is one plan.");
    html::Table table({"Plan", "Beside " + matrix_.plans[best_].figures.label});
    for (std::size_t p = 0; p < plans_.size(); ++p)
      if (p != best_)
        table.row({cell(plans_[p].label), cell(compare_plans(plans_[best_], plans_[p]).sentence)});
    return table.text();
  }

  std::string causes() const {
    html::Table table(columns(""));
    for (const MatrixCause& cause : matrix_.causes) table.row(times(cause.text, cause.times));
    std::vector<Nanos> steps;
    for (const MatrixPlan& plan : matrix_.plans) steps.push_back(plan.figures.step_time);
    table.row(times("the step", steps), true);
    return html::note(
               "Along the critical path of each plan: what would have to be shorter for its step "
               "to be shorter. The largest difference is first.") +
           table.text();
  }

  static Cells times(const std::string& what, const std::vector<Nanos>& times) {
    Cells cells = {cell(what)};
    for (const Nanos time : times)
      cells.push_back(figure(time == Nanos(0) ? "–" : time_text(time)));
    return cells;
  }

  std::string timelines() const {
    Nanos across;
    for (const MatrixPlan& plan : matrix_.plans) across = std::max(across, plan.figures.step_time);
    const std::size_t devices = std::max(kLeastPictured, kMostPictured / plans_.size());
    std::string text = html::timeline_key();
    for (const PlanToCompare& plan : plans_)
      text += "<h3>" + html::escaped(plan.label) + "</h3>\n<div class=\"wide\">" +
              html::timeline_svg(*plan.outcome.timeline, devices, across) + "</div>\n";
    return text;
  }

  // Devices are compared by name: a plan may be of another cluster.
  std::string devices() const {
    std::vector<std::string> names;
    std::map<std::string, Cells> rows;
    for (std::size_t p = plans_.size(); p-- > 0;) {  // the reference's come first
      const Timeline& timeline = *plans_[p].outcome.timeline;
      for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
        const std::string& name = timeline.program->cluster->device(DeviceId(d)).name;
        Cells& row = rows[name];
        if (row.empty()) {
          names.push_back(name);
          row.assign(plans_.size() + 1, figure("–"));
          row[0] = cell(name);
        }
        row[p + 1] = device_cell(timeline, timeline.devices[DeviceId(d)]);
      }
    }
    html::Table table(columns("Memory at its peak, and how long it computes"));
    for (const std::string& name : names) table.row(rows.at(name));
    return table.text();
  }

  static std::string device_cell(const Timeline& timeline, const DeviceUse& use) {
    const Nanos step = timeline.step_time;
    const double busy = step > Nanos(0) ? use.compute_busy / step : 0;
    return memory_cell(memory_text(use.peak, use.capacity) + ", " + percent_text(busy), use.fits());
  }

  std::string rows(const std::vector<MatrixRow>& all, std::string_view what) const {
    const auto cells_of = [](const MatrixRow& row) {
      Cells cells = {cell(row.name)};
      for (std::size_t p = 0; p < row.decisions.size(); ++p)
        cells.push_back("<td>" + html::escaped(row.decisions[p]) + " <small>" +
                        html::escaped(time_text(row.times[p])) + "</small></td>");
      return cells;
    };
    return differing_rows(
        all, html::Table(columns(what)), cells_of,
        html::note("With the time that it takes of the critical path, or, of a variable, that its "
                   "messages take."));
  }

  const std::span<const PlanToCompare> plans_;
  const PlanMatrix matrix_;
  const std::size_t best_;
};

}  // namespace

std::string comparison_html(const PlanComparison& comparison) {
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  return html::page(
      fmt::format("{} and {}", from.label, to.label),
      html::paragraph(comparison.sentence) + plans_table(comparison) + notes(comparison) +
          html::section("From step to step", waterfall_svg(comparison)) +
          html::section("Op groups that differ", groups_table(comparison)) +
          html::section("Variables that differ", variables_table(comparison)) +
          html::section("Devices", devices_table(comparison)) +
          html::section("What is sent", traffic_table(comparison)) +
          price_section({{from.label, comparison.price.from}, {to.label, comparison.price.to}}) +
          html::note("Simulated by Stratoscope."));
}

std::string plans_html(std::span<const PlanToCompare> plans) {
  CHECK(!plans.empty(), "there is a reference");
  return PlansPage(plans).write();
}

}  // namespace strato
