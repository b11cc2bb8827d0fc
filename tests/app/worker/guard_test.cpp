#include "app/worker/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <future>

#include "core/io/file.h"
#include "core/launch/job/job_result.h"
#include "core/launch/job/run_files.h"
#include "tests/core/store/temporary_folder.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

struct Watch {
  explicit Watch(int rank = 0)
      : guard({folder.path(), rank, false, 1ms}, events,
              [this](int with) { status.set_value(with); }) {}
  std::optional<JobEvent> event() {
    std::array<char, 4096> text{};
    const ssize_t size = ::read(pipe[0], text.data(), text.size());
    return size <= 0 ? std::nullopt
                     : parse_event(std::string(text.data(), static_cast<std::size_t>(size - 1)));
  }
  ~Watch() {
    ::close(pipe[0]);
    ::close(pipe[1]);
  }

  TemporaryFolder folder;
  std::array<int, 2> pipe = [] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    return ends;
  }();
  Events events{pipe[1]};
  std::promise<int> status;
  Guard guard;
};

TEST(Guard, EndsWhenAnotherRankHasFailedAndTellsIt) {
  Watch watch;
  record_failure(watch.folder.path(), {3, "out of memory in conv1"});
  EXPECT_EQ(watch.status.get_future().get(), kFailed);
  const auto event = watch.event();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, JobEvent::Kind::Failed);
  EXPECT_EQ(event->rank, 3);
  EXPECT_EQ(event->text, "out of memory in conv1");
}

TEST(Guard, EndsOnSigterm) {
  Watch watch;
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(watch.status.get_future().get(), 128 + SIGTERM);
}

TEST(Guard, EndsARankThatHangsAndNamesWhatItHangsIn) {
  Watch watch(2);
  watch.guard.expect_progress(
      [] {
        return Guard::Activity{5, 12};
      },
      [](int index) { return "op " + std::to_string(index); }, 20ms);
  EXPECT_EQ(watch.status.get_future().get(), kFailed);
  const auto failure = find_failure(watch.folder.path());
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->rank, 2);
  EXPECT_EQ(failure->text.find("hung in op 12 for"), 0u) << failure->text;
}

TEST(Guard, LetsARankGoOnAsLongAsInstructionsEnd) {
  Watch watch;
  std::atomic<std::uint64_t> ended = 0;
  std::promise<void> asked;
  watch.guard.expect_progress(
      [&] {
        if (ended == 200) asked.set_value();
        return Guard::Activity{++ended, -1};
      },
      [](int) { return std::string(); }, 20ms);
  asked.get_future().get();
  watch.guard.expect_nothing();
  EXPECT_FALSE(find_failure(watch.folder.path()).has_value());
}

TEST(RunFiles, TheFirstFailureStays) {
  TemporaryFolder folder;
  EXPECT_FALSE(find_failure(folder.path()).has_value());
  record_failure(folder.path(), {1, "first"});
  record_failure(folder.path(), {2, "second"});
  EXPECT_EQ(find_failure(folder.path())->rank, 1);
  EXPECT_EQ(find_failure(folder.path())->text, "first");
  clear_run_files(folder.path());
  EXPECT_FALSE(find_failure(folder.path()).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RunFiles, AFailureThatIsNoTextIsToldAllTheSame) {
  TemporaryFolder folder;
  record_failure(folder.path(), {1, "bad \xff\xfe byte\n\"quoted\""});
  EXPECT_NE(find_failure(folder.path())->text.find("\"quoted\""), std::string::npos);
  write_file(folder / "failure.json", "{\"rank\": ");
  EXPECT_FALSE(find_failure(folder.path())->text.empty());
  record_failure("/nonexistent/folder", {1, "lost"});
}

TEST(RunFiles, LastLogLine) {
  TemporaryFolder folder;
  EXPECT_EQ(last_log_line(folder.path(), 0), "");
  write_file(folder / "log-0.txt", std::string(10'000, 'x') + "\nthe cause\n\n  \n");
  EXPECT_EQ(last_log_line(folder.path(), 0), "the cause");
}

}  // namespace
}  // namespace strato::worker
