// A decision and an op group as a person writes them on the command line.
#pragma once

#include <string_view>

#include "core/graph/group/grouping.h"
#include "core/strategy/value/strategy.h"

namespace strato::cli {

// "MODE:DEVICES": MODE is allreduce, ps, duplicate, model-parallel, or roles of rows and columns
// that all-reduce gradients ("tensor:4", "tensor:2:expert:4:zero:3": take_roles()); DEVICES are
// devices and device groups with commas between, each with its share of the batch behind it where
// shares differ
// ("ps:v100x2,1080ti-0:1"), or "all". Throws InputError that names what there is.
Decision parse_decision(std::string_view text, const Cluster& cluster);

// By name. Throws InputError that names what is near.
GroupId find_op_group(std::string_view name, const Grouping& grouping);

}  // namespace strato::cli
