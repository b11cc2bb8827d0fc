// The neighbourhood of a complete strategy: what one move makes of it. A move gives one action to a
// group, or to several that belong together: those around it, those that are decided alike, those
// of them with more parameters for their work, a stretch along the graph. Moves are drawn at
// random; the same random numbers give the same moves. Draws from one neighbourhood may run in
// several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/problem.h"
#include "core/search/tree/search_tree.h"

namespace strato {

std::vector<GroupId> groups_along(const Grouping& grouping);  // in the order of their first op

class Neighbourhood {
 public:
  enum Kind : std::int32_t { Single, Around, Alike, Heavy, Stretch, kKinds };
  // Where the action of a move comes from: the preferred ones, what is like the group's own, what
  // another group has, anything, the ranks.
  enum Source : std::size_t { Preferred, Related, Used, Any, Ranked, kSources };

  // `ranked`: legal actions by group id, most plausible first.
  Neighbourhood(const Problem& problem, std::vector<Decision> actions,
                std::vector<std::vector<std::int32_t>> ranked);

  // Groups that a person has decided (by group id the action, or -1; empty: none) are never
  // changed. Actions from `free_actions` on belong to them: no other group is given one.
  void pin(std::vector<std::int32_t> pinned, std::size_t free_actions);
  // Actions that did well for all groups at once, best first: what Preferred draws from.
  void prefer(std::vector<std::int32_t> actions) { preferred_ = std::move(actions); }
  bool is_pinned_everywhere() const;

  std::size_t groups() const { return ranked_.size(); }
  std::size_t actions() const { return actions_.size(); }
  ActionVector apply(const Move& move, const ActionVector& strategy) const;
  // Whether the source has anything to draw from at this strategy.
  bool offers(Source source, const ActionVector& strategy) const;
  // `kinds`: how likely each kind of move is.
  Move random_move(Random& random, Source source, std::span<const double> kinds,
                   const ActionVector& strategy) const;

 private:
  void measure(const Grouping& grouping);
  std::int32_t random_action(Random& random, Source source, const Move& move,
                             const ActionVector& strategy) const;
  std::int32_t related_action(Random& random, std::int32_t group,
                              const ActionVector& strategy) const;
  std::optional<std::int32_t> used_action(Random& random, std::int32_t group,
                                          const ActionVector& strategy) const;

  const std::vector<Decision> actions_;
  const std::vector<std::vector<std::int32_t>> ranked_;
  std::vector<std::int32_t> pinned_;
  std::size_t free_actions_;
  std::vector<std::int32_t> preferred_;
  std::vector<std::vector<std::int32_t>> neighbours_;  // by group
  std::vector<GroupId> along_;
  std::vector<std::size_t> place_;  // inverse of along_
  std::vector<double> weight_;      // chance of a group to be changed
  std::vector<double> density_;     // parameter bytes per nanosecond of compute
};

}  // namespace strato
