#include "core/store/workspace.h"

#include "core/base/error.h"
#include "core/store/workspace_state.h"

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

std::string_view name_of(LaunchState state) {
  switch (state) {
    case LaunchState::Finished:
      return "finished";
    case LaunchState::Failed:
      return "failed";
    case LaunchState::Cancelled:
      return "cancelled";
    case LaunchState::Running:
      return "running";
  }
  return "unknown";
}

namespace {

using Statement = SQLite::Statement;

void bind_optional(Statement& statement, int index, const std::optional<std::int64_t>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

void bind_text(Statement& statement, int index, std::string_view text) {
  statement.bind(index, std::string(text));
}

// Binds codec, size and bytes from `first` on; `packed` must outlive the step.
void bind_packed(Statement& statement, int first, const store::Packed& packed) {
  statement.bind(first, static_cast<int>(packed.codec));
  statement.bind(first + 1, packed.size);
  statement.bindNoCopy(first + 2, packed.bytes.data(), static_cast<int>(packed.bytes.size()));
}

std::string now(const SQLite::Database& database) {
  Statement clock(database, "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')");
  clock.executeStep();
  return clock.getColumn(0).getString();
}

std::string created_or_now(const std::string& created, const SQLite::Database& database) {
  return created.empty() ? now(database) : created;
}

// Puts a value into the table of values unless it is there, and returns its key.
std::string keep_value(const SQLite::Database& database, std::string_view value) {
  std::string key = digest_of(value).hex();
  Statement known(database, "SELECT 1 FROM value WHERE digest = ?");
  bind_text(known, 1, key);
  if (known.executeStep()) return key;
  const store::Packed packed = store::pack(value);
  Statement insert(database, "INSERT INTO value (digest, codec, size, bytes) VALUES (?, ?, ?, ?)");
  bind_text(insert, 1, key);
  bind_packed(insert, 2, packed);
  insert.exec();
  return key;
}

void bind_run(Statement& statement, const StoredRun& run) {
  statement.bind(1, static_cast<int>(run.state));
  bind_optional(statement, 2, run.best);
  statement.bind(3, run.baseline_ns);
  statement.bind(4, run.best_ns);
  statement.bind(5, run.evaluations);
  statement.bind(6, run.wall_seconds);
  bind_text(statement, 7, run.note);
  bind_text(statement, 8, run.options);
}

// A strategy that a run only had on its way belongs to nobody, and becomes what is stored now; not
// where the parent comes from it.
void take_over(SQLite::Database& database, StrategyRow row, const StoredStrategy& strategy) {
  Statement update(database,
                   "WITH RECURSIVE above(id) AS (SELECT ?2 WHERE ?2 IS NOT NULL UNION "
                   "SELECT s.parent FROM strategy s JOIN above ON s.id = above.id "
                   "WHERE s.parent IS NOT NULL) "
                   "UPDATE strategy SET run = NULL, parent = ?2, origin = ?3, label = ?4, "
                   "created = ?5 WHERE id = ?1 AND run IS NOT NULL "
                   "AND id NOT IN (SELECT best FROM run WHERE best IS NOT NULL) "
                   "AND id NOT IN (SELECT id FROM above)");
  update.bind(1, row);
  bind_optional(update, 2, strategy.parent);
  update.bind(3, static_cast<int>(strategy.origin));
  bind_text(update, 4, strategy.label);
  bind_text(update, 5, created_or_now(strategy.created, database));
  update.exec();
}

}  // namespace

Workspace::Workspace(const std::filesystem::path& file, bool read_only)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->database = store::open_database(file, read_only);
}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
const std::filesystem::path& Workspace::file() const { return state_->file; }

ModelRow Workspace::add(const StoredModel& model) {
  return state_->write([&]() -> ModelRow {
    const std::string digest = model.digest.hex();
    Statement known = state_->prepare("SELECT id FROM model WHERE digest = ? AND options = ?");
    bind_text(known, 1, digest);
    bind_text(known, 2, model.options);
    if (known.executeStep()) return known.getColumn(0).getInt64();
    Statement insert = state_->prepare(
        "INSERT INTO model (name, path, options, digest, content) VALUES (?, ?, ?, ?, ?)");
    bind_text(insert, 1, model.name);
    bind_text(insert, 2, model.path);
    bind_text(insert, 3, model.options);
    bind_text(insert, 4, digest);
    bind_text(insert, 5, keep_value(*state_->database, model.content));
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

ClusterRow Workspace::add(const StoredCluster& cluster) {
  return state_->write([&]() -> ClusterRow {
    const std::string digest = cluster.digest.hex();
    Statement known = state_->prepare("SELECT id FROM cluster WHERE digest = ?");
    bind_text(known, 1, digest);
    if (known.executeStep()) {  // what is no part of the digest, as its price, is as of now
      const ClusterRow row = known.getColumn(0).getInt64();
      Statement update =
          state_->prepare("UPDATE cluster SET json = ?1 WHERE id = ?2 AND json <> ?1");
      bind_text(update, 1, keep_value(*state_->database, cluster.json));
      update.bind(2, row);
      update.exec();
      return row;
    }
    Statement insert = state_->prepare("INSERT INTO cluster (name, digest, json) VALUES (?, ?, ?)");
    bind_text(insert, 1, cluster.name);
    bind_text(insert, 2, digest);
    bind_text(insert, 3, keep_value(*state_->database, cluster.json));
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

StrategyRow Workspace::add(const StoredStrategy& strategy) {
  return state_->write([&]() -> StrategyRow {
    const std::string digest = strategy.digest.hex();
    Statement known =
        state_->prepare("SELECT id FROM strategy WHERE model = ? AND cluster = ? AND digest = ?");
    known.bind(1, strategy.model);
    known.bind(2, strategy.cluster);
    bind_text(known, 3, digest);
    if (known.executeStep()) {
      const StrategyRow row = known.getColumn(0).getInt64();
      if (!strategy.run) take_over(*state_->database, row, strategy);
      return row;
    }
    Statement insert = state_->prepare(
        "INSERT INTO strategy (model, cluster, parent, run, origin, label, digest, json, "
        "step_time_ns, "
        "feasible, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, strategy.model);
    insert.bind(2, strategy.cluster);
    bind_optional(insert, 3, strategy.parent);
    bind_optional(insert, 4, strategy.run);
    insert.bind(5, static_cast<int>(strategy.origin));
    bind_text(insert, 6, strategy.label);
    bind_text(insert, 7, digest);
    bind_text(insert, 8, keep_value(*state_->database, strategy.json));
    insert.bind(9, strategy.step_time_ns);
    insert.bind(10, strategy.feasible ? 1 : 0);
    bind_text(insert, 11, created_or_now(strategy.created, *state_->database));
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

RunRow Workspace::add(const StoredRun& run) {
  return state_->write([&]() -> RunRow {
    Statement insert = state_->prepare(
        "INSERT INTO run (state, best, baseline_ns, best_ns, evaluations, wall_seconds, note, "
        "options, "
        "model, cluster, planner, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_run(insert, run);
    insert.bind(9, run.model);
    insert.bind(10, run.cluster);
    bind_text(insert, 11, run.planner);
    bind_text(insert, 12, created_or_now(run.created, *state_->database));
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

void Workspace::update(const StoredRun& run) {
  state_->write([&] {
    Statement update = state_->prepare(
        "UPDATE run SET state = ?, best = ?, baseline_ns = ?, best_ns = ?, evaluations = ?, "
        "wall_seconds = ?, note = ?, options = ? WHERE id = ?");
    bind_run(update, run);
    update.bind(9, run.id);
    if (update.exec() == 0) {
      throw InputError(state_->file.string(), "", "has no run " + std::to_string(run.id),
                       "it may have been deleted by another program");
    }
  });
}

void Workspace::add_history(RunRow run, const HistoryPoint& point) {
  state_->write([&] {
    Statement insert = state_->prepare(
        "INSERT INTO history (run, evaluations, elapsed_seconds, best_ns) VALUES (?, ?, ?, ?)");
    insert.bind(1, run);
    insert.bind(2, point.evaluations);
    insert.bind(3, point.elapsed_seconds);
    insert.bind(4, point.best_ns);
    insert.exec();
  });
}

void Workspace::save_tree(RunRow run, std::string_view bytes) {
  const store::Packed packed =
      store::pack(bytes);  // outside the transaction: others may write meanwhile
  state_->write([&] {
    Statement insert = state_->prepare(
        "INSERT INTO tree (run, codec, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (run) DO "
        "UPDATE SET "
        "codec = excluded.codec, size = excluded.size, bytes = excluded.bytes");
    insert.bind(1, run);
    bind_packed(insert, 2, packed);
    insert.exec();
  });
}

TrainingRow Workspace::add(const StoredTraining& training) {
  return state_->write([&]() -> TrainingRow {
    Statement insert = state_->prepare(
        "INSERT INTO training (planner, options, weights, created) VALUES (?, ?, ?, ?)");
    bind_text(insert, 1, training.planner);
    bind_text(insert, 2, training.options);
    bind_text(insert, 3, training.weights);
    bind_text(insert, 4, created_or_now(training.created, *state_->database));
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

// A step that is there is replaced: a training that goes on from a checkpoint does steps again.
void Workspace::add_loss(TrainingRow training, const LossPoint& point) {
  state_->write([&] {
    Statement insert = state_->prepare(
        "INSERT INTO loss (training, step, loss, held_out_loss, elapsed_seconds) VALUES (?, ?, ?, "
        "?, ?) ON CONFLICT (training, step) DO UPDATE SET loss = excluded.loss, held_out_loss = "
        "excluded.held_out_loss, elapsed_seconds = excluded.elapsed_seconds");
    insert.bind(1, training);
    insert.bind(2, point.step);
    insert.bind(3, point.loss);
    if (point.held_out_loss) {
      insert.bind(4, *point.held_out_loss);
    } else {
      insert.bind(4);
    }
    insert.bind(5, point.elapsed_seconds);
    insert.exec();
  });
}

LaunchRow Workspace::add(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  return state_->write([&]() -> LaunchRow {
    Statement insert = state_->prepare(
        "INSERT INTO launch (strategy, launcher, options, state, predicted_ns, measured_ns, note, "
        "created, codec, size, bytes, job, folder, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?)");
    insert.bind(1, launch.strategy);
    bind_text(insert, 2, launch.launcher);
    bind_text(insert, 3, launch.options);
    insert.bind(4, static_cast<int>(launch.state));
    insert.bind(5, launch.predicted_ns);
    insert.bind(6, launch.measured_ns);
    bind_text(insert, 7, launch.note);
    bind_text(insert, 8, created_or_now(launch.created, *state_->database));
    bind_packed(insert, 9, packed);
    bind_text(insert, 12, launch.job);
    bind_text(insert, 13, launch.folder);
    bind_optional(insert, 14, launch.id != 0 ? std::optional(launch.id) : std::nullopt);
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

void Workspace::update(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  state_->write([&] {
    Statement update = state_->prepare(
        "UPDATE launch SET state = ?, measured_ns = ?, note = ?, codec = ?, size = ?, bytes = ?, "
        "job = ?, folder = ? WHERE id = ?");
    update.bind(1, static_cast<int>(launch.state));
    update.bind(2, launch.measured_ns);
    bind_text(update, 3, launch.note);
    bind_packed(update, 4, packed);
    bind_text(update, 7, launch.job);
    bind_text(update, 8, launch.folder);
    update.bind(9, launch.id);
    if (update.exec() == 0) {
      throw InputError(state_->file.string(), "", "has no launch " + std::to_string(launch.id),
                       "it may have been deleted by another program");
    }
  });
}

void Workspace::remove_launch(LaunchRow launch) {
  state_->write([&] {
    Statement remove = state_->prepare("DELETE FROM launch WHERE id = ?");
    remove.bind(1, launch);
    remove.exec();
  });
}

void Workspace::remove_run(RunRow run) {
  state_->write([&] {
    Statement remove = state_->prepare("DELETE FROM run WHERE id = ?");
    remove.bind(1, run);
    remove.exec();
    Statement settings = state_->prepare("DELETE FROM setting WHERE key GLOB ?");
    bind_text(settings, 1, "run/" + std::to_string(run) + "/*");
    settings.exec();
  });
}

void Workspace::rename_strategy(StrategyRow strategy, std::string_view label) {
  state_->write([&] {
    Statement update = state_->prepare("UPDATE strategy SET label = ? WHERE id = ?");
    bind_text(update, 1, label);
    update.bind(2, strategy);
    update.exec();
  });
}

void Workspace::set_setting(std::string_view key, std::string_view value) {
  state_->write([&] {
    Statement insert = state_->prepare(
        "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = "
        "excluded.value");
    bind_text(insert, 1, key);
    bind_text(insert, 2, value);
    insert.exec();
  });
}

}  // namespace strato
