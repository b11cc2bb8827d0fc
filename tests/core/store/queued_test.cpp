// Searches that wait, and all that a workspace lists.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/store/sqlite/database_file.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

class QueuedTest : public ::testing::Test {
 protected:
  QueuedTest() {
    StoredModel model;
    model.name = "lenet";
    model.digest = digest_of("model");
    row_.model = workspace_.add(model);
    StoredCluster cluster;
    cluster.name = "two";
    cluster.json = "{}";
    cluster.digest = digest_of("cluster");
    row_.cluster = workspace_.add(cluster);
    row_.planner = "mcts";
    row_.options = R"({"seed":1})";
  }
  std::vector<QueuedRow> order() const {
    std::vector<QueuedRow> rows;
    for (const StoredQueued& queued : workspace_.queue().all()) rows.push_back(queued.id);
    return rows;
  }

  TemporaryFolder folder_;
  Workspace workspace_{folder_ / "a.strata"};
  StoredQueued row_;
};

TEST_F(QueuedTest, StandsBehindThoseThatWaitAndIsReadBack) {
  row_.groups = "{\"names\":\"ops\"}";
  const QueuedRow first = workspace_.add(row_);
  const QueuedRow second = workspace_.add(row_);
  EXPECT_EQ(order(), (std::vector{first, second}));
  const Workspace other(folder_ / "a.strata", true);
  const StoredQueued read = other.queue().all().front();
  EXPECT_EQ(read.model, row_.model);
  EXPECT_EQ(read.cluster, row_.cluster);
  EXPECT_EQ(read.planner, "mcts");
  EXPECT_EQ(read.options, row_.options);
  EXPECT_EQ(read.groups, row_.groups);
  EXPECT_EQ(read.created.size(), 20u);
}

TEST_F(QueuedTest, IsPutInAnotherOrderWhateverElseIsThere) {
  const QueuedRow a = workspace_.add(row_), b = workspace_.add(row_), c = workspace_.add(row_);
  workspace_.queue().order({c, a});
  EXPECT_EQ(order(), (std::vector{c, a, b}));
  workspace_.queue().order({b, 99});  // one that is gone
  EXPECT_EQ(order(), (std::vector{b, c, a}));
  workspace_.queue().order({});
  const QueuedRow d = workspace_.add(row_);
  EXPECT_EQ(order().back(), d);
}

TEST_F(QueuedTest, IsRemovedAndItsRowIsNotGivenTwice) {
  const QueuedRow first = workspace_.add(row_);
  workspace_.queue().remove(first);
  workspace_.queue().remove(first);  // no longer there: nothing to do
  EXPECT_TRUE(order().empty());
  EXPECT_GT(workspace_.add(row_), first);
}

TEST_F(QueuedTest, IsOfAModelAndAClusterThatAreThere) {
  row_.model = 77;
  EXPECT_THROW(workspace_.add(row_), InputError);
}

TEST_F(QueuedTest, AWorkspaceFromBeforeHasNoneAndTakesSome) {
  const auto all = store::migrations();
  const auto file = folder_ / "old.strata";
  store::open_database(file, false, all.first(5));
  EXPECT_TRUE(Workspace(file, true).queue().all().empty());  // brought up to date in memory only
  Workspace old(file);
  row_.model = old.add(*workspace_.problems().model(row_.model));
  row_.cluster = old.add(*workspace_.problems().cluster(row_.cluster));
  old.add(row_);
  EXPECT_EQ(old.queue().all().size(), 1u);
}

TEST_F(QueuedTest, ListsAreOfOneMomentAndKnowTheirRows) {
  workspace_.settings().set("constraints/a", "1");
  workspace_.settings().set("constraintsb", "2");
  workspace_.settings().set("curves/1", "3");
  StoredRun run;
  run.model = row_.model;
  run.cluster = row_.cluster;
  run.id = workspace_.add(run);
  const WorkspaceLists lists(workspace_, "constraints/");
  EXPECT_TRUE(lists.is_read());
  EXPECT_EQ(lists.version(), workspace_.data_version());
  EXPECT_EQ(lists.file(), workspace_.file());
  ASSERT_NE(lists.run(run.id), nullptr);
  EXPECT_EQ(lists.run(run.id + 1), nullptr);
  EXPECT_EQ(lists.run(-1), nullptr);
  EXPECT_EQ(lists.strategy(1), nullptr);
  ASSERT_NE(lists.setting("constraints/a"), nullptr);
  EXPECT_EQ(*lists.setting("constraints/a"), "1");
  EXPECT_EQ(lists.setting("constraintsb"), nullptr);
  EXPECT_EQ(lists.setting("curves/1"), nullptr);
  workspace_.runs().remove(run.id);
  EXPECT_NE(lists.version(), workspace_.data_version());
  EXPECT_EQ(lists.runs().size(), 1u);  // as it was
  EXPECT_FALSE(WorkspaceLists("b.strata").is_read());
}

}  // namespace
}  // namespace strato
