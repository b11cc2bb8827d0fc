#include "core/trace/analyse/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace strato::trace {

Collective collective_of(const Trace& trace, const Event& event) {
  const Collective said =
      event.call.valid() ? trace.calls[event.call].collective : Collective::Unknown;
  return said != Collective::Unknown ? said : collective_of(trace.name(event));
}

std::vector<CommunicationTime> communication(const Trace& trace, std::span<const Kernel> kernels) {
  struct Sum {
    CommunicationTime time;
    std::vector<Interval> busy;
  };
  std::map<std::pair<Collective, GroupId>, Sum> sums;
  for (const Kernel& kernel : kernels) {
    if (kernel.type != KernelType::Communication) continue;
    const Event& event = *kernel.event;
    const GroupId group = event.call.valid() ? trace.calls[event.call].group : GroupId();
    Sum& sum = sums[{collective_of(trace, event), group}];
    ++sum.time.count;
    if (event.call.valid()) sum.time.sent += trace.calls[event.call].sent;
    sum.busy.push_back({event.start, event.end()});
  }
  const Intervals compute = busy(kernels, KernelType::Computation);
  std::vector<CommunicationTime> times;
  for (auto& [key, sum] : sums) {
    const Intervals all = merged(std::move(sum.busy));
    sum.time.collective = key.first;
    sum.time.group = key.second;
    sum.time.busy = length(all);
    sum.time.exposed = sum.time.busy - overlap(all, compute);
    times.push_back(sum.time);
  }
  std::ranges::stable_sort(times, std::greater(), &CommunicationTime::exposed);
  return times;
}

std::vector<CommunicationSum> communication_of_all(
    std::span<const Trace> traces, std::span<const std::vector<CommunicationTime>> by_rank) {
  std::map<std::pair<Collective, std::string>, CommunicationSum> sums;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    for (const CommunicationTime& each : by_rank[rank]) {
      std::string group = group_text(traces[rank], each.group);
      CommunicationSum& sum = sums[{each.collective, group}];
      sum.collective = each.collective;
      sum.group = std::move(group);
      sum.count += each.count;
      sum.busy += each.busy;
      sum.exposed += each.exposed;
      sum.sent += each.sent;
    }
  }
  std::vector<CommunicationSum> rows;
  for (auto& [key, sum] : sums) rows.push_back(std::move(sum));
  std::ranges::stable_sort(rows, [](const CommunicationSum& a, const CommunicationSum& b) {
    return std::pair(a.exposed, a.busy) > std::pair(b.exposed, b.busy);
  });
  return rows;
}

std::string group_text(const Trace& trace, GroupId id) {
  if (!id.valid()) return "-";
  const Group& group = trace.groups[id];
  const std::string name = group.description.empty() || group.description == "default_pg"
                               ? group.name
                               : group.description;
  const std::int64_t size = group.ranks.empty() ? group.size : std::ssize(group.ranks);
  return size > 0 ? fmt::format("{} ({} ranks)", name, size) : name;
}

std::vector<CommunicationTime> communication_of_nodes(const Trace& trace) {
  // Converters write an operator that communicates and its kernel as two nodes of one call.
  const bool on_devices = std::ranges::any_of(trace.events, [](const Event& event) {
    return event.call.valid() && runs_on_device(event.kind);
  });
  std::map<std::pair<Collective, GroupId>, CommunicationTime> sums;
  for (const Event& event : trace.events) {
    if (!event.call.valid() || runs_on_device(event.kind) != on_devices) continue;
    const Call& call = trace.calls[event.call];
    CommunicationTime& sum = sums[{collective_of(trace, event), call.group}];
    ++sum.count;
    sum.busy += event.duration;
    sum.sent += call.sent;
  }
  std::vector<CommunicationTime> times;
  for (auto& [key, sum] : sums) {
    sum.collective = key.first;
    sum.group = key.second;
    times.push_back(sum);
  }
  std::ranges::stable_sort(times, std::greater(), &CommunicationTime::busy);
  return times;
}

}  // namespace strato::trace
