// A step time that no strategy can beat.
#pragma once

#include <cstdint>

#include "core/search/api/problem.h"

namespace strato {

// Which strategies a bound holds for.
enum class BoundOf : std::uint8_t {
  // Every one: any modes, devices and shares; rows of columns that compute ops together
  // (MeshRoles::tensor), split ops, variables in parts, stale ones, micro-batches, buckets and
  // priorities.
  All,
  // Those that divide the batch and nothing else: one micro-batch, every device a row of its own,
  // no split ops, every variable in one part and not stale. What TAG's searches propose. At least
  // the bound of all.
  WholeOps,
};

// No such strategy of this problem can be faster, on exclusive and on fair links (proof in the
// .cpp's header comment).
Nanos lower_bound(const Problem& problem, BoundOf strategies = BoundOf::All);

}  // namespace strato
