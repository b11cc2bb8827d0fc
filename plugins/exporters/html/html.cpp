// A report of a plan for people without this program: one HTML page that loads nothing from
// elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/plugin/api/plugin.h"
#include "core/report/markup.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/critical_path.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "core/sim/explain/why.h"

namespace strato::html {
namespace {

constexpr std::size_t kGains = 8;

class Report {
 public:
  explicit Report(const ExportInput& input)
      : problem_(problem_for(input.problem, input.strategy)),
        graph_(*problem_.graph),
        cluster_(*problem_.cluster),
        strategy_(complete(input.strategy, cluster_)),
        timeline_(*input.outcome.timeline),
        data_parallel_(
            simulate_strategy(problem_, strato::data_parallel(problem_), false, timeline_.options)),
        bound_(lower_bound(problem_)),
        error_(error_bar(timeline_, *problem_.cost)),
        gains_(what_if(timeline_, {})) {}

  std::string write() const {
    return page(
        fmt::format("{}, batch {} on {}", graph_.name(), graph_.batch(), cluster_.name()),
        note(fmt::format("One training step of batch {} with {} ops on {} devices, simulated.",
                         graph_.batch(), graph_.op_count(), cluster_.device_count())) +
            answers() + paragraph(why(timeline_, gains_, error_, bound_).text()) +
            section("Timeline", timeline_key() + "<div class=\"wide\">" + timeline_svg(timeline_) +
                                    "</div>\n") +
            section("Where the time goes", critical_path()) + gains() +
            section("Devices", devices()) + section("Decisions", groups()) + exceptions());
  }

 private:
  Nanos step() const { return timeline_.step_time; }
  double share(Nanos time) const { return step() > Nanos(0) ? time / step() : 0; }

  static std::string answer(const std::string& figure, const std::string& what) {
    return "<div><b>" + escaped(figure) + "</b>" + escaped(what) + "</div>\n";
  }

  std::string answers() const {
    const double seconds = to_seconds(step());
    const Timeline& other = *data_parallel_.timeline;
    std::string text = "<div class=\"answers\">\n";
    text += answer(time_text(step()), error_.low == error_.high
                                          ? "a step"
                                          : fmt::format("a step ({} to {})", time_text(error_.low),
                                                        time_text(error_.high)));
    if (seconds > 0) {
      text += answer(significant_text(static_cast<double>(graph_.batch()) / seconds),
                     "samples a second");
      text += answer(factor_text(to_seconds(other.step_time) / seconds),
                     "as fast as data parallelism (" + time_text(other.step_time) +
                         (other.feasible ? ")" : ", which does not fit)"));
    }
    text += answer(time_text(bound_), "no strategy is faster") + "</div>\n";
    for (std::size_t d = 0; d < timeline_.devices.size(); ++d) {
      const DeviceUse& use = timeline_.devices[DeviceId(d)];
      if (use.fits()) continue;
      text += "<p class=\"bad\">" +
              escaped(fmt::format("Does not fit: {} needs {} and has {}.",
                                  cluster_.device(DeviceId(d)).name, bytes_text(use.peak),
                                  bytes_text(use.capacity))) +
              "</p>\n";
    }
    return text;
  }

  std::string critical_path() const {
    const auto times = time_by_root(path_pieces(timeline_));
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < kReasons; ++r)
      if (times[r] > Nanos(0)) order.push_back(r);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t r) { return times[r]; });
    Table table({"", "time", "of the step", ""});
    for (const std::size_t r : order)
      table.row({cell(name_of(static_cast<Reason>(r))), figure(time_text(times[r])),
                 figure(percent_text(share(times[r]))), bar(share(times[r]))});
    return note(
               "Along the critical path: what would have to be shorter for the step to be "
               "shorter.") +
           table.text();
  }

  std::string gains() const {
    if (gains_.empty()) return {};
    Table table({"if this", "were 10 % faster", "took no time"});
    for (const WhatIf& gain : std::span(gains_).first(std::min(kGains, gains_.size())))
      table.row({cell(gain.name), figure(time_text(gain.faster)), figure(time_text(gain.free))});
    return section("What would help", table.text());
  }

  std::string devices() const {
    Table table({"device", "GPU", "computes", "", "sends", "memory at its peak", "of", ""});
    for (std::size_t d = 0; d < timeline_.devices.size(); ++d) {
      const DeviceUse& use = timeline_.devices[DeviceId(d)];
      table.row({cell(cluster_.device(DeviceId(d)).name), cell(cluster_.gpu(DeviceId(d)).name),
                 figure(percent_text(share(use.compute_busy))), bar(share(use.compute_busy)),
                 figure(percent_text(share(use.communication_busy))), figure(bytes_text(use.peak)),
                 figure(bytes_text(use.capacity)), bar(use.peak / use.capacity)});
    }
    return table.text();
  }

  std::string groups() const {
    const Grouping& grouping = *problem_.grouping;
    Table table({"op group", "ops", "time on one device", "parameters", "runs as"});
    for (std::size_t g = 0; g < grouping.size(); ++g) {
      const OpGroup& group = grouping.group(GroupId(g));
      table.row({cell(group.name), figure(fmt::to_string(group.ops.size())),
                 figure(time_text(group.compute_time)), figure(bytes_text(group.parameter_bytes)),
                 cell(describe(*strategy_.groups[GroupId(g)], cluster_))});
    }
    return table.text();
  }

  // What is decided beside the groups.
  std::string exceptions() const {
    std::string text;
    if (strategy_.bucket > Bytes(0))
      text += paragraph("Gradients are all-reduced in buckets of up to " +
                        bytes_text(strategy_.bucket) + ".");
    const auto count = [&](std::size_t number, const char* what) {
      if (number > 0) text += paragraph(fmt::format("{} {}.", number, what));
    };
    count(strategy_.duplicated.size(),
          "ops are computed by every replica on the whole batch (sufficient factor broadcasting)");
    if (const MicroBatches& parts = strategy_.micro_batches; parts.count > 1)
      text += paragraph(fmt::format("The batch is computed in {} micro-batches by {}.", parts.count,
                                    name_of(parts.schedule)));
    count(strategy_.recomputed.size(),
          "ops of the forward pass are computed again for the backward pass, and not kept");
    count(strategy_.offloaded.size(),
          "ops keep what waits for the backward pass, or their optimizer state, in the memory of "
          "their host");
    count(strategy_.splits.size(), "ops are split along another axis than the batch");
    count(strategy_.variables.size(), "variables are synchronised in a way of their own");
    if (!strategy_.priorities.empty()) text += paragraph("Ops run in an order of their own.");
    return text;
  }

  static std::string bar(double filled) {
    return fmt::format("<td><span class=\"bar\"><i{} style=\"width:{:.1f}%\"></i></span></td>",
                       filled > 1 ? " class=\"over\"" : "", 100 * std::clamp(filled, 0.0, 1.0));
  }

  const Problem problem_;  // in the groups of the strategy
  const Graph& graph_;
  const Cluster& cluster_;
  const Strategy strategy_;
  const Timeline& timeline_;
  const Outcome data_parallel_;
  const Nanos bound_;
  const ErrorBar error_;
  const std::vector<WhatIf> gains_;
};

std::string export_html(const ExportInput& input) { return Report(input).write(); }

}  // namespace
}  // namespace strato::html

STRATOSCOPE_EXPORTER_FUNCTION(strato::html::export_html)
