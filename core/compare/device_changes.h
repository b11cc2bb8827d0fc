// How two steps use devices and links otherwise, and what a plan costs in money. Private to this
// folder.
#pragma once

#include <optional>
#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

std::vector<DeviceChange> device_changes(const Timeline& from, const Timeline& to);
std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to);
std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to);
std::optional<PlanPrice> plan_price(const PlanToCompare& plan);

}  // namespace strato
