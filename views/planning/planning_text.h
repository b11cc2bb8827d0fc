// What a position of a planner's replay says in words and rows. Pure functions.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "core/search/api/problem.h"
#include "views/models/planning_replay.h"

namespace strato {

struct PlanningRows {
  QString title;
  QStringList headers;        // the first column is text, the others are figures
  bool last_is_text = false;  // but for the last, which is text and gets the room
  bool paths = false;         // the first column are names, whose ends say most
  std::vector<QStringList> rows;
  std::vector<NodeIndex> nodes;  // of the rows, where they are nodes; else empty
  int marked = -1;               // the row that was taken
};

QString phase_name(PlanningPhase phase);  // "Fuse"
// One or two sentences about the position.
QString planning_story(const PlanningReplay& replay, std::size_t position, const Problem& problem);
// What was compared at it: devices, clusters, nodes in their order, trials.
PlanningRows compared_rows(const PlanningReplay& replay, std::size_t position,
                           const Problem& problem);
// The nodes that could have been taken; none before placement.
PlanningRows ready_rows(const PlanningReplay& replay, std::size_t position);

QString node_name(const PlanningReplay& replay, NodeIndex node);
QString device_name(const Cluster& cluster, DeviceId device);

}  // namespace strato
