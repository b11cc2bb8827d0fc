#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/cli/output.h"
#include "app/cli/trace/report.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

using namespace trace;

constexpr std::size_t kMostListed = 64;  // ranks, for people
constexpr std::size_t kWidestName = 70;

std::string shortened(const std::string& name) {
  return name.size() <= kWidestName ? name : name.substr(0, kWidestName - 3) + "...";
}

std::string share(Nanos part, Nanos whole) {
  return whole == Nanos(0) ? "-" : percent_text(part / whole);
}

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most = 16;
  const std::size_t count = std::min(numbers.size(), most);
  return fmt::format("{}{}",
                     fmt::join(numbers.begin(), numbers.begin() + std::ptrdiff_t(count), ", "),
                     numbers.size() > most ? ", ..." : "");
}

std::string heading(const TraceSet& set, const Analysis& analysis) {
  const Trace& first = set.traces.front();
  std::size_t events = 0, kernels = 0;
  std::int64_t python = 0;
  for (const Trace& trace : set.traces) {
    events += trace.events.size();
    python += trace.skipped_python;
  }
  for (const RankAnalysis& rank : analysis.ranks) kernels += static_cast<std::size_t>(rank.kernels);
  std::string text = fmt::format(
      "{} of {}{}\n", name_of(first.format),
      set.traces.size() == 1 ? fmt::format("rank {}", *first.rank)
                             : fmt::format("{} ranks", set.traces.size()),
      analysis.world_size > 0 ? fmt::format(", in a world of {}", analysis.world_size) : "");
  text += fmt::format("  events         {} ({} on devices{})\n", events, kernels,
                      python > 0 ? fmt::format("; {} of Python's left out", python) : "");
  if (!first.devices.empty() && !first.devices.front().name.empty())
    text += fmt::format("  devices        {} ({})\n", first.devices.front().name,
                        bytes_text(first.devices.front().memory));
  if (!first.backend.empty()) text += fmt::format("  backend        {}\n", first.backend);
  if (!analysis.missing.empty())
    text += fmt::format("  missing        {} of {} ranks: {}\n", analysis.missing.size(),
                        analysis.world_size, numbers_text(analysis.missing));
  return text;
}

std::string alignment_line(const TraceSet& set, const Analysis& analysis) {
  const Alignment& alignment = analysis.alignment;
  if (set.traces.size() < 2) return "";
  if (alignment.matches == 0)
    return "  clocks         as recorded: no collective could be matched between ranks\n";
  Nanos widest;
  std::size_t unaligned = 0;
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    widest = std::max({widest, alignment.offset[i], Nanos(0) - alignment.offset[i]});
    unaligned += alignment.aligned[i] ? 0 : 1;
  }
  return fmt::format(
      "  clocks         moved by up to {} at {} collectives; their ends are then {} "
      "apart (worst {}){}\n",
      time_text(widest), alignment.matches, time_text(alignment.typical_error),
      time_text(alignment.worst_error),
      unaligned > 0 ? fmt::format("; {} ranks share none", unaligned) : "");
}

std::string steps_line(const Analysis& analysis) {
  const auto with_steps = std::ranges::find_if(analysis.ranks, [](const RankAnalysis& rank) {
    return rank.steps.source != StepSource::None;
  });
  if (with_steps == analysis.ranks.end()) return "";
  const Steps& steps = with_steps->steps;
  return fmt::format("  steps          {} by {}, {} of them steady; {} typically{}\n",
                     steps.steps.size(),
                     steps.source == StepSource::Annotation ? "ProfilerStep" : "their period",
                     steps.steady(), time_text(steps.typical),
                     analysis.ranks.size() > 1 ? fmt::format(" (rank {})", with_steps->rank) : "");
}

std::string breakdown_table(const Analysis& analysis) {
  Table table({"rank", "step", "device time", "idle", "computing", "other", "communication",
               "exposed", "overlapped"});
  std::size_t listed = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    if (rank.kernels == 0 || ++listed > kMostListed) continue;
    const Breakdown& b = rank.breakdown;
    const Nanos communication = b.busy[static_cast<std::size_t>(KernelType::Communication)];
    table.add({std::to_string(rank.rank),
               rank.steps.source == StepSource::None ? "-" : time_text(rank.steps.typical),
               time_text(b.total), share(b.idle, b.total), share(b.compute, b.total),
               share(b.non_compute, b.total), time_text(communication), time_text(b.exposed),
               communication == Nanos(0) ? "-" : percent_text(b.overlap_fraction())});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string communication_table(const TraceSet& set, const Analysis& analysis) {
  std::vector<std::vector<CommunicationTime>> by_rank;
  for (const RankAnalysis& rank : analysis.ranks) by_rank.push_back(rank.communication);
  std::vector<CommunicationSum> rows = communication_of_all(set.traces, by_rank);
  if (rows.empty()) return "";
  if (rows.size() > kMostListed) rows.resize(kMostListed);
  Table table({"collective", "group", "calls", "time", "exposed", "sent"});
  table.align_left(1);
  for (const CommunicationSum& row : rows)
    table.add({name_of(row.collective), row.group, std::to_string(row.count), time_text(row.busy),
               time_text(row.exposed), row.sent > Bytes(0) ? bytes_text(row.sent) : "-"});
  return "\n" + table.text();
}

std::string idle_table(const TraceSet& set, const Analysis& analysis) {
  Table table({"rank", "stream", "idle", "host wait", "kernel wait", "other"});
  std::size_t listed = 0;
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    for (const IdleCauses& each : analysis.ranks[i].idle) {
      if (++listed > kMostListed) break;
      table.add({std::to_string(analysis.ranks[i].rank),
                 std::to_string(set.traces[i].lanes[each.stream].thread), time_text(each.total()),
                 time_text(each.host_wait), time_text(each.kernel_wait), time_text(each.other)});
    }
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string arrivals_table(const Analysis& analysis) {
  if (analysis.arrivals.empty()) return "";
  Table table({"rank", "collectives", "last at", "others waited for it", "it waited"});
  for (std::size_t i = 0; i < std::min(kMostListed, analysis.ranks.size()); ++i) {
    const Arrivals& each = analysis.arrivals[i];
    table.add({std::to_string(analysis.ranks[i].rank), std::to_string(each.matched),
               std::to_string(each.last), time_text(each.held_up), time_text(each.waited)});
  }
  return "\n" + table.text();
}

const RankAnalysis* busiest(const Analysis& analysis) {
  const auto most = std::ranges::max_element(analysis.ranks, {}, &RankAnalysis::kernels);
  return most == analysis.ranks.end() || most->kernels == 0 ? nullptr : &*most;
}

std::string kernels_table(const Analysis& analysis) {
  const RankAnalysis* rank = busiest(analysis);
  if (rank == nullptr) return "";
  Table table(
      {fmt::format("longest kernels (rank {})", rank->rank), "type", "calls", "total", "longest"});
  table.align_left(0);
  for (const KernelTime& each : rank->longest)
    table.add({shortened(each.name), name_of(each.type), std::to_string(each.count),
               time_text(each.total), time_text(each.longest)});
  return "\n" + table.text();
}

std::string launch_lines(const Analysis& analysis) {
  const RankAnalysis* rank = busiest(analysis);
  if (rank == nullptr || rank->launch_bound.empty()) return "";
  std::string text = fmt::format("\nWaiting for the host to launch (rank {}):\n", rank->rank);
  Nanos first = rank->launch_bound.front().time.begin;
  for (const LaunchBound& each : rank->launch_bound) first = std::min(first, each.time.begin);
  for (const LaunchBound& each : rank->launch_bound)
    text += fmt::format("  {} idle of {}, with {} kernels, {} behind the first of these\n",
                        time_text(each.idle), time_text(each.time.length()), each.kernels,
                        time_text(each.time.begin - first));
  return text;
}

std::string memory_lines(const Analysis& analysis) {
  std::string text;
  for (const RankAnalysis& rank : analysis.ranks)
    for (const MemoryPeak& peak : rank.memory)
      text += fmt::format(
          "  memory         rank {}, device {}: {} allocated at most, {} reserved\n", rank.rank,
          peak.device, bytes_text(peak.allocated), bytes_text(peak.reserved));
  return text;
}

std::string operators_table(const Analysis& analysis) {
  if (analysis.operators.empty()) return "";
  Table table({"operators", "count", "time"});
  table.align_left(0);
  for (const OperatorCount& each : analysis.operators)
    table.add({shortened(each.name), std::to_string(each.count),
               each.time > Nanos(0) ? time_text(each.time) : "-"});
  return "\n" + table.text();
}

// Lanes of a trace without devices: who is busy how long.
std::string lanes_table(const TraceSet& set, const Analysis& analysis) {
  if (busiest(analysis) != nullptr || !set.traces.front().timed) return "";
  const Trace& trace = set.traces.front();
  IdVector<LaneId, std::vector<Interval>> busy(trace.lanes.size());
  for (const Event& event : trace.events) busy[event.lane].push_back({event.start, event.end()});
  Table table({"process", "thread", "name", "events", "busy"});
  table.align_left(2);
  std::size_t listed = 0;
  for (const LaneId lane : busy.ids()) {
    if (busy[lane].empty() || ++listed > kMostListed) continue;
    const std::size_t count = busy[lane].size();
    table.add({std::to_string(trace.lanes[lane].process), std::to_string(trace.lanes[lane].thread),
               shortened(trace.lanes[lane].name), std::to_string(count),
               time_text(length(merged(std::move(busy[lane]))))});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string remarks_text(const TraceSet& set) {
  std::string text;
  for (const std::string& remark : set.remarks) text += "  " + remark + "\n";
  for (const Trace& trace : set.traces)
    for (const std::string& remark : trace.remarks)
      text += set.traces.size() == 1 ? fmt::format("  {}\n", remark)
                                     : fmt::format("  Rank {}: {}\n", *trace.rank, remark);
  return text.empty() ? "" : "\nRemarks:\n" + text;
}

}  // namespace

std::string traces_text(const TraceSet& set, const Analysis& analysis) {
  std::string text = heading(set, analysis) + alignment_line(set, analysis) + steps_line(analysis) +
                     memory_lines(analysis);
  for (const Straggler& straggler : analysis.stragglers)
    text += fmt::format("  late           {}\n", sentence_of(straggler));
  for (const std::string& sentence : parallelism_sentences(analysis.families))
    text += fmt::format("  parallelism    {}\n", sentence);
  return text + breakdown_table(analysis) + communication_table(set, analysis) +
         idle_table(set, analysis) + arrivals_table(analysis) + kernels_table(analysis) +
         launch_lines(analysis) + operators_table(analysis) + lanes_table(set, analysis) +
         remarks_text(set);
}

}  // namespace strato::cli
