// Searches that waited when a workspace was closed, or its program killed, are offered again.
#include <gtest/gtest.h>

#include "core/search/constraints/constraints.h"
#include "core/search/tree/search_tree.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/run_queue.h"

namespace strato {
namespace {

using QueueState = RunQueue::RowState;

// A planner's problem and demands, as it was given them.
struct Given {
  Digest problem;
  std::shared_ptr<const Constraints> constraints;
  std::uint64_t seed = 0;
};

class Listening final : public Planner {
 public:
  Listening(std::unique_ptr<Planner> planner, Given& given)
      : planner_(std::move(planner)), given_(given) {}
  std::string name() const override { return planner_->name(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    given_ = {problem.digest(), options.constraints, options.seed};
    return planner_->plan(problem, evaluator, options, observer, std::move(stop),
                          std::move(resume));
  }

 private:
  std::unique_ptr<Planner> planner_;
  Given& given_;
};

// A window on the workspace: a session and its queue.
struct Window {
  explicit Window(const std::filesystem::path& file, Gate& gate)
      : queue(session, [this, &gate](std::string_view name) {
          return std::make_unique<Listening>(tiny_factory(gate)(name), given);
        }) {
    QObject::connect(&session, &Session::failed, [this](const QString& text) { failures << text; });
    QObject::connect(&session, &Session::message,
                     [this](const QString& text) { messages << text; });
    session.open_workspace(file, false);
    session.settle();
  }
  QStringList planners() const {
    QStringList names;
    for (int row = 0; row < queue.rowCount(); ++row)
      names << queue.index(row, RunQueue::Planner).data().toString();
    return names;
  }
  bool all_done() {
    return wait_until([&] { return queue.running_row() < 0 && queue.waiting() == 0; });
  }

  Session session;
  QStringList failures, messages;
  Given given;
  RunQueue queue;
};

class QueueLeftTest : public ::testing::Test {
 protected:
  ~QueueLeftTest() override { gate_.open(); }
  void begin() {
    first_ = std::make_unique<Window>(file(), gate_);
    first_->session.open_cluster(sample("clusters/tag-2x1080ti.json"));
    ImportOptions import;
    import.batch = 16;
    ProblemOptions options;
    options.grouping.max_groups = 8;
    first_->session.open_model(sample("models/lenet.onnx"), import, options);
    first_->session.settle();
    ASSERT_TRUE(first_->session.snapshot().problem);
  }
  void add(const char* planner, std::uint64_t seed = 1) {
    PlannerOptions options = as_they_are();
    options.seed = seed;
    ASSERT_EQ(first_->queue.add(planner, options), QString());
  }
  // One that runs until the end, and two behind it.
  void add_three() {
    for (const char* planner : {"waits", "dp", "one"}) add(planner);
    ASSERT_TRUE(wait_until([&] { return first_->queue.run(0) > 0; }));
    first_->session.settle();
  }
  std::size_t stored() const { return Workspace(file(), true).queue().all().size(); }
  std::filesystem::path file() const { return folder_.filePath("a.strata").toStdString(); }

  QTemporaryDir folder_;
  Gate gate_;
  std::unique_ptr<Window> first_;
};

TEST_F(QueueLeftTest, WaitAfterARestartUntilSomebodyStartsThem) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  EXPECT_EQ(stored(), 2u);  // what runs is a run
  const QString cluster = first_->session.cluster_name();
  first_.reset();
  EXPECT_EQ(stored(), 2u);

  Window again(file(), gate_);
  ASSERT_EQ(again.planners(), (QStringList{"dp", "one"}));
  EXPECT_EQ(again.queue.left(), 2);
  EXPECT_EQ(again.queue.waiting(), 0);
  EXPECT_EQ(again.queue.running_row(), -1);  // not by themselves
  EXPECT_TRUE(again.messages.join(' ').contains("2 searches"))
      << again.messages.join('|').toStdString();
  const QModelIndex index = again.queue.index(0, RunQueue::ProblemName);
  EXPECT_EQ(index.data().toString(), "lenet on " + cluster);
  EXPECT_TRUE(index.data(Qt::ToolTipRole).toString().contains("Enter starts it"));
  again.queue.stop(0);  // it does not run
  EXPECT_TRUE(again.queue.start(1));
  EXPECT_FALSE(again.queue.start(1));
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.queue.state(1), QueueState::Done);
  EXPECT_EQ(again.queue.state(0), QueueState::Left);
  again.queue.start_left();
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.queue.state(0), QueueState::Done);
  again.session.settle();
  EXPECT_EQ(stored(), 0u);
  const auto runs = Workspace(file(), true).runs().all();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].state, RunState::Stopped);
  EXPECT_EQ(runs[1].planner, "one");
  EXPECT_EQ(runs[2].planner, "dp");
  EXPECT_EQ(Workspace(file(), true).problems().models().size(), 1u);
  EXPECT_TRUE(again.failures.isEmpty()) << again.failures.join('\n').toStdString();
}

// What a killed program leaves: the file, and nobody who holds a lock.
TEST_F(QueueLeftTest, SurviveACrash) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  const std::filesystem::path copy = folder_.filePath("crashed.strata").toStdString();
  for (const char* end : {"", "-wal", "-shm"}) {
    if (std::filesystem::exists(file().string() + end))
      std::filesystem::copy_file(file().string() + end, copy.string() + end);
  }
  Window again(copy, gate_);
  EXPECT_EQ(again.planners(), (QStringList{"dp", "one"}));
  EXPECT_EQ(again.queue.left(), 2);
}

TEST_F(QueueLeftTest, KeepTheirOrderTheirProblemAndTheirDemands) {
  ASSERT_NO_FATAL_FAILURE(begin());
  Session& session = first_->session;
  add("waits");
  add("dp", 5);
  // In the groups of a plan, which are not the model's.
  const std::filesystem::path plan = folder_.filePath("p.plan.json").toStdString();
  session.regroup(3);
  session.settle();
  session.export_plan(plan);
  session.settle();
  session.open_plan(plan);
  session.settle();
  ASSERT_EQ(session.snapshot().opened->grouping->size(), 3u);
  const Digest problem = session.snapshot().opened->digest();
  add("one", 9);
  EXPECT_TRUE(first_->queue.move(2, -1));
  ASSERT_TRUE(wait_until([&] { return first_->queue.run(0) > 0; }));
  session.settle();
  first_.reset();

  Window again(file(), gate_);
  ASSERT_EQ(again.planners(), (QStringList{"one", "dp"}));
  again.queue.start(0);
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.given.problem, problem);
  EXPECT_EQ(again.given.seed, 9u);
  again.queue.start(1);
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.given.seed, 5u);
  EXPECT_NE(again.given.problem, problem);
  EXPECT_TRUE(again.failures.isEmpty()) << again.failures.join('\n').toStdString();
}

TEST_F(QueueLeftTest, AreRemovedForGood) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  EXPECT_TRUE(first_->queue.remove(1));
  first_->session.settle();
  EXPECT_EQ(stored(), 1u);
  first_.reset();
  {
    Window again(file(), gate_);
    ASSERT_EQ(again.planners(), QStringList{"one"});
    again.queue.remove_waiting();
    EXPECT_EQ(again.queue.rowCount(), 0);
  }
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(Window(file(), gate_).queue.rowCount(), 0);
}

// Each search is one window's.
TEST_F(QueueLeftTest, AreNotOfferedWhileAnotherWindowHasThem) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  auto second = std::make_unique<Window>(file(), gate_);
  EXPECT_EQ(second->queue.rowCount(), 0);
  first_.reset();
  second = std::make_unique<Window>(file(), gate_);
  EXPECT_EQ(second->queue.left(), 2);
  Window third(file(), gate_);
  EXPECT_EQ(third.queue.rowCount(), 0);
  // Another workspace in the window that had them, which gives them back.
  second->session.open_workspace(folder_.filePath("b.strata").toStdString(), false);
  second->session.settle();
  EXPECT_EQ(second->queue.rowCount(), 0);
  EXPECT_EQ(Window(file(), gate_).queue.left(), 2);
  second->session.open_workspace(file(), false);
  second->session.settle();
  EXPECT_EQ(second->queue.left(), 2);
  EXPECT_EQ(stored(), 2u);
}

TEST_F(QueueLeftTest, OneThatCannotBeDoneIsToldAndCanBeRemoved) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  first_.reset();
  {
    Workspace workspace(file());
    StoredQueued damaged = workspace.queue().all().front();
    damaged.id = 0;
    damaged.options = "{ no JSON";
    workspace.add(damaged);
    damaged = workspace.queue().all().front();
    damaged.groups = "{ no JSON, either";
    workspace.add(damaged);
  }
  Window again(file(), gate_);
  ASSERT_EQ(again.queue.rowCount(), 4);
  EXPECT_EQ(again.queue.state(2), QueueState::Failed);
  EXPECT_EQ(again.queue.state(3), QueueState::Left);
  again.queue.start(3);
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.queue.state(3), QueueState::Failed);
  again.queue.remove_done();
  again.session.settle();
  EXPECT_EQ(again.planners(), (QStringList{"dp", "one"}));
  EXPECT_EQ(stored(), 2u);
  EXPECT_TRUE(again.failures.isEmpty()) << again.failures.join('\n').toStdString();
}

// Somebody who knows of no locks took it away.
TEST_F(QueueLeftTest, OneThatIsGoneIsNotDone) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(add_three());
  first_.reset();
  Window again(file(), gate_);
  {
    Workspace workspace(file());
    for (const StoredQueued& queued : workspace.queue().all()) workspace.queue().remove(queued.id);
  }
  again.queue.start_left();
  ASSERT_TRUE(again.all_done());
  EXPECT_EQ(again.queue.state(0), QueueState::Failed);
  EXPECT_EQ(again.queue.state(1), QueueState::Failed);
  EXPECT_EQ(Workspace(file(), true).runs().all().size(), 1u);
}

}  // namespace
}  // namespace strato
