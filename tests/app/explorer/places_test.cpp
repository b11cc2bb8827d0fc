// The four places: every view is in one of them, keys and calls lead there, and each keeps how it
// was left, also at the next start.
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QLineEdit>
#include <QMainWindow>
#include <QSettings>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "app/explorer/command_list.h"
#include "app/explorer/main_window.h"
#include "app/explorer/places/layouts.h"
#include "app/explorer/places/place_docks.h"
#include "app/explorer/places/share_splitter.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "views/charts/charts_view.h"
#include "views/compare/compare_view.h"
#include "views/launch/launch_view.h"
#include "views/placement/placement_view.h"
#include "views/search/search_tree_view.h"
#include "views/timeline/timeline_view.h"
#include "views/tournament/tournament_view.h"
#include "views/traces/traces_view.h"
#include "views/what_if/what_if_view.h"

namespace strato {
namespace {

struct Explorer {
  explicit Explorer(bool remembers = false) : window(session, remembers) {
    window.resize(1280, 800);
    window.show();
    window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    session.settle();
    settle();
  }
  void settle() {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }
  void go_to(Place place) {
    press_digit(window, static_cast<int>(place) + 1, Qt::ControlModifier);
    settle();
  }
  QDockWidget& dock(const char* name) {
    return *window.findChild<QDockWidget*>(QString::fromUtf8(name));
  }
  // Not behind another one.
  bool in_front(const char* name) { return !dock(name).visibleRegion().isEmpty(); }
  QStringList tabs() {
    QStringList names;
    for (int i = 0; i < centre().tabs().count(); ++i) names << centre().tabs().tabText(i);
    return names;
  }
  Centre& centre() { return *window.findChild<Centre*>(); }
  PlaceDocks& docks() { return *window.findChild<PlaceDocks*>(); }

  Session session;
  MainWindow window;
};

TEST(Places, EveryViewIsInOneOfThem) {
  Explorer explorer;
  ASSERT_TRUE(explorer.session.snapshot().outcome);
  QStringList all;
  for (std::size_t i = 0; i < places().size(); ++i) {
    explorer.go_to(static_cast<Place>(i));
    explorer.centre().usual_layout();
    QStringList here = explorer.tabs();
    EXPECT_FALSE(here.isEmpty());
    all << here;
  }
  EXPECT_EQ(all.size(), 14);
  EXPECT_EQ(all.removeDuplicates(), 0);
  for (const NamedView& view : explorer.centre().views()) EXPECT_TRUE(all.contains(view.name));
}

TEST(Places, KeysLeadToThemAndToTheirViews) {
  Explorer explorer;
  visit_views(explorer.window, [&](const NamedView& view, const std::string& keys) {
    EXPECT_EQ(explorer.centre().place(), view.place) << keys;
    EXPECT_TRUE(view.widget->isVisible()) << keys;
    EXPECT_EQ(explorer.centre().current_view(), view.widget) << keys;
  });
}

TEST(Places, TabsOfEachAreWholeOnAnOrdinaryScreen) {
  Explorer explorer;
  for (std::size_t i = 0; i < places().size(); ++i) {
    explorer.go_to(static_cast<Place>(i));
    QTabBar& tabs = explorer.centre().tabs();
    EXPECT_LE(tabs.sizeHint().width(), tabs.width()) << places()[i].key;
    for (const auto* button : tabs.findChildren<QToolButton*>())
      EXPECT_FALSE(button->isVisible()) << places()[i].key;
  }
}

TEST(Places, WhoeverShowsAViewIsInItsPlace) {
  Explorer explorer;
  Centre& centre = explorer.centre();
  const auto expect_shown = [&](const QWidget& view, Place place) {
    explorer.settle();
    EXPECT_TRUE(view.isVisible()) << view.metaObject()->className();
    EXPECT_EQ(centre.place(), place) << view.metaObject()->className();
  };
  for (const NamedView& view : centre.views()) {
    centre.show_view(view.widget);
    expect_shown(*view.widget, view.place);
    centre.usual_layout();
  }
  QTest::keyClick(&explorer.window, Qt::Key_P, Qt::ControlModifier);
  expect_shown(centre.view<PlacementView>(), Place::Decide);
  EXPECT_TRUE(qobject_cast<QLineEdit*>(explorer.window.focusWidget()));
  QTest::keyClick(&explorer.window, Qt::Key_F9);
  expect_shown(centre.view<LaunchView>(), Place::Ship);
  // The timeline is in all of them.
  centre.show_view(explorer.window.findChild<TimelineView*>());
  EXPECT_EQ(centre.place(), Place::Ship);
  EXPECT_TRUE(explorer.window.findChild<TimelineView*>()->isVisible());
}

TEST(Places, ThePaletteHasEveryView) {
  Explorer explorer;
  for (const NamedView& view : explorer.centre().views()) {
    int found = 0;
    for (const Command& command : collect_commands(explorer.window, explorer.session, {})) {
      if (command.id != QStringLiteral("action/View/") + view.name) continue;
      ++found;
      command.run();
    }
    EXPECT_EQ(found, 1) << view.name.toStdString();
    EXPECT_TRUE(view.widget->isVisible()) << view.name.toStdString();
  }
}

TEST(Places, WhatStandsBesideIsBackInItsOwnPlace) {
  Explorer explorer;
  Centre& centre = explorer.centre();
  auto& charts = centre.view<ChartsView>();
  explorer.go_to(Place::Search);
  EXPECT_TRUE(charts.isVisible());
  EXPECT_TRUE(centre.view<SearchTreeView>().isVisible());
  EXPECT_FALSE(explorer.tabs().contains(QStringLiteral("Charts")));
  centre.show_view(&charts);  // it is here
  EXPECT_EQ(centre.place(), Place::Search);
  explorer.go_to(Place::Understand);
  EXPECT_TRUE(explorer.tabs().contains(QStringLiteral("Charts")));
  EXPECT_FALSE(centre.is_beside(&charts));
  explorer.go_to(Place::Search);
  centre.put_beside(&charts, false);
  EXPECT_FALSE(charts.isVisible());
  EXPECT_FALSE(explorer.tabs().contains(QStringLiteral("Charts")));
  // All views of a place beside: they have the room.
  explorer.go_to(Place::Ship);
  for (const NamedView& view : centre.views())
    if (view.place == Place::Ship) centre.put_beside(view.widget, true);
  explorer.settle();
  EXPECT_TRUE(centre.view<TracesView>().isVisible());
  EXPECT_EQ(centre.current_view(), &centre.view<TracesView>());
  centre.usual_layout();
  EXPECT_EQ(explorer.tabs().size(), 3);
}

TEST(Places, EachKeepsItsDocksAndATeachersLessonsTakeThemAway) {
  Explorer explorer;
  EXPECT_TRUE(explorer.in_front("workspace"));
  explorer.go_to(Place::Decide);
  EXPECT_TRUE(explorer.dock("workspace").isHidden());
  explorer.dock("history").show();
  explorer.dock("inspector").hide();
  explorer.go_to(Place::Understand);
  EXPECT_TRUE(explorer.in_front("inspector"));
  EXPECT_TRUE(explorer.in_front("workspace"));
  press_digit(explorer.window, 5, Qt::ControlModifier);
  explorer.settle();
  EXPECT_TRUE(explorer.in_front("lessons"));
  EXPECT_TRUE(explorer.dock("workspace").isHidden());
  explorer.centre().show_view(&explorer.centre().view<WhatIfView>());  // as lessons do
  EXPECT_TRUE(explorer.dock("workspace").isHidden());
  EXPECT_TRUE(explorer.in_front("inspector"));
  explorer.go_to(Place::Decide);
  EXPECT_TRUE(explorer.dock("lessons").isHidden());
  EXPECT_TRUE(explorer.in_front("history"));
  EXPECT_TRUE(explorer.dock("inspector").isHidden());
  press_digit(explorer.window, 5, Qt::ControlModifier);
  explorer.dock("lessons").close();
  explorer.settle();
  EXPECT_TRUE(explorer.in_front("history")) << "as it was before the lessons";
  EXPECT_TRUE(explorer.dock("workspace").isHidden());
  explorer.docks().usual_docks();
  EXPECT_FALSE(explorer.dock("inspector").isHidden());
}

// With settings of its own.
class RememberedPlaces : public ::testing::Test {
 protected:
  RememberedPlaces() : data_before_(qgetenv("XDG_DATA_HOME")) {
    qputenv("XDG_DATA_HOME", folder_.path().toUtf8());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
    QSettings().clear();
  }
  ~RememberedPlaces() override {
    QSettings().clear();
    data_before_.isEmpty() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data_before_);
  }

  QTemporaryDir folder_;
  QByteArray data_before_;
};

ShareSplitter& rows(Explorer& explorer) {
  for (auto* splitter : explorer.centre().findChildren<ShareSplitter*>())
    if (splitter->orientation() == Qt::Vertical) return *splitter;
  throw std::logic_error("no rows");
}

TEST_F(RememberedPlaces, AreAsTheyWereAtTheNextStart) {
  {
    Explorer explorer(true);
    explorer.go_to(Place::Decide);
    press_digit(explorer.window, 3, Qt::AltModifier);
    explorer.dock("history").show();
    explorer.dock("inspector").hide();
    rows(explorer).set_share(0.4);
    explorer.go_to(Place::Search);
    explorer.centre().put_beside(&explorer.centre().view<ChartsView>(), false);
    explorer.go_to(Place::Ship);
    explorer.window.close();
  }
  Explorer explorer(true);
  EXPECT_EQ(explorer.centre().place(), Place::Ship);
  EXPECT_TRUE(explorer.centre().view<CompareView>().isVisible());
  EXPECT_FALSE(explorer.dock("history").isHidden());
  EXPECT_TRUE(explorer.dock("inspector").isHidden());
  explorer.go_to(Place::Search);
  EXPECT_FALSE(explorer.centre().view<ChartsView>().isVisible());
  explorer.go_to(Place::Decide);
  EXPECT_TRUE(explorer.centre().view<WhatIfView>().isVisible());
  EXPECT_TRUE(explorer.in_front("history"));
  EXPECT_TRUE(explorer.dock("workspace").isHidden());
  EXPECT_TRUE(explorer.dock("inspector").isHidden());
  EXPECT_NEAR(rows(explorer).share(), 0.4, 0.001);
  explorer.go_to(Place::Understand);
  EXPECT_FALSE(explorer.dock("inspector").isHidden());
  EXPECT_NEAR(rows(explorer).share(), info(Place::Understand).views_share, 0.001);
}

// Killed, it was not closed: what it looked like a second before is kept.
TEST_F(RememberedPlaces, ItsSizeIsKeptBeforeItCloses) {
  Explorer killed(true);
  killed.window.resize(900, 700);
  killed.go_to(Place::Decide);
  ASSERT_TRUE(QTest::qWaitFor(
      [] { return QSettings().contains(QStringLiteral("window/geometry")); }, 5000));
  QMainWindow next;
  next.restoreGeometry(QSettings().value(QStringLiteral("window/geometry")).toByteArray());
  EXPECT_EQ(next.size(), killed.window.size());
  Explorer explorer(true);
  EXPECT_EQ(explorer.centre().place(), Place::Decide);
}

TEST_F(RememberedPlaces, ALayoutGoesIntoAFileAndComesBack) {
  Explorer explorer;
  explorer.go_to(Place::Decide);
  press_digit(explorer.window, 2, Qt::AltModifier);
  explorer.dock("inspector").hide();
  const QString file = folder_.filePath(QStringLiteral("mine.layout.json"));
  write_layout(file, layout_of(explorer.centre(), explorer.docks()));
  press_digit(explorer.window, 1, Qt::AltModifier);
  explorer.dock("inspector").show();
  explorer.go_to(Place::Understand);
  use_layout(read_layout(file), explorer.centre(), explorer.docks());
  EXPECT_EQ(explorer.centre().place(), Place::Decide);
  EXPECT_EQ(explorer.centre().tabs().currentIndex(), 1);
  EXPECT_TRUE(explorer.dock("inspector").isHidden());
  press_digit(explorer.window, 3, Qt::AltModifier);
  EXPECT_TRUE(explorer.centre().view<WhatIfView>().isVisible()) << "keys are those of the place";
}

TEST_F(RememberedPlaces, FilesThatAreNoLayoutsAreRefusedAndOddOnesDoNoHarm) {
  Explorer explorer;
  const QString file = folder_.filePath(QStringLiteral("odd.json"));
  EXPECT_THROW(read_layout(file), InputError);
  for (const char* content : {"", "[]", "{", R"({"format": "stratoscope-plan"})"}) {
    write_file(file.toStdString(), content);
    EXPECT_THROW(read_layout(file), InputError) << content;
  }
  write_file(file.toStdString(), R"({"format": "stratoscope-layout", "version": 1,
      "centre": {"place": "nowhere", "places": {"search": {"tab": "no-view", "rows": 7, "columns": "x",
                 "beside": ["search", "search", "no-view", 3]}, "ship": 5, "other": {}}},
      "docks": {"search": {"docks": ["no-dock"], "front": 4}, "x": []}})");
  use_layout(read_layout(file), explorer.centre(), explorer.docks());
  EXPECT_EQ(explorer.centre().place(), Place::Understand);
  explorer.go_to(Place::Search);
  EXPECT_TRUE(explorer.centre().is_beside(&explorer.centre().view<SearchTreeView>()));
  EXPECT_EQ(explorer.tabs().size(), 2);
  EXPECT_NEAR(rows(explorer).share(), info(Place::Search).views_share, 0.001);
}

}  // namespace
}  // namespace strato
