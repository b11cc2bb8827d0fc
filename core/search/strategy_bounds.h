// Lower bounds of single strategies over a list of actions: what need not be evaluated, since it
// cannot be better than what is known. Both hold for what the simulator makes of a strategy without
// splits or entries for single variables, with and without duplicated ops; not for times that are
// measured, which is why the search checks them against all that it evaluates.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/program/lower.h"
#include "core/program/tables.h"
#include "core/search/local_search.h"
#include "core/search/problem.h"

namespace strato {

// What the busiest device computes, communication and waiting left out: a few additions a group.
//
// An op runs on the devices of its group, in shards as the decision's shares say or whole on each
// (core/program/placement.h), which it is follows from other groups, too: so the shorter one
// counts. Updates of ReplicatePs, which are on one device each, count nothing.
class LoadBound {
 public:
  LoadBound(const Problem& problem, std::vector<Decision> actions);
  Nanos of(const ActionVector& actions);

 private:
  struct Load {
    std::uint32_t device;
    std::int64_t nanos;
  };
  const std::vector<Load>& loads(std::size_t group, std::int32_t action);
  std::vector<Load> make_loads(GroupId group, const Decision& decision);
  std::int64_t time(OpId op, DeviceId device, std::int64_t samples);

  Tables tables_;
  const std::vector<Decision> actions_;
  std::vector<std::vector<Load>> loads_;  // by group and action; empty: not asked for yet
  std::vector<std::int64_t> sums_;        // by device
};

// All strategies of a problem with few of them, in ascending order of a bound that lowering alone
// gives: the longest path through the program's tasks, and the work of its busiest resource (on
// exclusive links). Where the optimum's bound is close, it comes early, and what is left when the
// next bound is no better than the best needs no look: branch and bound, best first.
class SmallSpace {
 public:
  // `legal`: actions by group.
  SmallSpace(const Problem& problem, const std::vector<Decision>& actions,
             std::vector<std::vector<std::int32_t>> legal);
  // Whether there are few enough to lower them all: in about a second, or, where so many evaluations
  // are asked for that they come to a tenth of the space, in ten.
  static bool is_small(const Problem& problem, std::span<const std::vector<std::int32_t>> legal,
                       std::int64_t evaluations);

  std::size_t size() const { return ranked_.size(); }
  Nanos bound(std::size_t place) const { return ranked_[place].first; }
  ActionVector strategy(std::size_t place) const;

 private:
  std::vector<std::vector<std::int32_t>> legal_;
  std::vector<std::pair<Nanos, std::uint32_t>> ranked_;  // bound and number
};

}  // namespace strato
