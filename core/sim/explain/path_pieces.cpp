#include "core/sim/explain/path_pieces.h"

#include <algorithm>
#include <span>

namespace strato {
namespace {

bool is_moved(TaskKind kind) { return kind == TaskKind::Transfer || is_host_copy(kind); }
bool is_collective(TaskKind kind) { return is_communication(kind) && !is_moved(kind); }

Reason own_reason(TaskKind kind) {
  if (kind == TaskKind::Compute || kind == TaskKind::Update) return Reason::Compute;
  if (is_moved(kind)) return Reason::Transfer;
  return is_collective(kind) ? Reason::Collective : Reason::Reshuffle;
}

bool is_compute_stream(const Program& program, ResourceId resource) {
  return !program.is_link(resource) && Program::kind_of(resource) == Stream::Compute;
}

void append(std::vector<PathPiece>& pieces, const PathPiece& piece) {
  if (piece.begin >= piece.end) return;
  if (!pieces.empty() && pieces.back().reason == piece.reason && pieces.back().task == piece.task &&
      pieces.back().waiting == piece.waiting) {
    pieces.back().end = piece.end;
  } else {
    pieces.push_back(piece);
  }
}

// What a task waited, once it had its resources, for the process that starts it. Where links are
// shared fairly, that of communication cannot be told from its wait for these.
Nanos late_start(const Timeline& timeline, TaskId id) {
  const Task& task = timeline.program->tasks[id];
  if (task.issue == 0 || (timeline.options.fair_links && is_communication(task.kind))) return {};
  return timeline.tasks[id].end - timeline.tasks[id].start - task.duration;
}

// One step's run: the wait for its process, its own time, what sharing added to it, and the part in
// which `next` waits for it.
void append_run(const Timeline& timeline, const Causes& causes, TaskId task,
                const CriticalStep* next, std::vector<PathPiece>& pieces) {
  const Program& program = *timeline.program;
  const TaskTimes& times = timeline.tasks[task];
  Nanos waits_from = times.end;
  if (next != nullptr && next->why == CriticalStep::Why::Resource)
    waits_from = std::max(times.start, timeline.tasks[next->task].ready);
  // Also where the next one is ready already: a faster device would not help.
  const Nanos started = times.start + late_start(timeline, task);
  append(pieces, {times.start, started, Reason::Process, task, {}});
  waits_from = std::max(waits_from, started);
  const Nanos alone = std::min(waits_from, started + program.tasks[task].duration);
  append(pieces, {started, alone, own_reason(program.tasks[task].kind), task, {}});
  if (alone < waits_from)
    append(pieces, {alone, waits_from, Reason::LinkBusy, causes.sharer(task), task});
  if (waits_from < times.end)
    append(pieces, {waits_from, times.end,
                    is_compute_stream(program, next->held) ? Reason::DeviceBusy : Reason::LinkBusy,
                    task, next->task});
}

// Finds when each member of a collective or sum had its part; a part that is sent first counts from
// when it could be sent, since the network is no straggler.
class MemberTimes {
 public:
  explicit MemberTimes(const Timeline& timeline) : timeline_(timeline) {}

  // The moment at which half of the members had their parts; the end of time with less than two.
  Nanos half_ready(TaskId id) {
    times_.clear();
    const Program& program = *timeline_.program;
    for (ResourceId resource : program.resources[id.index()])
      if (is_collective(program.tasks[id].kind) && !program.is_link(resource))
        times_.push_back({Program::device_of(resource), Nanos(0)});
    for (TaskId dependency : program.dependencies[id.index()]) add_part(id, dependency);
    if (times_.size() < 2) return Nanos::max();
    const auto middle = times_.begin() + static_cast<std::ptrdiff_t>((times_.size() - 1) / 2);
    std::nth_element(times_.begin(), middle, times_.end(),
                     [](const Member& a, const Member& b) { return a.ready < b.ready; });
    return middle->ready;
  }

 private:
  struct Member {
    DeviceId device;
    Nanos ready;
  };
  void add_part(TaskId id, TaskId dependency) {
    const Program& program = *timeline_.program;
    const Task& part = program.tasks[dependency];
    if (program.tasks[id].kind == TaskKind::Sum) {
      const bool sent = part.kind == TaskKind::Transfer;
      const TaskTimes& times = timeline_.tasks[dependency];
      note(part.device, sent ? times.ready : times.end, true);
    } else if (is_collective(part.kind)) {
      for (ResourceId resource : program.resources[dependency.index()])
        if (!program.is_link(resource))
          note(Program::device_of(resource), timeline_.tasks[dependency].end, false);
    } else {
      note(part.target.valid() ? part.target : part.device, timeline_.tasks[dependency].end, false);
    }
  }
  void note(DeviceId device, Nanos ready, bool is_new_member) {
    for (Member& member : times_)
      if (member.device == device) {
        member.ready = std::max(member.ready, ready);
        return;
      }
    if (is_new_member) times_.push_back({device, ready});
  }

  const Timeline& timeline_;
  std::vector<Member> times_;
};

struct Window {
  Nanos begin, end;
  TaskId waiting;
};

// Disjoint, ascending. Where two overlap, the later collective has the time: it hides the earlier.
std::vector<Window> straggler_windows(const Timeline& timeline,
                                      std::span<const CriticalStep> chain) {
  MemberTimes members(timeline);
  std::vector<Window> windows;
  Nanos covered = Nanos::max();
  for (std::size_t i = chain.size(); i-- > 1;) {
    const CriticalStep& step = chain[i];
    const TaskKind kind = timeline.program->tasks[step.task].kind;
    if (step.why != CriticalStep::Why::Dependency) continue;
    if (!is_collective(kind) && kind != TaskKind::Sum) continue;
    Nanos end = timeline.tasks[step.task].start;
    if (kind == TaskKind::Sum && timeline.program->tasks[step.before].kind == TaskKind::Transfer) {
      if (chain[i - 1].why != CriticalStep::Why::Dependency) continue;
      end = timeline.tasks[step.before].ready;
    }
    end = std::min(end, covered);
    const Nanos begin = members.half_ready(step.task);
    if (begin >= end) continue;
    windows.push_back({begin, end, step.task});
    covered = begin;
  }
  std::ranges::reverse(windows);
  return windows;
}

// The pieces from the first step's start to the last one's end, without a hole. Stragglers are
// sought in front of every step.
std::vector<PathPiece> pieces_of(const Timeline& timeline, const Causes& causes,
                                 std::span<const CriticalStep> chain) {
  std::vector<PathPiece> plain, pieces;
  for (std::size_t i = 0; i < chain.size(); ++i)
    append_run(timeline, causes, chain[i].task, i + 1 < chain.size() ? &chain[i + 1] : nullptr,
               plain);
  const std::vector<Window> windows = straggler_windows(timeline, chain);
  std::size_t w = 0;
  for (PathPiece piece : plain) {
    while (piece.begin < piece.end) {
      while (w < windows.size() && windows[w].end <= piece.begin) ++w;
      PathPiece part = piece;
      if (w < windows.size() && windows[w].begin <= piece.begin) {
        part.end = std::min(piece.end, windows[w].end);
        part.reason = Reason::Straggler;
        if (piece.waiting.valid() && timeline.tasks[piece.waiting].start <= piece.begin)
          part.task = piece.waiting;  // it runs, slowed by sharing
        part.waiting = windows[w].waiting;
      } else if (w < windows.size()) {
        part.end = std::min(piece.end, windows[w].begin);
      }
      append(pieces, part);
      piece.begin = part.end;
    }
  }
  return pieces;
}

// By device the tasks on its compute stream, in order.
IdVector<DeviceId, std::vector<TaskId>> computing_tasks(const Timeline& timeline) {
  IdVector<DeviceId, std::vector<TaskId>> all(timeline.program->cluster->device_count());
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    for (ResourceId resource : timeline.program->resources[i])
      if (is_compute_stream(*timeline.program, resource))
        all[Program::device_of(resource)].push_back(TaskId(i));
  for (auto& tasks : all)
    std::ranges::sort(tasks, {}, [&](TaskId task) { return timeline.tasks[task].start; });
  return all;
}

// The path to `next`, as far as it falls into the gap, cut where the reason changes.
void explain_gap(const Timeline& timeline, const Causes& causes, Nanos begin, TaskId next,
                 std::vector<Gap>& gaps) {
  const Nanos end = timeline.tasks[next].start;
  Nanos longest;  // of the pieces of the last gap
  for (const PathPiece& piece : pieces_of(timeline, causes, causes.chain_to(next, begin))) {
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

}  // namespace

std::vector<PathPiece> path_pieces(const Timeline& timeline) {
  const Causes causes(timeline);
  return pieces_of(timeline, causes, causes.chain_to(last_task(timeline)));
}

std::array<Nanos, kReasons> time_by_reason(const std::vector<PathPiece>& pieces) {
  std::array<Nanos, kReasons> times{};
  for (const PathPiece& piece : pieces)
    times[static_cast<std::size_t>(piece.reason)] += piece.end - piece.begin;
  return times;
}

Reason root_of(Reason reason) { return reason == Reason::DeviceBusy ? Reason::Compute : reason; }

std::array<Nanos, kReasons> time_by_root(const std::vector<PathPiece>& pieces) {
  std::array<Nanos, kReasons> times{};
  for (const PathPiece& piece : pieces)
    times[static_cast<std::size_t>(root_of(piece.reason))] += piece.end - piece.begin;
  return times;
}

std::string_view name_of(Reason reason) {
  constexpr std::array<std::string_view, kReasons> names = {
      "compute",     "reshuffle", "transfer",  "collective",
      "device busy", "link busy", "straggler", "process"};
  return names[static_cast<std::size_t>(reason)];
}

IdVector<DeviceId, std::vector<Gap>> gaps(const Timeline& timeline) {
  const Causes causes(timeline);
  const TaskId last = last_task(timeline);
  IdVector<DeviceId, std::vector<Gap>> all;
  for (const std::vector<TaskId>& tasks : computing_tasks(timeline)) {
    std::vector<Gap>& gaps = all.emplace_back();
    Nanos idle_since;
    for (TaskId next : tasks) {
      if (timeline.tasks[next].start > idle_since)
        explain_gap(timeline, causes, idle_since, next, gaps);
      idle_since = timeline.tasks[next].end;
    }
    if (idle_since < timeline.step_time)
      gaps.push_back({idle_since, timeline.step_time, Reason::Straggler, {}, last});
  }
  return all;
}

}  // namespace strato
