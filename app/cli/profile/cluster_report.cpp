#include "app/cli/profile/cluster_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/io/json.h"

namespace strato::cli {
namespace {

constexpr std::size_t kRows = 12;  // of pairs and of sets that a person is shown

ProfileReport coverage_of(const ClusterProfileReport& report) {
  if (report.job.graphs.empty()) return {};
  return strato::report(report.result.profile, *report.job.graphs.front(), report.cluster);
}

// Of the largest message, and what the smallest takes.
struct Speed {
  double bytes_per_second = 0;
  Nanos latency;
};
Speed speed_of(const std::vector<SizedMeasurement>& points) {
  const SizedMeasurement& last = points.back();
  return {static_cast<double>(last.bytes.value) / to_seconds(last.time), points.front().time};
}

Json speed_json(const std::vector<SizedMeasurement>& points) {
  const Speed speed = speed_of(points);
  return {{"sizes", points.size()},
          {"largest_bytes", points.back().bytes.value},
          {"bandwidth_Bps", speed.bytes_per_second},
          {"latency_s", to_seconds(speed.latency)}};
}

Json joined_json(Json first, const Json& second) {
  first.update(second);
  return first;
}

void add_row(Table& table, const std::string& name, const std::vector<SizedMeasurement>& points) {
  const Speed speed = speed_of(points);
  table.add({name, bytes_text(points.back().bytes), time_text(speed.latency),
             bytes_text(Bytes(static_cast<std::int64_t>(speed.bytes_per_second))) + "/s"});
}

std::string gpus_text(const ProfileReport& coverage) {
  Table table(
      {"GPU type", "ops", "measured", "of the step's time", "a batch size left out", "worst"});
  for (const ProfileReport::Gpu& gpu : coverage.gpus) {
    table.add({gpu.name, std::to_string(gpu.ops), std::to_string(gpu.measured),
               percent_text(gpu.time_covered), percent_text(gpu.median_error),
               percent_text(gpu.worst_error)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string messages_text(const Profile& profile) {
  Table table({"messages", "up to", "smallest", "largest"});
  table.align_left(0);
  const auto shown = [](std::size_t count) { return std::min(count, kRows); };
  for (std::size_t i = 0; i < shown(profile.transfers.size()); ++i) {
    const TransferProfile& pair = profile.transfers[i];
    add_row(table, pair.from + " -> " + pair.to, pair.measurements);
  }
  for (std::size_t i = 0; i < shown(profile.collectives.size()); ++i) {
    const CollectiveProfile& set = profile.collectives[i];
    add_row(table,
            fmt::format("{} of {}: {}, ...", name_of(set.kind), set.devices.size(),
                        set.devices.front()),
            set.measurements);
  }
  return table.empty() ? "" : "\n" + table.text();
}

}  // namespace

std::string cluster_profile_json(const ClusterProfileReport& report, double wall_seconds) {
  const Profile& profile = report.result.profile;
  Json gpus = Json::array(), transfers = Json::array(), collectives = Json::array();
  for (const ProfileReport::Gpu& gpu : coverage_of(report).gpus) {
    gpus.push_back({{"name", gpu.name},
                    {"ops", gpu.ops},
                    {"measured", gpu.measured},
                    {"time_covered", gpu.time_covered},
                    {"median_error", gpu.median_error},
                    {"worst_error", gpu.worst_error}});
  }
  for (const TransferProfile& pair : profile.transfers) {
    transfers.push_back(
        joined_json({{"from", pair.from}, {"to", pair.to}}, speed_json(pair.measurements)));
  }
  for (const CollectiveProfile& set : profile.collectives) {
    collectives.push_back(
        joined_json({{"kind", std::string(name_of(set.kind))}, {"devices", set.devices}},
                    speed_json(set.measurements)));
  }
  Json json = {{"model", report.job.graphs.empty() ? "" : report.job.name},
               {"cluster", report.cluster.name()},
               {"launcher", report.launcher},
               {"engine", report.job.options.engine},
               {"transport", report.job.options.transport},
               {"ranks", report.job.ranks.size()},
               {"budget_s", std::chrono::duration<double>(report.job.options.budget).count()},
               {"measured_s", report.result.seconds},
               {"signatures", profile.ops.size()},
               {"gpus", gpus},
               {"probes", report.job.probes.size()},
               {"transfers", transfers},
               {"collectives", collectives},
               {"notes", report.result.notes},
               {"wall_s", wall_seconds}};
  if (!report.output.empty()) json["profile"] = report.output;
  return json_text(json);
}

std::string cluster_profile_text(const ClusterProfileReport& report) {
  const Profile& profile = report.result.profile;
  std::string text = fmt::format(
      "{} on {}: {} rank{} by {}, engine {}, transport {}; {} s of {} s\n",
      report.job.graphs.empty() ? "communication" : report.job.name, report.cluster.name(),
      report.job.ranks.size(), report.job.ranks.size() == 1 ? "" : "s", report.launcher,
      report.job.options.engine, report.job.options.transport,
      significant_text(report.result.seconds),
      significant_text(std::chrono::duration<double>(report.job.options.budget).count()));
  text += gpus_text(coverage_of(report));
  if (!report.job.probes.empty()) {
    text += fmt::format("\n{} of {} pairs and sets of devices measured\n",
                        profile.transfers.size() + profile.collectives.size(),
                        report.job.probes.size());
  }
  text += messages_text(profile);
  if (!report.output.empty()) text += "\nProfile written to " + report.output + "\n";
  return text;
}

}  // namespace strato::cli
