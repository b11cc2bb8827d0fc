#include "app/cli/launch_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

constexpr std::size_t kLargest = 10;  // differences that a person is shown

Json differences_json(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& each : differences) {
    list.push_back({{"name", each.name},
                    {"tasks", each.tasks},
                    {"predicted_s", to_seconds(each.predicted)},
                    {"measured_s", to_seconds(each.measured)}});
  }
  return list;
}

std::string signed_time(Nanos time) {
  return time.value < 0 ? "-" + time_text(Nanos(-time.value)) : "+" + time_text(time);
}

std::string table_of(const std::string& header, const std::vector<Difference>& differences) {
  Table table({header, "tasks", "predicted", "measured", "difference"});
  table.align_left(0);
  const std::size_t shown = std::min(differences.size(), kLargest);
  for (std::size_t i = 0; i < shown; ++i) {
    const Difference& each = differences[i];
    table.add({each.name, std::to_string(each.tasks), time_text(each.predicted),
               time_text(each.measured), signed_time(each.effect())});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string loss_text(const std::vector<double>& losses) {
  if (losses.empty()) return "";
  const auto bad =
      std::find_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  if (bad != losses.end()) {
    return fmt::format("loss           not finite from step {} on: try a smaller --learning-rate\n",
                       bad - losses.begin() + 1);
  }
  return fmt::format("loss           {} -> {}\n", significant_text(losses.front(), 6),
                     significant_text(losses.back(), 6));
}

std::string peak_text(const std::vector<Bytes>& peaks) {
  if (peaks.empty()) return "";
  const Bytes most = *std::max_element(peaks.begin(), peaks.end());
  return fmt::format("peak memory    {} at most on one rank\n", bytes_text(most));
}

}  // namespace

Json launch_json(const LaunchReport& report, double wall_seconds) {
  Json json = {{"launcher", report.launcher},
               {"engine", report.options.engine},
               {"transport", report.options.transport},
               {"steps", report.result.step_times.size()},
               {"predicted_s", to_seconds(report.comparison.predicted)},
               {"measured_s", to_seconds(report.comparison.measured)},
               {"error", report.comparison.error()}};
  Json times = Json::array(), peaks = Json::array();
  for (const Nanos time : report.result.step_times) times.push_back(to_seconds(time));
  for (const Bytes peak : report.result.peaks) peaks.push_back(peak.value);
  json["step_times_s"] = times;
  json["losses"] = report.result.losses;
  json["peak_memory_bytes"] = peaks;
  json["devices"] = differences_json(report.comparison.devices);
  json["ops"] = differences_json(report.comparison.ops);
  json["links"] = differences_json(report.comparison.links);
  json["wall_s"] = wall_seconds;
  return json;
}

std::string launch_text(const LaunchReport& report, double wall_seconds) {
  const Comparison& comparison = report.comparison;
  std::string text = fmt::format(
      "launched       {} steps by {}, engine {}, transport {}, in {} s\n"
      "step time      {} measured, {} predicted ({}{})\n",
      report.result.step_times.size(), report.launcher, report.options.engine,
      report.options.transport, significant_text(wall_seconds), time_text(comparison.measured),
      time_text(comparison.predicted), comparison.error() < 0 ? "" : "+",
      percent_text(comparison.error()));
  text += loss_text(report.result.losses) + peak_text(report.result.peaks);
  text += table_of("device (computing)", comparison.devices);
  text += table_of("op", comparison.ops);
  return text + table_of("communication", comparison.links);
}

}  // namespace strato::cli
