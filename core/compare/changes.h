// The parts of a comparison. Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/compare/compare_plans.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {

PlanFigures plan_figures(const PlanToCompare& plan);
std::string_view words_for(TensorRole role);  // "gradients", "parameters", "activations"
std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths);
std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match);
std::vector<DeviceChange> device_changes(const Timeline& from, const Timeline& to);
std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to);
std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to);
std::optional<PlanPrice> plan_price(const PlanToCompare& plan);
std::string sentence_of(const PlanComparison& comparison);

}  // namespace strato
