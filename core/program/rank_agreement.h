// Do ranks that made their programs alone (two-stage rewriting, AutoDist 2.3) agree on what they do
// together? Each says in short what it shares with others, and somebody compares.
//
// It compares what check_termination() matches: for each pair of ranks and each set of members the
// same tasks, tensors, sizes and cuts in the same order. That nobody waits in a circle follows from
// the one order of tasks that all programs are made from.
//
// Immutable values; safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/program/rank_program.h"

namespace strato {

struct RankShare {
  std::int64_t ranks = 0;  // that have it: 2 of transfers, the members of collectives
  std::int64_t count = 0;  // messages
  std::string content;     // a digest, as hexadecimal digits
  friend bool operator==(const RankShare&, const RankShare&) = default;
};
// By what is shared, in words: "transfers from rank 0 to rank 3".
using RankShares = std::map<std::string, RankShare>;

// Of rank r's device: device_of_rank[r]; all peers and members are among them.
RankShares shares_of(const Graph& graph, const RankProgram& program,
                     std::span<const DeviceId> device_of_rank);

struct Disagreement {
  int rank = 0;         // who differs from a rank before it, or waits in vain
  std::string problem;  // a sentence's end: "has other transfers from rank 0 to rank 3 (...)"
};
// `all`: by rank. Nothing: they agree.
std::optional<Disagreement> find_disagreement(std::span<const RankShares> all);

}  // namespace strato
