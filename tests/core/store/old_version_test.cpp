// A workspace as the first version wrote it, opened by this one.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/store/sqlite/database_file.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

// Frozen: what files out there look like does not change when the program does.
constexpr const char* kFirstVersion = R"sql(
PRAGMA journal_mode = WAL;
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
INSERT INTO value VALUES ('00000000000000000000000000000001', 0, 2, '{}');
INSERT INTO model VALUES (1, 'lenet', '/m/lenet.onnx', '{}', '000000000000000000000000000000aa',
  '00000000000000000000000000000001');
INSERT INTO cluster VALUES (1, 'gdp', '000000000000000000000000000000bb', '00000000000000000000000000000001');
INSERT INTO run VALUES (1, 1, 1, 'mcts', '{"seed":1}', 2, NULL, 300, 200, 800, 1.5, 'note', '2026-01-01');
INSERT INTO history VALUES (1, 1, 800, 1.5, 200);
INSERT INTO tree VALUES (1, 0, 4, 'TREE');
INSERT INTO setting VALUES ('k', 'v');
PRAGMA application_id = 1398035028;
PRAGMA user_version = 1;
)sql";

void write_first_version(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(kFirstVersion);
}

int version_of(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  return database.execAndGet("PRAGMA user_version").getInt();
}

void expect_all_there(const Workspace& workspace) {
  EXPECT_EQ(workspace.problems().model(1)->content, "{}");
  EXPECT_EQ(workspace.problems().clusters().at(0).name, "gdp");
  EXPECT_EQ(workspace.runs().find(1)->best_ns, 200);
  EXPECT_EQ(workspace.runs().history(1).size(), 1u);
  EXPECT_EQ(workspace.runs().tree(1), "TREE");
  EXPECT_EQ(workspace.settings().find("k"), "v");
  EXPECT_TRUE(workspace.strategies().all().empty());
  EXPECT_TRUE(workspace.trainings().all().empty());
}

TEST(FirstVersion, IsMigratedWhenItIsOpenedForWriting) {
  TemporaryFolder folder;
  write_first_version(folder / "a.strata");
  {
    Workspace workspace(folder / "a.strata");
    expect_all_there(workspace);
    workspace.runs().save_tree(1, "NEW");
  }
  EXPECT_EQ(version_of(folder / "a.strata"), Workspace::kSchemaVersion);
  EXPECT_EQ(Workspace(folder / "a.strata").runs().tree(1), "NEW");
}

TEST(FirstVersion, IsReadAsItIsWhenItMayNotBeWritten) {
  TemporaryFolder folder;
  write_first_version(folder / "a.strata");
  const std::string before = read_file(folder / "a.strata");
  {
    Workspace workspace(folder / "a.strata", true);
    expect_all_there(workspace);
    EXPECT_THROW(workspace.settings().set("k", "w"), InputError);
    EXPECT_EQ(workspace.data_version(), workspace.data_version());
  }
  EXPECT_EQ(version_of(folder / "a.strata"), 1);
  EXPECT_TRUE(read_file(folder / "a.strata") == before);
}

// All programs that open it at once get it, and none migrates twice.
TEST(FirstVersion, SeveralReadersAndAWriterAtOnce) {
  TemporaryFolder folder;
  write_first_version(folder / "a.strata");
  const Workspace before(folder / "a.strata", true);
  Workspace writer(folder / "a.strata");
  writer.settings().set("k", "w");
  const Workspace after(folder / "a.strata", true);
  expect_all_there(before);
  EXPECT_EQ(after.settings().find("k"), "w");
}

// What stands in the file of the tree is cut short or overwritten: the rest of the run is there.
TEST(DamagedTree, IsToldAndTheRunStaysUsable) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  write_first_version(file);
  Workspace workspace(file);
  std::string tree;
  for (int i = 0; i < 3000; ++i) tree += std::to_string(i * 7919);
  workspace.runs().save_tree(1, tree);
  for (const char* damage : {"UPDATE tree SET bytes = substr(bytes, 1, length(bytes) / 2)",
                             "UPDATE tree SET bytes = x''", "UPDATE tree SET size = size + 1",
                             "UPDATE tree SET codec = 9", "UPDATE tree SET size = -1"}) {
    workspace.runs().save_tree(1, tree);
    ASSERT_EQ(workspace.runs().tree(1), tree);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(damage);
    try {
      workspace.runs().tree(1);
      ADD_FAILURE() << damage;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("a.strata: run 1: the search tree is damaged"),
                std::string::npos)
          << error.what();
    }
    EXPECT_EQ(workspace.runs().find(1)->best_ns, 200);
    EXPECT_EQ(workspace.runs().history(1).size(), 1u);
    workspace.update(*workspace.runs().find(1));
  }
}

}  // namespace
}  // namespace strato
