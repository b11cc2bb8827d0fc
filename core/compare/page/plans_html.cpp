#include "core/compare/page/plans_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/compare/plan_matrix.h"
#include "core/report/markup.h"
#include "core/report/timeline_svg.h"

namespace strato {
namespace {

constexpr std::size_t kMostRows = 500;      // of groups and variables
constexpr std::size_t kMostHeading = 40;    // characters of a plan's name above a column
constexpr std::size_t kMostPictured = 128;  // devices, over all timelines
constexpr std::size_t kLeastPictured = 8;   // of each

class PlansPage {
 public:
  explicit PlansPage(std::span<const PlanToCompare> plans)
      : plans_(plans), matrix_(compare_many(plans)), best_(matrix_.best()) {}

  std::string write() const {
    return html::page(
        title(), "<p>" + html::escaped(sentence_of(matrix_)) + "</p>\n" + figures() + notes() +
                     html::section("Beside the fastest", differences()) +
                     html::section("Where the step goes", causes()) +
                     html::section("Timelines", timelines()) + html::section("Devices", devices()) +
                     html::section("Op groups that differ", rows(matrix_.groups, "Op group")) +
                     html::section("Variables that differ", rows(matrix_.variables, "Variable")) +
                     prices() + html::note("Simulated by Stratoscope."));
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
      const std::string memory = bytes_text(plan.peak) + " of " + bytes_text(plan.capacity);
      const std::string cells =
          html::cell(own.label) + html::figure(time_text(own.step_time)) +
          html::figure(p == best_ ? "best"
                                  : fmt::format("{:+.1f} %", 100 * matrix_.above_best(p))) +
          html::figure(significant_text(own.samples_per_second())) + html::cell(plan.fullest) +
          memory_cell(memory, own.fits) + html::figure(bytes_text(plan.sent_between)) +
          html::cell(own.model) + html::cell(own.cluster);
      p == best_ ? table.best_row(cells) : table.row(cells);
    }
    return table.text();
  }

  static std::string memory_cell(const std::string& text, bool fits) {
    return fits ? html::figure(text)
                : "<td class=\"figure bad\">" + html::escaped(text + ", too much") + "</td>";
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
        table.row({html::cell(plans_[p].label),
                   html::cell(compare_plans(plans_[best_], plans_[p]).sentence)});
    return table.text();
  }

  std::string causes() const {
    html::Table table(columns(""));
    for (const MatrixCause& cause : matrix_.causes)
      table.row(html::cell(cause.text) + times(cause.times));
    std::vector<Nanos> steps;
    for (const MatrixPlan& plan : matrix_.plans) steps.push_back(plan.figures.step_time);
    table.best_row(html::cell("the step") + times(steps));
    return html::note(
               "Along the critical path of each plan: what would have to be shorter for its step "
               "to "
               "be shorter. The largest difference is first.") +
           table.text();
  }

  static std::string times(const std::vector<Nanos>& times) {
    std::string cells;
    for (const Nanos time : times) cells += html::figure(time == Nanos(0) ? "–" : time_text(time));
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
    std::map<std::string, std::vector<std::string>> cells;
    for (std::size_t p = plans_.size(); p-- > 0;) {  // the reference's come first
      const Timeline& timeline = *plans_[p].outcome.timeline;
      for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
        const std::string& name = timeline.program->cluster->device(DeviceId(d)).name;
        const auto [row, is_new] = cells.try_emplace(name, plans_.size(), html::figure("–"));
        if (is_new) names.push_back(name);
        row->second[p] = device_cell(timeline, timeline.devices[DeviceId(d)]);
      }
    }
    html::Table table(columns("Memory at its peak, and how long it computes"));
    for (const std::string& name : names)
      table.row(fmt::format("{}{}", html::cell(name), fmt::join(cells.at(name), "")));
    return table.text();
  }

  static std::string device_cell(const Timeline& timeline, const DeviceUse& use) {
    const Nanos step = timeline.step_time;
    const std::string text =
        fmt::format("{} of {}, {}", bytes_text(use.peak), bytes_text(use.capacity),
                    percent_text(step > Nanos(0) ? use.compute_busy / step : 0));
    return memory_cell(text, use.fits());
  }

  std::string rows(const std::vector<MatrixRow>& all, std::string_view what) const {
    html::Table table(columns(what));
    std::size_t differ = 0;
    for (const MatrixRow& row : all) {
      if (!row.differs || ++differ > kMostRows) continue;
      std::string cells = html::cell(row.name);
      for (std::size_t p = 0; p < row.decisions.size(); ++p)
        cells += "<td>" + html::escaped(row.decisions[p]) + " <small>" +
                 html::escaped(time_text(row.times[p])) + "</small></td>";
      table.row(cells);
    }
    if (differ == 0) return html::note("Nothing differs.");
    return html::note(
               "With the time that it takes of the critical path, or, of a variable, that its "
               "messages take.") +
           table.text() +
           (differ > kMostRows ? html::note(fmt::format("and {} more", differ - kMostRows)) : "");
  }

  std::string prices() const {
    html::Table table({"Plan", "An hour", "Of machines used", "A step", "A million samples"});
    bool any = false;
    for (const MatrixPlan& plan : matrix_.plans) {
      if (!plan.price) continue;
      any = true;
      table.row({html::cell(plan.figures.label), html::figure(price_text(plan.price->per_hour)),
                 html::figure(price_text(plan.price->used_per_hour)),
                 html::figure(price_text(plan.price->per_step)),
                 html::figure(price_text(plan.price->per_million_samples))});
    }
    return any ? html::section("Price", table.text()) : std::string();
  }

  const std::span<const PlanToCompare> plans_;
  const PlanMatrix matrix_;
  const std::size_t best_;
};

}  // namespace

std::string plans_html(std::span<const PlanToCompare> plans) {
  CHECK(!plans.empty(), "there is a reference");
  return PlansPage(plans).write();
}

}  // namespace strato
