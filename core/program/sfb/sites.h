// Where sufficient factor broadcasting can be applied: the ops that make parameter gradients, each
// with the subgraph around it (V and E of TAG 4.2.3). Depends on the graph and its grouping alone.
#pragma once

#include <vector>

#include "core/program/value/tables.h"

namespace strato {

struct SfbSite {
  struct Edge {
    TensorId tensor;
    int maker = -1;            // in `ops`; -1: outside of the subgraph, so never duplicated
    std::vector<int> readers;  // in `ops`, ascending
  };
  OpId producer;                    // g
  std::vector<TensorId> gradients;  // of parameters, made by g as sums over the batch
  std::vector<OpId> updates;        // l, by gradient
  std::vector<OpId> ops;            // V: g, then its ancestors, nearest first
  std::vector<Edge> edges;          // E: what the ops read of what other ops make
};

// The subgraph stays in g's op group and holds at most `max_ops` ops that are at most
// `max_distance` tensors away from g. Further ops could only pay by a cut that is narrower than all
// nearer ones, and every op on the way costs time. By g, ascending.
std::vector<SfbSite> sfb_sites(const Tables& tables, int max_ops, int max_distance);

// Every op computes the same on the whole batch as its shards do together, except a batch
// normalisation, whose statistics are those of a shard, and its gradient.
bool may_be_duplicated(const Tables& tables, OpId op);

}  // namespace strato
