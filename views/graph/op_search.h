// Finds ops by a query (core/graph/query/op_query.h). Pure; safe from any thread.
#pragma once

#include <vector>

#include "core/graph/query/op_query.h"
#include "views/graph/op_figures.h"

namespace strato {

// A mark per op. `figures` may be null: then an op's time is `op_times`', and ops of a group that
// is model parallel are on all its devices.
std::vector<char> find_ops(const OpQuery& query, const Problem& problem, const Strategy& strategy,
                           const OpFigures* figures, const std::vector<Nanos>& op_times);

// The groups with a marked op, ascending.
std::vector<GroupId> groups_with(const std::vector<char>& marked, const Grouping& grouping);

}  // namespace strato
