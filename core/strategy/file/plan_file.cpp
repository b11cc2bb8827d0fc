#include "core/strategy/file/plan_file.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace fs = std::filesystem;
namespace {

void read_graph(const JsonView& view, PlanFile& plan) {
  view.allow_only({"file", "name", "digest", "batch", "optimizer"});
  plan.graph_file = view.at("file").string();
  plan.graph_name = view.at("name").string();
  plan.graph_digest = view.at("digest").digest();
  plan.batch = view.at("batch").integer(1);
  plan.optimizer = view.at("optimizer").string();
}

PlanRanks read_ranks(const JsonView& view) {
  view.allow_only({"version", "count", "digest"});
  return {view.at("version").integer(1), view.at("count").integer(0), view.at("digest").digest()};
}

std::string object_text(const JsonView& view) {
  if (!view.is_object()) view.fail("is not an object", "write {…} here");
  return view.json().dump();
}

}  // namespace

std::string plan_json(const PlanFile& plan) {
  Json json = {{"format", "stratoscope-plan"},
               {"version", 1},
               {"graph",
                {{"file", plan.graph_file},
                 {"name", plan.graph_name},
                 {"digest", plan.graph_digest.hex()},
                 {"batch", plan.batch},
                 {"optimizer", plan.optimizer}}},
               {"result", Json::parse(plan.result_json)},
               {"cluster", Json::parse(plan.cluster_json)}};
  if (plan.ranks)
    json["ranks"] = {{"version", plan.ranks->version},
                     {"count", plan.ranks->count},
                     {"digest", plan.ranks->digest.hex()}};
  add_strategy(json, plan.strategy);
  return json_text(json, 2) + "\n";
}

void write_plan(const fs::path& file, const PlanFile& plan) { write_file(file, plan_json(plan)); }

PlanFile parse_plan(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-plan", 1);
  root.allow_only({"format", "version", "note", "graph", "result", "cluster", "ranks",
                   "bucket_bytes", "groups", "duplicated", "recomputed", "offloaded", "splits",
                   "gather", "variables", "order", "micro_batches", "schedule"});
  PlanFile plan;
  read_graph(root.at("graph"), plan);
  if (const auto result = root.find("result")) plan.result_json = object_text(*result);
  plan.cluster_json = object_text(root.at("cluster"));
  if (const auto ranks = root.find("ranks")) plan.ranks = read_ranks(*ranks);
  plan.strategy = strategy_from_json(root);
  return plan;
}

PlanFile read_plan(const fs::path& file) { return parse_plan(read_file(file), file.string()); }

Cluster plan_cluster(const PlanFile& plan, const std::string& file) {
  return parse_cluster(plan.cluster_json, file + ": cluster", GpuCatalogue());
}

fs::path find_model(const PlanFile& plan, const fs::path& plan_file) {
  const fs::path given = plan.graph_file;
  const fs::path folder = plan_file.parent_path();
  for (const fs::path& candidate : {folder / given, given, folder / given.filename()}) {
    std::error_code error;
    if (!given.empty() && fs::is_regular_file(candidate, error)) return candidate;
  }
  throw InputError(plan_file.string(), "graph.file",
                   fmt::format("\"{}\" is not there", plan.graph_file),
                   "put the model beside the plan, or name it");
}

void check_same_model(const PlanFile& plan, const std::string& file, const Graph& graph) {
  std::size_t named = 0, found = 0;
  for (const NamedGroup& group : plan.strategy.groups) {
    named += group.ops.size();
    for (const std::string& op : group.ops) found += graph.find_op(op).valid() ? 1 : 0;
  }
  if (2 * found >= named) return;
  throw InputError(file, "groups",
                   fmt::format("is a plan for another model ({}): only {} of its {} ops are in {}",
                               plan.graph_name, found, named, graph.name()),
                   "put the model that it was made for beside it, or name that with --graph");
}

BoundPlan bind_plan(const PlanFile& plan, const Graph& graph, const Cluster& cluster,
                    std::span<const Nanos> op_times) {
  RestoredGrouping restored = restore_grouping(plan.strategy, graph, op_times);
  Rebound rebound = bind_strategy(plan.strategy, graph, restored, cluster, op_times);
  return {std::move(rebound), plan.graph_digest == graph.digest(), std::move(restored.grouping)};
}

}  // namespace strato
