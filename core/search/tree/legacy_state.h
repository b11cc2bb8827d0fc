// The text in which search trees of versions 1 and 2 say where the search stands.
//
//   tree search:  "local_iterations/local" (the oldest), or "local_iterations baseline pinned_since
//                 pins flags[ g0123][ kaside][ rbarred]/local[/fsecond|/psecond]": `flags` has a
//                 bit each for packed, unfinished and contradicted, and space_next above them;
//                 behind the g a digit for each group, and one for all (1: unfinished, 2: tried
//                 otherwise), or, without g, a number that says nothing any more; a candidate is
//                 "flags,action,action,..."
//   local search: rows of numbers, each ended by a semicolon: 6, 9 or 10 of them with the rest
//                 behind the last
//   AutoDist:     "autodist 5", its options, the number of batches, and one batch of evaluations,
//                 each on its own line
#pragma once

#include <string_view>

#include "core/search/tree/search_tree.h"

namespace strato {

// Sets the state or the record of a tree that has all else. An empty text says nothing. Throws
// InputError for what is none of these.
void read_legacy_state(std::string_view text, SearchTree& tree);

}  // namespace strato
