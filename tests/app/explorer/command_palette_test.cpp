#include "app/explorer/command_palette.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QMenuBar>
#include <QTest>
#include <QTreeWidget>
#include <set>

#include "app/explorer/key_table.h"
#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"

namespace strato {
namespace {

QString name(const char* text) { return QString::fromUtf8(text); }

int score(const char* query, const char* text) {
  const auto match = fuzzy_match(name(query), name(text));
  return match ? match->score : -1;
}

TEST(FuzzyMatch, LettersMustBeThereInOrder) {
  EXPECT_GE(score("", "anything"), 0);
  EXPECT_GE(score("cts", "Continue the Search"), 0);
  EXPECT_EQ(score("stc", "Continue the Search"), -1);
  EXPECT_EQ(score("x", ""), -1);
  EXPECT_EQ(score("searchh", "Search"), -1);
  EXPECT_GE(score("C O N", "continue"), 0);  // blanks and case do not matter
  EXPECT_GE(score("größe", "GRÖSSE größe"), 0);
}

TEST(FuzzyMatch, StartsOfWordsAndRunsOfLettersWin) {
  EXPECT_GT(score("cs", "Continue Search"), score("cs", "accessible"));
  EXPECT_GT(score("sea", "Search"), score("sea", "Save the area"));
  EXPECT_GT(score("search", "Search"), score("search", "Research"));
  EXPECT_GT(score("v0", "v100:0"), score("v0", "v110"));
  const auto match = fuzzy_match(name("ts"), name("Continue the Search"));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->positions, (QVector<int>{9, 13}));  // not the first t that comes
}

TEST(FuzzyMatch, LongTextsAndQueriesEnd) {
  const QString text(10'000, QLatin1Char('a'));
  EXPECT_TRUE(fuzzy_match(QString(60, QLatin1Char('a')), text));
  EXPECT_FALSE(fuzzy_match(QString(60, QLatin1Char('a')) + QLatin1Char('b'), text));
}

std::vector<Command> three_commands() {
  std::vector<Command> commands(3);
  commands[0].title = name("Search");
  commands[1].title = name("Save Plan As…");
  commands[2].title = name("v100:0");
  commands[2].kind = CommandKind::Device;
  for (Command& command : commands) command.id = command.title;
  return commands;
}

TEST(CommandModel, FiltersRanksAndKeepsWhatWasUsedInFront) {
  CommandModel model(three_commands(), {name("Save Plan As…")});
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.command(0).title, name("Save Plan As…"));
  model.set_query(name("sea"));
  ASSERT_GE(model.rowCount(), 1);
  EXPECT_EQ(model.command(0).title, name("Search"));
  model.set_query(name("#"));
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.command(0).kind, CommandKind::Device);
  model.set_query(name("> v1"));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_EQ(with_used({name("a"), name("b")}, name("b")), (QStringList{name("b"), name("a")}));
}

TEST(CommandModel, ManyRowsAreCut) {
  std::vector<Command> commands(100'000);
  for (std::size_t i = 0; i < commands.size(); ++i)
    commands[i].title = QStringLiteral("group %1").arg(i);
  CommandModel model(std::move(commands), {});
  model.set_query(name("g"));
  EXPECT_EQ(model.rowCount(), static_cast<int>(CommandModel::kMostRows));
  EXPECT_EQ(model.found(), 100'000u);
  model.set_query(name("99999"));
  EXPECT_GE(model.rowCount(), 1);
}

class CommandPaletteTest : public ::testing::Test {
 protected:
  CommandPaletteTest() : window_(session_, false) {
    window_.resize(1280, 800);
    window_.show();
  }
  void open() {
    window_.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return session_.snapshot().outcome != nullptr; }, kPatience));
    session_.settle();
  }
  CommandPalette* show_palette() {
    QApplication::setActiveWindow(&window_);  // nobody else gives it back after a popup here
    QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    return window_.findChild<CommandPalette*>();
  }
  void run(const char* query) {
    CommandPalette* palette = show_palette();
    ASSERT_NE(palette, nullptr);
    QTest::keyClicks(&palette->line(), name(query));
    QTest::keyClick(&palette->line(), Qt::Key_Return);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QCoreApplication::processEvents();
    QCoreApplication::processEvents();
  }

  Session session_;
  MainWindow window_;
};

TEST_F(CommandPaletteTest, HasEveryActionOfTheMenusOnce) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto commands = collect_commands(window_, session_, {});
  std::set<QString> ids;
  for (const Command& command : commands) {
    EXPECT_TRUE(ids.insert(command.id).second) << command.id.toStdString();
    EXPECT_FALSE(command.title.isEmpty());
    EXPECT_FALSE(command.title.contains(QLatin1Char('&'))) << command.title.toStdString();
  }
  std::size_t planners = 0;
  for (const Command& command : commands) planners += command.kind == CommandKind::Planner;
  EXPECT_EQ(planners, session_.plugins().list(PluginKind::Planner).size());
  for (const QAction* title : window_.menuBar()->actions()) {
    for (const QAction* action : title->menu()->actions()) {
      if (action->isSeparator() || action->menu() || !action->isVisible()) continue;
      const auto is_it = [&](const Command& command) {
        return command.title == plain_text(action->text());
      };
      EXPECT_TRUE(std::any_of(commands.begin(), commands.end(), is_it))
          << action->text().toStdString();
    }
  }
}

TEST_F(CommandPaletteTest, RunsWhatIsWrittenAndRemembersIt) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(run(">order tasks by pri"));
  EXPECT_EQ(session_.simulation().order, TaskOrder::Priority);
  ASSERT_NO_FATAL_FAILURE(run("#1080ti-1:0"));
  EXPECT_EQ(session_.selection().device(), DeviceId(1));
  CommandPalette* palette = show_palette();
  ASSERT_NE(palette, nullptr);
  EXPECT_EQ(palette->model().command(0).title, name("1080ti-1:0"));  // used last
  EXPECT_TRUE(palette->model().is_recent(1));
  QTest::keyClick(&palette->line(), Qt::Key_Up);
  EXPECT_EQ(palette->current_row(), palette->model().rowCount() - 1);
  QTest::keyClick(&palette->line(), Qt::Key_Escape);
  EXPECT_FALSE(palette->isVisible());
  EXPECT_TRUE(session_.selection().device());  // Esc closed the palette and nothing else
}

TEST_F(CommandPaletteTest, ADisabledCommandSaysWhyAndDoesNothing) {
  const auto commands = collect_commands(window_, session_, {});
  const auto search = std::find_if(commands.begin(), commands.end(), [](const Command& command) {
    return command.id == QStringLiteral("action/Run/Continue the Search");
  });
  ASSERT_NE(search, commands.end());
  EXPECT_FALSE(search->enabled);
  EXPECT_EQ(search->why_disabled, QStringLiteral("no search to go on with"));
  CommandPalette* palette = show_palette();
  ASSERT_NE(palette, nullptr);
  QTest::keyClicks(&palette->line(), QStringLiteral(">continue the search"));
  QTest::keyClick(&palette->line(), Qt::Key_Return);
  EXPECT_TRUE(palette->isVisible());
  EXPECT_EQ(session_.search().state, SearchPhase::Idle);
}

TEST_F(CommandPaletteTest, KeysOfAllActionsAreInTheKeyTable) {
  const KeyTable keys(window_, nullptr);
  const auto* tree = keys.findChild<QTreeWidget*>();
  ASSERT_NE(tree, nullptr);
  visit_actions(window_, [&](QAction& action, const QString&) {
    if (action.shortcuts().isEmpty()) return;
    const QString text = QKeySequence::listToString(action.shortcuts(), QKeySequence::NativeText);
    EXPECT_FALSE(
        tree->findItems(plain_text(action.text()), Qt::MatchExactly | Qt::MatchRecursive, 0)
            .isEmpty())
        << text.toStdString();
  });
}

TEST_F(CommandPaletteTest, NoKeyMeansTwoThingsInTheWindow) {
  std::map<QString, QString> taken;
  visit_actions(window_, [&](QAction& action, const QString& path) {
    if (action.shortcutContext() != Qt::WindowShortcut) return;
    for (const QKeySequence& key : action.shortcuts()) {
      const auto [known, fresh] = taken.emplace(key.toString(), path + action.text());
      EXPECT_TRUE(fresh) << key.toString().toStdString() << " is " << known->second.toStdString()
                         << " and " << action.text().toStdString();
    }
  });
}

}  // namespace
}  // namespace strato
