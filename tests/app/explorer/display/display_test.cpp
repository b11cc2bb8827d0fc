// The story of the window by real keys and clicks: why is the step slow, a change that helps, undo,
// a search, and the plan for production in a file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "app/explorer/main_window.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/explorer/display/hand.h"
#include "tests/app/explorer/sample.h"
#include "tests/paths.h"
#include "views/inspector/inspector_view.h"
#include "views/inspector/suggestion_box.h"

namespace strato {
namespace {

class DisplayTest : public ::testing::Test {
 protected:
  DisplayTest() {
    QObject::connect(&session_, &Session::failed, [this](const QString& text) { failed_ << text; });
  }

  static bool wait(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, kPatience); }

  void open() {
    window_.move(0, 0);
    window_.resize(1280, 800);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_, kPatience));
    ASSERT_TRUE(focus(window_));
    ASSERT_TRUE(wait([&] { return window_.isActiveWindow(); }));
    window_.open({sample("clusters/tag-testbed.json"), sample("models/vgg19.onnx")});
    ASSERT_TRUE(
        wait([&] { return session_.snapshot().outcome && session_.snapshot().explanation; }));
    session_.settle();
  }
  Nanos step_time() { return session_.snapshot().outcome->timeline->step_time; }

  QPushButton* suggestion() {
    for (auto* button : window_.findChild<SuggestionBox*>()->findChildren<QPushButton*>())
      if (button->isVisible() && button->isEnabled()) return button;
    return nullptr;
  }

  // Keys of the file dialog, which does not return before it is closed. What is typed before it is
  // ready for it is lost, and the list of completions takes a Return for itself: typed again then.
  void save_as(const QString& file) {
    QTimer poll;
    QElapsedTimer open, typed;
    QObject::connect(&poll, &QTimer::timeout, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (!dialog || !dialog->isVisible()) return;
      if (!open.isValid()) open.start();
      if (open.elapsed() > kPatience) return dialog->reject();
      if (typed.isValid() && typed.elapsed() < kPatience / 10) return;
      typed.start();
      const QString id = QString::number(dialog->winId());
      QStringList keys =
          QStringLiteral("windowfocus %1 key ctrl+a type --args 1 --delay 2").arg(id).split(' ');
      keys << file << QStringLiteral("key") << QStringLiteral("Return");
      xdotool_later(keys);
    });
    poll.start(20);
    ASSERT_TRUE(press(QStringLiteral("ctrl+s")));
    ASSERT_TRUE(wait([&] { return QFileInfo::exists(file); })) << file.toStdString();
    session_.settle();
    ASSERT_TRUE(focus(window_));
  }

  QTemporaryDir folder_;
  QStringList failed_;
  Session session_;
  MainWindow window_{session_, false};
};

TEST_F(DisplayTest, WhyIsItSlowAChangeASearchAndThePlanInAFile) {
  ASSERT_NO_FATAL_FAILURE(open());
  const Nanos before = step_time();
  // The inspector says why before anything is asked.
  bool told = false;
  for (const QLabel* label : window_.findChild<InspectorView*>()->findChildren<QLabel*>())
    told |= label->isVisible() && label->text().contains(QStringLiteral("Why it takes this long"));
  EXPECT_TRUE(told);
  // A suggestion is one click away, and helps.
  ASSERT_TRUE(wait([&] { return suggestion() != nullptr; }));
  const Strategy begun = session_.snapshot().strategy;
  ASSERT_TRUE(click(*suggestion()));
  ASSERT_TRUE(wait([&] { return !(session_.snapshot().strategy == begun) && !session_.busy(); }));
  EXPECT_LT(step_time(), before);
  const Nanos suggested = step_time();
  ASSERT_TRUE(press(QStringLiteral("ctrl+z")));
  ASSERT_TRUE(wait([&] { return session_.snapshot().strategy == begun && !session_.busy(); }));
  EXPECT_EQ(step_time(), before);
  ASSERT_TRUE(press(QStringLiteral("ctrl+shift+z")));
  ASSERT_TRUE(wait([&] { return !session_.busy() && step_time() == suggested; }));
  // A search finds a plan that is a fifth faster at least.
  ASSERT_TRUE(press(QStringLiteral("F5")));
  ASSERT_TRUE(wait([&] { return session_.search().state != SearchPhase::Idle; }));
  ASSERT_TRUE(wait([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  EXPECT_LE(step_time(), before * 4 / 5);
  const QString file = folder_.filePath(QStringLiteral("fast.plan.json"));
  ASSERT_NO_FATAL_FAILURE(save_as(file));
  const std::string text = read_file(file.toStdString());
  const JsonView plan = JsonView::parse(text, file.toStdString());
  const JsonView result = plan.at("result");
  EXPECT_LE(result.at("step_time_s").number(), 0.8 * result.at("baseline_step_time_s").number());
  // Every view comes by its key, and draws itself.
  for (const char* keys :
       {"alt+1", "alt+2", "alt+3", "alt+4", "ctrl+2", "alt+1", "alt+2", "alt+3", "ctrl+3", "alt+1",
        "alt+2", "alt+3", "ctrl+4", "alt+1", "alt+2", "ctrl+5", "ctrl+1"}) {
    ASSERT_TRUE(press(QString::fromUtf8(keys)));
    EXPECT_FALSE(window_.grab().isNull());
  }
  EXPECT_TRUE(failed_.isEmpty()) << failed_.join('\n').toStdString();
}

}  // namespace
}  // namespace strato

int main(int argc, char** argv) {
  // Begun by ctest: goes on on a display of its own.
  const QByteArray display = qgetenv("STRATOSCOPE_DISPLAY");
  if (!display.isEmpty() && qEnvironmentVariableIsEmpty("STRATOSCOPE_ON_DISPLAY")) {
    std::vector<char*> words = {const_cast<char*>(display.constData())};
    words.insert(words.end(), argv, argv + argc);
    words.push_back(nullptr);
    execv(words.front(), words.data());
    std::perror(display.constData());
    return 77;
  }
  qputenv("STRATOSCOPE_HOME", strato::kBuildFolder);
  ::testing::InitGoogleTest(&argc, argv);
  QApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
