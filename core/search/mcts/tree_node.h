// A vertex of the tree of a running search. As a value of the store it is SearchTree::Vertex.
#pragma once

#include <cstdint>
#include <vector>

namespace strato {

struct TreeNode {
  std::int32_t parent = -1, action = -1, depth = 0;
  std::int32_t first_action = -1;  // of the first group: what undecided groups follow
  std::int32_t visits = 0, virtual_visits = 0;
  double value_sum = 0;
  double best = 0;  // best reward at or below
  float prior = 1, reward = 0;
  std::int64_t step_time_ns = 0;
  bool evaluated = false;
  bool done = false;                   // nothing new at or below
  float weight = 1;                    // a person's, of the edge from the parent
  bool closed = false;                 // excluded or against a pin, or below such
  bool stale = false;                  // evaluated under other pins
  std::int32_t cursor = 0;             // place of the next action to open
  bool in_order = true;                // children are the first actions, one after another
  std::vector<std::int32_t> children;  // in order of expansion
  std::int32_t prior_row = -1;         // of ActionOrder's priors; -1: uniform
  std::vector<std::int32_t> order;     // actions by prior, once one is opened; empty: by rank

  // It may still be a result: nothing keeps the search from it, and the pins are those of now.
  bool counts() const { return evaluated && !closed && !stale; }
};

}  // namespace strato
