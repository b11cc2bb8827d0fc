#include "app/cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/sim/explain/column_exchanges.h"
#include "core/sim/explain/critical_path.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/stage_waits.h"

namespace strato::cli {
namespace {

// In the text:
constexpr std::size_t kGaps = 3;  // of a device
constexpr std::size_t kWhatIfs = 15;
constexpr double kLeastSaving = 0.001;
constexpr std::size_t kWidth = 100;  // columns of a paragraph

const Timeline& timeline_of(const Explanation& e) { return *e.verdict->outcome.timeline; }

double share_of_step(const Explanation& e, Nanos time) {
  const Nanos step = timeline_of(e).step_time;
  return step > Nanos(0) ? time / step : 0;
}

std::string task_name(const Explanation& e, TaskId task) {
  return task.valid() ? timeline_of(e).program->task_name(task) : std::string();
}

std::string wrapped(const std::string& text) {
  std::string result;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t width = end - at;
    if (column > 0 && column + 1 + width > kWidth) {
      result += "\n";
      column = 0;
    }
    result += column > 0 ? " " : "  ";
    result += text.substr(at, width);
    column += width + 1;
    at = end + 1;
  }
  return result + "\n";
}

std::vector<MemoryReport> memory_of(const Verdict& verdict) {
  const Timeline& timeline = *verdict.outcome.timeline;
  std::vector<MemoryReport> reports;
  DeviceId fullest;
  const auto fill = [&](DeviceId device) {
    return timeline.devices[device].peak / timeline.devices[device].capacity;
  };
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    if (!fullest.valid() || fill(DeviceId(d)) > fill(fullest)) fullest = DeviceId(d);
    if (!timeline.devices[DeviceId(d)].fits())
      reports.push_back(memory_report(timeline, DeviceId(d), verdict.problem->grouping.get()));
  }
  if (reports.empty() && fullest.valid())
    reports.push_back(memory_report(timeline, fullest, verdict.problem->grouping.get()));
  return reports;
}

std::string_view kind_of(const WhatIf& what_if) {
  switch (what_if.what) {
    case WhatIf::What::Op:
      return "op";
    case WhatIf::What::Device:
      return "device";
    case WhatIf::What::GpuType:
      return "GPU type";
    case WhatIf::What::Devices:
      return "devices";
    case WhatIf::What::Link:
      return "link";
    case WhatIf::What::Network:
      return "network";
    case WhatIf::What::Latency:
      return "latency";
  }
  return "";
}

constexpr std::array<const char*, 6> kRoles = {"input",           "parameters",  "constants",
                                               "optimizer_state", "activations", "gradients"};

// --- text ---

std::string why_text(const Why& why) {
  std::string text = wrapped(why.verdict), more;
  for (const std::string& cause : why.causes) text += wrapped("- " + cause);
  for (const std::string& sentence : why.more) more += (more.empty() ? "" : " ") + sentence;
  return text + wrapped(more);
}

std::string path_text(const Explanation& e) {
  std::array<std::size_t, kReasons> pieces{};
  for (const PathPiece& piece : e.path) ++pieces[static_cast<std::size_t>(root_of(piece.reason))];
  const auto times = time_by_root(e.path);
  std::array<std::size_t, kReasons> order{};
  for (std::size_t r = 0; r < kReasons; ++r) order[r] = r;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  Table table({"critical path", "time", "of step", "pieces"});
  for (const std::size_t r : order)
    if (pieces[r] > 0)
      table.add({std::string(name_of(static_cast<Reason>(r))), time_text(times[r]),
                 percent_text(share_of_step(e, times[r])), std::to_string(pieces[r])});
  return table.text();
}

// Devices whose gaps are alike are shown once: "1080ti-0:0 and 7 alike".
struct Alike {
  DeviceId first;
  std::size_t others = 0;
};
template <class Same>
std::vector<Alike> merge_alike(const std::vector<DeviceId>& devices, Same&& same) {
  std::vector<Alike> merged;
  for (const DeviceId device : devices) {
    const auto it = std::find_if(merged.begin(), merged.end(),
                                 [&](const Alike& a) { return same(a.first, device); });
    if (it == merged.end()) {
      merged.push_back({device});
    } else {
      ++it->others;
    }
  }
  return merged;
}
std::string label_of(const Explanation& e, const Alike& alike) {
  const Cluster& cluster = *timeline_of(e).program->cluster;
  const std::string name = cluster.device(alike.first).name;
  return alike.others == 0 ? name : fmt::format("{} and {} alike", name, alike.others);
}
bool same_gpu(const Explanation& e, DeviceId a, DeviceId b) {
  const Cluster& cluster = *timeline_of(e).program->cluster;
  return cluster.device(a).type == cluster.device(b).type;
}

std::array<Nanos, kReasons> idle_by_reason(const std::vector<Gap>& gaps) {
  std::array<Nanos, kReasons> times{};
  for (const Gap& gap : gaps) times[static_cast<std::size_t>(gap.reason)] += gap.end - gap.begin;
  return times;
}

std::vector<Gap> longest_first(std::vector<Gap> gaps) {
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.end - a.begin > b.end - b.begin; });
  return gaps;
}

std::string gaps_text(const Explanation& e) {
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < e.gaps.size(); ++d) devices.push_back(DeviceId(d));
  const auto merged = merge_alike(devices, [&](DeviceId a, DeviceId b) {
    return same_gpu(e, a, b) && e.gaps[a].size() == e.gaps[b].size() &&
           idle_by_reason(e.gaps[a]) == idle_by_reason(e.gaps[b]);
  });
  Table table({"device", "idle", "of step", "most for", "longest gaps", "until", "held up by"});
  for (const Alike& alike : merged) {
    const auto times = idle_by_reason(e.gaps[alike.first]);
    Nanos idle;
    for (const Nanos time : times) idle += time;
    const auto most =
        static_cast<Reason>(std::max_element(times.begin(), times.end()) - times.begin());
    const std::vector<Gap> longest = longest_first(e.gaps[alike.first]);
    std::vector<std::string> head = {label_of(e, alike), time_text(idle),
                                     percent_text(share_of_step(e, idle)),
                                     idle > Nanos(0) ? std::string(name_of(most)) : ""};
    for (std::size_t i = 0; i < std::max<std::size_t>(1, std::min(kGaps, longest.size())); ++i) {
      std::vector<std::string> row = i == 0 ? head : std::vector<std::string>(4);
      if (i < longest.size()) {
        const Gap& gap = longest[i];
        row.push_back(fmt::format("{}, {}", time_text(gap.end - gap.begin), name_of(gap.reason)));
        row.push_back(gap.next.valid() ? task_name(e, gap.next) : "the end of the step");
        row.push_back(task_name(e, gap.cause));
      }
      row.resize(7);
      table.add(std::move(row));
    }
  }
  return table.text();
}

std::string what_ifs_text(const Explanation& e) {
  const Nanos step = timeline_of(e).step_time;
  Table table({"if faster", "what", "10 % faster", "saves", "infinitely fast", "saves"});
  std::size_t shown = 0;
  for (const WhatIf& each : e.what_ifs) {
    if (share_of_step(e, step - each.free) < kLeastSaving) continue;
    if (shown++ == kWhatIfs) break;
    table.add({each.name, std::string(kind_of(each)), time_text(each.faster),
               percent_text(share_of_step(e, step - each.faster)), time_text(each.free),
               percent_text(share_of_step(e, step - each.free))});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string memory_text(const Explanation& e, const MemoryReport& report, const Alike& alike) {
  const Program& program = *timeline_of(e).program;
  std::string text =
      fmt::format("\nMemory of {}: {} of {} at {}{}\n", label_of(e, alike), bytes_text(report.peak),
                  bytes_text(report.capacity), time_text(report.moment),
                  report.peak > report.capacity ? ", does not fit" : "");
  std::string roles;
  for (std::size_t r = 0; r < kRoles.size(); ++r)
    if (report.by_role[r] > Bytes(0)) {
      std::string role = kRoles[r];
      std::replace(role.begin(), role.end(), '_', ' ');
      roles +=
          fmt::format("{}{} {}", roles.empty() ? "" : ", ", role, bytes_text(report.by_role[r]));
    }
  text += wrapped(roles);
  Table table({"largest", "bytes", "made by", "held for"});
  for (const MemoryReport::Held& held : report.largest)
    table.add({program.graph->tensor(held.tensor).name, bytes_text(held.bytes),
               held.resident ? "resident" : task_name(e, held.made_by),
               held.resident ? "" : task_name(e, held.held_for)});
  text += table.text();
  for (const std::string& advice : report.advice) text += wrapped("- " + advice);
  return text;
}

std::string memories_text(const Explanation& e) {
  const auto report_of = [&](DeviceId device) -> const MemoryReport& {
    return *std::find_if(e.memory.begin(), e.memory.end(),
                         [&](const MemoryReport& r) { return r.device == device; });
  };
  std::vector<DeviceId> devices;
  for (const MemoryReport& report : e.memory) devices.push_back(report.device);
  const auto merged = merge_alike(devices, [&](DeviceId a, DeviceId b) {
    const MemoryReport &of_a = report_of(a), &of_b = report_of(b);
    return same_gpu(e, a, b) && of_a.peak == of_b.peak && of_a.by_role == of_b.by_role &&
           of_a.advice == of_b.advice;
  });
  std::string text;
  for (const Alike& alike : merged) text += memory_text(e, report_of(alike.first), alike);
  return text;
}

// --- JSON ---

Json path_json(const Explanation& e) {
  Json json = Json::object();
  const auto times = time_by_reason(e.path);
  for (std::size_t r = 0; r < kReasons; ++r) {
    std::string key(name_of(static_cast<Reason>(r)));
    std::replace(key.begin(), key.end(), ' ', '_');
    json[key + "_s"] = to_seconds(times[r]);
  }
  return json;
}

Json gaps_json(const Explanation& e) {
  Json list = Json::array();
  for (std::size_t d = 0; d < e.gaps.size(); ++d) {
    Nanos idle;
    std::map<std::string, Nanos> reasons;
    const Gap* longest = nullptr;
    for (const Gap& gap : e.gaps[DeviceId(d)]) {
      const Nanos time = gap.end - gap.begin;
      idle += time;
      reasons[std::string(name_of(gap.reason))] += time;
      if (longest == nullptr || time > longest->end - longest->begin) longest = &gap;
    }
    Json by_reason = Json::object();
    for (const auto& [reason, time] : reasons) by_reason[reason] = to_seconds(time);
    Json device = {{"device", timeline_of(e).program->cluster->device(DeviceId(d)).name},
                   {"idle_s", to_seconds(idle)},
                   {"by_reason_s", std::move(by_reason)}};
    if (longest != nullptr)
      device["longest"] = {{"begin_s", to_seconds(longest->begin)},
                           {"end_s", to_seconds(longest->end)},
                           {"reason", std::string(name_of(longest->reason))},
                           {"next", task_name(e, longest->next)},
                           {"cause", task_name(e, longest->cause)}};
    list.push_back(std::move(device));
  }
  return list;
}

Json what_ifs_json(const Explanation& e) {
  Json list = Json::array();
  for (const WhatIf& each : e.what_ifs)
    list.push_back({{"what", std::string(kind_of(each))},
                    {"name", each.name},
                    {"step_time_s_10_percent_faster", to_seconds(each.faster)},
                    {"step_time_s_infinitely_fast", to_seconds(each.free)}});
  return list;
}

Json memory_json(const Explanation& e, const MemoryReport& report) {
  const Program& program = *timeline_of(e).program;
  Json roles = Json::object(), largest = Json::array();
  for (std::size_t r = 0; r < kRoles.size(); ++r)
    roles[std::string(kRoles[r]) + "_bytes"] = report.by_role[r].value;
  for (const MemoryReport::Held& held : report.largest)
    largest.push_back({{"tensor", program.graph->tensor(held.tensor).name},
                       {"bytes", held.bytes.value},
                       {"resident", held.resident},
                       {"made_by", task_name(e, held.made_by)},
                       {"held_for", task_name(e, held.held_for)}});
  return {{"device", program.cluster->device(report.device).name},
          {"moment_s", to_seconds(report.moment)},
          {"peak_bytes", report.peak.value},
          {"capacity_bytes", report.capacity.value},
          {"by_role", std::move(roles)},
          {"largest", std::move(largest)},
          {"advice", report.advice}};
}

Json stages_json(const Timeline& timeline) {
  Json list = Json::array();
  for (const StageWait& stage : stage_waits(timeline)) {
    Json devices = Json::array();
    for (const DeviceId device : stage.devices)
      devices.push_back(timeline.program->cluster->device(device).name);
    list.push_back({{"devices", std::move(devices)},
                    {"waits_before_s", to_seconds(stage.before)},
                    {"waits_between_s", to_seconds(stage.between)},
                    {"waits_after_s", to_seconds(stage.after)}});
  }
  return list;
}

// Only what there is: a plan without a pipeline has no stages.
void add_parallel_json(const Timeline& timeline, Json& json) {
  if (Json stages = stages_json(timeline); !stages.empty()) json["stages"] = std::move(stages);
  const auto add = [&](const char* name, const ColumnExchanges& exchanges) {
    if (exchanges.tasks > 0)
      json[name] = {{"tasks", exchanges.tasks},
                    {"taken_s", to_seconds(exchanges.taken)},
                    {"exposed_s", to_seconds(exchanges.exposed)}};
  };
  add("column_exchanges", column_exchanges(timeline));
  add("expert_exchanges", expert_exchanges(timeline));
}

Json error_json(const ErrorBar& error) {
  return {{"low_s", to_seconds(error.low)},
          {"high_s", to_seconds(error.high)},
          {"relative", error.relative},
          {"analytic", error.analytic},
          {"fit", error.fit},
          {"profile", error.profile}};
}

}  // namespace

Explanation explain(const Verdict& verdict) {
  const Timeline& timeline = *verdict.outcome.timeline;
  Explanation e;
  e.verdict = &verdict;
  e.path = path_pieces(timeline);
  e.gaps = gaps(timeline);
  e.what_ifs = what_if(timeline, {});
  e.memory = memory_of(verdict);
  e.why = why(timeline, e.what_ifs, verdict.error, verdict.lower_bound);
  return e;
}

Json explanation_json(const Explanation& e) {
  Json memory = Json::array();
  for (const MemoryReport& report : e.memory) memory.push_back(memory_json(e, report));
  Json json = {{"why", e.why.text()},         {"verdict", e.why.verdict},
               {"causes", e.why.causes},      {"critical_path", path_json(e)},
               {"gaps", gaps_json(e)},        {"what_ifs", what_ifs_json(e)},
               {"memory", std::move(memory)}, {"error", error_json(e.verdict->error)}};
  add_parallel_json(timeline_of(e), json);
  return json;
}

std::string explanation_text(const Explanation& e) {
  return "\nWhy\n" + why_text(e.why) + "\n" + path_text(e) + "\n" + gaps_text(e) +
         what_ifs_text(e) + memories_text(e);
}

}  // namespace strato::cli
