// The plan: a strategy with all that is needed to run it, in one file. The cluster is written out
// in full; the model is named, with the digest of the training graph that was planned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/strategy/file/rebind.h"

namespace strato {

// The programs of the ranks that run the plan (core/program/rank/rank_program.h), as their digest:
// who makes them again from the plan can tell that they are the same.
struct PlanRanks {
  std::int64_t version = 1;  // of rank programs
  std::int64_t count = 1;    // 0: the model is of views alone, which nobody computes
  Digest digest;
  friend bool operator==(const PlanRanks&, const PlanRanks&) = default;
};

struct PlanFile {
  // A reference says where the model is, and how its training graph is made.
  std::string graph_file;  // as given; see find_model for relative names
  std::string graph_name;
  Digest graph_digest;  // of the training graph
  std::int64_t batch = 1;
  std::string optimizer;  // "adam", ...; "none" for a forward graph

  std::string cluster_json = "{}";  // Cluster::json()
  NamedStrategy strategy;           // with ops: holds the grouping, too
  // One JSON object: step_time_s, baseline_step_time_s, feasible, planner, seed and others.
  std::string result_json = "{}";
  std::optional<PlanRanks> ranks;
};

std::string plan_json(const PlanFile& plan);
void write_plan(const std::filesystem::path& file, const PlanFile& plan);
// Throw InputError with the exact place: not JSON, another format, a newer version, and all that a
// strategy file can have wrong. The cluster inside is checked by plan_cluster.
PlanFile parse_plan(std::string_view json, const std::string& file);
PlanFile read_plan(const std::filesystem::path& file);

Cluster plan_cluster(const PlanFile& plan, const std::string& file);  // needs no catalogue

// The model's file: as it is written in the plan, else the same relative to the plan's folder, else
// its bare name there. Throws InputError when it is at none of these.
std::filesystem::path find_model(const PlanFile& plan, const std::filesystem::path& plan_file);

// Throws InputError, about `file`, where fewer than half of the ops that the plan names are in the
// graph: that is another model, and no later version of the plan's.
void check_same_model(const PlanFile& plan, const std::string& file, const Graph& graph);

// The plan on a graph. Not the graph that it was made for (same_graph is false): the rest is a best
// effort and `unmatched` says what did not fit. Grouping and strategy always fit together.
struct BoundPlan : Rebound {
  bool same_graph = false;
  Grouping grouping;
};
BoundPlan bind_plan(const PlanFile& plan, const Graph& graph, const Cluster& cluster,
                    std::span<const Nanos> op_times);

}  // namespace strato
