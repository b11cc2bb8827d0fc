#include "tests/plugins/transports/gloo/rank_processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/plugin/load/plugin_registry.h"
#include "tests/free_port.h"
#include "tests/paths.h"

namespace strato {

RankProcesses::RankProcesses(int ranks, std::chrono::milliseconds timeout)
    : processes_(static_cast<std::size_t>(ranks), 0) {
  const std::string master = free_master();
  meeting_.ranks = ranks;
  meeting_.port = static_cast<std::uint16_t>(std::stoi(master.substr(master.rfind(':') + 1)));
  meeting_.secret = "of this test";
  meeting_.timeout = timeout;
}

RankProcesses::~RankProcesses() {
  for (const int process : processes_) {
    if (process <= 0) continue;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
}

void RankProcesses::start(int rank, const Body& body) {
  const int child = ::fork();
  ASSERT_GE(child, 0);
  if (child > 0) {
    processes_[static_cast<std::size_t>(rank)] = child;
    return;
  }
  ::signal(SIGPIPE, SIG_IGN);  // as in every process that uses transports
  Meeting meeting = meeting_;
  meeting.rank = rank;
  try {
    body(meeting);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << rank << ": " << error.what();
  }
  std::fflush(nullptr);
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

void RankProcesses::start_all(const Body& body) {
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) start(static_cast<int>(rank), body);
}

void RankProcesses::join(const std::vector<int>& but_for) {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const int rank = static_cast<int>(i);
    const bool may_fail = std::find(but_for.begin(), but_for.end(), rank) != but_for.end();
    if (const int status = ended(i); !may_fail) {
      EXPECT_EQ(status, 0) << "rank " << rank;
    }
  }
}

void RankProcesses::join_only(int rank) {
  EXPECT_EQ(ended(static_cast<std::size_t>(rank)), 0) << "rank " << rank;
}

void RankProcesses::suspend_all_for(std::chrono::milliseconds time) {
  for (const int process : processes_) {
    int status = 0;
    ::waitpid(process, &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  std::this_thread::sleep_for(time);
  for (const int process : processes_) ::kill(process, SIGCONT);
}

int RankProcesses::ended(std::size_t rank) {
  int status = 0;
  if (processes_[rank] > 0) ::waitpid(std::exchange(processes_[rank], 0), &status, 0);
  return status;
}

std::unique_ptr<Transport> gloo_transport(const Meeting& meeting) {
  static const PluginRegistry registry({std::string(kBuildFolder) + "/plugins"});
  return registry.transport("gloo", meeting);
}

}  // namespace strato
