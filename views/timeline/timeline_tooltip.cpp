// What the tooltip says about the thing under the cursor.
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/path_pieces.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

QString line(const QString& label, const QString& value) {
  return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2</td></tr>")
      .arg(label, value.toHtmlEscaped());
}

QString measured_lines(const TaskTimes& simulated, const TaskTimes& measured) {
  const Nanos took = measured.end - measured.start, expected = simulated.end - simulated.start;
  if (took.value <= 0) return line(QObject::tr("measured"), QObject::tr("not timed"));
  QString text = style::time(took);
  if (expected.value > 0)
    text += QStringLiteral(" (%1)").arg(style::signed_percent(took / expected - 1));
  return line(QObject::tr("measured"), text) +
         line(QObject::tr("measured start"), style::time(measured.start));
}

QString change_lines(const TaskChanges& changes, const Task& task) {
  if (!task.op.valid()) return {};
  const std::size_t key = TaskChanges::key_of(task);
  const TaskChanges::Part &here = changes.here[key], &there = changes.there[key];
  if (!there.known) return line(QObject::tr("in the other plan"), QObject::tr("is not there"));
  const double change = here.longest / std::max(there.longest, Nanos(1)) - 1;
  const Nanos sooner = there.first - here.first;
  return line(QObject::tr("in the other plan"),
              QObject::tr("%1 (here %2)")
                  .arg(style::time(there.longest), style::signed_percent(change))) +
         line(QObject::tr("starts"),
              sooner.value >= 0
                  ? QObject::tr("%1 sooner here").arg(style::time(sooner))
                  : QObject::tr("%1 later here").arg(style::time(Nanos(-sooner.value))));
}

}  // namespace

QString TimelineCanvas::describe(TaskId id) const {
  const Program& program = *rows_->timeline->program;
  const Task& task = program.tasks[id];
  const TaskTimes& times = rows_->timeline->tasks[id];
  QString rows = line(rows_->measured ? tr("simulated") : tr("duration"),
                      style::time(times.end - times.start));
  if (rows_->measured) rows += measured_lines(times, rows_->measured->tasks[id]);
  const auto& problem = session_.snapshot().problem;
  if (same_graph() && same_cluster()) {
    const Estimate cost = explain_task(*rows_->timeline, id, *problem->cost);
    rows += line(tr("cost"), cost_text(cost));
    rows += line(tr("from"), cost_source_text(cost));
  }
  rows += line(tr("starts at"), style::time(times.start));
  if (changes_) rows += change_lines(*changes_, task);
  if (times.start > times.ready)
    rows += line(tr("waited, ready"), style::time(times.start - times.ready));
  const auto cuts = program.cuts_of(task);
  if (cuts.size() > 1) {
    rows += line(tr("slice"), text(strato::describe(cuts)));
  } else if (!cuts.empty()) {
    rows += line(tr("slice"),
                 tr("%1 to %2 of axis %3").arg(cuts[0].begin).arg(cuts[0].end).arg(cuts[0].axis));
  } else {
    rows +=
        line(tr("samples"),
             QStringLiteral("%1 of %2").arg(program.samples_of(task)).arg(program.graph->batch()));
  }
  if (task.bytes.value > 0) {
    rows += line(is_communication(task.kind) ? tr("moved") : tr("read and written"),
                 style::bytes(task.bytes));
    const double seconds = to_seconds(times.end - times.start);
    if (is_communication(task.kind) && seconds > 0) {
      rows += line(tr("rate"), style::bandwidth(static_cast<double>(task.bytes.value) / seconds));
    }
  }
  if (task.target.valid()) {
    const Cluster& cluster = *program.cluster;
    rows += line(tr("way"), QString::fromStdString(cluster.device(task.device).name) +
                                QStringLiteral(" → ") +
                                QString::fromStdString(cluster.device(task.target).name));
  }
  if (same_graph() && task.op.valid()) {
    const OpGroup& group = problem->grouping->group(problem->grouping->group_of(task.op));
    rows += line(tr("group"), QString::fromStdString(group.name));
  }
  return QStringLiteral("<b>%1</b><br>%2<table cellspacing=0>%3</table>")
      .arg(QString::fromStdString(program.task_name(id)).toHtmlEscaped(), kind_label(task.kind),
           rows);
}

// What is in memory under the cursor, the largest first.
QString TimelineCanvas::memory_text(DeviceId device, const QPoint& at) const {
  constexpr std::size_t kMostListed = 6;
  constexpr int kNameLength = 44;
  const Program& program = *rows_->timeline->program;
  const Nanos moment(static_cast<std::int64_t>(scene_.mapping.time(at.x())));
  const std::vector<Timeline::Alive> alive = rows_->timeline->alive_at(device, moment);
  QString table;
  Bytes listed;
  for (std::size_t i = 0; i < std::min(alive.size(), kMostListed); ++i) {
    QString name = text(program.graph->tensor(alive[i].tensor).name);
    if (name.size() > kNameLength)
      name = name.left(kNameLength / 2) + QStringLiteral("…") + name.right(kNameLength / 2);
    if (alive[i].resident) name += tr(" (resident)");
    table += line(name.toHtmlEscaped(), style::bytes(alive[i].bytes));
    listed += alive[i].bytes;
  }
  const Bytes all(rows_->memory[device].at(moment.value));
  if (alive.size() > kMostListed) {
    table += line(tr("%1 more").arg(alive.size() - kMostListed), style::bytes(all - listed));
  }
  return tr("<b>%1</b> at %2, in %3 tensors<table cellspacing=0>%4</table>")
      .arg(style::bytes(all), style::time(moment))
      .arg(alive.size())
      .arg(table);
}

QString TimelineCanvas::tooltip(const QPoint& at) const {
  if (const auto block = block_at(at)) {
    return describe_block(*rows_->timeline, scene_.reasons->path, *block);
  }
  if (const Gap* gap = gap_at(at)) return describe_gap(*rows_->timeline, *gap);
  const auto found = hit(at);
  if (!found) return {};
  const TimelineRow& row = rows_->rows[found->row];
  if (found->fold) {
    const SliceFold fold = *found->fold;
    if (fold.count() == 1) return describe(row.slices.task[fold.first]);
    return tr("<b>%1 slices</b>, %2 in all<br>W zooms in")
        .arg(fold.count())
        .arg(style::time(Nanos(row.slices.busy(fold.first, fold.last))));
  }
  if (row.kind == RowKind::Memory) {
    const DeviceUse& use = rows_->timeline->devices[row.device];
    const QString peak =
        tr("peak %1 of %2, %3 of them resident")
            .arg(style::bytes(use.peak), style::bytes(use.capacity), style::bytes(use.resident));
    return at.x() > label_width_ ? memory_text(row.device, at) + peak : peak;
  }
  if (at.x() > label_width_) return {};
  const Cluster& cluster = *rows_->timeline->program->cluster;
  if (row.kind == RowKind::Link) {
    const Link& link = cluster.links()[row.link];
    return tr("<b>%1</b><br>%2, latency %3")
        .arg(QString::fromStdString(link.name).toHtmlEscaped(), style::bandwidth(link.bandwidth),
             style::time(link.latency));
  }
  if (!row.device.valid()) return tr("Click to collapse or open");
  return tr("<b>%1</b><br>%2")
      .arg(QString::fromStdString(cluster.device(row.device).name).toHtmlEscaped(),
           QString::fromStdString(cluster.gpu(row.device).name).toHtmlEscaped());
}

}  // namespace strato
