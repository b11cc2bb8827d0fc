// No two things that are on the screen together answer to the same Alt+letter: then neither would.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QFile>
#include <QGroupBox>
#include <QKeySequence>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <map>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"

namespace strato {
namespace {

using Named = std::map<std::string, std::vector<std::string>>;  // by "Alt+X": what answers to it

class MnemonicsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const QString file = folder_.filePath(QStringLiteral("demo.strata"));
    ASSERT_TRUE(QFile::copy(sample("workspace/demo.strata"), file));
    window_.resize(1280, 800);
    window_.show();
    window_.open({file});
    session_.settle();
    ASSERT_TRUE(session_.snapshot().outcome);
  }
  void press(int key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(&window_, static_cast<Qt::Key>(key), modifiers);
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }

  static void add(Named& named, const QString& text) {
    const QKeySequence key = QKeySequence::mnemonic(text);
    if (!key.isEmpty()) named[key.toString().toStdString()].push_back(text.toStdString());
  }
  // Boxes of the menu bar, and what is on the screen now.
  Named on_screen() const {
    Named named;
    for (const QAction* action : window_.menuBar()->actions()) add(named, action->text());
    for (const QWidget* widget : window_.findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->window() != &window_) continue;
      if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
        add(named, button->text());
      } else if (const auto* label = qobject_cast<const QLabel*>(widget)) {
        if (label->buddy()) add(named, label->text());
      } else if (const auto* box = qobject_cast<const QGroupBox*>(widget)) {
        add(named, box->title());
      } else if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
        for (int i = 0; i < tabs->count(); ++i) add(named, tabs->tabText(i));
      }
    }
    return named;
  }
  static void expect_single(const Named& named, const std::string& where) {
    for (const auto& [key, texts] : named) {
      std::string all;
      for (const std::string& text : texts) all += " \"" + text + '"';
      EXPECT_EQ(texts.size(), 1u) << where << ": " << key << " means" << all;
    }
  }

  QTemporaryDir folder_;
  Session session_;
  MainWindow window_{session_, false};
};

TEST_F(MnemonicsTest, OfEveryViewAreSingle) {
  visit_views(window_, [this](const NamedView&, const std::string& keys) {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
    expect_single(on_screen(), keys);
  });
}

TEST_F(MnemonicsTest, OfEveryPlaceAreSingle) {
  for (const int key : {Qt::Key_1, Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5}) {
    press(key, Qt::ControlModifier);
    expect_single(on_screen(), std::string("Ctrl+") + static_cast<char>(key));
  }
}

TEST_F(MnemonicsTest, OfEveryPageWithinAViewAreSingle) {
  visit_views(window_, [this](const NamedView& view, const std::string&) {
    for (QTabBar* tabs : view.widget->findChildren<QTabBar*>()) {
      if (!tabs->isVisible()) continue;
      const int before = tabs->currentIndex();
      for (int i = 0; i < tabs->count(); ++i) {
        if (!tabs->isTabEnabled(i)) continue;
        tabs->setCurrentIndex(i);
        QCoreApplication::processEvents();
        expect_single(on_screen(), tabs->tabText(i).toStdString());
      }
      tabs->setCurrentIndex(before);
    }
  });
}

TEST_F(MnemonicsTest, OfEveryMenuAreSingle) {
  for (const QMenu* menu : window_.findChildren<QMenu*>()) {
    Named named;
    for (const QAction* action : menu->actions()) {
      if (action->isVisible() && !action->isSeparator())
        add(named, action->text().section('\t', 0, 0));
    }
    expect_single(named, menu->title().toStdString());
  }
}

}  // namespace
}  // namespace strato
