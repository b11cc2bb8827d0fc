// What a person's edits of how variables are synchronised mean, as pure functions: strategy in,
// strategy out. What a variable cannot have (more parts than its axis has indices, sparse rows
// where nothing is looked up) is left out for it.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// The update ops of the groups' variables, of all groups when `groups` is empty; largest first.
std::vector<OpId> variables_of(const Problem& problem, std::span<const GroupId> groups);

const VariableSync* sync_of(const Strategy& strategy, OpId update);  // null: as its group

// Whether there is something to synchronise: its group is replicated over several devices.
bool is_synchronised(const Strategy& strategy, const Problem& problem, OpId update);

// As its group has it, as if it had been said for the variable: what editing begins with.
VariableSync sync_as_group(const Strategy& strategy, const Problem& problem, OpId update);

// "as the group: AllReduce", "PS on v100:0, 2 parts along axis 0, two-level", "AllReduce, group 3".
QString sync_words(const Strategy& strategy, const Problem& problem, OpId update);
// "PS on v100:0, two-level, half (lossy)".
QString part_words(const SyncPart& part, const Cluster& cluster);
// Its indices along each axis that is divided: "0 to 31", "0 to 3 × 8 to 15".
QString part_range_words(const VariableSync& sync, const Graph& graph, std::size_t part);
// Parts along each axis of the variable: "1 × 4"; of a scalar: "1".
QString partition_words(const VariableSync& sync, const Graph& graph);
// What such words say, also with commas, "x" or "*" between; empty: they say nothing.
std::vector<std::int32_t> partition_from(const QString& words);
QString encoding_words(Encoding encoding);  // "none", "half (lossy)"
QString encoding_words(const Strategy& strategy, OpId update);

// What is chosen for variables; what is not there stays as each has it. All but `parts`, `axis`,
// `partition` and `staleness` is said of single parts.
struct SyncChoice {
  std::vector<int> only;  // of which parts, from 0, where a variable has them; empty: of all
  std::optional<Synchroniser> synchroniser;
  std::optional<int> parts, axis;
  std::optional<std::vector<std::int32_t>> partition;  // parts along each axis, in place of both
  // The parts take turns on them; empty: balanced by bytes over the replicas.
  std::optional<std::vector<DeviceId>> servers;
  std::optional<bool> stations;  // two-level: the first replica in each machine that has several
  std::optional<std::vector<DeviceId>> stations_at;  // the same, by hand; empty: one level
  std::optional<Encoding> encoding;
  std::optional<std::int32_t> merge_group;  // -1: none
  // Of the ring, also of what is merged with it; empty: as the network suits.
  std::optional<std::vector<DeviceId>> sequence;
  std::optional<int> staleness;
};
// What a variable cannot have is left out for it, and told in `refused`, when given: one line for
// each variable, with its name and why.
Strategy with_sync(const Strategy& strategy, const Problem& problem, std::span<const OpId> updates,
                   const SyncChoice& choice, QStringList* refused = nullptr);
// Why no strategy may have these variables so, in one line; empty: it may.
QString why_invalid(const Strategy& strategy, const Problem& problem);
// Why none of the variables can be encoded so; empty: at least one can.
QString why_not_encoded(const Strategy& strategy, const Problem& problem,
                        std::span<const OpId> updates, Encoding encoding,
                        const std::vector<int>& only = {});
Strategy with_sync_of_group(const Strategy& strategy, std::span<const OpId> updates);

// Reduction sequences of the groups' variables name every replica: without them once the replicas
// are others.
Strategy without_stale_sequences(const Strategy& strategy, const Grouping& grouping);

}  // namespace strato
