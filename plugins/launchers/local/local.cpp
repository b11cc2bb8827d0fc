// The launcher "local": every rank is a process of this machine. They end with the process that
// started them, so a job cannot be attached to again.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <ranges>

#include "core/base/error.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launching.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Ranks get this long to end by themselves: after SIGTERM, and once one of them has failed (the
// others then learn of it, and rank 0 tells the cause).
constexpr auto kGrace = 2s;
// A rank that was stopped (SIGSTOP) and does not go on within this time fails the job.
constexpr auto kStopped = 4s;

const std::vector<std::pair<std::string, std::string>> kSettings = {
    {"address", "where ranks listen, by rank, separated by commas (127.0.0.1)"},
    {"cores", "the core that each rank is bound to, by rank (taskset)"},
    {"namespace", "the network namespace of each rank, by rank (ip netns)"},
};

// The rank's entry of a list that starts again when it is too short; empty: not given.
std::string entry_of(const LaunchRequest& request, const std::string& setting, int rank) {
  const std::string list = setting_of(request.settings, setting);
  std::vector<std::string> entries;
  for (const auto entry : std::views::split(list, ','))
    entries.emplace_back(entry.begin(), entry.end());
  return entries.empty() ? "" : entries[static_cast<std::size_t>(rank) % entries.size()];
}

std::vector<std::string> arguments_of(const LaunchRequest& request, int rank) {
  std::vector<std::string> result;
  if (const std::string name = entry_of(request, "namespace", rank); !name.empty())
    append(result, {"ip", "netns", "exec", name});
  if (const std::string core = entry_of(request, "cores", rank); !core.empty())
    append(result, {"taskset", "-c", core});
  const std::string address = entry_of(request, "address", rank);
  append(result,
         {request.worker.string(), "--job", request.folder.string(), "--rank", fmt::to_string(rank),
          "--interface", address.empty() ? "127.0.0.1" : address, "--leash"});
  return result;
}

// One worker process on a leash: its standard input is a pipe that ends when this process does.
struct RankProcess {
  ChildProcess process;
  Handle leash;
  std::optional<Clock::time_point> stopped_at;
};

// `output`: where its standard output goes; -1: into the log. Throws InputError.
RankProcess start_rank(const LaunchRequest& request, int rank, int output) {
  const Handle log = open_log(request.folder / fmt::format("log-{}.txt", rank));
  Pipe leash = Pipe::make();
  return {ChildProcess(arguments_of(request, rank),
                       {leash.read.get(), output >= 0 ? output : log.get(), log.get()}),
          std::move(leash.write),
          {}};
}

class LocalJob final : public PolledJob {
 public:
  explicit LocalJob(const LaunchRequest& request) : folder_(request.folder) {
    Pipe output = Pipe::make();
    for (int rank = 0; rank < request.ranks; ++rank)
      ranks_.push_back(start_rank(request, rank, rank == 0 ? output.write.get() : -1));
    output_ = LineReader(std::move(output.read));
  }
  ~LocalJob() override { cancel(); }

  std::string id() const override { return fmt::format("local:{}", ranks_.front().process.pid()); }

  JobState state() override {
    look();
    if (any_running() != nullptr) return JobState::Running;
    if (cancelled_) return JobState::Cancelled;
    return problem().empty() ? JobState::Finished : JobState::Failed;
  }

  std::string problem() override {
    look();
    return problem_;
  }

  void cancel() override {
    if (any_running() == nullptr) return;
    cancelled_ = true;
    end_all();
  }

 private:
  ChildProcess* any_running() {  // null: all have ended
    for (RankProcess& rank : ranks_)
      if (rank.process.running()) return &rank.process;
    return nullptr;
  }

  bool wait_for_lines(std::chrono::milliseconds most) override {
    if (output_.open()) {
      output_.read_more(most);
    } else if (ChildProcess* running = any_running()) {
      running->wait(most);
    }
    return output_.open() || any_running() != nullptr;
  }

  // A rank that could not write its failure down (a full disk) has told it to rank 0, or is rank 0.
  std::optional<std::string> take_line() override {
    look();
    auto line = output_.take();
    if (line && told_.empty()) told_ = failure_in(*line);
    if (unexplained_ && !told_.empty()) note(told_);
    return line;
  }

  // Notes the first rank that failed, and ends the others when they do not end by themselves.
  void look() {
    if (cancelled_) return;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ChildProcess& process = ranks_[rank].process;
      // A rank that was killed is the cause, whatever the others say of it.
      if (process.killed_by_signal() && !ended_here_ && !killed_) {
        killed_ = true;
        const std::string problem = process.problem();
        const bool by_force = problem.find("signal 9") != std::string::npos;
        note(fmt::format("rank {} {}{}", rank, problem, by_force ? kWhoKills : ""));
      } else if (problem_.empty() && !process.problem().empty()) {
        note_cause(static_cast<int>(rank));
      } else if (stopped_for_long(ranks_[rank])) {
        note(fmt::format("rank {} was stopped (SIGSTOP), and did not go on within {} s", rank,
                         kStopped.count()));
        killed_ = true;
      }
    }
    const bool told = killed_ || Clock::now() > failed_at_ + kGrace;
    if (!problem_.empty() && !ended_here_ && told) end_all();
  }

  bool stopped_for_long(RankProcess& rank) const {
    if (!problem_.empty() || !rank.process.stopped()) {
      rank.stopped_at.reset();
      return false;
    }
    if (!rank.stopped_at) rank.stopped_at = Clock::now();
    return Clock::now() - *rank.stopped_at > kStopped;
  }

  void note(std::string problem) {
    if (problem_.empty()) failed_at_ = Clock::now();
    problem_ = std::move(problem);
    unexplained_ = false;
  }

  void note_cause(int rank) {
    if (const auto failure = find_failure(folder_))
      return note(fmt::format("rank {}: {}", failure->rank, failure->text));
    const std::string last = last_log_line(folder_, rank);
    note(fmt::format("rank {} {}{}", rank, ranks_[static_cast<std::size_t>(rank)].process.problem(),
                     last.empty() ? "" : ": " + last));
    unexplained_ = last.empty();
  }

  void end_all() {
    ended_here_ = true;
    for (RankProcess& rank : ranks_) {
      rank.process.signal(SIGTERM);
      rank.process.signal(SIGCONT);  // one that is stopped hears it then
    }
    const auto until = Clock::now() + kGrace;
    for (RankProcess& rank : ranks_) {
      rank.process.wait(
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()));
      rank.process.signal(SIGKILL);
      rank.process.wait(kGrace);
    }
  }

  fs::path folder_;
  std::vector<RankProcess> ranks_;
  LineReader output_;
  std::string problem_, told_;  // told_: by rank 0
  Clock::time_point failed_at_;
  bool unexplained_ = false, killed_ = false, cancelled_ = false, ended_here_ = false;
};

class LocalLauncher final : public Launcher {
 public:
  std::vector<std::pair<std::string, std::string>> settings() const override { return kSettings; }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "local", kSettings);
    clear_run_files(request.folder);
    return std::make_unique<LocalJob>(request);
  }

  std::unique_ptr<LaunchedJob> attach(const std::string& id, const fs::path&) override {
    throw InputError("", "", id + " cannot be attached to",
                     "processes of this machine end with the program that started them");
  }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_LAUNCHER([](std::string_view) { return std::make_unique<strato::LocalLauncher>(); })
