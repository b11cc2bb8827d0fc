// What two plans decide otherwise for op groups and variables, how their steps use devices and
// links, and what a plan costs in money. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths);
std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match);
std::vector<DeviceChange> device_changes(const Timeline& from, const Timeline& to);
std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to);
std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to);
std::optional<PlanPrice> plan_price(const PlanToCompare& plan);

}  // namespace strato
