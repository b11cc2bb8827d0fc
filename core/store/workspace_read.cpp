#include <sqlite3.h>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "core/store/workspace_state.h"

namespace strato {
namespace {

using Statement = SQLite::Statement;

std::optional<std::int64_t> optional_id(Statement& row, int column) {
  if (row.getColumn(column).isNull()) return std::nullopt;
  return row.getColumn(column).getInt64();
}

std::string text(Statement& row, int column) { return row.getColumn(column).getString(); }

// Columns: id, name, path, options, digest.
StoredModel model_from(Statement& row) {
  StoredModel model;
  model.id = row.getColumn(0).getInt64();
  model.name = text(row, 1);
  model.path = text(row, 2);
  model.options = text(row, 3);
  model.digest = Digest::from_hex(text(row, 4));
  return model;
}

// Columns: id, model, cluster, parent, run, origin, label, digest, step_time_ns, feasible, created.
StoredStrategy strategy_from(Statement& row) {
  StoredStrategy strategy;
  strategy.id = row.getColumn(0).getInt64();
  strategy.model = row.getColumn(1).getInt64();
  strategy.cluster = row.getColumn(2).getInt64();
  strategy.parent = optional_id(row, 3);
  strategy.run = optional_id(row, 4);
  strategy.origin = static_cast<Origin>(row.getColumn(5).getInt());
  strategy.label = text(row, 6);
  strategy.digest = Digest::from_hex(text(row, 7));
  strategy.step_time_ns = row.getColumn(8).getInt64();
  strategy.feasible = row.getColumn(9).getInt() != 0;
  strategy.created = text(row, 10);
  return strategy;
}

// Columns: as in kLaunches.
StoredLaunch launch_from(Statement& row) {
  StoredLaunch launch;
  launch.id = row.getColumn(0).getInt64();
  launch.strategy = row.getColumn(1).getInt64();
  launch.launcher = text(row, 2);
  launch.options = text(row, 3);
  launch.state = static_cast<LaunchState>(row.getColumn(4).getInt());
  launch.predicted_ns = row.getColumn(5).getInt64();
  launch.measured_ns = row.getColumn(6).getInt64();
  launch.note = text(row, 7);
  launch.created = text(row, 8);
  launch.job = text(row, 9);
  launch.folder = text(row, 10);
  return launch;
}

// Columns: as in kRunColumns.
StoredRun run_from(Statement& row) {
  StoredRun run;
  run.id = row.getColumn(0).getInt64();
  run.model = row.getColumn(1).getInt64();
  run.cluster = row.getColumn(2).getInt64();
  run.planner = text(row, 3);
  run.options = text(row, 4);
  run.state = static_cast<RunState>(row.getColumn(5).getInt());
  run.best = optional_id(row, 6);
  run.baseline_ns = row.getColumn(7).getInt64();
  run.best_ns = row.getColumn(8).getInt64();
  run.evaluations = row.getColumn(9).getInt64();
  run.wall_seconds = row.getColumn(10).getDouble();
  run.note = text(row, 11);
  run.created = text(row, 12);
  return run;
}

constexpr const char* kRuns =
    "SELECT id, model, cluster, planner, options, state, best, baseline_ns, best_ns, evaluations, "
    "wall_seconds, note, created FROM run ORDER BY id";
constexpr const char* kRun =
    "SELECT id, model, cluster, planner, options, state, best, baseline_ns, best_ns, evaluations, "
    "wall_seconds, note, created FROM run WHERE id = ?";

constexpr const char* kLaunches =
    "SELECT id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created, job, "
    "folder FROM launch ORDER BY id";
constexpr const char* kLaunch =
    "SELECT id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created, job, "
    "folder, codec, size, bytes FROM launch WHERE id = ?";

// Every row of `sql` through `read`.
template <class Read>
auto rows(Statement statement, Read read) {
  std::vector<std::invoke_result_t<Read, Statement&>> result;
  while (statement.executeStep()) result.push_back(read(statement));
  return result;
}

}  // namespace

std::string Workspace::State::unpacked(Statement& row, int first) const {
  try {
    const SQLite::Column bytes = row.getColumn(first + 2);
    return store::unpack(
        row.getColumn(first).getInt(), row.getColumn(first + 1).getInt64(),
        {static_cast<const char*>(bytes.getBlob()), static_cast<std::size_t>(bytes.getBytes())});
  } catch (const InputError& error) {
    throw InputError(file.string(), "", error.problem(), error.remedy());
  }
}

std::vector<StoredModel> Workspace::models() const {
  return state_->guarded([&] {
    return rows(state_->prepare("SELECT id, name, path, options, digest FROM model ORDER BY id"),
                model_from);
  });
}

std::optional<StoredModel> Workspace::model(ModelRow id) const {
  return state_->guarded([&]() -> std::optional<StoredModel> {
    Statement row = state_->prepare(
        "SELECT id, name, path, options, model.digest, codec, size, bytes FROM model JOIN value ON "
        "value.digest = model.content WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    StoredModel model = model_from(row);
    model.content = state_->unpacked(row, 5);
    return model;
  });
}

std::vector<StoredCluster> Workspace::clusters() const {
  return state_->guarded([&] {
    return rows(
        state_->prepare("SELECT id, name, cluster.digest, codec, size, bytes FROM cluster JOIN "
                        "value ON value.digest = cluster.json ORDER BY id"),
        [&](Statement& row) {
          return StoredCluster{row.getColumn(0).getInt64(), text(row, 1), state_->unpacked(row, 3),
                               Digest::from_hex(text(row, 2))};
        });
  });
}

std::optional<StoredCluster> Workspace::cluster(ClusterRow id) const {
  return state_->guarded([&]() -> std::optional<StoredCluster> {
    Statement row = state_->prepare(
        "SELECT id, name, cluster.digest, codec, size, bytes FROM cluster JOIN value ON "
        "value.digest = "
        "cluster.json WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    return StoredCluster{row.getColumn(0).getInt64(), text(row, 1), state_->unpacked(row, 3),
                         Digest::from_hex(text(row, 2))};
  });
}

std::vector<StoredStrategy> Workspace::strategies() const {
  return state_->guarded([&] {
    return rows(state_->prepare("SELECT id, model, cluster, parent, run, origin, label, digest, "
                                "step_time_ns, feasible, created FROM strategy ORDER BY id"),
                strategy_from);
  });
}

std::optional<StoredStrategy> Workspace::strategy(StrategyRow id) const {
  return state_->guarded([&]() -> std::optional<StoredStrategy> {
    Statement row = state_->prepare(
        "SELECT id, model, cluster, parent, run, origin, label, strategy.digest, step_time_ns, "
        "feasible, "
        "created, codec, size, bytes FROM strategy JOIN value ON value.digest = strategy.json "
        "WHERE id = "
        "?");
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    StoredStrategy strategy = strategy_from(row);
    strategy.json = state_->unpacked(row, 11);
    return strategy;
  });
}

std::vector<StoredRun> Workspace::runs() const {
  return state_->guarded([&] { return rows(state_->prepare(kRuns), run_from); });
}

std::optional<StoredRun> Workspace::run(RunRow id) const {
  return state_->guarded([&]() -> std::optional<StoredRun> {
    Statement row = state_->prepare(kRun);
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    return run_from(row);
  });
}

std::vector<HistoryPoint> Workspace::history(RunRow run) const {
  return state_->guarded([&] {
    Statement statement = state_->prepare(
        "SELECT evaluations, elapsed_seconds, best_ns FROM history WHERE run = ? ORDER BY id");
    statement.bind(1, run);
    return rows(std::move(statement), [](Statement& row) {
      return HistoryPoint{row.getColumn(0).getInt64(), row.getColumn(1).getDouble(),
                          row.getColumn(2).getInt64()};
    });
  });
}

std::optional<std::string> Workspace::tree(RunRow run) const {
  return state_->guarded([&]() -> std::optional<std::string> {
    Statement row = state_->prepare("SELECT codec, size, bytes FROM tree WHERE run = ?");
    row.bind(1, run);
    if (!row.executeStep()) return std::nullopt;
    try {
      return state_->unpacked(row, 0);
    } catch (const InputError&) {
      throw InputError(state_->file.string(), "run " + std::to_string(run),
                       "the search tree is damaged",
                       "search again from the start, or restore a copy of the workspace");
    }
  });
}

std::vector<StoredTraining> Workspace::trainings() const {
  return state_->guarded([&] {
    return rows(
        state_->prepare("SELECT id, planner, options, weights, created FROM training ORDER BY id"),
        [](Statement& row) {
          return StoredTraining{row.getColumn(0).getInt64(), text(row, 1), text(row, 2),
                                text(row, 3), text(row, 4)};
        });
  });
}

std::vector<LossPoint> Workspace::losses(TrainingRow training) const {
  return state_->guarded([&] {
    Statement statement = state_->prepare(
        "SELECT step, loss, held_out_loss, elapsed_seconds FROM loss WHERE training = ? ORDER BY "
        "step");
    statement.bind(1, training);
    return rows(std::move(statement), [](Statement& row) {
      LossPoint point;
      point.step = row.getColumn(0).getInt64();
      point.loss = row.getColumn(1).getDouble();
      if (!row.getColumn(2).isNull()) point.held_out_loss = row.getColumn(2).getDouble();
      point.elapsed_seconds = row.getColumn(3).getDouble();
      return point;
    });
  });
}

std::vector<StoredLaunch> Workspace::launches() const {
  return state_->guarded([&] { return rows(state_->prepare(kLaunches), launch_from); });
}

std::optional<StoredLaunch> Workspace::launch(LaunchRow id) const {
  return state_->guarded([&]() -> std::optional<StoredLaunch> {
    Statement row = state_->prepare(kLaunch);
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    StoredLaunch launch = launch_from(row);
    launch.result = state_->unpacked(row, 11);
    return launch;
  });
}

std::optional<std::string> Workspace::setting(std::string_view key) const {
  return state_->guarded([&]() -> std::optional<std::string> {
    Statement row = state_->prepare("SELECT value FROM setting WHERE key = ?");
    row.bind(1, std::string(key));
    if (!row.executeStep()) return std::nullopt;
    return text(row, 0);
  });
}

std::map<std::string, std::string> Workspace::settings(std::string_view prefix) const {
  return state_->guarded([&] {
    Statement row =
        state_->prepare("SELECT key, value FROM setting WHERE substr(key, 1, length(?1)) = ?1");
    row.bind(1, std::string(prefix));
    std::map<std::string, std::string> found;
    while (row.executeStep()) found.emplace(text(row, 0), text(row, 1));
    return found;
  });
}

// PRAGMA data_version moves with the writes of other connections only, total_changes with our own.
std::int64_t Workspace::data_version() const {
  return state_->guarded([&] {
    const std::int64_t others = state_->database->execAndGet("PRAGMA data_version").getInt64();
    return (others << 32) + sqlite3_total_changes64(state_->database->getHandle());
  });
}

void Workspace::read_at_one_moment(const std::function<void()>& read) const {
  state_->guarded([&] {
    const SQLite::Transaction transaction(*state_->database);  // its end takes nothing back
    read();
  });
}

}  // namespace strato
