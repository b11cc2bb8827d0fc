// Files that cannot be a workspace, and disks that cannot hold one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/store/sqlite/database_file.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_FALSE(error.file().empty());
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  return "no error";
}

void expect_refused(const std::filesystem::path& file, const std::string& part) {
  for (const bool read_only : {false, true}) {
    const std::string message = message_of([&] { Workspace workspace(file, read_only); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find(file.string()), std::string::npos) << message;
  }
}

TEST(BadWorkspace, NotSqliteIsRefusedAndUntouched) {
  TemporaryFolder folder;
  for (const std::string& text : {std::string("x"), std::string("hello"), std::string(100'000, 'z'),
                                  std::string("SQLite format 3\0garbage", 23)}) {
    write_file(folder / "a.strata", text);
    const std::string message = message_of([&] { Workspace workspace(folder / "a.strata"); });
    EXPECT_NE(message.find("a.strata"), std::string::npos) << message;
    EXPECT_TRUE(read_file(folder / "a.strata") == text);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.strata-wal"));
  }
  write_file(folder / "b.strata", std::string(100'000, 'z'));
  expect_refused(folder / "b.strata", "is not a workspace (not an SQLite file)");
}

TEST(BadWorkspace, AnotherProgramsDatabaseIsRefused) {
  TemporaryFolder folder;
  {
    SQLite::Database database((folder / "a.strata").string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE photos (id INTEGER)");
  }
  const std::string before = read_file(folder / "a.strata");
  expect_refused(folder / "a.strata", "another program");
  EXPECT_TRUE(read_file(folder / "a.strata") == before);
}

TEST(BadWorkspace, NewerVersionIsRefusedAndUntouched) {
  TemporaryFolder folder;
  { Workspace workspace(folder / "a.strata"); }
  {
    SQLite::Database database((folder / "a.strata").string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version = 7");
  }
  expect_refused(folder / "a.strata",
                 "made by a newer Stratoscope: schema 7, this one reads up to " +
                     std::to_string(Workspace::kSchemaVersion));
}

TEST(BadWorkspace, WhatMakesRowsWithoutAnEndIsRefused) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  for (const std::string& sql :
       {"DROP TABLE setting; CREATE VIEW setting AS " + endless +
            "SELECT i AS key, '' AS value FROM n",
        std::string("ALTER TABLE setting ADD COLUMN more TEXT AS (hex(zeroblob(400000000)))"),
        "CREATE TRIGGER more AFTER INSERT ON setting BEGIN INSERT INTO setting SELECT i, '' FROM "
        "(" +
            endless + "SELECT i FROM n); END"}) {
    TemporaryFolder folder;
    { Workspace workspace(folder / "a.strata"); }
    SQLite::Database((folder / "a.strata").string(), SQLite::OPEN_READWRITE).exec(sql);
    expect_refused(folder / "a.strata", "in it, which no workspace has");
  }
}

TEST(BadWorkspace, DamagedPagesAreReported) {
  TemporaryFolder folder;
  {
    Workspace workspace(folder / "a.strata");
    for (int i = 0; i < 500; ++i)
      workspace.settings().set("key" + std::to_string(i), std::string(900, 'v'));
  }
  std::string bytes = read_file(folder / "a.strata");
  std::fill(bytes.begin() + 4096, bytes.end(), '\x5a');
  write_file(folder / "a.strata", bytes);
  const std::string message = message_of([&] {
    Workspace workspace(folder / "a.strata");
    (void)workspace.settings().find("key77");
  });
  EXPECT_NE(message.find("damaged"), std::string::npos) << message;
}

TEST(BadWorkspace, FolderThatIsNotThereOrCannotBeWritten) {
  TemporaryFolder folder;
  EXPECT_NE(message_of([&] {
              Workspace workspace(folder / "no/such/a.strata");
            }).find("cannot be opened"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Workspace workspace("/proc/a.strata"); }).find("/proc/a.strata"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Workspace workspace(folder.path()); }).find("is a folder"),
            std::string::npos);
}

TEST(BadWorkspace, LockedFileIsReportedAfterAWait) {
  TemporaryFolder folder;
  { Workspace workspace(folder / "a.strata"); }
  SQLite::Database holder((folder / "a.strata").string(), SQLite::OPEN_READWRITE);
  holder.exec("BEGIN EXCLUSIVE");
  SQLite::Database impatient((folder / "a.strata").string(), SQLite::OPEN_READWRITE);
  const std::string message = message_of(
      [&] { store::guarded(folder / "a.strata", [&] { impatient.exec("BEGIN IMMEDIATE"); }); });
  EXPECT_NE(message.find("is locked by another program"), std::string::npos) << message;
}

// A limit on the size of files stands for a full disk.
TEST(BadWorkspace, FullDiskIsAnErrorAndWhatWasThereStays) {
  TemporaryFolder folder;
  { Workspace(folder / "a.strata").settings().set("k", "v"); }
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int status = 1;
    try {
      Workspace workspace(folder / "a.strata");
      for (int i = 0; i < 1000; ++i)
        workspace.settings().set("big" + std::to_string(i), std::string(9000, 'b'));
    } catch (const InputError& error) {
      status = std::string(error.what()).find("a.strata") == std::string::npos ? 2 : 0;
    } catch (...) {
      status = 3;
    }
    ::_exit(status);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Workspace workspace(folder / "a.strata");
  EXPECT_EQ(workspace.settings().find("k"), "v");
  workspace.settings().set("after", "works");
}

TEST(BadWorkspace, ANewFileThatDoesNotFitIsNotLeftBehind) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{6000, 6000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { Workspace workspace(folder / "a.strata"); });
    ::_exit(message.find("a.strata") == std::string::npos ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Migrations, RunForwardOnceAndKeepTheData) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  { Workspace(file).settings().set("k", "old"); }
  std::vector<store::Migration> steps(store::migrations().begin(), store::migrations().end());
  const int next = Workspace::kSchemaVersion + 1;
  steps.push_back({next, "ALTER TABLE setting ADD COLUMN extra TEXT NOT NULL DEFAULT 'new'"});
  steps.push_back({next + 1, "CREATE TABLE study (id INTEGER PRIMARY KEY)"});
  for (int round = 0; round < 2; ++round) {
    auto database = store::open_database(file, false, steps);
    EXPECT_EQ(database->execAndGet("PRAGMA user_version").getInt(), next + 1);
    EXPECT_EQ(database->execAndGet("SELECT extra FROM setting WHERE value = 'old'").getString(),
              "new");
    EXPECT_EQ(database->execAndGet("SELECT count(*) FROM study").getInt(), 0);
  }
  EXPECT_NE(
      message_of([&] { Workspace workspace(file); }).find("schema " + std::to_string(next + 1)),
      std::string::npos);
}

TEST(Migrations, AFailedStepChangesNothing) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  { Workspace(file).settings().set("k", "old"); }
  std::vector<store::Migration> steps(store::migrations().begin(), store::migrations().end());
  steps.push_back({Workspace::kSchemaVersion + 1,
                   "CREATE TABLE study (id INTEGER); SELECT nonsense FROM nowhere;"});
  EXPECT_THROW(store::open_database(file, false, steps), InputError);
  Workspace workspace(file);
  EXPECT_EQ(workspace.settings().find("k"), "old");
}

TEST(Migrations, ReadOnlyDoesNotMigrateTheFile) {
  TemporaryFolder folder;
  { Workspace workspace(folder / "a.strata"); }
  std::vector<store::Migration> steps(store::migrations().begin(), store::migrations().end());
  steps.push_back({Workspace::kSchemaVersion + 1, "CREATE TABLE study (id INTEGER)"});
  const auto copy = store::open_database(folder / "a.strata", true, steps);
  EXPECT_EQ(copy->execAndGet("SELECT count(*) FROM study").getInt(), 0);
  EXPECT_NO_THROW(Workspace workspace(folder / "a.strata"));
}

}  // namespace
}  // namespace strato
