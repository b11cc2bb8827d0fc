#include "app/cli/profile/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"

namespace strato::cli {
namespace {

constexpr std::size_t kShown = 15;  // of the most expensive signatures
constexpr std::size_t kSignatureWidth = 72;

// How the profile serves a cluster of this machine alone; nothing for devices without such a
// sample.
std::optional<ProfileReport::Gpu> coverage(const ProfileResult& result) {
  if (result.device != "cpu") return std::nullopt;
  const auto cluster = load_cluster("local-cpu");
  const ProfileReport all = report(result.profile, *result.graph, *cluster);
  if (all.gpus.empty()) return std::nullopt;
  return all.gpus.front();
}

std::vector<const OpTime*> most_expensive(const ProfileResult& result) {
  std::vector<const OpTime*> rows;
  for (const OpTime& op : result.ops) rows.push_back(&op);
  std::stable_sort(rows.begin(), rows.end(), [](const OpTime* a, const OpTime* b) {
    return a->measurement.time * a->ops > b->measurement.time * b->ops;
  });
  rows.resize(std::min(rows.size(), kShown));
  return rows;
}

std::int64_t measured_ops(const ProfileResult& result) {
  std::int64_t ops = 0;
  for (const OpTime& op : result.ops) ops += op.ops;
  return ops;
}

std::string steps_text(const ProfileResult& result) {
  Table table({"batch", "step", "spread", "wall clock", "sum of ops", "steps", "peak memory"});
  for (const ProfiledStep& step : result.steps) {
    const bool whole = step.repetitions > 0;
    table.add({std::to_string(step.batch), whole ? time_text(step.time) : "-",
               whole ? time_text(step.spread) : "-", whole ? time_text(step.wall) : "-",
               time_text(step.sum_of_ops), std::to_string(step.repetitions),
               bytes_text(step.peak)});
  }
  return table.text();
}

std::string expensive_text(const ProfileResult& result) {
  const Nanos step = result.steps.front().sum_of_ops;
  Table table({"in a step", "share", "ops", "each", "spread", "op"});
  for (const OpTime* op : most_expensive(result)) {
    std::string signature = op->signature;
    if (signature.size() > kSignatureWidth)
      signature = signature.substr(0, kSignatureWidth) + "...";
    const Nanos time = op->measurement.time * op->ops;
    table.add({time_text(time), percent_text(time / step), std::to_string(op->ops),
               time_text(op->measurement.time), time_text(op->measurement.spread), signature});
  }
  return table.text();
}

}  // namespace

std::string profile_name(const ProfileResult& result) {
  std::string batches;
  for (const ProfiledStep& step : result.steps) batches += fmt::format(" {}", step.batch);
  std::string name = fmt::format("{}, batch{}", result.model, batches);
  const ProfiledStep& largest = result.steps.front();
  if (largest.repetitions > 0) {
    name += fmt::format("; a step of {} took {}, spread {}", largest.batch, time_text(largest.time),
                        time_text(largest.spread));
  }
  return name;
}

Json profile_json(const ProfileResult& result, double wall_seconds) {
  Json steps = Json::array(), expensive = Json::array();
  for (const ProfiledStep& step : result.steps) {
    steps.push_back({{"batch", step.batch},
                     {"step_time_s", to_seconds(step.time)},
                     {"spread_s", to_seconds(step.spread)},
                     {"wall_clock_s", to_seconds(step.wall)},
                     {"sum_of_ops_s", to_seconds(step.sum_of_ops)},
                     {"repetitions", step.repetitions},
                     {"peak_memory_bytes", step.peak.value}});
  }
  for (const OpTime* op : most_expensive(result)) {
    expensive.push_back({{"signature", op->signature},
                         {"ops", op->ops},
                         {"time_s", to_seconds(op->measurement.time)},
                         {"spread_s", to_seconds(op->measurement.spread)}});
  }
  const ProfiledStep& largest = result.steps.front();
  Json json = {{"model", result.model},
               {"device", result.device},
               {"host", result.profile.host},
               {"software", result.profile.software},
               {"batch", largest.batch},
               {"step_time_s", to_seconds(largest.time)},
               {"step_spread_s", to_seconds(largest.spread)},
               {"step_wall_clock_s", to_seconds(largest.wall)},
               {"sum_of_ops_s", to_seconds(largest.sum_of_ops)},
               {"ops", measured_ops(result)},
               {"signatures", result.ops.size()},
               {"stopped", result.stopped},
               {"wall_s", wall_seconds},
               {"batches", steps},
               {"most_expensive", expensive}};
  if (const auto gpu = coverage(result)) {
    json["time_covered"] = gpu->time_covered;
    json["median_error"] = gpu->median_error;
    json["worst_error"] = gpu->worst_error;
  }
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  if (!result.output.empty()) json["profile"] = result.output;
  return json;
}

std::string profile_text(const ProfileResult& result) {
  std::string text = fmt::format("{} on {} ({}, {})\n\n", result.model, result.device,
                                 result.profile.host, result.profile.software);
  if (result.stopped) text += "Stopped early: what was measured until then.\n\n";
  text += steps_text(result) + "\n";
  text += fmt::format("{} ops measured, {} distinct\n", measured_ops(result), result.ops.size());
  if (const auto gpu = coverage(result)) {
    text += fmt::format(
        "Covers {} of the step's time; a batch size left out is predicted to {} "
        "(median), {} (worst)\n",
        percent_text(gpu->time_covered), percent_text(gpu->median_error),
        percent_text(gpu->worst_error));
  }
  text += fmt::format("\nMost expensive at batch {}:\n", result.steps.front().batch);
  text += expensive_text(result);
  if (!result.output.empty()) text += "\nProfile written to " + result.output + "\n";
  return text;
}

}  // namespace strato::cli
