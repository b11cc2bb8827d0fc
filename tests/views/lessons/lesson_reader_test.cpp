#include "views/lessons/lesson_reader.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <string>

#include "core/io/file.h"
#include "tests/message_of.h"

namespace strato {
namespace {

const QStringList kPlaces = {QStringLiteral("graph"), QStringLiteral("timeline")};

std::string with_steps(const std::string& steps) {
  return R"({"format": "stratoscope-lesson", "version": 1, "title": "T", "model": "lenet",
             "cluster": "tag-2x1080ti", "steps": [)" +
         steps + "]}";
}

Lesson parse(const std::string& json) {
  return parse_lesson(json, "/nowhere/own.lesson.json", kPlaces);
}

std::string error_of(const std::string& json) {
  return message_of([&] { parse(json); });
}

std::string error_of_step(const std::string& step) { return error_of(with_steps(step)); }

void expect_parts(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
}

TEST(LessonReader, ReadsAStepWithAllItsParts) {
  const Lesson lesson = parse(with_steps(
      R"({"title": "A", "text": "takes {step_time}", "highlight": ["graph"], "ask": "do",
          "until": {"view": "timeline", "decided": {"groups": ["a", "b"], "mode": "replicate-ps",
                    "shares": "by-speed"}, "faster_by": 0.1, "selected_device": true,
                    "step_time_below_ms": 20},
          "hint": "h", "afterwards": "now {change}",
          "do": [{"show_view": "timeline"}, {"select_range": [0.1, 0.2]},
                 {"search": {"planner": "mcts", "iterations": 5}}]})"));
  ASSERT_EQ(lesson.steps.size(), 1u);
  const LessonStep& step = lesson.steps[0];
  EXPECT_EQ(lesson.id, QStringLiteral("own.lesson"));
  EXPECT_EQ(step.highlight, QStringList{QStringLiteral("graph")});
  ASSERT_EQ(step.until.size(), 5u);
  EXPECT_EQ(step.until[1].groups.names.size(), 2);
  EXPECT_EQ(step.until[1].mode, Mode::ReplicatePs);
  EXPECT_EQ(step.until[1].uneven, true);
  EXPECT_DOUBLE_EQ(step.until[4].number, 0.02);
  ASSERT_EQ(step.actions.size(), 3u);
  EXPECT_DOUBLE_EQ(step.actions[1].until, 0.2);
  EXPECT_TRUE(lesson.model.is_absolute());
}

TEST(LessonReader, ErrorsNameFilePlaceProblemAndRemedy) {
  expect_parts(
      error_of_step(R"({"title": "A", "text": "x", "highlight": ["graf"]})"),
      {"/nowhere/own.lesson.json", "steps[0].highlight[0]", "\"graf\"", "graph, timeline"});
  expect_parts(error_of_step(R"({"title": "A", "text": "takes {stepp}"})"),
               {"steps[0].text", "{stepp}", "step_time"});
  expect_parts(error_of_step(R"({"title": "A", "text": "open {"})"), {"steps[0].text", "{{"});
  expect_parts(error_of_step(R"({"title": "A", "text": "x", "ask": "y"})"),
               {"steps[0]", "\"ask\" without \"until\""});
  expect_parts(error_of_step(R"({"title": "A", "text": "x", "until": {"feasible": true}})"),
               {"steps[0]", "\"until\" without \"ask\""});
  expect_parts(
      error_of_step(R"({"title": "A", "text": "x", "ask": "y", "until": {"feasible": true}})"),
      {"\"ask\" without \"do\""});
  expect_parts(error_of_step(R"({"title": "A", "text": "x", "do": [{"batch": 3}]})"),
               {"\"do\" without \"ask\""});
  expect_parts(error_of_step(R"({"title": "A", "text": "x", "extra": 1})"), {"steps[0]", "extra"});
  expect_parts(error_of_step(R"({"text": "x"})"), {"steps[0]", "title"});
  expect_parts(error_of(with_steps("")), {"steps", "is empty"});
  expect_parts(error_of("{"), {"own.lesson.json"});
  expect_parts(error_of("[]"), {"own.lesson.json"});
  expect_parts(error_of(R"({"format": "stratoscope-plan", "version": 1})"), {"format"});
}

TEST(LessonReader, ConditionsAndActionsAreCheckedToTheLastNumber) {
  const auto until = [](const std::string& condition) {
    return error_of_step(R"({"title": "A", "text": "x", "ask": "y", "do": [{"batch": 3}],
                             "until": )" +
                         condition + "}");
  };
  expect_parts(until(R"({"speed_above": 2})"),
               {"steps[0].until", "\"speed_above\"", "speedup_above"});
  expect_parts(until("{}"), {"asks for nothing"});
  expect_parts(until("[]"), {"steps[0].until"});
  expect_parts(until(R"({"faster_by": 1.5})"), {"steps[0].until.faster_by"});
  expect_parts(until(R"({"faster_by": "much"})"), {"steps[0].until.faster_by"});
  expect_parts(until(R"({"search_finished": false})"), {"is false", "write true"});
  expect_parts(until(R"({"selected_group": false})"), {"is false"});
  expect_parts(until(R"({"decided": {"groups": "all"}})"), {"says nothing"});
  expect_parts(until(R"({"decided": {"groups": "some", "mode": "replicate-ps"}})"), {"\"some\""});
  expect_parts(until(R"({"decided": {"groups": [], "mode": "replicate-ps"}})"), {"names no group"});
  expect_parts(until(R"({"decided": {"groups": "all", "mode": "ps"}})"),
               {"\"ps\"", "replicate-ps"});
  expect_parts(until(R"({"decided": {"mode": "replicate-ps"}})"), {"groups"});
  const auto action = [](const std::string& text) {
    return error_of_step(R"({"title": "A", "text": "x", "ask": "y", "until": {"feasible": true},
                             "do": [)" +
                         text + "]}");
  };
  expect_parts(action(R"({"open": 1})"), {"steps[0].do[0]", "\"open\"", "show_view"});
  expect_parts(action(R"({"batch": 1, "replay": true})"), {"exactly one key"});
  expect_parts(action("{}"), {"exactly one key"});
  expect_parts(action(R"({"batch": 0})"), {"steps[0].do[0].batch"});
  expect_parts(action(R"({"batch": 1e99})"), {"steps[0].do[0].batch"});
  expect_parts(action(R"({"strategy": "best"})"), {"\"best\"", "dp-ps"});
  expect_parts(action(R"({"select_range": [0.5, 0.2]})"), {"ends before it begins"});
  expect_parts(action(R"({"select_range": [0.5]})"), {"two numbers"});
  expect_parts(action(R"({"search": {"planner": "mcts"}})"), {"iterations"});
  expect_parts(action(R"({"search": {"planner": "mcts", "iterations": -1}})"), {"iterations"});
  expect_parts(action(R"({"show_view": "nowhere"})"), {"\"nowhere\""});
}

TEST(LessonReader, FilesThatAreNotThereAreNamed) {
  expect_parts(error_of(R"({"format": "stratoscope-lesson", "version": 1, "title": "T",
                            "model": "no_such", "cluster": "tag-2x1080ti", "steps": []})"),
               {"model", "no_such.onnx", "sample"});
  expect_parts(error_of(R"({"format": "stratoscope-lesson", "version": 1, "title": "T",
                            "model": "lenet", "cluster": "mine.json", "steps": []})"),
               {"cluster", "/nowhere/mine.json", "beside"});
}

TEST(LessonReader, AFolderShowsWhatCanBeReadAndSaysWhatCannot) {
  QTemporaryDir folder;
  const auto file = [&](const char* name) {
    return std::filesystem::path(folder.filePath(QString::fromLatin1(name)).toStdString());
  };
  write_file(file("b.lesson.json"), with_steps(R"({"title": "A", "text": "x"})"));
  write_file(file("a.lesson.json"), "{broken");
  write_file(file("cluster.json"), "{}");
  const Lessons found = read_lessons(folder.path().toStdString(), kPlaces);
  ASSERT_EQ(found.lessons.size(), 1u);
  EXPECT_EQ(found.lessons[0].id, QStringLiteral("b.lesson"));
  ASSERT_EQ(found.errors.size(), 1);
  EXPECT_TRUE(found.errors[0].contains(QStringLiteral("a.lesson.json")));
  EXPECT_TRUE(read_lessons(file("nothing_there"), kPlaces).lessons.empty());
}

TEST(LessonReader, HugeTextsAndManyStepsAreRefused) {
  expect_parts(error_of_step(R"({"title": "A", "text": ")" + std::string(30'000, 'x') + "\"}"),
               {"steps[0].text", "20,000"});
  std::string steps;
  for (int i = 0; i < 101; ++i)
    steps += std::string(i ? "," : "") + R"({"title": "A", "text": "x"})";
  expect_parts(error_of(with_steps(steps)), {"more than 100 steps"});
}

}  // namespace
}  // namespace strato
