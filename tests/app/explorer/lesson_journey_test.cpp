// Every bundled lesson in the real window: what each step asks for is not so before, and is so
// after "do it for me".
#include <gtest/gtest.h>

#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "app/explorer/main_window.h"
#include "core/io/file.h"
#include "tests/app/explorer/sample.h"
#include "views/lessons/lesson_panel.h"

namespace strato {
namespace {

class LessonJourneyTest : public ::testing::Test {
 protected:
  LessonJourneyTest() : window_(session_, false) {
    QObject::connect(&session_, &Session::failed, [this](const QString& text) { failed_ << text; });
    window_.resize(1280, 800);
    window_.show();
    panel_ = window_.findChild<LessonPanel*>();
    panel_->parentWidget()->show();
  }

  LessonPlayer& player() { return panel_->player(); }

  void wait_until_open() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !player().opening(); }, kPatience));
    ASSERT_FALSE(player().broken()) << player().error().toStdString();
    wait_for_quiet();
  }

  void wait_for_quiet() {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return session_.search().state == SearchPhase::Idle && !session_.busy(); },
        kPatience));
    session_.settle();
    player().check();
  }

  void play(const Lesson& lesson) {
    panel_->begin(lesson.id);
    ASSERT_NO_FATAL_FAILURE(wait_until_open());
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
      SCOPED_TRACE(lesson.id.toStdString() + ", step " + std::to_string(step + 1) + ": " +
                   lesson.steps[step].title.toStdString());
      ASSERT_EQ(player().step_number(), step);
      expect_shown(lesson.steps[step]);
      if (player().asks()) {
        ASSERT_FALSE(player().holds_now()) << "is so before anything was done";
        ASSERT_FALSE(player().done());
        ASSERT_FALSE(panel_->page().next_button().isEnabled());
        QTest::mouseClick(&panel_->page().do_button(), Qt::LeftButton);
        EXPECT_TRUE(QTest::qWaitFor([&] { return player().done(); }, kPatience / 4))
            << "\"do\" does not do what \"until\" asks for; "
            << filled(QStringLiteral("{before}, then {step_time}, {memory_before}, then {memory}"),
                      player().moment())
                   .toStdString();
        ASSERT_TRUE(player().done());
        ASSERT_NO_FATAL_FAILURE(wait_for_quiet());
        ASSERT_TRUE(player().holds_now());
      }
      EXPECT_FALSE(panel_->page().shown_text().contains(QStringLiteral("…</")));
      EXPECT_FALSE(filled(lesson.steps[step].text, player().moment()).contains(QStringLiteral("…")))
          << filled(lesson.steps[step].text, player().moment()).toStdString();
      EXPECT_FALSE(
          filled(lesson.steps[step].afterwards, player().moment()).contains(QStringLiteral("…")))
          << filled(lesson.steps[step].afterwards, player().moment()).toStdString();
      ASSERT_TRUE(panel_->page().next_button().isEnabled());
      player().next();
      ASSERT_NO_FATAL_FAILURE(wait_for_quiet());
    }
    EXPECT_FALSE(player().active());
    EXPECT_EQ(panel_->progress(lesson.id), LessonPanel::kDone);
    EXPECT_TRUE(failed_.isEmpty()) << failed_.join('\n').toStdString();
  }

  // What a step speaks of is on the screen, also in a narrow window.
  void expect_shown(const LessonStep& step) {
    const bool inspector =
        (step.text + step.afterwards).contains(QStringLiteral("inspector"), Qt::CaseInsensitive);
    EXPECT_TRUE(!inspector || step.highlight.contains(QStringLiteral("inspector")));
    QCoreApplication::processEvents();
    const auto& frames = panel_->page().highlights().frames();
    EXPECT_EQ(frames.size(), static_cast<std::size_t>(step.highlight.size()));
    for (const auto& frame : frames) EXPECT_TRUE(frame->isVisible());
    EXPECT_EQ(window_.width(), 1280);
  }

  Session session_;
  MainWindow window_;
  LessonPanel* panel_;
  QStringList failed_;
};

TEST_F(LessonJourneyTest, ThereAreEightLessonsAndTwoExercisesWithoutErrors) {
  EXPECT_TRUE(panel_->errors().isEmpty()) << panel_->errors().join('\n').toStdString();
  int lessons = 0, exercises = 0;
  for (const Lesson& lesson : panel_->lessons()) ++(lesson.is_exercise ? exercises : lessons);
  EXPECT_EQ(lessons, 8);
  EXPECT_EQ(exercises, 2);
}

class EachLesson : public LessonJourneyTest, public ::testing::WithParamInterface<int> {};

TEST_P(EachLesson, IsPlayedToItsEnd) {
  int number = GetParam();
  for (const Lesson& lesson : panel_->lessons()) {
    if (!lesson.is_exercise && number-- == 0) return play(lesson);
  }
  FAIL() << "there is no such lesson";
}

INSTANTIATE_TEST_SUITE_P(Bundled, EachLesson, ::testing::Range(0, 8));

TEST_F(LessonJourneyTest, FramesLetClicksThroughAndGoWithTheLesson) {
  panel_->begin(panel_->lessons().front().id);
  ASSERT_NO_FATAL_FAILURE(wait_until_open());
  const auto& frames = panel_->page().highlights().frames();
  ASSERT_EQ(frames.size(), 1u);
  QCoreApplication::processEvents();
  ASSERT_TRUE(frames[0]->isVisible());
  EXPECT_TRUE(frames[0]->testAttribute(Qt::WA_TransparentForMouseEvents));
  QWidget* below = window_.childAt(frames[0]->geometry().center());
  EXPECT_NE(below, frames[0].data());
  player().next();
  player().back();
  EXPECT_EQ(player().step_number(), 0u);
  panel_->show_list();
  EXPECT_TRUE(panel_->page().highlights().frames().empty());
  EXPECT_EQ(window_.findChild<QWidget*>(QStringLiteral("lesson_highlight")), nullptr);
}

TEST_F(LessonJourneyTest, WhatTheLessonDidNotAskForIsNotDone) {
  panel_->begin(panel_->lessons().front().id);
  ASSERT_NO_FATAL_FAILURE(wait_until_open());
  player().next();
  ASSERT_TRUE(player().asks());
  session_.selection().select_device(DeviceId(0));
  player().check();
  EXPECT_FALSE(player().done());
  session_.selection().select_group(GroupId(0));
  player().check();
  EXPECT_TRUE(player().done());
  session_.selection().clear();  // what was done stays done
  player().check();
  EXPECT_TRUE(player().done());
  EXPECT_FALSE(player().holds_now());
}

TEST_F(LessonJourneyTest, ATeachersOwnLessonWithABrokenClusterIsToldAndLeft) {
  QTemporaryDir folder;
  write_file(folder.filePath(QStringLiteral("broken.json")).toStdString(), R"({"format": "x"})");
  const QString file = folder.filePath(QStringLiteral("own.lesson.json"));
  write_file(file.toStdString(), R"({"format": "stratoscope-lesson", "version": 1, "title": "Own",
      "model": "lenet", "cluster": "broken.json", "steps": [{"title": "A", "text": "x"}]})");
  panel_->add_file(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !player().opening(); }, kPatience));
  EXPECT_TRUE(player().broken());
  EXPECT_TRUE(player().error().contains(QStringLiteral("broken.json")))
      << player().error().toStdString();
  EXPECT_FALSE(panel_->page().next_button().isEnabled());
  panel_->show_list();
  EXPECT_FALSE(player().active());
}

// Whatever was shown and selected before.
TEST_F(LessonJourneyTest, BeginsInTheMiddleOfOtherWork) {
  window_.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session_.snapshot().outcome != nullptr; }, kPatience));
  session_.settle();
  for (int i = 0; i < 3; ++i) {
    session_.selection().select_group(GroupId(0));
    session_.selection().select_device(DeviceId(0));
    session_.set_simulation({TaskOrder::Priority, true});
    panel_->begin(panel_->lessons()[static_cast<std::size_t>(i)].id);
    ASSERT_NO_FATAL_FAILURE(wait_until_open());
    EXPECT_TRUE(player().active());
    EXPECT_EQ(session_.simulation(), Simulation{});
  }
  panel_->begin(panel_->lessons()[0].id);  // and again at once
  panel_->begin(panel_->lessons()[1].id);
  ASSERT_NO_FATAL_FAILURE(wait_until_open());
  EXPECT_EQ(player().lesson().id, panel_->lessons()[1].id);
}

TEST_F(LessonJourneyTest, AnExerciseIsSolvedByItsHints) {
  const Lesson* exercise = nullptr;
  for (const Lesson& lesson : panel_->lessons()) {
    if (lesson.is_exercise) exercise = &lesson;
  }
  ASSERT_NE(exercise, nullptr);
  panel_->begin(exercise->id);
  ASSERT_NO_FATAL_FAILURE(wait_until_open());
  ExerciseModel& model = panel_->exercise_page().model();
  ASSERT_TRUE(model.active());
  ASSERT_TRUE(QTest::qWaitFor([&] { return model.final(); }, kPatience));
  EXPECT_EQ(model.points(), 0);
  EXPECT_TRUE(model.optimum()->proven);
  QTest::mouseClick(&panel_->exercise_page().hint_button(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return model.hint_known(); }, kPatience));
  ASSERT_TRUE(model.hint());
  EXPECT_TRUE(session_.selection().contains(model.hint()->group));
  const QString first = panel_->exercise_page().hint_text();
  QTest::mouseClick(&panel_->exercise_page().hint_button(), Qt::LeftButton);
  EXPECT_NE(panel_->exercise_page().hint_text(), first);
  session_.decide({model.hint()->group}, model.hint()->decision, QStringLiteral("hint"));
  session_.settle();
  EXPECT_GT(*model.points(), 0);
  panel_->show_list();
  EXPECT_FALSE(model.active());
}

TEST_F(LessonJourneyTest, ClosingWhileALessonOpensOrSearchesIsQuiet) {
  for (const Lesson& lesson : panel_->lessons()) {
    panel_->begin(lesson.id);
    QCoreApplication::processEvents();
  }
  // The window goes while the last one is still on its way.
}

}  // namespace
}  // namespace strato
