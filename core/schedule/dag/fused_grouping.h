// Op groups by operation fusion (Celeritas 5.1.3): a grouping for any planner, beside METIS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

enum class GroupingMethod : std::uint8_t { Metis, Fusion };
std::string_view name_of(GroupingMethod method);             // "metis", "fusion"
GroupingMethod grouping_method_from(std::string_view name);  // throws InputError

// The clusters of fuse_colocated(), those with ops of one co-location group together in one group:
// a parameter, what reads it and its update never part. At most `max_groups` (1 or more): R
// grows until there are no more, and M, the paper's at first, where that is not enough. The
// problem's own grouping is not looked at.
Grouping group_by_fusion(const Problem& problem, int max_groups);

// make_problem() in groups of this method; `options.grouping.max_groups` holds for both.
Problem make_problem(const Graph& model, std::shared_ptr<const Cluster> cluster,
                     ProblemOptions options, GroupingMethod method,
                     std::vector<std::string>* warnings);

}  // namespace strato
