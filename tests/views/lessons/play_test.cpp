// Every bundled lesson without a window: what a step asks for is not so before, and is so after its
// "do".
#include <gtest/gtest.h>

#include <QTest>
#include <QWidget>

#include "views/lessons/lesson_player.h"
#include "views/lessons/lesson_reader.h"

namespace strato {
namespace {

const QStringList kAllPlaces =
    QStringLiteral(
        "graph placement cluster search planning tournament charts launch variables what-if "
        "timeline inspector workspace header vital-signs menu compare")
        .split(QLatin1Char(' '));

class BareStage : public LessonStage {
 public:
  QWidget* place(const QString&) const override { return nullptr; }
  bool shows(const QString& view) const override { return view == shown_; }
  void show_view(const QString& view) override { shown_ = view; }
  std::optional<Replay> replayed() const override { return replay_; }
  void replay(bool on) override {
    if (on != replay_.has_value()) replay_ = on ? std::optional(Replay{100, 100}) : std::nullopt;
  }
  void seek_replay(std::size_t step) override {
    if (replay_) replay_->step = step;
  }

 private:
  QString shown_;
  std::optional<Replay> replay_;
};

class PlayLesson : public ::testing::TestWithParam<int> {};

TEST_P(PlayLesson, EveryStepCanBeDone) {
  const Lessons all = read_lessons(lessons_folder(), kAllPlaces);
  ASSERT_TRUE(all.errors.isEmpty()) << all.errors.join(QLatin1Char('\n')).toStdString();
  ASSERT_GT(all.lessons.size(), static_cast<std::size_t>(GetParam()));
  const Lesson& lesson = all.lessons[static_cast<std::size_t>(GetParam())];
  Session session;
  BareStage stage;
  LessonPlayer player(session, stage);
  player.begin(lesson);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !player.opening(); }, 60'000));
  ASSERT_FALSE(player.broken()) << player.error().toStdString();
  for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
    SCOPED_TRACE(lesson.title.toStdString() + ": " + lesson.steps[step].title.toStdString());
    session.settle();
    player.check();
    if (player.asks()) {
      EXPECT_FALSE(player.holds_now()) << "is so before anything was done";
      player.do_it();
      EXPECT_TRUE(QTest::qWaitFor([&] { return player.done(); }, 15'000))
          << filled(QStringLiteral("{before}, then {step_time}; {memory_before}, then {memory}"),
                    player.moment())
                 .toStdString();
    }
    player.next();
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, PlayLesson, ::testing::Range(0, 8));

}  // namespace
}  // namespace strato
