#include "core/sim/explain/gaps.h"

#include <algorithm>

#include "core/sim/explain/causes.h"

namespace strato {
namespace {

class GapFinder {
 public:
  explicit GapFinder(const Timeline& timeline)
      : timeline_(timeline),
        causes_(timeline),
        last_(last_task(timeline)),
        tasks_(timeline.program->cluster->device_count()) {
    for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
      for (ResourceId resource : timeline.program->resources[i])
        if (resource.index() < 2 * tasks_.size() && resource.index() % 2 == 0)
          tasks_[DeviceId(resource.index() / 2)].push_back(TaskId(i));
    for (auto& tasks : tasks_)
      std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
        return timeline.tasks[a].start < timeline.tasks[b].start;
      });
  }

  std::vector<Gap> of(DeviceId device) const {
    std::vector<Gap> gaps;
    Nanos idle_since;
    for (TaskId next : tasks_[device]) {
      if (timeline_.tasks[next].start > idle_since) explain(idle_since, next, gaps);
      idle_since = timeline_.tasks[next].end;
    }
    if (idle_since < timeline_.step_time)
      gaps.push_back({idle_since, timeline_.step_time, Reason::Straggler, {}, last_});
    return gaps;
  }

 private:
  // The path to `next`, as far as it falls into the gap, cut where the reason changes.
  void explain(Nanos begin, TaskId next, std::vector<Gap>& gaps) const {
    const Nanos end = timeline_.tasks[next].start;
    Nanos longest;  // of the pieces of the last gap
    for (const PathPiece& piece : pieces_of(timeline_, causes_, causes_.chain_to(next, begin))) {
      const Nanos from = std::max(begin, piece.begin), to = std::min(end, piece.end);
      if (from >= to) continue;
      const bool goes_on =
          !gaps.empty() && gaps.back().next == next && gaps.back().reason == piece.reason;
      if (!goes_on) gaps.push_back({from, to, piece.reason, next, piece.task});
      gaps.back().end = to;
      if (!goes_on || to - from > longest) {
        longest = to - from;
        gaps.back().cause = piece.task;
      }
    }
  }

  const Timeline& timeline_;
  Causes causes_;
  TaskId last_;
  IdVector<DeviceId, std::vector<TaskId>> tasks_;  // on the compute stream, in order
};

}  // namespace

std::vector<Gap> gaps(const Timeline& timeline, DeviceId device) {
  return GapFinder(timeline).of(device);
}

IdVector<DeviceId, std::vector<Gap>> gaps(const Timeline& timeline) {
  const GapFinder finder(timeline);
  IdVector<DeviceId, std::vector<Gap>> all;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) all.push_back(finder.of(DeviceId(d)));
  return all;
}

}  // namespace strato
