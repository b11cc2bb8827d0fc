// Tells by times and places alone whether a schedule is valid: the schedulers' independent check.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/at.h"
#include "core/schedule/list/schedule.h"

namespace strato {

class ScheduleCheck {
 public:
  ScheduleCheck(const Schedule& schedule, const Dag& dag, const TransferTimes& transfers,
                const Cluster& cluster)
      : schedule_(schedule), dag_(dag), transfers_(transfers), cluster_(cluster) {}

  std::string run() const {
    if (schedule_.device.size() != dag_.size() || schedule_.start.size() != dag_.size() ||
        schedule_.finish.size() != dag_.size())
      return fmt::format("the schedule is of {} nodes, the dag of {}", schedule_.device.size(),
                         dag_.size());
    using Part = std::string (ScheduleCheck::*)() const;
    for (const Part part : {&ScheduleCheck::nodes, &ScheduleCheck::overlaps, &ScheduleCheck::inputs,
                            &ScheduleCheck::colocation, &ScheduleCheck::sums})
      if (std::string problem = (this->*part)(); !problem.empty()) return problem;
    return {};
  }

 private:
  std::string nodes() const {
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      const DeviceId device = schedule_.device[i];
      if (!device.valid() || device.index() >= cluster_.device_count())
        return fmt::format("node {} is on device {}, which there is not", i, device.value());
      const Nanos time = dag_.time(static_cast<NodeIndex>(i), cluster_.device(device).type);
      if (schedule_.start[i] < Nanos(0)) return fmt::format("node {} starts before the step", i);
      if (schedule_.finish[i] - schedule_.start[i] != time)
        return fmt::format("node {} runs for {} ns instead of {}", i,
                           (schedule_.finish[i] - schedule_.start[i]).value, time.value);
    }
    return {};
  }

  std::string overlaps() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < dag_.size(); ++i)
      if (schedule_.finish[i] > schedule_.start[i]) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return std::pair(schedule_.device[i], schedule_.start[i]);
    });
    for (std::size_t k = 1; k < order.size(); ++k) {
      const std::size_t a = order[k - 1], b = order[k];
      if (schedule_.device[a] == schedule_.device[b] && schedule_.start[b] < schedule_.finish[a])
        return fmt::format("nodes {} and {} overlap on device {}", a, b,
                           schedule_.device[a].value());
    }
    return {};
  }

  std::string inputs() const {
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      for (const DagEdge& edge : dag_.predecessors(static_cast<NodeIndex>(i))) {
        const auto from = static_cast<std::size_t>(edge.node);
        const Nanos there = schedule_.finish[from] +
                            transfers_.time(edge.edge, schedule_.device[from], schedule_.device[i]);
        if (schedule_.start[i] < there)
          return fmt::format("node {} starts at {} ns, its input from node {} is there at {} ns", i,
                             schedule_.start[i].value, from, there.value);
      }
    }
    return {};
  }

  std::string colocation() const {
    std::vector<std::int64_t> first(static_cast<std::size_t>(dag_.colocation_count()), -1);
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      const std::int32_t group = dag_.colocation(static_cast<NodeIndex>(i));
      if (group < 0) continue;
      std::int64_t& one = first[static_cast<std::size_t>(group)];
      if (one < 0) one = static_cast<std::int64_t>(i);
      if (schedule_.device[static_cast<std::size_t>(one)] != schedule_.device[i])
        return fmt::format("nodes {} and {} belong together but are on two devices", one, i);
    }
    return {};
  }

  std::string sums() const {
    Nanos makespan;
    std::vector<Bytes> memory(cluster_.device_count());
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      makespan = std::max(makespan, schedule_.finish[i]);
      memory[schedule_.device[i].index()] += dag_.memory(static_cast<NodeIndex>(i));
    }
    if (makespan != schedule_.makespan)
      return fmt::format("the makespan is {} ns, not {}", makespan.value, schedule_.makespan.value);
    if (memory != schedule_.memory) return "the devices' memory is not the sum of their nodes'";
    bool fits = true;
    for (std::size_t d = 0; d < memory.size(); ++d)
      fits = fits && memory[d] <= cluster_.gpu(DeviceId(d)).memory;
    if (fits != schedule_.fits)
      return fits ? "it fits, but says that it does not" : "a device has more than its capacity";
    return {};
  }

  const Schedule& schedule_;
  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
};

// Empty when the schedule is valid: every node once on an existing device for its time, no two that
// take time overlapping on one, no node before its inputs can be there, co-location kept, makespan
// and memory right. Otherwise what is wrong first. Knows nothing of how it was made.
inline std::string problem_with(const Schedule& schedule, const Dag& dag,
                                const TransferTimes& transfers, const Cluster& cluster) {
  return ScheduleCheck(schedule, dag, transfers, cluster).run();
}

}  // namespace strato
