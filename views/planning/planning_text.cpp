#include "views/planning/planning_text.h"

#include <QCoreApplication>
#include <algorithm>

#include "core/base/at.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kMostRows = 200;

QString tr(const char* text) { return QCoreApplication::translate("PlanningText", text); }

QString op_name(const Problem& problem, OpId op) {
  if (!op.valid() || op.index() >= problem.graph->ops().size()) return tr("an op");
  return QString::fromStdString(problem.graph->op(op).name);
}

QString count(std::size_t n) { return QString::number(n); }

QString rank_of(const PlanningReplay& replay, NodeIndex node) {
  const auto& value = replay.steps().ranking.value;
  return value.empty() ? QString() : style::time(value[at(node)]);
}

QString start_story(const PlanningReplay& replay) {
  const PlanningSteps& steps = replay.steps();
  QStringList parts;
  if (replay.has(PlanningPhase::Fuse)) {
    parts << tr("cuts a sequence of %1 ops into %2 clusters")
                 .arg(steps.fusion.sequence.size())
                 .arg(std::max<std::size_t>(steps.fusion.breaks.size(), 1) - 1);
  }
  if (replay.has(PlanningPhase::Rank)) {
    parts << tr("orders them by %1").arg(QString::fromStdString(steps.ranking.name));
  }
  parts << tr("places %1 nodes").arg(steps.steps.size());
  if (!steps.trials.empty()) parts << tr("tries %1 splits").arg(steps.trials.size());
  return tr("%1: %2.").arg(QString::fromStdString(steps.algorithm), parts.join(tr(", then ")));
}

QString fuse_story(const PlanningReplay& replay, std::size_t place, const Problem& problem) {
  const PlanningSteps::Fusion& fusion = replay.steps().fusion;
  const auto before = static_cast<std::size_t>(fusion.before[place]);
  QString story =
      tr("Op %1 of %2 in the sequence, %3. Cheapest with a breakpoint after it: the last cluster "
         "begins at op %4 (%5), and %6 of communication are left between clusters.")
          .arg(place)
          .arg(fusion.sequence.size())
          .arg(op_name(problem, fusion.sequence[place - 1]))
          .arg(before + 1)
          .arg(place - before == 1 ? tr("1 op") : tr("%1 ops").arg(place - before))
          .arg(style::time(fusion.cost[place]));
  if (place == fusion.sequence.size()) {
    story +=
        tr(" Communication to computing: %1 before, %2 after.")
            .arg(style::significant(fusion.ratio_before), style::significant(fusion.ratio_after));
  }
  return story;
}

QString rank_story(const PlanningReplay& replay) {
  const auto& ranking = replay.steps().ranking;
  QString story = tr("Every node has its rank: %1. ").arg(QString::fromStdString(ranking.name));
  if (!ranking.order.empty()) {
    story += tr("%1 comes first. ").arg(node_name(replay, ranking.order.front()));
  }
  if (!ranking.critical_path.empty()) {
    story += tr("The critical path has %1 nodes.").arg(ranking.critical_path.size());
  }
  return story;
}

QString place_story(const PlanningReplay& replay, std::size_t position, const Problem& problem) {
  const PlanningSteps::Step& step = *replay.step(position);
  const std::size_t ops = replay.steps().nodes[at(step.node)].size();
  QString story =
      tr("%1%2 goes to %3, %4 to %5: %6")
          .arg(node_name(replay, step.node), ops > 1 ? tr(" (%1 ops)").arg(ops) : QString(),
               device_name(*problem.cluster, step.device), style::time(step.start),
               style::time(step.finish), QString::fromStdString(sentence(step.why)));
  if (!step.remark.empty()) story += tr("; ") + QString::fromStdString(step.remark);
  story += tr(". All so far takes %1.").arg(style::time(replay.makespan(position)));
  return story;
}

QString axis_text(const PlanningSteps::Trial& trial) {
  return trial.axis < 0 ? tr("by samples, %1 parts").arg(trial.parts)
                        : tr("axis %1, %2 parts").arg(trial.axis).arg(trial.parts);
}

QString split_story(const PlanningReplay& replay, std::size_t position, const Problem& problem) {
  const PlanningSteps::Trial& trial = replay.steps().trials[replay.tried(position) - 1];
  return tr("%1 split %2: everything takes %3, %4.")
      .arg(op_name(problem, trial.op), axis_text(trial), style::time(trial.makespan),
           trial.taken ? tr("the shortest so far: it is kept") : tr("no shorter: it is dropped"));
}

PlanningRows cluster_rows(const PlanningReplay& replay, std::size_t place, const Problem& problem) {
  const PlanningSteps::Fusion& fusion = replay.steps().fusion;
  PlanningRows table;
  table.title = tr("Clusters of the cheapest way so far");
  table.headers = {tr("From op"), tr("Ops"), tr("Left between")};
  table.paths = true;
  const auto breaks = replay.breaks(place);
  for (std::size_t i = breaks.size() - 1; i > 0 && table.rows.size() < kMostRows; --i) {
    const auto from = static_cast<std::size_t>(breaks[i - 1]),
               to = static_cast<std::size_t>(breaks[i]);
    table.rows.push_back(
        {op_name(problem, fusion.sequence[from]), count(to - from), style::time(fusion.cost[to])});
  }
  table.title += tr(": %1").arg(breaks.size() - 1);
  table.marked = table.rows.empty() ? -1 : 0;
  return table;
}

PlanningRows order_rows(const PlanningReplay& replay) {
  const auto& order = replay.steps().ranking.order;
  PlanningRows table;
  table.title = tr("The order of the nodes");
  table.headers = {tr("Node"), tr("#"), tr("Rank")};
  table.paths = true;
  for (std::size_t i = 0; i < order.size() && i < kMostRows; ++i) {
    table.rows.push_back({node_name(replay, order[i]), count(i + 1), rank_of(replay, order[i])});
    table.nodes.push_back(order[i]);
  }
  return table;
}

PlanningRows device_rows(const PlanningReplay& replay, const PlanningSteps::Step& step,
                         const Problem& problem) {
  PlanningRows table;
  table.title = tr("Devices compared");
  table.headers = {tr("Device"), tr("Start"), tr("Finish"), tr("Note")};
  table.last_is_text = true;
  const auto add = [&](const PlanningSteps::Candidate& candidate) {
    if (candidate.device == step.device) table.marked = static_cast<int>(table.rows.size());
    table.rows.push_back({device_name(*problem.cluster, candidate.device),
                          style::time(candidate.start), style::time(candidate.finish),
                          replay.note(step, candidate)});
  };
  for (const auto& candidate : step.candidates) add(candidate);
  if (step.candidates.empty()) {
    table.title = tr("No other device was compared");
    add({step.device, step.start, step.finish, true});
  }
  return table;
}

PlanningRows trial_rows(const PlanningReplay& replay, std::size_t tried, const Problem& problem) {
  PlanningRows table;
  table.title = tr("Splits tried, the latest first");
  table.headers = {tr("Op"), tr("Makespan"), tr("Split")};
  table.last_is_text = true;
  table.paths = true;
  for (std::size_t i = tried; i-- > 0 && table.rows.size() < kMostRows;) {
    const PlanningSteps::Trial& trial = replay.steps().trials[i];
    table.rows.push_back({op_name(problem, trial.op), style::time(trial.makespan),
                          axis_text(trial) + (trial.taken ? tr(" ✓ kept") : QString())});
  }
  table.marked = table.rows.empty() ? -1 : 0;
  return table;
}

}  // namespace

QString phase_name(PlanningPhase phase) {
  switch (phase) {
    case PlanningPhase::Start:
      return tr("Start");
    case PlanningPhase::Fuse:
      return tr("Fuse");
    case PlanningPhase::Rank:
      return tr("Rank");
    case PlanningPhase::Place:
      return tr("Place");
    case PlanningPhase::Split:
      return tr("Split");
  }
  return {};
}

QString node_name(const PlanningReplay& replay, NodeIndex node) {
  return QString::fromStdString(replay.steps().names[at(node)]);
}

QString device_name(const Cluster& cluster, DeviceId device) {
  return device.index() < cluster.device_count()
             ? QString::fromStdString(cluster.device(device).name)
             : tr("device %1").arg(device.value());
}

QString planning_story(const PlanningReplay& replay, std::size_t position, const Problem& problem) {
  switch (replay.phase(position)) {
    case PlanningPhase::Start:
      return start_story(replay);
    case PlanningPhase::Fuse:
      return fuse_story(replay, replay.fused(position), problem);
    case PlanningPhase::Rank:
      return rank_story(replay);
    case PlanningPhase::Place:
      return place_story(replay, position, problem);
    case PlanningPhase::Split:
      return split_story(replay, position, problem);
  }
  return {};
}

PlanningRows compared_rows(const PlanningReplay& replay, std::size_t position,
                           const Problem& problem) {
  switch (replay.phase(position)) {
    case PlanningPhase::Fuse:
      return cluster_rows(replay, replay.fused(position), problem);
    case PlanningPhase::Rank:
      return order_rows(replay);
    case PlanningPhase::Place:
      return device_rows(replay, *replay.step(position), problem);
    case PlanningPhase::Split:
      return trial_rows(replay, replay.tried(position), problem);
    default:
      return {};
  }
}

PlanningRows ready_rows(const PlanningReplay& replay, std::size_t position) {
  const auto now = replay.node(position);
  if (!now) return {};
  const PlanningReplay::Ready ready = replay.ready(position);
  PlanningRows table;
  table.title = tr("Ready: %1 nodes, in their order").arg(ready.count);
  table.headers = {tr("Node"), tr("#"), tr("Rank")};
  table.paths = true;
  table.nodes = ready.first;
  if (ready.count == 1) table.title = tr("Ready: 1 node");
  for (const NodeIndex node : ready.first) {
    if (node == *now) table.marked = static_cast<int>(table.rows.size());
    table.rows.push_back(
        {node_name(replay, node), count(replay.place_in_order(node) + 1), rank_of(replay, node)});
  }
  return table;
}

}  // namespace strato
