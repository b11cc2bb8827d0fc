// A search tree, its history and the differences of two, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "core/io/json.h"
#include "core/search/api/problem.h"
#include "core/search/mcts/tree_replay.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"

namespace strato::cli {

// "conv1: AllReduce on v100", of the edge to the vertex; empty for the root.
std::string edge_words(const SearchTree& tree, const Problem& problem, std::int32_t vertex);
Json decision_json(const Decision& decision, const Cluster& cluster);

struct TreeView {
  std::int32_t vertex = 0;  // whose subtree is shown
  int depth = 2;            // levels below it
  int top = 5;              // children of each, the most visited first
};
std::string tree_text(const SearchTree& tree, const Problem& problem, const TreeView& view);
Json tree_json(const SearchTree& tree, const Problem& problem, const TreeView& view);

struct ReplayRange {
  std::size_t from = 1, to = 1;  // steps, counted from 1; both are shown
  int top = 5;                   // priors and candidates of each
  bool scores = false;           // what selection compared on its way
};
std::string replay_text(TreeReplay& replay, const Problem& problem,
                        const TreeSearchOptions& options, const ReplayRange& range);
Json replay_json(TreeReplay& replay, const Problem& problem, const TreeSearchOptions& options,
                 const ReplayRange& range);

// `before` and `after` are what `difference` was made from; `top`: rows at most.
std::string comparison_text(const SearchTree& before, const SearchTree& after,
                            const TreeDifference& difference, const Problem& problem, int top);
Json comparison_json(const SearchTree& before, const SearchTree& after,
                     const TreeDifference& difference, const Problem& problem, int top);

}  // namespace strato::cli
