#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

TEST(RunLock, OneHolderARunAndNothingIsLeft) {
  TemporaryFolder folder;
  {
    const RunLock first(folder / "a.strata", 1);
    EXPECT_NE(message_of([&] { RunLock(folder / "a.strata", 1); }).find("by this program itself"),
              std::string::npos);
    const RunLock other_run(folder / "a.strata", 2), other_file(folder / "b.strata", 1);
  }
  EXPECT_NO_THROW(RunLock(folder / "a.strata", 1));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(RunLock(folder / "no/such/a.strata", 1), InputError);
}

TEST(RunLock, GoesWithAKilledProcess) {
  TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(folder / "a.strata", 1);
    ::write(ends[1], "x", 1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_NE(message_of([&] { RunLock(folder / "a.strata", 1); }).find("by another program"),
            std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(RunLock(folder / "a.strata", 1));
}

// Holders come and go and take the file away each time: there is never a second one.
TEST(RunLock, NeverTwoAtOnce) {
  TemporaryFolder folder;
  std::atomic<int> holders = 0, most = 0, taken = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int own = 0; own < 50;) {
        try {
          const RunLock lock(folder / "a.strata", 1);
          most = std::max(most.load(), ++holders);
          ++taken, ++own;
          std::this_thread::yield();
          --holders;
        } catch (const InputError&) {  // another thread has it
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(taken, 4 * 50);
}

}  // namespace
}  // namespace strato
