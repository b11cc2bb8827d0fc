// The planner "auto": the best of all others, and more.
//
//   1. Every planner that is not a search runs once (by the "effort" of its manifest: quick ones
//      first, then slow ones), and the strategies that were given as seeds are looked at.
//   2. Every search runs exactly as it does on its own: the same problem, seed, options and number
//      of iterations, and scores that are a function of the strategy alone.
//   3. Then the best is improved. Arms are the searches, each in up to two frames (frame.h): the
//      problem's groups, seeded with the best strategies that have them, and what the best has of
//      its own (groups, order, splits). Successive halving (Jamieson and Talwalkar, "Non-stochastic
//      best arm identification", 2016) divides the iterations: each arm gets a turn, the better
//      half by step time saved per evaluation goes on, until one is left with what remains.
//
// So with --iterations the result is, by construction, not worse than that of any planner that is
// installed, or of any seed; and it is deterministic. It costs the time of all others and of
// improve x iterations more; scores are kept, so that nothing is evaluated twice. With --budget 1.
// is the same, and 2. and 3. share what is left: a search gets a tenth of it for itself.
//
// Going on from a stored result goes on with its tree; what a person has pinned or excluded is
// respected, and where nothing is, the quick planners run again, too.
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato {
class PluginRegistry;
}

namespace strato::portfolio {

std::unique_ptr<Planner> make_auto(const PluginRegistry& registry);

}  // namespace strato::portfolio
