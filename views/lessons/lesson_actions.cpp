#include "views/lessons/lesson_actions.h"

#include <QCoreApplication>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "views/lessons/group_choice.h"
#include "views/models/problem_source.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

const QStringList& baseline_names() {
  static const QStringList names = {QStringLiteral("dp-allreduce"), QStringLiteral("dp-ps"),
                                    QStringLiteral("dp-allreduce-proportional"),
                                    QStringLiteral("single-device")};
  return names;
}

QString baseline_label(const QString& name) {
  const auto words = [](const char* source) {
    return QCoreApplication::translate("LessonActions", source);
  };
  const qsizetype which = baseline_names().indexOf(name);
  return which == 0   ? words("Data parallel")
         : which == 1 ? words("Data parallel, PS")
         : which == 2 ? words("Data parallel, shares by speed")
                      : words("One device");
}

void decide(const LessonAction& action, Session& session) {
  const Problem& problem = *session.snapshot().problem;
  const auto groups = chosen_groups(action.groups, *problem.grouping);
  Strategy strategy = session.snapshot().strategy;
  if (!action.devices.isEmpty()) {
    const auto wanted = chosen_devices(action.devices, *problem.cluster);
    for (const GroupId group : groups) {
      const auto& decision = strategy.groups[group];
      strategy.groups[group] =
          decision_on_groups(*problem.cluster, wanted, decision ? decision->mode : Mode{});
    }
  }
  if (action.mode) strategy = with_mode(strategy, groups, *action.mode);
  if (action.uneven) {
    strategy = *action.uneven ? with_proportional_shares(strategy, groups, problem)
                              : with_equal_shares(strategy, groups);
  }
  session.edit(strategy, names_of(groups, *problem.grouping));
}

void select_named_link(const QString& name, Session& session) {
  const Cluster& cluster = *session.snapshot().problem->cluster;
  for (std::size_t l = 0; l < cluster.links().size(); ++l) {
    if (text(cluster.links()[LinkId(l)].name) == name) {
      return session.selection().select_link(LinkId(l));
    }
  }
  throw InputError("", name.toStdString(), "the cluster has no such link",
                   "write one of its names");
}

void select_named_device(const QString& name, Session& session) {
  const DeviceId device = session.snapshot().problem->cluster->find_device(name.toStdString());
  if (!device.valid()) {
    throw InputError("", name.toStdString(), "the cluster has no such device",
                     "write one of its names");
  }
  session.selection().select_device(device);
}

// The longest of its kind.
void select_task(bool communication, Session& session) {
  const Snapshot& snapshot = session.snapshot();
  if (!snapshot.outcome) return;
  const Program& program = *snapshot.outcome->program;
  TaskId longest;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (is_communication(task.kind) != communication || !task.op.valid()) continue;
    if (!longest.valid() || task.duration > program.tasks[longest].duration) longest = TaskId(t);
  }
  if (!longest.valid()) return;
  const OpId op = program.tasks[longest].op;
  session.selection().select_task(longest, op, snapshot.problem->grouping->group_of(op));
}

void select_part(const LessonAction& action, Session& session) {
  if (!session.snapshot().outcome) return;
  const auto step = static_cast<double>(session.snapshot().outcome->timeline->step_time.value);
  session.selection().select_range(
      TimeRange{nanos_from(step * action.number), nanos_from(step * action.until)});
}

void reopen_with_batch(std::int64_t batch, Session& session) {
  if (!session.problem_options()) return;
  ImportOptions import = session.model_source()->import;
  import.batch = batch;
  session.reopen_model(import, *session.problem_options());
}

}  // namespace

bool is_baseline(const QString& name) { return baseline_names().contains(name); }

Strategy baseline_named(const QString& name, const Problem& problem) {
  switch (baseline_names().indexOf(name)) {
    case 0:
      return data_parallel(problem);
    case 1:
      return data_parallel(problem, Mode::ReplicatePs);
    case 2:
      return data_parallel_proportional(problem);
    case 3:
      return on_one_device(problem, DeviceId(0));
    default:
      throw InputError("", name.toStdString(), "is no baseline",
                       "write one of " + baseline_names().join(QStringLiteral(", ")).toStdString());
  }
}

void perform(const LessonAction& action, Session& session, LessonStage& stage) {
  switch (action.kind) {
    case LessonAction::Kind::ShowView:
      return stage.show_view(action.name);
    case LessonAction::Kind::Replay:
      return stage.replay(action.flag);
    case LessonAction::Kind::ReplaySeek:
      return stage.seek_replay(static_cast<std::size_t>(action.number));
    default:
      break;
  }
  if (!session.snapshot().problem) return;
  switch (action.kind) {
    case LessonAction::Kind::Strategy:
      return session.show_found(baseline_named(action.name, *session.snapshot().problem),
                                baseline_label(action.name));
    case LessonAction::Kind::Decide:
      return decide(action, session);
    case LessonAction::Kind::SelectGroup: {
      const auto groups = chosen_groups(action.groups, *session.snapshot().problem->grouping);
      if (!groups.empty()) session.selection().select_group(groups.front());
      return;
    }
    case LessonAction::Kind::SelectDevice:
      return select_named_device(action.name, session);
    case LessonAction::Kind::SelectLink:
      return select_named_link(action.name, session);
    case LessonAction::Kind::SelectTask:
      return select_task(action.name == QStringLiteral("communication"), session);
    case LessonAction::Kind::SelectRange:
      return select_part(action, session);
    case LessonAction::Kind::Search: {
      PlannerOptions options;
      options.iterations = static_cast<std::int64_t>(action.number);
      return session.start_search(action.name, options);
    }
    case LessonAction::Kind::Batch:
      return reopen_with_batch(static_cast<std::int64_t>(action.number), session);
    default:
      return;
  }
}

}  // namespace strato
