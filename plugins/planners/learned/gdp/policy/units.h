// Co-location: the ops that GDP places as one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato::gdp {

enum class Colocate {
  Parameters,  // what reads a parameter, and its update (TensorFlow's rule; Celeritas 6.1)
  Gradients,   // these, and every backward op with its forward op
};

// Units are numbered by their first ops.
struct Units {
  std::vector<std::int32_t> of_op;
  std::vector<OpId> leader;  // by unit: its first op that is forward, else its first op
  std::int32_t count = 0;
};
Units units_of(const Problem& problem, const Dag& dag, Colocate colocate);

}  // namespace strato::gdp
