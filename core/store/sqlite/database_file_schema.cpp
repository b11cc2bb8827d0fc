// The tables of a workspace file, version by version.
#include "core/store/sqlite/database_file.h"

namespace strato::store {
namespace {

// Large texts live in `value`, once by digest; rows refer to them. Trees change with every save, so
// they stay out.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE value (
  digest TEXT PRIMARY KEY, codec INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE model (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, path TEXT NOT NULL, options TEXT NOT NULL,
  digest TEXT NOT NULL, content TEXT NOT NULL REFERENCES value(digest),
  UNIQUE (digest, options)
);
CREATE TABLE cluster (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL REFERENCES value(digest)
);
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL REFERENCES model(id),
  cluster INTEGER NOT NULL REFERENCES cluster(id), planner TEXT NOT NULL, options TEXT NOT NULL,
  state INTEGER NOT NULL, best INTEGER REFERENCES strategy(id), baseline_ns INTEGER NOT NULL,
  best_ns INTEGER NOT NULL, evaluations INTEGER NOT NULL, wall_seconds REAL NOT NULL,
  note TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE strategy (
  id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL REFERENCES model(id),
  cluster INTEGER NOT NULL REFERENCES cluster(id), parent INTEGER REFERENCES strategy(id),
  run INTEGER REFERENCES run(id) ON DELETE SET NULL, origin INTEGER NOT NULL, label TEXT NOT NULL,
  digest TEXT NOT NULL, json TEXT NOT NULL REFERENCES value(digest), step_time_ns INTEGER NOT NULL,
  feasible INTEGER NOT NULL, created TEXT NOT NULL,
  UNIQUE (model, cluster, digest)
);
CREATE TABLE history (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  evaluations INTEGER NOT NULL, elapsed_seconds REAL NOT NULL, best_ns INTEGER NOT NULL
);
CREATE INDEX history_run ON history(run);
CREATE INDEX strategy_run ON strategy(run);
CREATE TABLE tree (
  run INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  codec INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)sql";

constexpr const char* kVersion2 = R"sql(
CREATE TABLE training (
  id INTEGER PRIMARY KEY AUTOINCREMENT, planner TEXT NOT NULL, options TEXT NOT NULL,
  weights TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE loss (
  training INTEGER NOT NULL REFERENCES training(id) ON DELETE CASCADE, step INTEGER NOT NULL,
  loss REAL NOT NULL, held_out_loss REAL, elapsed_seconds REAL NOT NULL,
  PRIMARY KEY (training, step)
) WITHOUT ROWID;
)sql";

constexpr const char* kVersion3 = R"sql(
CREATE TABLE launch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy INTEGER NOT NULL REFERENCES strategy(id) ON DELETE CASCADE,
  launcher TEXT NOT NULL, options TEXT NOT NULL, state INTEGER NOT NULL,
  predicted_ns INTEGER NOT NULL, measured_ns INTEGER NOT NULL, note TEXT NOT NULL,
  created TEXT NOT NULL,
  codec INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
);
CREATE INDEX launch_strategy ON launch(strategy);
)sql";

// This table says where a job that outlives the program is found again.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE launch ADD COLUMN job TEXT NOT NULL DEFAULT '';
ALTER TABLE launch ADD COLUMN folder TEXT NOT NULL DEFAULT '';
)sql";

// Tags and notes of models (0), clusters (1), runs (2) and strategies (3). Row ids are never
// given twice, so that nothing is said about what comes after something that was deleted.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE annotation (
  kind INTEGER NOT NULL, item INTEGER NOT NULL, tags TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (kind, item)
) WITHOUT ROWID;
CREATE TRIGGER annotation_of_run AFTER DELETE ON run BEGIN
  DELETE FROM annotation WHERE kind = 2 AND item = OLD.id;
END;
)sql";

// Searches that wait for their turn, by place and then by row.
constexpr const char* kVersion6 = R"sql(
CREATE TABLE queued (
  id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL,
  model INTEGER NOT NULL REFERENCES model(id), cluster INTEGER NOT NULL REFERENCES cluster(id),
  planner TEXT NOT NULL, options TEXT NOT NULL, groups TEXT NOT NULL, created TEXT NOT NULL
);
)sql";

constexpr Migration kMigrations[] = {{1, kVersion1}, {2, kVersion2}, {3, kVersion3},
                                     {4, kVersion4}, {5, kVersion5}, {6, kVersion6}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace strato::store
