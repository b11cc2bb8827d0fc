#include "core/store/tables.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/sqlite/connection.h"

namespace strato {
namespace {

using store::ResultRow;

constexpr auto id_of = [](const ResultRow& row) { return row.get<std::int64_t>(0); };

// Each reader goes with the columns of the SELECT above it, and of a large value where they follow.
constexpr std::string_view kModels = "SELECT id, name, path, options, model.digest";
StoredModel model_from(const ResultRow& row) {
  StoredModel model;
  row.read(model.id, model.name, model.path, model.options, model.digest);
  model.content = row.unpacked(5);
  return model;
}

constexpr std::string_view kClusters =
    "SELECT id, name, cluster.digest, codec, size, bytes FROM cluster "
    "JOIN value ON value.digest = cluster.json";
StoredCluster cluster_from(const ResultRow& row) {
  StoredCluster cluster;
  row.read(cluster.id, cluster.name, cluster.digest);
  cluster.json = row.unpacked(3);
  return cluster;
}

constexpr std::string_view kStrategies =
    "SELECT id, model, cluster, parent, run, origin, label, strategy.digest, step_time_ns, "
    "feasible, created";
StoredStrategy strategy_from(const ResultRow& row) {
  StoredStrategy strategy;
  row.read(strategy.id, strategy.model, strategy.cluster, strategy.parent, strategy.run,
           strategy.origin, strategy.label, strategy.digest, strategy.step_time_ns,
           strategy.feasible, strategy.created);
  strategy.json = row.unpacked(11);
  return strategy;
}

constexpr std::string_view kRuns =
    "SELECT id, model, cluster, planner, options, state, best, baseline_ns, best_ns, evaluations, "
    "wall_seconds, note, created FROM run";
StoredRun run_from(const ResultRow& row) {
  StoredRun run;
  row.read(run.id, run.model, run.cluster, run.planner, run.options, run.state, run.best,
           run.baseline_ns, run.best_ns, run.evaluations, run.wall_seconds, run.note, run.created);
  return run;
}

}  // namespace

ModelRow ProblemTable::add(const StoredModel& model) {
  return connection_.write([&] {
    const std::string digest = model.digest.hex();
    const auto known = connection_.first("SELECT id FROM model WHERE digest = ? AND options = ?",
                                         {digest, model.options}, id_of);
    if (known) return *known;
    return connection_.insert(
        "INSERT INTO model (name, path, options, digest, content) VALUES (?, ?, ?, ?, ?)",
        {model.name, model.path, model.options, digest, connection_.put_value(model.content)});
  });
}

ClusterRow ProblemTable::add(const StoredCluster& cluster) {
  return connection_.write([&] {
    const std::string digest = cluster.digest.hex(), json = connection_.put_value(cluster.json);
    const auto known =
        connection_.first("SELECT id FROM cluster WHERE digest = ?", {digest}, id_of);
    if (!known)
      return connection_.insert("INSERT INTO cluster (name, digest, json) VALUES (?, ?, ?)",
                                {cluster.name, digest, json});
    // What is no part of the digest, as its price, is as of now.
    connection_.execute("UPDATE cluster SET json = ?1 WHERE id = ?2 AND json <> ?1",
                        {json, *known});
    return *known;
  });
}

std::vector<StoredModel> ProblemTable::models() const {
  return connection_.rows(fmt::format("{} FROM model ORDER BY id", kModels), {}, model_from);
}

std::optional<StoredModel> ProblemTable::model(ModelRow id) const {
  return connection_.first(fmt::format("{}, codec, size, bytes FROM model "
                                       "JOIN value ON value.digest = model.content WHERE id = ?",
                                       kModels),
                           {id}, model_from);
}

std::vector<StoredCluster> ProblemTable::clusters() const {
  return connection_.rows(fmt::format("{} ORDER BY id", kClusters), {}, cluster_from);
}

std::optional<StoredCluster> ProblemTable::cluster(ClusterRow id) const {
  return connection_.first(fmt::format("{} WHERE id = ?", kClusters), {id}, cluster_from);
}

StrategyRow StrategyTable::add(const StoredStrategy& strategy) {
  return connection_.write([&] {
    const std::string digest = strategy.digest.hex();
    const std::string created = connection_.created_or_now(strategy.created);
    const auto known =
        connection_.first("SELECT id FROM strategy WHERE model = ? AND cluster = ? AND digest = ?",
                          {strategy.model, strategy.cluster, digest}, id_of);
    if (!known)
      return connection_.insert(
          "INSERT INTO strategy (model, cluster, parent, run, origin, label, digest, json, "
          "step_time_ns, feasible, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          {strategy.model, strategy.cluster, strategy.parent, strategy.run, strategy.origin,
           strategy.label, digest, connection_.put_value(strategy.json), strategy.step_time_ns,
           strategy.feasible, created});
    // What a run only had on its way is nobody's: it becomes what is stored now. Not where the
    // parent comes from it.
    if (!strategy.run)
      connection_.execute(
          "WITH RECURSIVE above(id) AS (SELECT ?2 WHERE ?2 IS NOT NULL UNION SELECT s.parent "
          "FROM strategy s JOIN above ON s.id = above.id WHERE s.parent IS NOT NULL) "
          "UPDATE strategy SET run = NULL, parent = ?2, origin = ?3, label = ?4, created = ?5 "
          "WHERE id = ?1 AND run IS NOT NULL "
          "AND id NOT IN (SELECT best FROM run WHERE best IS NOT NULL) "
          "AND id NOT IN (SELECT id FROM above)",
          {*known, strategy.parent, strategy.origin, strategy.label, created});
    return *known;
  });
}

void StrategyTable::rename(StrategyRow strategy, std::string_view label) {
  connection_.execute("UPDATE strategy SET label = ? WHERE id = ?", {label, strategy});
}

std::vector<StoredStrategy> StrategyTable::all() const {
  return connection_.rows(fmt::format("{} FROM strategy ORDER BY id", kStrategies), {},
                          strategy_from);
}

std::optional<StoredStrategy> StrategyTable::find(StrategyRow id) const {
  return connection_.first(fmt::format("{}, codec, size, bytes FROM strategy "
                                       "JOIN value ON value.digest = strategy.json WHERE id = ?",
                                       kStrategies),
                           {id}, strategy_from);
}

RunRow RunTable::add(const StoredRun& run) {
  return connection_.insert(
      "INSERT INTO run (state, best, baseline_ns, best_ns, evaluations, wall_seconds, note, "
      "options, model, cluster, planner, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {run.state, run.best, run.baseline_ns, run.best_ns, run.evaluations, run.wall_seconds,
       run.note, run.options, run.model, run.cluster, run.planner,
       connection_.created_or_now(run.created)});
}

void RunTable::update(const StoredRun& run) {
  const int changed = connection_.execute(
      "UPDATE run SET state = ?, best = ?, baseline_ns = ?, best_ns = ?, evaluations = ?, "
      "wall_seconds = ?, note = ?, options = ? WHERE id = ?",
      {run.state, run.best, run.baseline_ns, run.best_ns, run.evaluations, run.wall_seconds,
       run.note, run.options, run.id});
  if (changed == 0) connection_.fail_missing(fmt::format("run {}", run.id));
}

void RunTable::remove(RunRow run) {
  connection_.write([&] {
    connection_.execute("DELETE FROM run WHERE id = ?", {run});
    connection_.execute("DELETE FROM setting WHERE key GLOB ?", {fmt::format("run/{}/*", run)});
  });
}

std::vector<StoredRun> RunTable::all() const {
  return connection_.rows(fmt::format("{} ORDER BY id", kRuns), {}, run_from);
}

std::optional<StoredRun> RunTable::find(RunRow id) const {
  return connection_.first(fmt::format("{} WHERE id = ?", kRuns), {id}, run_from);
}

void RunTable::add_history(RunRow run, const HistoryPoint& point) {
  connection_.insert(
      "INSERT INTO history (run, evaluations, elapsed_seconds, best_ns) VALUES (?, ?, ?, ?)",
      {run, point.evaluations, point.elapsed_seconds, point.best_ns});
}

std::vector<HistoryPoint> RunTable::history(RunRow run) const {
  return connection_.rows(
      "SELECT evaluations, elapsed_seconds, best_ns FROM history WHERE run = ? ORDER BY id", {run},
      [](const ResultRow& row) {
        HistoryPoint point;
        row.read(point.evaluations, point.elapsed_seconds, point.best_ns);
        return point;
      });
}

void RunTable::save_tree(RunRow run, std::string_view bytes) {
  const store::Packed packed = store::pack(bytes);  // before the write: others may write meanwhile
  connection_.insert(
      "INSERT INTO tree (run, codec, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE "
      "SET codec = excluded.codec, size = excluded.size, bytes = excluded.bytes",
      {run, packed.codec, packed.size, store::Argument::Bytes{packed.bytes}});
}

std::optional<std::string> RunTable::tree(RunRow run) const {
  return connection_.first(
      "SELECT codec, size, bytes FROM tree WHERE run = ?", {run}, [&](const ResultRow& row) {
        try {
          return row.unpacked(0);
        } catch (const InputError&) {
          throw InputError(connection_.file().string(), fmt::format("run {}", run),
                           "the search tree is damaged",
                           "search again from the start, or restore a copy of the workspace");
        }
      });
}

}  // namespace strato
