#include "app/cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/search/run/run_record.h"
#include "core/sim/explain/device_peaks.h"

namespace strato::cli {
namespace {

constexpr std::size_t kMany = 64;  // devices: of more, one line stands for those that are alike

// Bytes on a device at the moment of its peak, by what they are for.
struct MemoryUse {
  Bytes parameters, optimizer_state, gradients, activations, other;
};

void add_to(MemoryUse& use, TensorRole role, Bytes bytes) {
  switch (role) {
    case TensorRole::Parameter:
      use.parameters += bytes;
      break;
    case TensorRole::OptimizerState:
      use.optimizer_state += bytes;
      break;
    case TensorRole::Gradient:
      use.gradients += bytes;
      break;
    case TensorRole::Activation:
      use.activations += bytes;
      break;
    case TensorRole::Input:
    case TensorRole::Constant:
      use.other += bytes;
      break;
  }
}

Json memory_json(const MemoryUse& use) {
  return {{"parameters_bytes", use.parameters.value},
          {"optimizer_state_bytes", use.optimizer_state.value},
          {"gradients_bytes", use.gradients.value},
          {"activations_bytes", use.activations.value},
          {"other_bytes", use.other.value}};
}

// Of all devices in one look at the program; of an outline, of those that stand for others.
class MemoryAtPeaks {
 public:
  explicit MemoryAtPeaks(const Timeline& timeline)
      : timeline_(timeline), uses_(timeline.devices.size()) {
    const Graph& graph = *timeline.program->graph;
    each_held_at_peak(timeline, [&](DeviceId device, TensorId tensor, Bytes bytes, BufferId) {
      add_to(uses_[device], graph.tensor(tensor).role, bytes);
    });
  }
  const MemoryUse& of(DeviceId device) const {
    return uses_[timeline_.is_outline() ? timeline_.like[device] : device];
  }

 private:
  const Timeline& timeline_;
  IdVector<DeviceId, MemoryUse> uses_;
};

Json devices_json(const Timeline& timeline, bool with_breakdown) {
  Json list = Json::array();
  std::optional<MemoryAtPeaks> memories;
  if (with_breakdown) memories.emplace(timeline);
  for (std::size_t i = 0; i < timeline.devices.size(); ++i) {
    const DeviceUse& use = timeline.devices[DeviceId(i)];
    Json device = {{"name", timeline.program->cluster->device(DeviceId(i)).name},
                   {"busy_s", to_seconds(use.compute_busy)},
                   {"communication_busy_s", to_seconds(use.communication_busy)},
                   {"peak_memory_bytes", use.peak.value},
                   {"memory_bytes", use.capacity.value}};
    if (with_breakdown) device.update(memory_json(memories->of(DeviceId(i))));
    list.push_back(std::move(device));
  }
  return list;
}

// One row a device, without its name. Of many devices those that follow each other and have equal
// rows are one: "v100-0:0 to v100-9:7".
template <class Row>
void add_rows(Table& table, const Timeline& timeline, const Row& row_of) {
  const IdVector<DeviceId, Device>& devices = timeline.program->cluster->devices();
  std::vector<std::string> row;
  for (std::size_t first = 0, next = 0; first < devices.size(); first = next) {
    std::vector<std::string> now = next == 0 ? row_of(DeviceId(0)) : std::exchange(row, {});
    for (next = first + 1; next < devices.size(); ++next) {
      row = row_of(DeviceId(next));
      if (devices.size() <= kMany || row != now) break;
    }
    const std::string& name = devices[DeviceId(first)].name;
    now.insert(now.begin(), next == first + 1
                                ? name
                                : fmt::format("{} to {}", name, devices[DeviceId(next - 1)].name));
    table.add(std::move(now));
  }
}

std::string devices_text(const Timeline& timeline) {
  Table table({"device", "GPU", "busy", "of step", "peak memory", "of", "used"});
  const Cluster& cluster = *timeline.program->cluster;
  add_rows(table, timeline, [&](DeviceId device) -> std::vector<std::string> {
    const DeviceUse& use = timeline.devices[device];
    const double share = timeline.step_time > Nanos(0) ? use.compute_busy / timeline.step_time : 0;
    return {cluster.gpu(device).name, time_text(use.compute_busy),
            percent_text(share),      bytes_text(use.peak),
            bytes_text(use.capacity), percent_text(use.peak / use.capacity)};
  });
  return table.text();
}

std::string breakdown_text(const Timeline& timeline) {
  Table table(
      {"device", "peak", "of", "parameters", "optimizer", "gradients", "activations", "other", ""});
  const MemoryAtPeaks memories(timeline);
  add_rows(table, timeline, [&](DeviceId device) -> std::vector<std::string> {
    const DeviceUse& use = timeline.devices[device];
    const MemoryUse& memory = memories.of(device);
    return {bytes_text(use.peak),          bytes_text(use.capacity),
            bytes_text(memory.parameters), bytes_text(memory.optimizer_state),
            bytes_text(memory.gradients),  bytes_text(memory.activations),
            bytes_text(memory.other),      use.fits() ? "" : "does not fit"};
  });
  return table.text();
}

std::string error_text(const ErrorBar& error) {
  if (error.low == error.high) return "";
  return fmt::format(" ± {:.0f} % ({} to {})", 100 * error.relative, time_text(error.low),
                     time_text(error.high));
}

std::string beaten_text(const Verdict& verdict) {
  if (!verdict.evaluations_to_beat_data_parallel) return "";
  return fmt::format(" (faster than data parallel after {})",
                     *verdict.evaluations_to_beat_data_parallel);
}

std::string facts_text(const std::vector<PlanResult::Fact>& facts) {
  if (facts.empty()) return "";
  std::size_t width = 0;
  for (const PlanResult::Fact& fact : facts) width = std::max(width, fact.name.size());
  std::string text = "\nFacts\n";
  for (const auto& [name, value] : facts) text += fmt::format("  {:<{}}  {}\n", name, width, value);
  return text;
}

// The sharper bound, where it is one to see.
std::string bound_text(const Verdict& verdict) {
  const std::string text = time_text(verdict.batch_bound);
  if (text == time_text(verdict.lower_bound)) return {};
  return fmt::format(" ({} where only the batch is divided)", text);
}

Json hosts_json(const Timeline& timeline) {
  Json hosts = Json::array();
  for (const MachineId machine : timeline.hosts.ids())
    hosts.push_back({{"machine", timeline.program->cluster->machines()[machine].name},
                     {"memory_bytes", timeline.hosts[machine].capacity.value},
                     {"peak_bytes", timeline.hosts[machine].peak.value}});
  return hosts;
}

// The fullest host.
std::string hosts_text(const Timeline& timeline) {
  const auto most = std::ranges::max_element(timeline.hosts, {}, &HostUse::peak);
  const MachineId machine(static_cast<std::size_t>(most - timeline.hosts.begin()));
  return fmt::format("at most {} of {} on the host of {}", bytes_text(most->peak),
                     bytes_text(most->capacity),
                     timeline.program->cluster->machines()[machine].name);
}

std::string headline(const Verdict& verdict) {
  const Problem& problem = *verdict.problem;
  std::string text = fmt::format("{} on {}, batch {}, {} {}op groups", problem.graph->name(),
                                 problem.cluster->name(), problem.graph->batch(),
                                 problem.grouping->size(), verdict.own_groups ? "own " : "");
  if (!verdict.planner.empty()) text += fmt::format(", {}, seed {}", verdict.planner, verdict.seed);
  return text + (verdict.stopped ? " (stopped early)\n" : "\n");
}

}  // namespace

std::vector<std::string> infeasible_reasons(const Timeline& timeline) {
  constexpr std::size_t kNamed = 3, kDevices = 8;
  const IdVector<DeviceId, Device>& devices = timeline.program->cluster->devices();
  std::vector<DeviceId> full;  // of those that follow each other and lack as much, the first
  std::size_t count = 0;
  for (const DeviceId device : timeline.devices.ids()) {
    const DeviceUse& use = timeline.devices[device];
    if (use.fits() || (timeline.is_outline() && timeline.like[device] != device)) continue;
    ++count;
    if (devices.size() <= kMany || full.empty() || timeline.devices[full.back()].peak != use.peak)
      full.push_back(device);
  }
  std::vector<std::string> reasons;
  for (const DeviceId device : full) {
    if (devices.size() > kMany && reasons.size() == kDevices) {
      reasons.push_back(fmt::format("{} devices are too small in all", count));
      break;
    }
    const DeviceUse& use = timeline.devices[device];
    std::string line =
        fmt::format("{} needs {} at {} and has {}: largest", devices[device].name,
                    bytes_text(use.peak), time_text(use.peak_at), bytes_text(use.capacity));
    const auto alive = timeline.alive_at(device, use.peak_at);
    for (std::size_t k = 0; k < std::min(kNamed, alive.size()); ++k) {
      line += fmt::format("{} {} ({})", k == 0 ? "" : ",",
                          timeline.program->graph->tensor(alive[k].tensor).name,
                          bytes_text(alive[k].bytes));
    }
    reasons.push_back(std::move(line));
  }
  for (const MachineId machine : timeline.hosts.ids())
    if (const HostUse& use = timeline.hosts[machine]; !use.fits())
      reasons.push_back(fmt::format("the host of {} needs {} at {} and has {}",
                                    timeline.program->cluster->machines()[machine].name,
                                    bytes_text(use.peak), time_text(use.peak_at),
                                    bytes_text(use.capacity)));
  return reasons;
}

Json verdict_json(const Verdict& verdict, double wall_seconds) {
  Json json = {{"model", verdict.problem->graph->name()},
               {"cluster", verdict.problem->cluster->name()},
               {"batch", verdict.problem->graph->batch()},
               {"groups", verdict.problem->grouping->size()}};
  json.update(result_json(verdict));
  if (verdict.stopped) json["stopped"] = true;
  if (!verdict.curves.empty()) json["curves"] = Json::parse(curves_text(verdict.curves));
  json["wall_s"] = wall_seconds;
  json["devices"] = devices_json(*verdict.outcome.timeline, false);
  if (verdict.offloaded > 0) json["hosts"] = hosts_json(*verdict.outcome.timeline);
  json["baseline_devices"] = devices_json(*verdict.baseline.timeline, true);
  if (!verdict.feasible()) json["reasons"] = infeasible_reasons(*verdict.outcome.timeline);
  if (!verdict.baseline.timeline->feasible) {
    json["baseline_reasons"] = infeasible_reasons(*verdict.baseline.timeline);
  }
  return json;
}

std::string verdict_text(const Verdict& verdict, double wall_seconds) {
  const Timeline& timeline = *verdict.outcome.timeline;
  const Timeline& baseline = *verdict.baseline.timeline;
  const auto misfit = [](const Timeline& each) {
    return each.feasible ? "" : "  (does not fit in memory)";
  };
  std::string text = headline(verdict);
  text += fmt::format("  step time      {}{}{}\n", time_text(timeline.step_time),
                      error_text(verdict.error), misfit(timeline));
  text += fmt::format("  data parallel  {}{}\n", time_text(baseline.step_time), misfit(baseline));
  text += fmt::format("  speed-up       {}\n", factor_text(verdict.speedup()));
  text +=
      fmt::format("  lower bound    {}{}\n", time_text(verdict.lower_bound), bound_text(verdict));
  if (verdict.micro_batches.count > 1)
    text += fmt::format("  micro-batches  {}\n", describe(verdict.micro_batches));
  if (verdict.recomputed > 0) text += fmt::format("  recomputed     {} ops\n", verdict.recomputed);
  if (verdict.offloaded > 0)
    text += fmt::format("  offloaded      {} ops: {}\n", verdict.offloaded, hosts_text(timeline));
  if (!verdict.undivided.empty()) text += fmt::format("  not divided    {}\n", verdict.undivided);
  if (!verdict.batch_stop.empty()) text += fmt::format("  not split      {}\n", verdict.batch_stop);
  text += fmt::format("  tasks          {}\n", verdict.outcome.program->tasks.size());
  text += fmt::format("  evaluations    {}{}\n", verdict.evaluations, beaten_text(verdict));
  text += fmt::format("  took           {}\n", time_text(nanos_from_seconds(wall_seconds)));
  if (!verdict.note.empty()) text += fmt::format("  note           {}\n", verdict.note);
  text += facts_text(verdict.facts);
  text += "\n" + devices_text(timeline);
  if (!baseline.feasible)
    text += "\nMemory of data parallelism at its peak\n" + breakdown_text(baseline);
  if (!timeline.feasible) {
    text += "\nInfeasible\n";
    for (const std::string& reason : infeasible_reasons(timeline)) text += "  " + reason + "\n";
  }
  return text;
}

}  // namespace strato::cli
