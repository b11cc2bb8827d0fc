// What is told about the thing under the cursor.
#include "views/style/style.h"
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

}  // namespace

QString TimelineCanvas::describe(TaskId id) const {
  const Program& program = *rows_->timeline->program;
  const Task& task = program.tasks[id];
  const TaskTimes& times = rows_->timeline->tasks[id];
  QString rows = line(rows_->measured ? tr("simulated") : tr("duration"),
                      style::time(times.end - times.start));
  if (rows_->measured) rows += measured_lines(times, rows_->measured->tasks[id]);
  const auto& problem = session_.snapshot().problem;
  if (problem && problem->graph == program.graph) {
    const Estimate cost = explain_task(*rows_->timeline, id, *problem->cost);
    rows += line(tr("cost"), cost_text(cost));
    rows += line(tr("from"), cost_source_text(cost));
  }
  rows += line(tr("starts at"), style::time(times.start));
  if (times.start > times.ready)
    rows += line(tr("waited, ready"), style::time(times.start - times.ready));
  if (task.axis >= 0) {
    rows += line(tr("slice"), tr("%1 to %2 of axis %3")
                                  .arg(task.first_sample)
                                  .arg(task.first_sample + task.samples)
                                  .arg(task.axis));
  } else if (task.samples > 0) {
    rows += line(tr("samples"),
                 QStringLiteral("%1 of %2").arg(task.samples).arg(program.graph->batch()));
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
  if (problem && task.op.valid()) {
    const OpGroup& group = problem->grouping->group(problem->grouping->group_of(task.op));
    rows += line(tr("group"), QString::fromStdString(group.name));
  }
  return QStringLiteral("<b>%1</b><br>%2<table cellspacing=0>%3</table>")
      .arg(QString::fromStdString(program.task_name(id)).toHtmlEscaped(), kind_label(task.kind),
           rows);
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
    const Fold fold = *found->fold;
    if (fold.count() == 1) return describe(row.slices.task[fold.first]);
    return tr("<b>%1 slices</b>, %2 in all<br>W zooms in")
        .arg(fold.count())
        .arg(style::time(Nanos(row.slices.busy(fold.first, fold.last))));
  }
  if (row.kind == RowKind::Memory) {
    const DeviceUse& use = rows_->timeline->devices[row.device];
    QString text =
        tr("peak %1 of %2, %3 of them resident")
            .arg(style::bytes(use.peak), style::bytes(use.capacity), style::bytes(use.resident));
    if (at.x() > label_width_) {
      const auto time = static_cast<std::int64_t>(scene_.mapping.time(at.x()));
      text = tr("<b>%1</b> here<br>").arg(style::bytes(Bytes(rows_->memory[row.device].at(time)))) +
             text;
    }
    return text;
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
