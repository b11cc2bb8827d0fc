#include "views/inspector/task_page.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "core/sim/explain/error_bar.h"
#include "views/inspector/bar_list.h"
#include "views/inspector/facts.h"
#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

TaskId last_dependency(const Timeline& timeline, TaskId task) {
  TaskId last;
  for (const TaskId dependency : timeline.program->dependencies[task.index()]) {
    if (!last.valid() || timeline.tasks[dependency].end > timeline.tasks[last].end)
      last = dependency;
  }
  return last;
}

// The task that held one of its resources until it started.
TaskId holder_before(const Timeline& timeline, TaskId task) {
  const Nanos start = timeline.tasks[task].start;
  const auto wanted = timeline.program->resources[task.index()];
  for (std::size_t t = 0; t < timeline.tasks.size(); ++t) {
    if (timeline.tasks[TaskId(t)].end != start || TaskId(t) == task) continue;
    for (const ResourceId resource : timeline.program->resources[t]) {
      if (std::find(wanted.begin(), wanted.end(), resource) != wanted.end()) return TaskId(t);
    }
  }
  return {};
}

QString resources_of(const Program& program, TaskId task) {
  QStringList names;
  for (const ResourceId resource : program.resources[task.index()]) {
    if (names.size() == 6) {
      names << TaskPage::tr("and %1 more").arg(program.resources[task.index()].size() - 6);
      break;
    }
    names << text(program.resource_name(resource));
  }
  return names.join(QStringLiteral(", "));
}

}  // namespace

QString why_it_waited(const Timeline& timeline, TaskId task) {
  const Program& program = *timeline.program;
  const TaskTimes& times = timeline.tasks[task];
  const TaskId dependency = last_dependency(timeline, task);
  const QString came =
      dependency.valid()
          ? TaskPage::tr("Ready when %1 ended").arg(text(program.task_name(dependency)))
          : TaskPage::tr("Ready from the start");
  if (times.start == times.ready) return came + TaskPage::tr(", and started at once.");
  const TaskId holder = holder_before(timeline, task);
  const QString waited = style::time(times.start - times.ready);
  if (!holder.valid()) return came + TaskPage::tr("; then waited %1.").arg(waited);
  return came + TaskPage::tr("; then waited %1 for %2, which held what it needs.")
                    .arg(waited, text(program.task_name(holder)));
}

TaskPage::TaskPage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      title_(make_title(this)),
      subtitle_(make_note(this)),
      why_(make_note(this)),
      buffers_heading_(make_heading(tr("Memory taken when it starts"), this)),
      facts_(new Facts(this)),
      buffers_(new BarList(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{title_, subtitle_, facts_}) {
    layout->addWidget(widget);
  }
  layout->addWidget(make_heading(tr("Why it started then"), this));
  layout->addWidget(why_);
  layout->addWidget(buffers_heading_);
  layout->addWidget(buffers_);
  layout->addStretch();
}

void TaskPage::refresh() {
  const auto selected = session_.selection().task();
  const Snapshot& snapshot = session_.snapshot();
  if (!selected || !snapshot.outcome ||
      selected->index() >= snapshot.outcome->program->tasks.size()) {
    return;
  }
  const Timeline& timeline = *snapshot.outcome->timeline;
  const Program& program = *timeline.program;
  const Task& task = program.tasks[*selected];
  const TaskTimes& times = timeline.tasks[*selected];
  title_->setText(text(program.task_name(*selected)));
  QString kind = text(name_of(task.kind));
  if (task.op.valid()) kind += QStringLiteral(" · ") + text(program.graph->op(task.op).type);
  subtitle_->setText(kind);
  std::vector<Fact> facts = {
      {tr("Duration"), style::time(times.end - times.start),
       tr("From its start to its end in the simulated step")},
      {tr("Ready"), style::time(times.ready), {}},
      {tr("Start"), style::time(times.start), {}},
      {tr("End"), style::time(times.end), {}},
  };
  if (snapshot.problem) {
    const Estimate cost = explain_task(timeline, *selected, *snapshot.problem->cost);
    const bool estimated = cost.source != CostSource::Profile;
    facts.insert(facts.begin() + 1, {{tr("Cost"), cost_text(cost),
                                      estimated ? tr("An estimate, with its standard error")
                                                : tr("Measured, with its spread"),
                                      false, estimated},
                                     {tr("From"), cost_source_text(cost), {}, false, estimated}});
  }
  const auto cuts = program.cuts_of(task);
  if (cuts.size() > 1) {
    facts.push_back({tr("Slice"), text(describe(cuts)), {}});
  } else if (!cuts.empty()) {
    facts.push_back(
        {tr("Slice"),
         tr("%1 to %2 of axis %3").arg(cuts[0].begin).arg(cuts[0].end).arg(cuts[0].axis),
         {}});
  } else {
    facts.push_back({tr("Samples"),
                     tr("%1 of %2").arg(program.samples_of(task)).arg(program.graph->batch()),
                     {}});
  }
  if (task.bytes.value > 0) {
    facts.push_back({tr("Moves"), style::bytes(task.bytes), {}});
    const double seconds = to_seconds(times.end - times.start);
    if (seconds > 0) {
      facts.push_back({tr("At"), style::bandwidth(static_cast<double>(task.bytes.value) / seconds),
                       tr("Bytes over duration")});
    }
  }
  if (task.op.valid() && snapshot.problem) {
    facts.push_back(
        {tr("Group"),
         text(
             snapshot.problem->grouping->group(snapshot.problem->grouping->group_of(task.op)).name),
         {}});
  }
  facts.push_back({tr("Occupies"), resources_of(program, *selected), {}});
  facts_->show_facts(facts);
  why_->setText(why_it_waited(timeline, *selected));
  show_buffers(program, *selected);
}

void TaskPage::show_buffers(const Program& program, TaskId task) {
  std::vector<Bar> bars;
  Bytes most(1);
  for (const BufferId id : program.writes[task.index()])
    most = std::max(most, program.buffers[id].bytes);
  for (const BufferId id : program.writes[task.index()]) {
    const Buffer& buffer = program.buffers[id];
    bars.push_back(
        {text(program.graph->tensor(buffer.tensor).name), style::bytes(buffer.bytes),
         text(program.cluster->device(buffer.device).name), buffer.bytes / most,
         style::device_colour(*program.cluster, buffer.device, style::is_dark(palette())), false,
         -1});
  }
  buffers_heading_->setVisible(!bars.empty());
  buffers_->show_bars(std::move(bars));
}

}  // namespace strato
