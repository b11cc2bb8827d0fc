// The launcher "mpi": mpirun starts the ranks on the hosts of a host file and forwards what rank 0
// writes. The ranks end with mpirun, and mpirun with the process that started it, so a job cannot
// be attached to again.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>

#include "core/base/error.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/child_process.h"
#include "core/launch/process/handle.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launch_request.h"
#include "plugins/launchers/mpi/command.h"

namespace strato::mpi {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* kLog = "mpi-log.txt";  // what mpirun itself says
constexpr auto kTick = 20ms;
constexpr auto kGrace = 8s;  // mpirun itself waits 5 s between SIGTERM and SIGKILL

// mpirun gives its standard input to rank 0 alone: rank 0's leash.
struct Started {
  LineReader output;
  Handle leash;
  ChildProcess mpirun;
};

Started start(const LaunchRequest& request) {
  const std::vector<std::string> arguments = prepare(request);
  const Handle log = open_log(request.folder / kLog);
  Pipe output = Pipe::make(), leash = Pipe::make();
  ChildProcess mpirun(arguments, {leash.read.get(), output.write.get(), log.get()});
  return {LineReader(std::move(output.read)), std::move(leash.write), std::move(mpirun)};
}

// "mpirun noticed that process rank 1 with PID 7 on node n2 exited on signal 9 (Killed)."
std::string killed_rank(const std::string& line) {
  static const std::regex pattern(
      R"(process rank (\d+) with PID \d+ on node (\S+) exited on (signal \d+ .*)\.$)");
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return "";
  const std::string signal = match[3];
  return fmt::format("rank {} on {} was killed by {}{}", match[1].str(), match[2].str(), signal,
                     signal.starts_with("signal 9 ") ? kWhoKills : "");
}

struct MpiLog {
  std::string first;  // line of words: mpirun draws frames around what it says
  std::string killed;
};

MpiLog read_log(const fs::path& folder) {
  MpiLog log;
  std::ifstream input(folder / kLog);
  for (std::string line; std::getline(input, line);) {
    if (log.killed.empty()) log.killed = killed_rank(line);
    if (log.first.empty() && line.find_first_not_of("- \t\r") != std::string::npos)
      log.first = line;
  }
  return log;
}

class MpiJob final : public LaunchedJob {
 public:
  explicit MpiJob(const LaunchRequest& request)
      : folder_(request.folder), started_(start(request)) {}
  ~MpiJob() override { cancel(); }

  std::string id() const override { return fmt::format("mpi:{}", started_.mpirun.pid()); }

  std::optional<std::string> next_line(std::chrono::milliseconds wait) override {
    const auto until = Clock::now() + wait;
    for (;;) {
      if (auto line = started_.output.take()) return line;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      wait_for_output(std::clamp<std::chrono::milliseconds>(left, 0ms, kTick));
      if (auto line = started_.output.take()) return line;
      if (left <= 0ms || (!started_.output.open() && !started_.mpirun.running()))
        return std::nullopt;
    }
  }

  JobState state() override {
    if (started_.mpirun.running()) return JobState::Running;
    if (cancelled_) return JobState::Cancelled;
    return started_.mpirun.problem().empty() ? JobState::Finished : JobState::Failed;
  }

  std::string problem() override {
    if (state() != JobState::Failed) return "";
    const MpiLog log = read_log(folder_);
    if (!log.killed.empty()) return log.killed;
    if (const auto failure = find_failure(folder_))
      return fmt::format("rank {}: {}", failure->rank, failure->text);
    return "mpirun " + started_.mpirun.problem() + (log.first.empty() ? "" : ": " + log.first);
  }

  void cancel() override {
    if (!started_.mpirun.running()) return;
    cancelled_ = true;
    started_.mpirun.signal(SIGTERM);
    if (started_.mpirun.wait(kGrace)) return;
    started_.mpirun.signal(SIGKILL);
    started_.mpirun.wait(kGrace);
  }

 private:
  void wait_for_output(std::chrono::milliseconds wait) {
    if (started_.output.open()) {
      started_.output.read_more(wait);
    } else {
      started_.mpirun.wait(wait);
    }
  }

  fs::path folder_;
  Started started_;
  bool cancelled_ = false;
};

class MpiLauncher final : public Launcher {
 public:
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return mpi::settings();
  }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "mpi", mpi::settings());
    clear_run_files(request.folder);
    std::error_code ignored;
    for (int rank = 0; rank < request.ranks; ++rank)
      fs::remove(request.folder / fmt::format("log-{}.txt", rank), ignored);
    return std::make_unique<MpiJob>(request);
  }

  std::unique_ptr<LaunchedJob> attach(const std::string& id, const fs::path&) override {
    throw InputError("", "", id + " cannot be attached to",
                     "mpirun ends with the program that started it");
  }
};

}  // namespace
}  // namespace strato::mpi

STRATOSCOPE_LAUNCHER([](std::string_view) -> std::unique_ptr<strato::Launcher> {
  return std::make_unique<strato::mpi::MpiLauncher>();
})
