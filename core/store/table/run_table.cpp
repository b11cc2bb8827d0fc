#include "core/store/table/run_table.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/sqlite/connection.h"

namespace strato {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::Running:
      return "running";
    case RunState::Paused:
      return "paused";
    case RunState::Finished:
      return "finished";
    case RunState::Stopped:
      return "stopped";
    case RunState::Failed:
      return "failed";
  }
  return "unknown";
}

namespace {

using store::ResultRow;

// The columns are id, model, cluster, planner, options, state, best, baseline_ns, best_ns,
// evaluations, wall_seconds, note, created.
StoredRun run_from(const ResultRow& row) {
  StoredRun run;
  run.id = row.integer(0);
  run.model = row.integer(1);
  run.cluster = row.integer(2);
  run.planner = row.text(3);
  run.options = row.text(4);
  run.state = row.enumerated<RunState>(5);
  run.best = row.optional_integer(6);
  run.baseline_ns = row.integer(7);
  run.best_ns = row.integer(8);
  run.evaluations = row.integer(9);
  run.wall_seconds = row.real(10);
  run.note = row.text(11);
  run.created = row.text(12);
  return run;
}

}  // namespace

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
  return connection_.rows(
      "SELECT id, model, cluster, planner, options, state, best, baseline_ns, best_ns, "
      "evaluations, wall_seconds, note, created FROM run ORDER BY id",
      {}, run_from);
}

std::optional<StoredRun> RunTable::find(RunRow id) const {
  return connection_.first(
      "SELECT id, model, cluster, planner, options, state, best, baseline_ns, best_ns, "
      "evaluations, wall_seconds, note, created FROM run WHERE id = ?",
      {id}, run_from);
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
        return HistoryPoint{row.integer(0), row.real(1), row.integer(2)};
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
