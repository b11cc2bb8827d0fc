// The window at the sizes that people have: everything is in reach, nothing is cut.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QProgressBar>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>

#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "app/explorer/places/view_page.h"
#include "tests/app/explorer/cut_text.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "views/compare/compare_view.h"
#include "views/graph/group_graph_view.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

constexpr QSize kSmall(800, 600), kLarge(5120, 2880);

class WindowSizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const QString file = folder_.filePath(QStringLiteral("demo.strata"));
    ASSERT_TRUE(QFile::copy(sample("workspace/demo.strata"), file));
    window_.show();
    window_.open({file});
    session_.settle();
    ASSERT_TRUE(session_.snapshot().outcome);
  }

  void resize(const QSize& size) {
    window_.resize(size);
    settle();
  }
  void settle() {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }
  void press(int key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(&window_, static_cast<Qt::Key>(key), modifiers);
    settle();
  }
  QDockWidget* dock(const char* name) {
    return window_.findChild<QDockWidget*>(QString::fromUtf8(name));
  }

  static std::string name_of(const QWidget& widget) {
    std::string name;
    for (const QWidget* at = &widget; at && !at->isWindow(); at = at->parentWidget())
      name = std::string(at->metaObject()->className()) + (name.empty() ? "" : " > ") + name;
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return name + (button ? " \"" + button->text().toStdString() + "\"" : "");
  }
  // In what can be scrolled, or is drawn by hand, anything may be out of sight.
  static bool can_be_scrolled(const QWidget& widget) {
    for (const QWidget* at = &widget; at; at = at->parentWidget())
      if (qobject_cast<const QAbstractScrollArea*>(at)) return true;
    return false;
  }
  // Nothing has less than it asks for, or hangs over its parent's edge.
  void expect_uncut(const std::string& where) {
    EXPECT_LE(window_.minimumSizeHint().width(), window_.width()) << where;
    EXPECT_LE(window_.minimumSizeHint().height(), window_.height()) << where;
    for (QWidget* widget : window_.findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->window() != &window_ || can_be_scrolled(*widget))
        continue;
      if (widget->parentWidget()->objectName().startsWith(QStringLiteral("qt_"))) continue;
      const QSize least = widget->minimumSizeHint().boundedTo(widget->maximumSize());
      const bool asks = widget->sizePolicy().horizontalPolicy() != QSizePolicy::Ignored;
      if (asks && widget->layout() != nullptr) {
        EXPECT_GE(widget->width(), least.width()) << where << ": " << name_of(*widget);
      }
      if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget)) {
        const QRect inside = widget->parentWidget()->rect().adjusted(-1, -1, 1, 1);
        EXPECT_TRUE(inside.contains(widget->geometry()))
            << where << ": " << name_of(*widget) << " hangs over";
      }
    }
  }
  void expect_whole_texts(const std::string& where) {
    for (const std::string& text : cut_texts(window_)) ADD_FAILURE() << where << ": " << text;
  }
  // The view shown is scrolled only where it has no room.
  void expect_in_sight(const std::string& where) {
    for (const NamedView& view : window_.findChild<Centre*>()->views()) {
      const ViewPage* page = ViewPage::of(view.widget);
      if (!page->isVisible()) continue;
      const QSize least = page->view()->minimumSizeHint();
      EXPECT_LE(least.width(), 640) << where;
      if (least.width() <= page->viewport()->width()) {
        EXPECT_FALSE(page->horizontalScrollBar()->isVisible()) << where;
      }
      if (least.height() <= page->height()) {
        EXPECT_FALSE(page->verticalScrollBar()->isVisible()) << where;
      }
    }
  }
  void expect_whole_texts_everywhere(const std::string& where) {
    for (const int key : {Qt::Key_1, Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5, Qt::Key_1}) {
      press(key, Qt::ControlModifier);
      expect_whole_texts(where + ", Ctrl+" + static_cast<char>(key));
    }
    visit_views(window_, [&](const NamedView&, const std::string& keys) {
      settle();
      expect_whole_texts(where + ", " + keys);
    });
  }
  void expect_uncut_in_all_views(const std::string& where) {
    visit_views(window_, [&](const NamedView&, const std::string& keys) {
      settle();
      expect_uncut(where + ", " + keys);
      expect_in_sight(where + ", " + keys);
    });
  }

  QTemporaryDir folder_;
  Session session_;
  MainWindow window_{session_, false};
};

TEST_F(WindowSizeTest, ASmallScreenHasRoomForEveryPlace) {
  resize(kSmall);
  EXPECT_EQ(window_.size(), kSmall);
  for (const int key : {Qt::Key_1, Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5, Qt::Key_1}) {
    press(key, Qt::ControlModifier);
    EXPECT_EQ(window_.size(), kSmall) << "Ctrl+" << key - Qt::Key_0;
    EXPECT_LE(window_.minimumSizeHint().width(), kSmall.width()) << key - Qt::Key_0;
    EXPECT_LE(window_.minimumSizeHint().height(), kSmall.height()) << key - Qt::Key_0;
    expect_uncut("Ctrl+" + std::to_string(key - Qt::Key_0));
    if (key == Qt::Key_1) expect_uncut_in_all_views("800x600");
  }
  EXPECT_EQ(window_.size(), kSmall);
}

TEST_F(WindowSizeTest, ALargeScreenIsUsed) {
  resize(kLarge);
  expect_uncut_in_all_views("5120x2880");
  // Docks are as wide as they need to be; the views have the rest.
  EXPECT_LT(dock("workspace")->width() + dock("inspector")->width(), kLarge.width() / 4);
}

TEST_F(WindowSizeTest, TextsAreWholeOnEveryScreen) {
  for (const QSize& size : {kSmall, QSize(1280, 800), kLarge}) {
    resize(size);
    expect_whole_texts_everywhere(std::to_string(size.width()));
  }
}

TEST_F(WindowSizeTest, TheStrategysNameIsReadWhileEditsArePinned) {
  resize({1280, 800});
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)),
                  QStringLiteral("features/features.0/Conv on v100:0 alone, by hand"));
  session_.settle();
  settle();
  expect_whole_texts("edited");
}

// As people set who do not see well: half as large again.
class LargeLetters {
 protected:
  LargeLetters() {
    QFont larger = before_;
    larger.setPointSizeF(1.5 * before_.pointSizeF());
    QApplication::setFont(larger);
  }
  ~LargeLetters() { QApplication::setFont(before_); }

 private:
  const QFont before_ = QApplication::font();
};
class LargeLettersTest : private LargeLetters, public WindowSizeTest {};  // the window comes second

TEST_F(LargeLettersTest, TextsAreWholeAndTheWindowKeepsItsSize) {
  const QSize size(1280, 800);
  resize(size);
  expect_whole_texts_everywhere("large letters");
  EXPECT_EQ(window_.size(), size);
}

TEST_F(LargeLettersTest, AWindowOpensAsLargeAsAScreenIs) {
  Session session;
  MainWindow window(session, false);
  window.show();
  settle();
  EXPECT_EQ(window.size(), QSize(1280, 800));
}

TEST_F(LargeLettersTest, RowsOfTheTimelineHaveRoomForThem) {
  resize({1280, 800});
  const TimelineCanvas* canvas = nullptr;  // the one that shows a step
  for (const auto* each : window_.findChildren<TimelineCanvas*>())
    if (each->rows()) canvas = each;
  ASSERT_NE(canvas, nullptr);
  ASSERT_FALSE(canvas->row_layout().places.empty());
  for (const auto& place : canvas->row_layout().places)
    EXPECT_GE(place.height, canvas->fontMetrics().ascent() + canvas->fontMetrics().descent());
}

TEST_F(WindowSizeTest, WithoutAProblemToo) {
  Session session;
  MainWindow window(session, false);
  window.show();
  window.resize(kSmall);
  settle();
  EXPECT_EQ(window.size(), kSmall);
  EXPECT_LE(window.minimumSizeHint().width(), kSmall.width());
}

TEST_F(WindowSizeTest, DocksAreBehindTheInspectorWhileItIsNarrow) {
  resize({1280, 800});
  EXPECT_EQ(window_.dockWidgetArea(dock("workspace")), Qt::LeftDockWidgetArea);
  for (int i = 0; i < 3; ++i) {
    resize(kSmall);
    EXPECT_EQ(window_.dockWidgetArea(dock("workspace")), Qt::RightDockWidgetArea);
    EXPECT_TRUE(window_.tabifiedDockWidgets(dock("inspector")).contains(dock("history")));
    EXPECT_FALSE(dock("history")->isHidden());
    resize({1280, 800});
    EXPECT_EQ(window_.dockWidgetArea(dock("workspace")), Qt::LeftDockWidgetArea);
    EXPECT_EQ(window_.dockWidgetArea(dock("history")), Qt::LeftDockWidgetArea);
    EXPECT_EQ(window_.dockWidgetArea(dock("inspector")), Qt::RightDockWidgetArea);
  }
}

TEST_F(WindowSizeTest, WhatWasHiddenOrMovedByHandStaysSo) {
  resize({1280, 800});
  dock("history")->hide();
  window_.addDockWidget(Qt::RightDockWidgetArea, dock("workspace"));
  resize(kSmall);
  EXPECT_TRUE(dock("history")->isHidden());
  resize({1280, 800});
  EXPECT_TRUE(dock("history")->isHidden());
  EXPECT_EQ(window_.dockWidgetArea(dock("workspace")), Qt::RightDockWidgetArea);
}

TEST_F(WindowSizeTest, APlaceShowsWhatItIsAboutAndLeavesNothingBehind) {
  resize({1280, 800});
  press(Qt::Key_5, Qt::ControlModifier);
  EXPECT_TRUE(dock("lessons")->isVisible());
  EXPECT_TRUE(dock("inspector")->isVisible()) << "lessons speak of it";
  press(Qt::Key_3, Qt::ControlModifier);
  EXPECT_FALSE(dock("lessons")->isVisible());
  EXPECT_TRUE(dock("workspace")->isVisible());
  EXPECT_FALSE(dock("inspector")->isVisible());
  press(Qt::Key_4, Qt::ControlModifier);
  auto* compare = window_.findChild<CompareView*>();
  ASSERT_TRUE(compare->isVisible());
  QTest::mouseClick(compare->findChild<QAbstractButton*>("two-graphs"), Qt::LeftButton);
  settle();
  auto* graph = window_.findChild<GroupGraphView*>();
  EXPECT_TRUE(graph->isVisible());
  EXPECT_TRUE(graph->shows_beside());
  press(Qt::Key_1, Qt::ControlModifier);
  EXPECT_TRUE(graph->isVisible());
  EXPECT_FALSE(graph->shows_beside());
  EXPECT_TRUE(dock("inspector")->isVisible());
  press(Qt::Key_4, Qt::ControlModifier);
  EXPECT_TRUE(graph->shows_beside()) << "as it was left";
}

// The status bar draws a message over what is not permanent.
TEST_F(WindowSizeTest, AMessageAndASearchStandBesideEachOther) {
  resize({1280, 800});
  PlannerOptions options;
  options.iterations = 1'000'000;
  session_.start_search(QStringLiteral("mcts"), options);
  emit session_.message(QStringLiteral("Continues with what is pinned"));
  settle();
  const QStatusBar& bar = *window_.statusBar();
  auto* progress = bar.findChild<QProgressBar*>();
  ASSERT_FALSE(bar.currentMessage().isEmpty());
  EXPECT_TRUE(progress->isVisible());
  EXPECT_GT(progress->mapTo(&bar, QPoint()).x(),
            bar.fontMetrics().horizontalAdvance(bar.currentMessage()) + 6);
  session_.stop_search();
  session_.settle();
}

TEST_F(WindowSizeTest, TheHeaderHasTwoRowsWhereOneIsTooNarrow) {
  auto* header = window_.findChild<HeaderBar*>();
  resize({1600, 900});
  const int one = header->height();
  resize(kSmall);
  EXPECT_GT(header->height(), one);
  EXPECT_LE(header->minimumSizeHint().width(), header->width());
  resize({1600, 900});
  EXPECT_EQ(header->height(), one);
}

}  // namespace
}  // namespace strato
