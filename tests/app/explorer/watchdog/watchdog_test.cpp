// Whatever is opened, searched, edited or closed: the window answers.
#include "tests/app/explorer/watchdog/watchdog.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "tests/app/explorer/watchdog/big_models.h"
#include "tests/paths.h"
#include "views/graph/group_graph_view.h"

namespace strato {
namespace {

const double kSlower = kSanitized ? 12 : 1;
const std::size_t kManyOps = kSanitized ? 10'000 : 100'000;
// The window is to answer within 100 ms. No event may take longer of its own; of the answers, more
// is asserted, since other programs slow this one down even while it has a processor.
const double kMostOwn = 100 * kSlower, kMostMilliseconds = 500 * kSlower;

class WatchdogTest : public ::testing::Test {
 protected:
  struct Explorer {
    Explorer() : window(std::make_unique<MainWindow>(session, false)) {
      QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
      window->resize(1280, 800);
      window->show();
    }
    GroupGraphView& graph() { return *window->findChild<GroupGraphView*>(); }
    bool quiet() { return !session.busy() && session.snapshot().explanation; }
    QStringList failed;
    Session session;
    std::unique_ptr<MainWindow> window;
  };

  static TimedApplication& app() { return static_cast<TimedApplication&>(*qApp); }

  // Tells and judges what was longest since the last call.
  static void judge(Watchdog& watchdog, const char* what) {
    const double longest = watchdog.longest_ms();
    std::printf("%-46s answers within %6.1f ms; %s\n", what, longest,
                qPrintable(app().longest_event()));
    std::fflush(stdout);
    EXPECT_LT(longest, kMostMilliseconds) << what << ": " << app().longest_event().toStdString();
    EXPECT_LT(app().longest_ms(), kMostOwn) << what << ": " << app().longest_event().toStdString();
    app().forget();
  }

  QString stored(const Graph& graph, const char* name) {
    const QString file = folder_.filePath(QString::fromUtf8(name) + QStringLiteral(".strata"));
    store_model(file.toStdString(), graph, name, 64);
    return file;
  }

  // Every view is visited, the graph is laid out, and a group of it opened.
  static void look_around(Explorer& explorer, Watchdog& watchdog) {
    MainWindow& window = *explorer.window;
    visit_views(window, [&](const NamedView&, const std::string& keys) {
      EXPECT_TRUE(run_until([&] { return explorer.quiet(); }));
      judge(watchdog, ("  view " + keys).c_str());
    });
    QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
    QTest::keyClick(&window, Qt::Key_1, Qt::AltModifier);
    EXPECT_TRUE(run_until([&] { return explorer.graph().is_laid_out(); }));
    judge(watchdog, "  graph laid out");
    explorer.graph().open_group(GroupId(0));
    EXPECT_TRUE(run_until([&] { return explorer.graph().is_laid_out(); }));
    judge(watchdog, "  group opened");
    explorer.session.selection().select_group(GroupId(1));
    EXPECT_TRUE(run_until([&] { return explorer.quiet(); }));
    judge(watchdog, "  group selected");
  }

  static void open_and_look_around(const QString& file) {
    Watchdog watchdog;
    std::optional<Explorer> explorer;
    explorer.emplace();
    judge(watchdog, "window made and shown");
    explorer->window->open({file});
    explorer->session.show_model(1);
    explorer->session.show_cluster(1);
    ASSERT_TRUE(run_until([&] { return explorer->session.snapshot().outcome != nullptr; }));
    judge(watchdog, "opened and shown");
    ASSERT_EQ(explorer->session.snapshot().problem->graph->op_count(), kManyOps);
    ASSERT_TRUE(run_until([&] { return explorer->quiet(); }));
    judge(watchdog, "explained");
    look_around(*explorer, watchdog);
    EXPECT_TRUE(explorer->failed.isEmpty()) << explorer->failed.join('\n').toStdString();
    explorer->window->close();
    judge(watchdog, "closed");
  }

  QTemporaryDir folder_;
};

TEST_F(WatchdogTest, ALongChain) {
  ASSERT_NO_FATAL_FAILURE(open_and_look_around(stored(*nested_chain(kManyOps), "chain")));
}

TEST_F(WatchdogTest, IsolatedOps) {
  ASSERT_NO_FATAL_FAILURE(open_and_look_around(stored(*isolated_ops(kManyOps), "isolated")));
}

// Of models and ops: 10,000 letters, from right to left, pictures, line breaks and marks of HTML.
TEST_F(WatchdogTest, NamesOfAnyKind) {
  toy::Model model(4);
  TensorId last = model.input("x", 64);
  const std::vector<std::string> names = {std::string(10'000, 'w'), "שכבה/ראשונה",
                                          "🚀🔥/👩‍👩‍👧‍👦", "<b>a&b</b>\n\"'%1",
                                          "a/" + std::string(5'000, 'i') + "/b"};
  for (const std::string& name : names) last = model.layer(name, {last}, 64);
  const QString file = folder_.filePath(QStringLiteral("names.strata"));
  std::string all;
  for (const std::string& name : names) all += name;
  store_model(file.toStdString(), *std::move(model).build(), all, 5);
  Watchdog watchdog;
  Explorer explorer;
  explorer.window->open({file});
  explorer.session.show_model(1);
  explorer.session.show_cluster(1);
  ASSERT_TRUE(run_until([&] { return explorer.session.snapshot().outcome && explorer.quiet(); }));
  judge(watchdog, "names opened");
  look_around(explorer, watchdog);
  EXPECT_EQ(explorer.window->size(), QSize(1280, 800));
  EXPECT_FALSE(explorer.window->grab().isNull());
  EXPECT_TRUE(explorer.failed.isEmpty()) << explorer.failed.join('\n').left(400).toStdString();
}

TEST_F(WatchdogTest, ASearch) {
  Watchdog watchdog;
  Explorer explorer;
  Session& session = explorer.session;
  explorer.window->open({sample("clusters/tag-testbed.json"), sample("models/vgg19.onnx")});
  ASSERT_TRUE(run_until([&] { return explorer.session.snapshot().outcome && explorer.quiet(); }));
  judge(watchdog, "VGG19 opened");
  PlannerOptions options;
  options.iterations = 150;
  session.start_search(QStringLiteral("mcts"), options);
  QTest::keyClick(explorer.window.get(), Qt::Key_3, Qt::ControlModifier);
  ASSERT_TRUE(run_until([&] { return session.search().state == SearchPhase::Idle; }));
  judge(watchdog, "searched in the place Search");
  ASSERT_TRUE(run_until([&] { return explorer.quiet(); }));
  judge(watchdog, "found");
  // Searches on the heels of each other, each abandoned for the next.
  options.iterations = 1'000'000;
  for (int i = 0; i < 3; ++i) {
    session.start_search(QStringLiteral("mcts"), options);
    ASSERT_TRUE(run_until([&] { return session.search().progress.iterations > 0; }));
  }
  judge(watchdog, "searches abandoned for others");
  session.stop_search();
  ASSERT_TRUE(run_until([&] { return session.search().state == SearchPhase::Idle; }));
  ASSERT_TRUE(run_until([&] { return explorer.quiet(); }));
  judge(watchdog, "stopped");
  EXPECT_TRUE(explorer.failed.isEmpty()) << explorer.failed.join('\n').toStdString();
}

// What is edited faster than it is simulated: the last of it is shown, all of it is kept.
class QuickEditsTest : public WatchdogTest {
 protected:
  static constexpr int kEdits = 20;

  void SetUp() override { file_ = stored(*nested_chain(kManyOps), "edits"); }

  void open(Explorer& explorer) {
    explorer.window->open({file_});
    explorer.session.show_model(1);
    explorer.session.show_cluster(1);
    ASSERT_TRUE(run_until([&] { return explorer.session.snapshot().outcome && explorer.quiet(); }));
    ASSERT_GE(explorer.session.snapshot().problem->grouping->size(), std::size_t{kEdits});
    begun_ = explorer.session.snapshot().strategy;
  }

  // Each another group on one device; the event loop turns in between, without waiting for any.
  static void edit(Session& session) {
    for (int i = 0; i < kEdits; ++i) {
      session.decide({GroupId(static_cast<std::size_t>(i))},
                     toy::Bench::decision(Mode::ReplicateAllReduce, {i % 4}),
                     QStringLiteral("edit %1").arg(i));
      QCoreApplication::processEvents();
    }
  }

  // Stored under its name, with the strategy before it as its parent.
  void expect_all_kept(const Digest& last) {
    const Workspace workspace(file_.toStdString(), true);
    std::map<StrategyRow, StoredStrategy> rows;
    std::optional<StrategyRow> row;
    for (const StoredStrategy& strategy : workspace.strategies().all()) {
      rows[strategy.id] = strategy;
      if (strategy.digest == last) row = strategy.id;
    }
    ASSERT_TRUE(row.has_value()) << "the last edit is lost";
    int steps = 0;
    for (; rows.at(*row).parent; row = rows.at(*row).parent) ++steps;
    EXPECT_EQ(steps, kEdits);
    EXPECT_EQ(rows.at(*row).digest, begun_.digest());
  }

  QString file_;
  Strategy begun_;
};

TEST_F(QuickEditsTest, TwentyUndosWhileItIsSimulated) {
  Watchdog watchdog;
  Explorer explorer;
  Session& session = explorer.session;
  ASSERT_NO_FATAL_FAILURE(open(explorer));
  const auto outcome = session.snapshot().outcome;
  judge(watchdog, "opened to be edited");
  edit(session);
  EXPECT_TRUE(session.busy());
  const Strategy edited = session.snapshot().strategy;
  judge(watchdog, "twenty edits");
  for (int i = 0; i < kEdits; ++i) {
    QTest::keyClick(explorer.window.get(), Qt::Key_Z, Qt::ControlModifier);
    QCoreApplication::processEvents();
    if (i % 5 == 4) judge(watchdog, "five undos");
  }
  EXPECT_EQ(session.snapshot().strategy, begun_);
  ASSERT_TRUE(run_until([&] { return explorer.quiet(); }));
  judge(watchdog, "simulated");
  EXPECT_EQ(session.snapshot().strategy, begun_);
  EXPECT_EQ(session.snapshot().outcome->timeline->step_time, outcome->timeline->step_time);
  for (int i = 0; i < kEdits; ++i) {
    QTest::keyClick(explorer.window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCoreApplication::processEvents();
  }
  EXPECT_EQ(session.snapshot().strategy, edited);
  ASSERT_TRUE(run_until([&] { return explorer.quiet(); }));
  judge(watchdog, "twenty redos");
  session.settle();
  expect_all_kept(edited.digest());
  EXPECT_TRUE(explorer.failed.isEmpty()) << explorer.failed.join('\n').toStdString();
}

TEST_F(QuickEditsTest, ClosedInTheMiddleAllAreKept) {
  Digest last;
  {
    Explorer explorer;
    Watchdog watchdog;
    ASSERT_NO_FATAL_FAILURE(open(explorer));
    edit(explorer.session);
    EXPECT_TRUE(explorer.session.busy());
    last = explorer.session.snapshot().strategy.digest();
    explorer.window->close();
  }
  expect_all_kept(last);
}

TEST_F(QuickEditsTest, AnotherModelOpenedInTheMiddleAllAreKept) {
  Explorer explorer;
  Watchdog watchdog;
  ASSERT_NO_FATAL_FAILURE(open(explorer));
  edit(explorer.session);
  const Digest last = explorer.session.snapshot().strategy.digest();
  explorer.window->open({sample("models/lenet.onnx")});
  ASSERT_TRUE(run_until([&] {
    return explorer.session.model_name() == QStringLiteral("lenet") && explorer.quiet();
  }));
  explorer.session.settle();
  expect_all_kept(last);
}

TEST_F(QuickEditsTest, AnotherWorkspaceOpenedInTheMiddleAllAreKept) {
  Explorer explorer;
  Watchdog watchdog;
  ASSERT_NO_FATAL_FAILURE(open(explorer));
  edit(explorer.session);
  const Digest last = explorer.session.snapshot().strategy.digest();
  explorer.session.open_workspace(folder_.filePath(QStringLiteral("other.strata")).toStdString());
  explorer.session.settle();
  expect_all_kept(last);
}

// Nobody waits for what nobody will see.
class ClosingTest : public WatchdogTest {
 protected:
  static void close_within(std::unique_ptr<Explorer> explorer, double seconds, const char* what) {
    QElapsedTimer timer;
    timer.start();
    explorer->window->close();
    explorer.reset();
    const double took = static_cast<double>(timer.nsecsElapsed()) / 1e9;
    std::printf("%-46s gone after %.2f s\n", what, took);
    EXPECT_LT(took, seconds) << what;
  }
};

TEST_F(ClosingTest, DuringASearchEachPlannerIsLeft) {
  for (const char* planner : {"mcts", "tag", "exact", "heft", "mcmc"}) {
    auto explorer = std::make_unique<Explorer>();
    Watchdog watchdog;
    explorer->window->open({sample("clusters/tag-testbed.json"), sample("models/vgg19.onnx")});
    ASSERT_TRUE(
        run_until([&] { return explorer->session.snapshot().outcome && explorer->quiet(); }));
    PlannerOptions options;
    options.iterations = 1'000'000;
    explorer->session.start_search(QString::fromUtf8(planner), options);
    QCoreApplication::processEvents();
    close_within(std::move(explorer), 5 * kSlower, planner);
  }
}

TEST_F(ClosingTest, DuringALayoutAndAnImport) {
  const QString file = stored(*nested_chain(kManyOps), "closing");
  {
    auto explorer = std::make_unique<Explorer>();
    Watchdog watchdog;
    explorer->window->open({file});
    explorer->session.show_model(1);
    close_within(std::move(explorer), 5 * kSlower, "during the import");
  }
  auto explorer = std::make_unique<Explorer>();
  Watchdog watchdog;
  explorer->window->open({file});
  explorer->session.show_model(1);
  ASSERT_TRUE(run_until([&] { return explorer->session.snapshot().outcome != nullptr; }));
  explorer->graph().open_group(GroupId(0));
  EXPECT_FALSE(explorer->graph().is_laid_out());
  close_within(std::move(explorer), 5 * kSlower, "during a layout");
}

}  // namespace
}  // namespace strato
