#include "app/cli/fit/fit_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/framework/layout/model_layers.h"
#include "core/graph/value/scopes.h"
#include "core/search/api/planner.h"
#include "core/search/run/problem_change.h"
#include "core/sim/explain/device_peaks.h"

namespace strato::cli {
namespace {

constexpr std::size_t kParts = 12;   // of a model that has no layers
constexpr std::size_t kChanges = 8;  // in the text

std::string names_of(const DevicesAlike& alike, const Cluster& cluster) {
  const std::string& first = cluster.device(alike.devices.front()).name;
  if (alike.devices.size() == 1) return first;
  return fmt::format("{} and {} alike", first, alike.devices.size() - 1);
}

struct LayerBytes {
  std::string name;
  Bytes bytes;
};

// By layer, or by part of a model that has none.
std::vector<LayerBytes> by_layer(const Graph& graph, const DevicePeak& peak) {
  std::vector<LayerBytes> result;
  try {
    const frameworks::ModelLayers layers = frameworks::model_layers(graph);
    for (std::int32_t layer = 0; layer <= layers.count + 1; ++layer)
      result.push_back({layer == 0             ? "in front of the layers"
                        : layer > layers.count ? "behind the layers"
                                               : fmt::format("layer {}", layer),
                        {}});
    for (const auto& [op, bytes] : peak.by_op)
      result[static_cast<std::size_t>(layers.place_of[op.index()])].bytes += bytes;
  } catch (const InputError&) {
    std::vector<OpId> ops;
    for (const auto& [op, bytes] : peak.by_op) ops.push_back(op);
    for (const ScopePart& part : split_by_scope(graph, ops, 1, kParts)) {
      result.push_back({part.name, {}});
      for (const OpId op : part.ops) result.back().bytes += peak.by_op.at(op);
    }
  }
  std::erase_if(result, [](const LayerBytes& layer) { return layer.bytes == Bytes(0); });
  return result;
}

// One line stands for neighbours that have as much.
std::string layers_text(const std::vector<LayerBytes>& layers) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, next = 0; first < layers.size(); first = next) {
    for (next = first + 1; next < layers.size() && layers[next].bytes == layers[first].bytes;)
      ++next;
    parts.push_back(next == first + 1
                        ? fmt::format("{} {}", layers[first].name, bytes_text(layers[first].bytes))
                        : fmt::format("{} to {} {} each", layers[first].name, layers[next - 1].name,
                                      bytes_text(layers[first].bytes)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string fit_headline(const FitReport& report) {
  const Problem& problem = report.problem;
  std::string text = fmt::format("{} on {}, batch {}, {}\n", problem.graph->name(),
                                 problem.cluster->name(), problem.graph->batch(), report.planner);
  const Timeline& timeline = *report.outcome.timeline;
  const DeviceUse& fullest = timeline.devices[fullest_device(timeline)];
  if (report.feasible())
    text += fmt::format("  fits: at most {} of {} ({}), a step of {}\n", bytes_text(fullest.peak),
                        bytes_text(fullest.capacity), percent_text(fullest.peak / fullest.capacity),
                        time_text(timeline.step_time));
  else if (!fullest.fits())
    text += fmt::format("  does not fit: {} are needed of {}, {} more than there are\n",
                        bytes_text(fullest.peak), bytes_text(fullest.capacity),
                        bytes_text(fullest.peak - fullest.capacity));
  else
    text += "  does not fit: what hosts keep is more than their memory\n";
  if (report.allowance > 0)
    text += fmt::format(
        "  {:g} % of each device's memory are left to the allocator and to libraries "
        "(--allowance)\n",
        100 * report.allowance);
  return text;
}

std::string memory_text(const FitReport& report) {
  const Timeline& timeline = *report.outcome.timeline;
  const Program& program = *timeline.program;
  const auto peaks = device_peaks(timeline);
  const std::vector<DevicesAlike> kinds = devices_alike(timeline, peaks);
  std::vector<std::size_t> causes;  // that there are
  for (std::size_t cause = 0; cause < kMemoryCauses; ++cause)
    if (std::ranges::any_of(kinds, [&](const DevicesAlike& kind) {
          return peaks[kind.devices.front()].by_cause[cause] > Bytes(0);
        }))
      causes.push_back(cause);
  const bool stages = !program.stage_of.empty();
  std::vector<std::string> heads = {"at its peak", "of", "peak"};
  if (stages) heads.insert(heads.begin(), "stage");
  for (const std::size_t cause : causes)
    heads.emplace_back(label_of(static_cast<MemoryCause>(cause)));
  Table table(heads);
  table.align_left(stages ? 1 : 0);
  for (const DevicesAlike& kind : kinds) {
    const DevicePeak& peak = peaks[kind.devices.front()];
    const DeviceUse& use = timeline.devices[kind.devices.front()];
    std::vector<std::string> cells = {names_of(kind, *program.cluster), bytes_text(use.capacity),
                                      bytes_text(peak.peak) + (use.fits() ? "" : " !")};
    if (stages) cells.insert(cells.begin(), kind.stage < 0 ? "-" : std::to_string(kind.stage + 1));
    for (const std::size_t cause : causes) cells.push_back(bytes_text(peak.by_cause[cause]));
    table.add(std::move(cells));
  }
  const DeviceId fullest = fullest_device(timeline);
  const DevicePeak& peak = peaks[fullest];
  std::string text = "\n" + table.text();
  text += fmt::format("\n{} has most after {} of {}, {}\n", program.cluster->device(fullest).name,
                      time_text(peak.moment), time_text(timeline.step_time),
                      running_text(program, peak.running));
  const std::vector<LayerBytes> layers = by_layer(*program.graph, peak);
  if (!layers.empty())
    text += fmt::format("  activations and what is passed back: {}\n", layers_text(layers));
  return text;
}

std::string price_text(Nanos now, Nanos then) {
  const double price = then / now - 1;
  return fmt::format("{:+.1f} %", 100 * price);
}

std::string words_of(const ChangedPlan& plan) {
  return fmt::format("{}", fmt::join(plan.words, ", and "));
}

std::string changes_text(const FitReport& report) {
  const FittingPlans& found = report.found;
  std::string text;
  if (!found.plans.empty()) {
    Table table({report.feasible() ? "faster, and fits" : "makes it fit", "step time", "price",
                 "fullest device"});
    for (std::size_t i = 0; i < std::min(kChanges, found.plans.size()); ++i) {
      const ChangedPlan& plan = found.plans[i];
      table.add({words_of(plan), time_text(plan.score.step_time),
                 price_text(found.now.step_time, plan.score.step_time), bytes_text(plan.peak)});
    }
    text += "\n" + table.text();
    if (found.plans.size() > kChanges)
      text += fmt::format("and {} more\n", found.plans.size() - kChanges);
  } else if (report.feasible()) {
    text += "\nNo small change is faster and fits.\n";
  }
  if (!found.nearest.empty()) {
    Table table({"nearest to fitting", "still too many"});
    for (const ChangedPlan& plan : found.nearest)
      table.add({words_of(plan), bytes_text(plan.score.overflow) + " over all devices"});
    text += "\nNo change of one or two decisions makes it fit.\n" + table.text();
  }
  if (report.anew) {
    std::vector<std::string> facts;
    for (const PlanResult::Fact& fact : report.anew->facts)
      facts.push_back(fmt::format("{} {}", fact.name, fact.value));
    text +=
        report.anew->score.feasible
            ? fmt::format("Another layout fits: meshes finds {} ({} of the fullest device; {})\n",
                          time_text(report.anew->score.step_time), bytes_text(report.anew_peak),
                          fmt::join(facts, ", "))
            : std::string(
                  "Nor does meshes find a layout that fits: take more devices, a "
                  "smaller batch, or shorter sequences.\n");
  }
  if (found.stopped) text += "Stopped: not every change was tried.\n";
  return text;
}

Json json_of(const ChangedPlan& plan) {
  return {{"changes", plan.words},
          {"step_time_s", to_seconds(plan.score.step_time)},
          {"feasible", plan.score.feasible},
          {"overflow_bytes", plan.score.overflow.value}};
}

}  // namespace

Json fit_json(const FitReport& report, double wall_seconds) {
  const Timeline& timeline = *report.outcome.timeline;
  const Program& program = *timeline.program;
  const auto peaks = device_peaks(timeline);
  Json devices = Json::array();
  for (const DevicesAlike& kind : devices_alike(timeline, peaks)) {
    const DevicePeak& peak = peaks[kind.devices.front()];
    Json entry = {{"devices", Json::array()},
                  {"peak_bytes", peak.peak.value},
                  {"capacity_bytes", timeline.devices[kind.devices.front()].capacity.value},
                  {"moment_s", to_seconds(peak.moment)},
                  {"running", running_text(program, peak.running)},
                  {"bytes", Json::object()},
                  {"layers", Json::array()}};
    if (kind.stage >= 0) entry["stage"] = kind.stage;
    for (const DeviceId device : kind.devices)
      entry["devices"].push_back(program.cluster->device(device).name);
    for (std::size_t cause = 0; cause < kMemoryCauses; ++cause)
      entry["bytes"][std::string(name_of(static_cast<MemoryCause>(cause)))] =
          peak.by_cause[cause].value;
    for (const LayerBytes& layer : by_layer(*program.graph, peak))
      entry["layers"].push_back({{"name", layer.name}, {"bytes", layer.bytes.value}});
    devices.push_back(std::move(entry));
  }
  Json json = {{"model", report.problem.graph->name()},
               {"cluster", report.problem.cluster->name()},
               {"batch", report.problem.graph->batch()},
               {"planner", report.planner},
               {"feasible", report.feasible()},
               {"allowance", report.allowance},
               {"step_time_s", to_seconds(timeline.step_time)},
               {"memory", std::move(devices)},
               {"changes", Json::array()},
               {"nearest", Json::array()},
               {"evaluations", report.found.evaluations},
               {"stopped", report.found.stopped},
               {"wall_s", wall_seconds}};
  for (const ChangedPlan& plan : report.found.plans) {
    Json change = json_of(plan);
    change["peak_bytes"] = plan.peak.value;
    json["changes"].push_back(std::move(change));
  }
  for (const ChangedPlan& plan : report.found.nearest) json["nearest"].push_back(json_of(plan));
  if (report.anew) {
    json["another_layout"] = {{"step_time_s", to_seconds(report.anew->score.step_time)},
                              {"feasible", report.anew->score.feasible},
                              {"peak_bytes", report.anew_peak.value},
                              {"facts", Json::object()}};
    for (const PlanResult::Fact& fact : report.anew->facts)
      json["another_layout"]["facts"][fact.name] = fact.value;
  }
  return json;
}

std::string fit_text(const FitReport& report) {
  return fit_headline(report) + memory_text(report) + changes_text(report);
}

}  // namespace strato::cli
