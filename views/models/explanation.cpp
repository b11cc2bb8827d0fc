#include "views/models/explanation.h"

#include <QCoreApplication>
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/sim/timeline/spans.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct ExplanationWords {
  Q_DECLARE_TR_FUNCTIONS(Explanation)
};

Spans busy_on(const Timeline& timeline, const std::vector<TaskId>& tasks) {
  std::vector<Span> busy;
  for (const TaskId task : tasks)
    busy.push_back({timeline.tasks[task].start, timeline.tasks[task].end});
  return united(std::move(busy));
}

std::vector<std::vector<TaskId>> tasks_by_stream(const Program& program) {
  std::vector<std::vector<TaskId>> tasks(program.stream_count());
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    for (const ResourceId resource : program.resources[t]) {
      if (resource.index() < tasks.size()) tasks[resource.index()].push_back(TaskId(t));
    }
  }
  return tasks;
}

// "Data parallel spends 112 ms of its step on this: waits for the slowest. Here it is 2.9 ms."
QString greatest_change(const std::vector<PathPiece>& baseline,
                        const std::vector<PathPiece>& shown) {
  const auto before = time_by_root(baseline), now = time_by_root(shown);
  std::size_t most = 0;
  for (std::size_t r = 0; r < kReasons; ++r) {
    if (before[r] - now[r] > before[most] - now[most]) most = r;
  }
  if (before[most] <= now[most]) return {};
  return ExplanationWords::tr("Greatest gain over data parallelism: %1, %2 instead of %3.")
      .arg(ExplanationWords::tr(label_of(static_cast<Reason>(most))).toLower(),
           style::time(now[most]), style::time(before[most]));
}

}  // namespace

GapRow::GapRow(std::vector<Gap> gaps) : gaps_(std::move(gaps)) {
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    const std::size_t size = class_of((gaps_[i].end - gaps_[i].begin).value);
    if (by_size_.size() <= size) by_size_.resize(size + 1);
    by_size_[size].push_back(static_cast<std::uint32_t>(i));
  }
}

std::size_t GapRow::class_of(std::int64_t length) {
  return static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0))));
}

std::size_t GapRow::first_after(const std::vector<std::uint32_t>& list, std::int64_t time) const {
  const auto found =
      std::upper_bound(list.begin(), list.end(), time,
                       [this](std::int64_t t, std::uint32_t i) { return t < gaps_[i].end.value; });
  return static_cast<std::size_t>(found - list.begin());
}

const Gap* GapRow::at(std::int64_t time) const {
  const auto found = std::upper_bound(gaps_.begin(), gaps_.end(), time,
                                      [](std::int64_t t, const Gap& g) { return t < g.end.value; });
  return found != gaps_.end() && found->begin.value <= time ? &*found : nullptr;
}

Explanation explain_quickly(std::shared_ptr<const Timeline> timeline, const Timeline* baseline,
                            const CostModel& cost, Nanos lower_bound) {
  Explanation result;
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(*timeline);
  for (std::vector<Gap>& own : gaps(*timeline)) reasons->gaps.emplace_back(std::move(own));
  if (baseline && baseline != timeline.get() && baseline->feasible) {
    result.against_baseline = greatest_change(path_pieces(*baseline), reasons->path);
  }
  result.reasons = std::move(reasons);
  result.error = error_bar(*timeline, cost);
  result.why = why(*timeline, {}, result.error, lower_bound);
  result.timeline = std::move(timeline);
  return result;
}

std::optional<Explanation> explain_further(const Explanation& before, Nanos lower_bound,
                                           std::stop_token stop) {
  WhatIfOptions options;
  if (before.parts_done != 0) options.ops = 0;
  options.devices = before.parts_done == 1;
  options.links = before.parts_done == 2;
  std::vector<WhatIf> found = what_if(*before.timeline, options, stop);
  if (stop.stop_requested()) return std::nullopt;
  Explanation result = before;
  ++result.parts_done;
  std::move(found.begin(), found.end(), std::back_inserter(result.what_ifs));
  std::stable_sort(result.what_ifs.begin(), result.what_ifs.end(),
                   [](const WhatIf& a, const WhatIf& b) {
                     return std::pair(a.free, a.faster) < std::pair(b.free, b.faster);
                   });
  if (result.complete()) {
    result.why = why(*result.timeline, result.what_ifs, result.error, lower_bound);
  }
  return result;
}

std::vector<ReasonTime> path_composition(const Explanation& explanation) {
  const Program& program = *explanation.timeline->program;
  std::array<ReasonTime, kReasons> parts{};
  std::vector<std::array<Nanos, kReasons>> by_device(program.cluster->device_count());
  for (const PathPiece& piece : explanation.reasons->path) {
    const auto reason = static_cast<std::size_t>(root_of(piece.reason));
    parts[reason].time += piece.end - piece.begin;
    ++parts[reason].pieces;
    const DeviceId device = program.tasks[piece.task].device;
    Nanos& here = by_device[device.index()][reason];
    here += piece.end - piece.begin;
    const DeviceId most = parts[reason].device;
    if (!most.valid() || here > by_device[most.index()][reason]) parts[reason].device = device;
  }
  std::vector<ReasonTime> result;
  for (std::size_t r = 0; r < kReasons; ++r) {
    parts[r].reason = static_cast<Reason>(r);
    if (parts[r].time.value > 0) result.push_back(parts[r]);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const ReasonTime& a, const ReasonTime& b) { return a.time > b.time; });
  return result;
}

const char* label_of(Reason reason) {
  switch (reason) {
    case Reason::Compute:
      return QT_TRANSLATE_NOOP("Explanation", "Computes");
    case Reason::Reshuffle:
      return QT_TRANSLATE_NOOP("Explanation", "Splits and joins");
    case Reason::Transfer:
      return QT_TRANSLATE_NOOP("Explanation", "Transfers");
    case Reason::Collective:
      return QT_TRANSLATE_NOOP("Explanation", "Synchronises");
    case Reason::DeviceBusy:
      return QT_TRANSLATE_NOOP("Explanation", "Device busy");
    case Reason::LinkBusy:
      return QT_TRANSLATE_NOOP("Explanation", "Link busy");
    case Reason::Straggler:
      return QT_TRANSLATE_NOOP("Explanation", "Waits for the slowest");
    case Reason::Process:
      return QT_TRANSLATE_NOOP("Explanation", "Starts kernels");
  }
  return "";
}

bool is_waiting(Reason reason) {
  return reason == Reason::DeviceBusy || reason == Reason::LinkBusy || reason == Reason::Straggler;
}

QString rounded_percent(double fraction) {
  const double percent = 100 * fraction;
  return percent > 0 && percent < 1 ? QStringLiteral("< 1 %")
                                    : QString::number(std::llround(percent)) + QStringLiteral(" %");
}

QString cost_text(const Estimate& cost) {
  QString text = style::time(cost.time);
  if (cost.source != CostSource::Profile) text.prepend(QStringLiteral("≈ "));
  if (cost.error > 0) text += QStringLiteral(" ± ") + rounded_percent(cost.error);
  return text;
}

QString cost_source_text(const Estimate& cost) {
  if (!cost.detail.empty()) return QString::fromStdString(cost.detail);
  switch (cost.source) {
    case CostSource::Profile:
      return ExplanationWords::tr("measured");
    case CostSource::Fit:
      return ExplanationWords::tr("fitted to measurements");
    case CostSource::Analytic:
      return ExplanationWords::tr("analytic model");
  }
  return {};
}

IdVector<DeviceId, DeviceTimes> device_times(const Timeline& timeline) {
  const Program& program = *timeline.program;
  auto tasks = tasks_by_stream(program);
  IdVector<DeviceId, DeviceTimes> result;
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d) {
    const DeviceId device(d);
    const auto tasks_on = [&](Stream stream) -> std::vector<TaskId>& {
      return tasks[program.stream(device, stream).index()];
    };
    std::vector<TaskId>& communicating = tasks_on(Stream::Communication);
    const std::vector<TaskId>& in_rows = tasks_on(Stream::TensorCommunication);
    communicating.insert(communicating.end(), in_rows.begin(), in_rows.end());
    const auto compute = busy_on(timeline, tasks_on(Stream::Compute));
    const auto comm = busy_on(timeline, communicating);
    DeviceTimes times;
    times.compute = length(compute);
    times.communication = length(comm);
    times.overlapped = overlap(compute, comm);
    times.communication -= times.overlapped;
    times.idle = timeline.step_time - times.compute - times.communication;
    result.push_back(times);
  }
  return result;
}

IdVector<GroupId, Nanos> computing_times(const Timeline& timeline, const Grouping& grouping) {
  IdVector<GroupId, Nanos> result(grouping.size());
  for (const TaskId id : timeline.program->tasks.ids()) {
    const Task& task = timeline.program->tasks[id];
    if (task.op.valid() && !is_communication(task.kind))
      result[grouping.group_of(task.op)] += timeline.tasks[id].end - timeline.tasks[id].start;
  }
  return result;
}

GroupTimes group_times(const Timeline& timeline, const Grouping& grouping, GroupId group) {
  GroupTimes result;
  result.first_start = timeline.step_time;
  for (std::size_t t = 0; t < timeline.tasks.size(); ++t) {
    const Task& task = timeline.program->tasks[TaskId(t)];
    if (!task.op.valid() || grouping.group_of(task.op) != group) continue;
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    ++result.tasks;
    result.first_start = std::min(result.first_start, times.start);
    result.last_end = std::max(result.last_end, times.end);
    if (is_communication(task.kind)) {
      result.communication += times.end - times.start;
    } else {
      result.compute += times.end - times.start;
      result.waiting += times.start - times.ready;
    }
  }
  if (result.tasks == 0) result.first_start = Nanos(0);
  return result;
}

const char* label_of(TensorRole role) {
  switch (role) {
    case TensorRole::Input:
      return QT_TRANSLATE_NOOP("Explanation", "Input");
    case TensorRole::Parameter:
      return QT_TRANSLATE_NOOP("Explanation", "Parameters");
    case TensorRole::Constant:
      return QT_TRANSLATE_NOOP("Explanation", "Constants");
    case TensorRole::OptimizerState:
      return QT_TRANSLATE_NOOP("Explanation", "Optimizer state");
    case TensorRole::Activation:
      return QT_TRANSLATE_NOOP("Explanation", "Activations");
    case TensorRole::Gradient:
      return QT_TRANSLATE_NOOP("Explanation", "Gradients");
  }
  return "";
}

}  // namespace strato
