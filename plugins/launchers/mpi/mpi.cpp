// The launcher "mpi": mpirun starts the ranks on the hosts of a host file and forwards what rank 0
// writes. The ranks end with mpirun, and mpirun with the process that started it, so a job cannot
// be attached to again.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <regex>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launching.h"

namespace strato::mpi {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* kHosts = "mpi-hosts.txt";  // one line a rank
constexpr const char* kLog = "mpi-log.txt";      // what mpirun itself says
constexpr auto kGrace = 8s;  // mpirun itself waits 5 s between SIGTERM and SIGKILL

const std::vector<std::pair<std::string, std::string>> kSettings = {
    {"hostfile", "hosts, one a line, in the order of the plan's machines; else this machine"},
    {"plm_rsh_agent", "how hosts are reached: ssh -p 2222 -i key"},
    {"interface", "network that ranks use: ib0, eth0, or an address"},
};

// For mpirun's sequential mapping, which knows this machine only by its own name.
std::string host_of_each_rank(const LaunchRequest& request, std::vector<std::string> hosts) {
  if (hosts.empty()) hosts = {this_machine()};
  std::string text;
  for (const int node : nodes_of(request, static_cast<int>(hosts.size())))
    text += hosts[static_cast<std::size_t>(node)] + "\n";
  return text;
}

// Writes kHosts into the job's folder, and returns the command line of mpirun.
std::vector<std::string> prepare(const LaunchRequest& request) {
  const std::vector<std::string> hosts = hosts_of(request.settings);
  write_file(request.folder / kHosts, host_of_each_rank(request, hosts));
  std::vector<std::string> result = {"mpirun",   "-np",        fmt::to_string(request.ranks),
                                     "--map-by", "seq",        "--bind-to",
                                     "none",     "--hostfile", (request.folder / kHosts).string()};
  if (::geteuid() == 0) append(result, {"--allow-run-as-root"});
  if (const std::string agent = setting_of(request.settings, "plm_rsh_agent"); !agent.empty())
    append(result, {"--mca", "plm_rsh_agent", agent});
  append(result, {request.worker.string(), "--job", request.folder.string(), "--leash"});
  std::string interface = setting_of(request.settings, "interface");
  if (interface.empty() && hosts.empty()) interface = "127.0.0.1";
  if (!interface.empty()) append(result, {"--interface", interface});
  return result;
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

class MpiJob final : public PolledJob {
 public:
  explicit MpiJob(const LaunchRequest& request) : MpiJob(request, Pipe::make(), Pipe::make()) {}
  ~MpiJob() override { cancel(); }

  std::string id() const override { return fmt::format("mpi:{}", mpirun_.pid()); }

  JobState state() override {
    if (mpirun_.running()) return JobState::Running;
    if (cancelled_) return JobState::Cancelled;
    return mpirun_.problem().empty() ? JobState::Finished : JobState::Failed;
  }

  std::string problem() override {
    if (state() != JobState::Failed) return "";
    const MpiLog log = read_log(folder_);
    if (!log.killed.empty()) return log.killed;
    if (const auto failure = find_failure(folder_))
      return fmt::format("rank {}: {}", failure->rank, failure->text);
    return "mpirun " + mpirun_.problem() + (log.first.empty() ? "" : ": " + log.first);
  }

  void cancel() override {
    if (!mpirun_.running()) return;
    cancelled_ = true;
    mpirun_.signal(SIGTERM);
    if (mpirun_.wait(kGrace)) return;
    mpirun_.signal(SIGKILL);
    mpirun_.wait(kGrace);
  }

 private:
  MpiJob(const LaunchRequest& request, Pipe output, Pipe leash)
      : folder_(request.folder),
        output_(std::move(output.read)),
        leash_(std::move(leash.write)),
        mpirun_(prepare(request),
                {leash.read.get(), output.write.get(), open_log(folder_ / kLog).get()}) {}

  std::optional<std::string> take_line() override { return output_.take(); }
  bool wait_for_lines(std::chrono::milliseconds most) override {
    if (output_.open()) {
      output_.read_more(most);
    } else {
      mpirun_.wait(most);
    }
    return output_.open() || mpirun_.running();
  }

  fs::path folder_;
  LineReader output_;
  Handle leash_;  // rank 0's: mpirun gives its own standard input to rank 0 alone
  ChildProcess mpirun_;
  bool cancelled_ = false;
};

class MpiLauncher final : public Launcher {
 public:
  std::vector<std::pair<std::string, std::string>> settings() const override { return kSettings; }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "mpi", kSettings);
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

STRATOSCOPE_LAUNCHER([](std::string_view) { return std::make_unique<strato::mpi::MpiLauncher>(); })
