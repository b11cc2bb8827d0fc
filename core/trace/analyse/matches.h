// Calls of collectives that are the same call on several ranks.
#pragma once

#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/trace/value/trace.h"

namespace strato::trace {

struct Match {
  Collective collective = Collective::Unknown;
  struct Member {
    std::size_t rank;  // place in the list of traces
    const Event* event;
  };
  std::vector<Member> members;  // at least two, by rank
};

// Of collectives at whose end every member has heard of every other one: AllReduce, AllGather,
// ReduceScatter, AllToAll, Barrier. Calls of one communicator and collective are matched by their
// numbers, where the files have them, else by their order, if all ranks that know the communicator
// have as many. Communicators that no file names count as one of all ranks. Borrows from the
// traces.
std::vector<Match> match_collectives(std::span<const Trace> traces);

}  // namespace strato::trace
