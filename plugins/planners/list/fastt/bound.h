// FastT's Theorem 1: on equal devices with enough memory DPOS finishes within 2 w_opt + C_max,
// where w_opt is the best finish time without any transfer time and C_max the most transfer time
// along a chain. w_opt is not known, but it is at least the longest chain of the shortest times,
// and at least the sum of these times divided by the number of devices; that gives a factor of
// w_opt which the schedule is certain to be within, on any devices.
#pragma once

#include "core/schedule/list/dpos.h"
#include "core/search/api/planner.h"

namespace strato::fastt {

struct Bound {
  Nanos finish;             // of the schedule
  Nanos least;              // w_opt is at least this
  Nanos longest_transfers;  // C_max
  double ratio() const;     // finish / least: at most so many times w_opt
};
Bound bound_of(const Dpos& dpos);
std::vector<PlanResult::Fact> facts(const Bound& bound);

}  // namespace strato::fastt
