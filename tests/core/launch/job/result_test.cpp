// What comes back from a job: lines of events among other output, and results on disk.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_result.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

TEST(JobEvent, GoesThroughALine) {
  JobEvent event;
  event.kind = JobEvent::Kind::Failed;
  event.rank = 3;
  event.step = 12;
  event.step_time = Nanos(123'456'789'012);
  event.loss = 0.1;
  event.text = "rank 3: line 1\nline 2 \"quoted\" \xff";
  const std::string line = to_json_line(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = parse_event(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, event.kind);
  EXPECT_EQ(read->rank, 3);
  EXPECT_EQ(read->step, 12);
  EXPECT_EQ(read->step_time, event.step_time);
  EXPECT_EQ(read->loss, 0.1);
  EXPECT_TRUE(read->text.starts_with("rank 3: line 1\nline 2 \"quoted\" "));
}

TEST(JobEvent, KeepsLossesThatAreNoNumbers) {
  JobEvent event;
  event.kind = JobEvent::Kind::Step;
  for (const double loss : {std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(), 0.0, 5e-324}) {
    event.loss = loss;
    EXPECT_EQ(parse_event(to_json_line(event))->loss, loss);
  }
  event.loss = std::nan("");
  EXPECT_TRUE(std::isnan(*parse_event(to_json_line(event))->loss));
  event.loss.reset();
  EXPECT_FALSE(parse_event(to_json_line(event))->loss);
}

TEST(JobEvent, IsNotReadFromOtherLines) {
  for (const char* line :
       {"", "hello", "{", "[]", "null", "5", "{}", R"({"event":5})", R"({"event":"exploded"})",
        R"({"event":"step","rank":-1})", R"({"event":"step","rank":"0"})",
        R"({"event":"step","rank":99999999999})", R"({"event":"step","step":1.5})",
        R"({"event":"step","step":1e99})", R"({"event":"step","loss":"big"})",
        R"({"event":"failed","text":{}})", R"({"event":"step"} {"event":"step"})",
        "\xff\xfe{\"event\":\"step\"}"})
    EXPECT_FALSE(parse_event(line)) << line;
  EXPECT_TRUE(parse_event(R"({"event":"started"})"));
  EXPECT_TRUE(parse_event("  {\"event\":\"finished\",\"rank\":0,\"more\":[1]}\r"));
}

JobResult some_result() {
  JobResult result;
  result.step_times = {Nanos(900), Nanos(500), Nanos(510)};
  result.step_time = Nanos(505);
  result.losses = {2.5, std::nan(""), std::numeric_limits<double>::infinity()};
  result.peaks = {Bytes(1) * (std::int64_t{1} << 40), Bytes(0)};
  result.tasks = {{TaskId(0), 0, Nanos(0), Nanos(10)}, {TaskId(7), 1, Nanos(-5), Nanos(3)}};
  return result;
}

TEST(JobResult, IsReadAsItWasWritten) {
  const TemporaryFolder at;
  const JobResult result = some_result();
  write_result(at.path(), result);
  const JobResult read = read_result(at.path());
  EXPECT_EQ(read.step_times, result.step_times);
  EXPECT_EQ(read.step_time, result.step_time);
  ASSERT_EQ(read.losses.size(), 3u);
  EXPECT_EQ(read.losses[0], 2.5);
  EXPECT_TRUE(std::isnan(read.losses[1]));
  EXPECT_TRUE(std::isinf(read.losses[2]));
  EXPECT_EQ(read.peaks, result.peaks);
  ASSERT_EQ(read.tasks.size(), 2u);
  EXPECT_EQ(read.tasks[1].task, TaskId(7));
  EXPECT_EQ(read.tasks[1].rank, 1);
  EXPECT_EQ(read.tasks[1].start, Nanos(-5));
  EXPECT_EQ(read.tasks[1].end, Nanos(3));
}

TEST(JobResult, IsRefusedWhenDamagedOrOfTwoRuns) {
  const TemporaryFolder at;
  write_result(at.path(), some_result());
  const auto refusal = [&] { return message_of([&] { read_result(at.path()); }); };
  for (const char* name : {"tasks.bin", "result.json"}) {
    const std::string whole = read_file(at / name);
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
      write_file(at / name, whole.substr(0, size));
      EXPECT_NE(refusal().find(name), std::string::npos);
    }
    write_file(at / name, whole);
  }
  const std::string json = read_file(at / "result.json");
  JobResult other = some_result();
  other.tasks.front().end = Nanos(11);
  write_result(at.path(), other);
  write_file(at / "result.json", json);
  EXPECT_NE(refusal().find("digest"), std::string::npos);
  other.tasks.front().rank = 2;  // of two ranks
  write_result(at.path(), other);
  EXPECT_NE(refusal().find("out of range"), std::string::npos);
}

}  // namespace
}  // namespace strato
