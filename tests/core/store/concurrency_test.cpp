// Several writers at once, and a writer that dies in the middle.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "core/store/sqlite/database_file.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

RunRow add_run(Workspace& workspace, const std::string& model_name) {
  StoredModel model;
  model.name = model_name;
  model.digest = digest_of(model_name);
  model.content = std::string(2000, 'm');
  StoredRun run;
  run.model = workspace.add(model);
  run.cluster = workspace.add(StoredCluster{0, "c", "{}", digest_of("c")});
  run.planner = "mcts";
  return workspace.add(run);
}

// Opens by itself (all at the same moment, on a file that is not there yet) and writes `points`.
void write_points(const std::filesystem::path& file, const std::string& name, int points) {
  Workspace workspace(file);
  const RunRow run = add_run(workspace, name);
  for (int i = 0; i < points; ++i) workspace.runs().add_history(run, {i, i * 0.5, 1000 - i});
}

void expect_sound(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  SQLite::Statement foreign(database, "PRAGMA foreign_key_check");
  EXPECT_FALSE(foreign.executeStep());
}

// Runs are read after strategies: each run has its best one there, and none is of a later moment.
TEST(WorkspaceConcurrency, ListsAreOfOneMoment) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  const Workspace reader(file);
  std::jthread writer([&](const std::stop_token& stop) {
    Workspace workspace(file);
    StoredRun run = *workspace.runs().find(add_run(workspace, "m"));
    for (int i = 0; !stop.stop_requested(); ++i) {
      StoredStrategy strategy;
      strategy.model = run.model;
      strategy.cluster = run.cluster;
      strategy.digest = digest_of(std::to_string(i));
      run.best = workspace.add(strategy);
      workspace.add(run);
    }
  });
  constexpr int kGrowing = 20;  // readings that find more than the one before
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int growing = 0;
  std::size_t before = 0;
  for (int i = 0; growing < kGrowing && std::chrono::steady_clock::now() < deadline; ++i) {
    const WorkspaceLists lists(reader, "");
    for (const StoredRun& run : lists.runs())
      ASSERT_TRUE(!run.best || lists.strategy(*run.best) != nullptr) << "reading " << i;
    growing += lists.runs().size() > std::exchange(before, lists.runs().size());
  }
  EXPECT_EQ(growing, kGrowing);
}

TEST(WorkspaceConcurrency, WhatIsReadAtOneMomentSeesNothingLater) {
  TemporaryFolder folder;
  const Workspace reader(folder / "a.strata");
  Workspace writer(folder / "a.strata");
  const std::int64_t before = reader.data_version();
  reader.read_at_one_moment([&] {
    EXPECT_EQ(reader.data_version(), before);
    add_run(writer, "m");
    EXPECT_TRUE(reader.runs().all().empty());
    EXPECT_EQ(reader.data_version(), before) << "what was read is of that version";
  });
  EXPECT_EQ(reader.runs().all().size(), 1u);
  EXPECT_NE(reader.data_version(), before);
  EXPECT_THROW(reader.read_at_one_moment([] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(reader.runs().all().size(), 1u) << "it has ended";
}

TEST(WorkspaceConcurrency, FourProcessesCreateAndWriteAtOnce) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      int status = 0;
      try {
        write_points(file, "model" + std::to_string(child), 100);
      } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  Workspace workspace(file);
  ASSERT_EQ(workspace.runs().all().size(), 4u);
  EXPECT_EQ(workspace.problems().models().size(), 4u);
  EXPECT_EQ(workspace.problems().clusters().size(), 1u);
  for (const StoredRun& run : workspace.runs().all())
    EXPECT_EQ(workspace.runs().history(run.id).size(), 100u);
  expect_sound(file);
}

TEST(WorkspaceConcurrency, ThreadsWithTheirOwnObjects) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&file, i] { write_points(file, "model" + std::to_string(i), 50); });
  }
  threads.clear();
  EXPECT_EQ(Workspace(file).runs().all().size(), 3u);
  expect_sound(file);
}

TEST(WorkspaceConcurrency, AReaderSeesWritesOfAnOpenWriter) {
  TemporaryFolder folder;
  Workspace writer(folder / "a.strata");
  Workspace reader(folder / "a.strata", true);
  const RunRow run = add_run(writer, "m");
  writer.runs().add_history(run, {1, 1, 1});
  EXPECT_EQ(reader.runs().history(run).size(), 1u);
}

// Writes until it is killed, and tells through the pipe what has been committed.
[[noreturn]] void write_forever(const std::filesystem::path& file, int pipe) {
  Workspace workspace(file);
  const RunRow run = add_run(workspace, "m");
  for (std::int32_t i = 0;; ++i) {
    workspace.runs().add_history(run, {i, 0, 0});
    workspace.runs().save_tree(
        run, std::string(200'000, static_cast<char>('a' + i % 26)) + std::to_string(i));
    if (::write(pipe, &i, sizeof i) != sizeof i) ::_exit(1);
  }
}

TEST(WorkspaceConcurrency, KilledWriterLosesNothingCommitted) {
  TemporaryFolder folder;
  for (int round = 0; round < 5; ++round) {
    const std::filesystem::path file = folder / ("a" + std::to_string(round) + ".strata");
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) write_forever(file, ends[1]);
    ::close(ends[1]);
    std::int32_t committed = -1;
    while (committed < 10 + round * 7 && ::read(ends[0], &committed, sizeof committed) > 0) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);

    Workspace workspace(file);
    const RunRow run = workspace.runs().all().at(0).id;
    EXPECT_GT(static_cast<std::int32_t>(workspace.runs().history(run).size()), committed);
    const std::string tree = *workspace.runs().tree(run);
    EXPECT_GE(std::stoi(tree.substr(200'000)), committed);
    EXPECT_EQ(std::set<char>(tree.begin(), tree.begin() + 200'000).size(), 1u);
    workspace.runs().add_history(run, {0, 0, 0});
    expect_sound(file);
  }
}

}  // namespace
}  // namespace strato
