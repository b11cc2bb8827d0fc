// Makes a strategy of decisions op by op.
#pragma once

#include <cstdint>
#include <span>

#include "core/schedule/list/schedule.h"
#include "core/search/api/problem.h"

namespace strato {

// Every op is told choices[choice_of[op]]. The strategy has groups of its own: the problem's,
// divided where their ops are told different things; where none is, it has the problem's.
Strategy strategy_by_ops(const Problem& problem, std::span<const std::int32_t> choice_of,
                         std::span<const Decision> choices);

// Every op whole on the device of its node; `node_of`: by op; empty: nodes are ops. With
// `with_order` ops run in the order of the schedule's starts (FastT's order enforcement).
Strategy strategy_of(const Problem& problem, const Schedule& schedule,
                     std::span<const NodeIndex> node_of, bool with_order);

}  // namespace strato
