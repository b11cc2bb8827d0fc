// Do ranks that made their programs alone (two-stage rewriting, AutoDist 2.3) agree on what they do
// together? Each says in short what it shares with others, and somebody compares.
//
// It compares what check_termination() does: for each pair of ranks and each set of members the
// same tasks, tensors, sizes and cuts in the same order, and that no two ranks come to what they
// share with different others in different orders, so that they would wait for each other.
//
// Immutable values; safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

struct RankShare {
  std::int64_t ranks = 0;  // that have it: 2 of transfers, the members of collectives
  std::int64_t count = 0;  // messages
  std::string content;     // a digest, as hexadecimal digits
  friend bool operator==(const RankShare&, const RankShare&) = default;
};
struct RankShares {
  struct Run {
    std::int64_t share = 0, count = 0;  // messages, one after the other, of by_name's share-th
    friend bool operator==(const Run&, const Run&) = default;
  };
  // By what is shared, in words: "transfers from rank 0 to rank 3".
  std::map<std::string, RankShare> by_name;
  std::vector<Run> order;  // of all messages
};

// Of rank r's device: device_of_rank[r]; all peers and members are among them.
RankShares shares_of(const Graph& graph, const RankProgram& program,
                     std::span<const DeviceId> device_of_rank);

struct Disagreement {
  int rank = 0;         // who differs from a rank before it, or waits in vain
  std::string problem;  // a sentence's end: "has other transfers from rank 0 to rank 3 (...)"
};
// `all`: by rank; an order that is not one of its shares is a disagreement, too. Nothing: they
// agree.
std::optional<Disagreement> find_disagreement(std::span<const RankShares> all);

}  // namespace strato
