// The attention of GDP's policy (core/search/api/attention.h).
#pragma once

#include "core/search/api/attention.h"
#include "core/search/api/problem.h"
#include "plugins/planners/learned/gdp/policy/network.h"

namespace strato::gdp {

// By unit: the mean attention of these ones; they are distinct.
std::vector<double> mean_attention(const AttentionWeights& weights,
                                   std::span<const std::int32_t> units);

// Null: the network has no attention. The graph has the task's units.
std::shared_ptr<const Attention> attention_of(const Network& network, const GraphFeatures& graph,
                                              Units units);

}  // namespace strato::gdp
