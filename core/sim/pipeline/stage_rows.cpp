#include "core/sim/pipeline/stage_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/program/value/collective.h"
#include "core/sim/explain/critical_path.h"
#include "core/sim/explain/stage_waits.h"

namespace strato {
namespace {

// What nobody of these covers of [0, end).
Spans gaps_between(const Spans& spans, Nanos end) {
  Spans gaps;
  Nanos since;
  for (const Span& span : spans) {
    if (since < span.begin) gaps.push_back({since, span.begin});
    since = std::max(since, span.end);
  }
  if (since < end) gaps.push_back({since, end});
  return gaps;
}

// What both cover.
Spans common(const Spans& a, const Spans& b) {
  Spans both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanos begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (begin < end) both.push_back({begin, end});
    (a[i].end < b[j].end ? i : j)++;
  }
  return both;
}

// Devices that another one stands for have no stage in an outline.
bool is_of(const Timeline& timeline, const StagePlan& plan) {
  const Program& program = *timeline.program;
  if (program.micro_batches != plan.micro_batches().count || program.stage_of.empty()) return false;
  std::int32_t number = 0;
  for (const StagePlan::Stage& stage : plan.stages()) {
    const auto is_here = [&](DeviceId device) {
      return program.stage_of[device] == number ||
             (timeline.is_outline() && timeline.like[device] != device);
    };
    if (!std::ranges::all_of(stage.devices, is_here)) return false;
    ++number;
  }
  return true;
}

class RowFinder {
 public:
  RowFinder(const Timeline& timeline, const StagePlan& plan)
      : timeline_(timeline),
        program_(*timeline.program),
        plan_(plan),
        work_(stage_work(timeline)),
        row_of_(program_.stage_of.size(), -1) {}

  StageRows find() && {
    StageRows result{timeline_.step_time, {}};
    for (const StagePlan::Stage& stage : plan_.stages()) {
      StageRow& row = result.rows.emplace_back();
      row.devices = stage.devices;
      row.chunks = stage.chunks;
      row.shown = busiest(stage.devices);
      row_of_[row.shown] = static_cast<std::int32_t>(result.rows.size()) - 1;
    }
    own_tasks_.resize(result.rows.size());
    list_tasks();
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      find_cells(own_tasks_[i], result.rows[i]);
      find_bubbles(own_tasks_[i], result.rows[i]);
    }
    return result;
  }

 private:
  const TaskTimes& times(TaskId task) const { return timeline_.tasks[task]; }
  const Task& task(TaskId id) const { return program_.tasks[id]; }
  std::int32_t stage_of(TaskId id) const { return program_.stage_of[task(id).device]; }

  DeviceId busiest(const std::vector<DeviceId>& devices) const {
    return *std::ranges::max_element(
        devices, {}, [&](DeviceId device) { return length(work_[device].occupied); });
  }

  // Of the devices that are shown, also those that they are one of several members of.
  void list_tasks() {
    for (const TaskId id : program_.tasks.ids()) {
      const auto add = [&](DeviceId device) {
        if (row_of_[device] >= 0) own_tasks_[at(row_of_[device])].push_back(id);
      };
      const std::vector<DeviceId> members = members_of(program_, id);
      if (members.empty()) add(task(id).device);
      for (const DeviceId member : members) add(member);
      if (task(id).target.valid()) add(task(id).target);
    }
    for (std::vector<TaskId>& tasks : own_tasks_)
      std::ranges::stable_sort(tasks, {}, [&](TaskId id) { return times(id).start; });
  }

  // What a task is of; nothing: of no cell. What is computed again is of the backward pass.
  std::optional<ScheduleCell> cell_of(TaskId id) const {
    const Task& what = task(id);
    if (is_communication(what.kind) || what.kind == TaskKind::Update || !what.op.valid())
      return std::nullopt;
    std::optional<ScheduleCell> cell = plan_.cell_of(what.op);
    if (!cell) return cell;
    cell->micro = what.micro;
    if (what.again && cell->pass == PassKind::Forward) cell->pass = PassKind::Backward;
    return cell;
  }

  // Splits, sums and concatenations are named after ops of other cells, too: those alone begin no
  // cell.
  void find_cells(const std::vector<TaskId>& own, StageRow& row) const {
    for (const TaskId id : own) {
      const std::optional<ScheduleCell> cell = cell_of(id);
      if (!cell || times(id).start == times(id).end) continue;
      const bool goes_on = !row.cells.empty() && row.cells.back().cell == *cell;
      if (goes_on)
        row.cells.back().end = times(id).end;
      else if (task(id).kind == TaskKind::Compute)
        row.cells.push_back({*cell, times(id).start, times(id).end});
    }
    Spans cells;
    for (const StageCell& cell : row.cells) cells.push_back({cell.begin, cell.end});
    row.once = common(work_[row.shown].occupied, gaps_between(cells, timeline_.step_time));
  }

  TaskId last_dependency(TaskId id) const {
    TaskId last;
    for (const TaskId before : program_.dependencies[id.index()])
      if (!last.valid() || times(before).end > times(last).end) last = before;
    return last;
  }

  static void add(StageRow& row, StageBubble bubble) {
    if (bubble.begin >= bubble.end) return;
    row.bubbles.push_back(bubble);
  }

  // Back along what the next task waited for last, to what another stage computes.
  void explain(const Span& idle, TaskId next, StageRow& row) const {
    const std::int32_t own = program_.stage_of[row.shown];
    std::vector<StageBubble> pieces;  // the last first
    const std::optional<ScheduleCell> then = cell_of(next);
    Nanos until = idle.end;
    TaskId waiting = next;
    while (until > idle.begin) {
      const TaskId before = last_dependency(waiting);
      const Nanos ready =
          before.valid() ? std::clamp(times(before).end, idle.begin, until) : idle.begin;
      if (ready < until) pieces.push_back({ready, until, BubbleCause::Busy, -1, then, {}});
      until = ready;
      if (!before.valid() || until <= idle.begin) break;
      waiting = before;
      const bool is_here = stage_of(before) == own;
      if (!is_communication(task(before).kind) && !is_here) {
        pieces.push_back(
            {idle.begin, until, BubbleCause::Pass, stage_of(before), then, cell_of(before)});
        break;
      }
      const Nanos start = std::clamp(times(before).start, idle.begin, until);
      const bool is_moved = task(before).kind == TaskKind::Transfer;
      const BubbleCause cause =
          is_moved && !is_here ? BubbleCause::Transfer
          : is_communication(task(before).kind) && !is_moved && !is_in_stage(before, own)
              ? BubbleCause::Exchange
              : BubbleCause::Peer;
      pieces.push_back({start, until, cause, stage_of(before), then, made_for(before)});
      until = start;
    }
    for (std::size_t i = pieces.size(); i-- > 0;) add(row, pieces[i]);
  }

  bool is_in_stage(TaskId id, std::int32_t stage) const {
    return std::ranges::all_of(members_of(program_, id),
                               [&](DeviceId member) { return program_.stage_of[member] == stage; });
  }

  // Of a transfer the cell that has made what it moves.
  std::optional<ScheduleCell> made_for(TaskId id) const {
    const std::optional<ScheduleCell> cell =
        task(id).op.valid() ? plan_.cell_of(task(id).op) : std::nullopt;
    if (!cell) return cell;
    return ScheduleCell{cell->chunk, cell->pass, task(id).micro};
  }

  void find_bubbles(const std::vector<TaskId>& own, StageRow& row) const {
    for (const Span& idle : gaps_between(work_[row.shown].occupied, timeline_.step_time)) {
      // Of those that occupy it: a transfer to another stage waits for nobody here.
      auto next =
          std::ranges::lower_bound(own, idle.end, {}, [&](TaskId id) { return times(id).start; });
      while (next != own.end() && is_elsewhere(*next, row.shown)) ++next;
      if (next != own.end()) {
        explain(idle, *next, row);
        continue;
      }
      const TaskId last = last_task(timeline_);
      add(row, {idle.begin, idle.end, BubbleCause::End, stage_of(last), {}, cell_of(last)});
    }
  }

  bool is_elsewhere(TaskId id, DeviceId shown) const {
    if (!is_communication(task(id).kind)) return false;
    const std::int32_t own = program_.stage_of[shown];
    if (task(id).target.valid())
      return program_.stage_of[task(id).target] != own || stage_of(id) != own;
    return !is_in_stage(id, own);
  }

  const Timeline& timeline_;
  const Program& program_;
  const StagePlan& plan_;
  const IdVector<DeviceId, StageWork> work_;
  IdVector<DeviceId, std::int32_t> row_of_;     // of devices that are shown; -1: of others
  std::vector<std::vector<TaskId>> own_tasks_;  // by row, ascending by start
};

}  // namespace

Nanos StageRow::waits() const {
  Nanos sum;
  for (const StageBubble& bubble : bubbles) sum += bubble.end - bubble.begin;
  return sum;
}

double StageRows::bubble() const {
  if (rows.empty() || step_time <= Nanos(0)) return 0;
  Nanos sum;
  for (const StageRow& row : rows) sum += row.waits();
  return sum / step_time / static_cast<double>(rows.size());
}

StageRows stage_rows(const Timeline& timeline, const StagePlan& plan) {
  if (plan.stages().size() < 2 || !is_of(timeline, plan)) return {timeline.step_time, {}};
  return RowFinder(timeline, plan).find();
}

ScheduleTable table_as_run(const StageRows& rows, const StagePlan& plan) {
  ScheduleTable table = plan.table();
  if (plan.micro_batches().schedule != PipelineSchedule::AsReady) return table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::map<ScheduleCell, Nanos> begins;
    for (const StageCell& cell : rows.rows[i].cells) begins.emplace(cell.cell, cell.begin);
    // One without a task stays behind the one that it follows.
    Nanos before;
    std::map<ScheduleCell, Nanos> key;
    for (const ScheduleCell& cell : table[i]) {
      const auto known = begins.find(cell);
      if (known != begins.end()) before = known->second;
      key[cell] = before;
    }
    std::ranges::stable_sort(table[i], {}, [&](const ScheduleCell& cell) { return key[cell]; });
  }
  return table;
}

}  // namespace strato
