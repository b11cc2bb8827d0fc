// The graph of a problem as list schedulers see it.
#pragma once

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato {

// One node per op, numbered as the ops are, with its time for the whole batch; what makes no task
// (is_alias, core/program/value/tables.h) takes none. An edge carries the bytes of the producer's
// outputs that the consumer reads; edges without bytes lead from the readers of a parameter to its
// update, which overwrites it. Ops that touch one parameter share a co-location group, which are
// numbered by their first nodes. Inputs, constants, parameters and optimizer state are counted with
// the op that reads them first, a trained parameter twice: with its gradient.
Dag dag_of(const Problem& problem);

}  // namespace strato
