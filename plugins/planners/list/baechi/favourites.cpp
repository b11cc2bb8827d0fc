#include "plugins/planners/list/baechi/favourites.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/at.h"

namespace strato::baechi {
namespace {

double real(Nanos time) { return static_cast<double>(time.value); }

struct Edge {
  NodeIndex from, to;
  std::int32_t edge;
};

struct Chain {
  NodeIndex head, tail;
  Nanos time;
};

class Finder {
 public:
  Finder(const Dag& dag, const Weights& weights, const FavouriteOptions& options)
      : dag_(dag), weights_(weights), options_(options) {
    favourites_.child.assign(dag.size(), -1);
    favourites_.parent.assign(dag.size(), -1);
    decided_.assign(dag.edge_count(), 0);
    by_head_.assign(dag.size(), -1);
    by_tail_.assign(dag.size(), -1);
  }

  Favourites find(const std::stop_token& stop) && {
    join_chains();
    earliest_ = t_levels(dag_, weights_);
    after_ = b_levels(dag_, weights_);
    const std::vector<Chain> chains = chains_in_order();
    const auto size = static_cast<std::size_t>(std::max(options_.piece, 0));
    for (std::size_t begin = 0; size > 0 && begin < chains.size(); begin += size) {
      if (stop.stop_requested()) break;
      solve_piece(std::span(chains).subspan(begin, std::min(size, chains.size() - begin)));
    }
    decide_greedily();
    return std::move(favourites_);
  }

 private:
  bool join(NodeIndex from, NodeIndex to, int& count) {
    if (favourites_.child[at(from)] >= 0 || favourites_.parent[at(to)] >= 0) return false;
    favourites_.child[at(from)] = to;
    favourites_.parent[at(to)] = from;
    ++count;
    return true;
  }
  Nanos cost(const DagEdge& edge) const { return weights_.edge[at(edge.edge)]; }

  void join_chains() {
    for (NodeIndex node = 0; at(node) < dag_.size(); ++node) {
      const auto children = dag_.successors(node);
      if (children.size() != 1 || dag_.predecessors(children[0].node).size() != 1) continue;
      join(node, children[0].node, favourites_.by_chain);
      weights_.edge[at(children[0].edge)] = Nanos();  // saved
      decided_[at(children[0].edge)] = 1;
    }
  }

  // In a topological order in which neighbours are near each other.
  std::vector<Chain> chains_in_order() const {
    std::vector<Chain> chains;
    for (const NodeIndex head : dfs_topo(dag_)) {
      if (favourites_.parent[at(head)] >= 0) continue;
      Chain chain{head, head, weights_.node[at(head)]};
      while (favourites_.child[at(chain.tail)] >= 0) {
        chain.tail = favourites_.child[at(chain.tail)];
        chain.time += weights_.node[at(chain.tail)];
      }
      chains.push_back(chain);
    }
    return chains;
  }

  // All edges that are left go from a chain's tail to another's head.
  void solve_piece(std::span<const Chain> chains) {
    mark(chains, true);
    std::vector<Edge> edges;
    const FavouritePiece piece = piece_of(chains, edges);
    mark(chains, false);
    if (edges.empty()) return;
    ++favourites_.programs;
    const auto solution = solve(piece);
    if (!solution) {
      ++favourites_.given_up;
      return;
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      decided_[at(edges[e].edge)] = 1;
      if (solution->saved[e] > 1 - options_.threshold + 1e-6)
        join(edges[e].from, edges[e].to, favourites_.by_program);
    }
  }

  void mark(std::span<const Chain> chains, bool inside) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
      const std::int32_t place = inside ? static_cast<std::int32_t>(i) : -1;
      by_head_[at(chains[i].head)] = by_tail_[at(chains[i].tail)] = place;
    }
  }

  FavouritePiece piece_of(std::span<const Chain> chains, std::vector<Edge>& edges) const {
    FavouritePiece piece;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      Nanos earliest, after;
      for (const DagEdge& in : dag_.predecessors(chains[i].head))
        if (by_tail_[at(in.node)] < 0)
          earliest =
              std::max(earliest, earliest_[at(in.node)] + weights_.node[at(in.node)] + cost(in));
      for (const DagEdge& out : dag_.successors(chains[i].tail)) {
        const std::int32_t to = by_head_[at(out.node)];
        if (to < 0) {
          after = std::max(after, after_[at(out.node)] + cost(out));
        } else {
          edges.push_back({chains[i].tail, out.node, out.edge});
          piece.edges.push_back({static_cast<int>(i), to, real(cost(out))});
        }
      }
      piece.nodes.push_back({real(chains[i].time), real(earliest), real(after)});
    }
    return piece;
  }

  void decide_greedily() {
    std::vector<std::tuple<Nanos, Nanos, Edge>> left;  // path, transfer
    for (NodeIndex node = 0; at(node) < dag_.size(); ++node)
      for (const DagEdge& out : dag_.successors(node))
        if (decided_[at(out.edge)] == 0 && cost(out) > Nanos())
          left.emplace_back(
              earliest_[at(node)] + weights_.node[at(node)] + cost(out) + after_[at(out.node)],
              cost(out), Edge{node, out.node, out.edge});
    std::ranges::stable_sort(left, [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) > std::tie(std::get<0>(b), std::get<1>(b));
    });
    for (const auto& [path, transfer, edge] : left) join(edge.from, edge.to, favourites_.by_greed);
  }

  const Dag& dag_;
  Weights weights_;
  FavouriteOptions options_;
  Favourites favourites_;
  std::vector<Nanos> earliest_, after_;
  std::vector<char> decided_;                    // by edge
  std::vector<std::int32_t> by_head_, by_tail_;  // place in the piece by node; -1: outside
};

}  // namespace

Favourites find_favourites(const Dag& dag, const Weights& weights, const FavouriteOptions& options,
                           const std::stop_token& stop) {
  return Finder(dag, weights, options).find(stop);
}

}  // namespace strato::baechi
