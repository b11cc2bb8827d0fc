// Following a job to its end.
#include <gtest/gtest.h>

#include <deque>

#include "core/launch/job/job_result.h"
#include "core/plugin/use/launching.h"

namespace strato {
namespace {

// Runs until its lines are read, or for ever; a cancelled one says one thing more.
class ScriptedJob final : public LaunchedJob {
 public:
  std::deque<std::string> lines;
  JobState end = JobState::Finished;
  std::string cause;
  bool endless = false;
  int cancelled = 0;

  std::string id() const override { return "test:1"; }
  std::optional<std::string> next_line(std::chrono::milliseconds) override {
    if (lines.empty()) return std::nullopt;
    std::string line = lines.front();
    lines.pop_front();
    return line;
  }
  JobState state() override {
    if (cancelled > 0) return JobState::Cancelled;
    // What is written last may come when the job is known to be over.
    if (!endless && !late.empty()) std::exchange(late, {}).swap(lines);
    return endless ? JobState::Running : end;
  }
  std::string problem() override { return cause; }
  void cancel() override {
    if (++cancelled == 1) lines.emplace_back("cancelled");
  }

  std::deque<std::string> late;
};

std::string failure(int rank, const std::string& text) {
  JobEvent event;
  event.kind = JobEvent::Kind::Failed;
  event.rank = rank;
  event.text = text;
  return to_json_line(event);
}

class Following : public ::testing::Test {
 protected:
  JobEnd follow(const std::stop_token& stop = {}) {
    return strato::follow(job, stop, [this](const std::string& line) { heard.push_back(line); });
  }

  ScriptedJob job;
  std::vector<std::string> heard;
};

TEST_F(Following, HearsEveryLineAlsoTheLast) {
  job.lines = {"a", "b"};
  job.late = {"c", "d"};
  const JobEnd end = follow();
  EXPECT_EQ(end.state, JobState::Finished);
  EXPECT_EQ(end.problem, "");
  EXPECT_EQ(heard, (std::vector<std::string>{"a", "b", "c", "d"}));
}

// The others fail of the first one.
TEST_F(Following, TellsTheFirstFailureThatRankZeroTold) {
  job.end = JobState::Failed;
  job.lines = {"{\"event\": 3}", failure(2, "its memory is exhausted")};
  job.late = {failure(0, "rank 2 went away")};
  EXPECT_EQ(follow().problem, "rank 2: its memory is exhausted");
}

TEST_F(Following, TellsWhatTheLauncherKnowsFirst) {
  job.end = JobState::Failed;
  job.cause = "the node is down";
  job.lines = {failure(0, "rank 1 does not answer")};
  EXPECT_EQ(follow().problem, "the node is down");
}

TEST_F(Following, CancelsWhenItIsToStop) {
  job.endless = true;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(follow(stop.get_token()).state, JobState::Cancelled);
  EXPECT_GE(job.cancelled, 1);
  EXPECT_EQ(heard, std::vector<std::string>{"cancelled"});
}

TEST(JobState, IsOverAtItsEnd) {
  EXPECT_FALSE(is_over(JobState::Waiting));
  EXPECT_FALSE(is_over(JobState::Running));
  for (const JobState state : {JobState::Finished, JobState::Failed, JobState::Cancelled})
    EXPECT_TRUE(is_over(state));
}

}  // namespace
}  // namespace strato
