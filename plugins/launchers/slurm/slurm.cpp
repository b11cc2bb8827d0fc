// The launcher "slurm": one batch job, whose ranks srun starts. The job does not need the process
// that submitted it: another one may attach to it.
//
// A staged job is handed to sbatch. The script is always the same and is written beside the job;
// what differs reaches it as arguments:
//
//   slurm-job.sh      starts the ranks by srun
//   slurm-ranks.txt   by rank: the number of its node, from 1
//   slurm-id.txt      Slurm's number of the job
//   events.txt        what rank 0 writes to standard output
//   slurm-log.txt     what Slurm itself says
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>
#include <thread>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/read_part.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launching.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* kEvents = "events.txt";
constexpr const char* kLog = "slurm-log.txt";
constexpr const char* kId = "slurm-id.txt";

const std::vector<std::pair<std::string, std::string>> kSettings = {
    {"partition", "where the job is queued"},
    {"account", "which account it is charged to"},
    {"time", "limit, as Slurm writes it: 30, 1:00:00"},
    {"nodes", "fewer than the plan has machines: they share nodes"},
    {"gpus-per-task", "GPUs of each rank"},
    {"cpus-per-task", "CPU cores of each rank"},
    {"exclusive", "yes: nodes for this job alone"},
    {"interface", "network that ranks use: ib0, eth0, or an address"},
};

// ---- submission

constexpr const char* kScript = "slurm-job.sh";
constexpr const char* kRanks = "slurm-ranks.txt";
constexpr auto kSubmission = 60s;  // a busy controller takes its time

// Runs in the job's folder. SLURM_HOSTFILE has the node of each rank, in their order.
constexpr const char* kScriptText = R"(#!/bin/sh
# Written by the launcher "slurm": starts the ranks, with the arguments that it is given.
set -eu
scontrol show hostnames "$SLURM_JOB_NODELIST" >slurm-nodes.txt
while read -r number; do
  sed -n "${number}p" slurm-nodes.txt
done <slurm-ranks.txt >slurm-hosts.txt
export SLURM_HOSTFILE=slurm-hosts.txt
exec srun --mpi=none --distribution=arbitrary --kill-on-bad-exit=1 \
  --output=0 --error=log-%t.txt --open-mode=append "$@"
)";

struct Layout {
  std::vector<int> nodes;  // by rank
  int node_count = 0;
  int most = 0;  // ranks on one node
};

Layout layout_of(const LaunchRequest& request) {
  Layout layout;
  layout.nodes = nodes_of(request, count_of(request.settings, "nodes"));
  std::map<int, int> ranks;
  for (const int node : layout.nodes) layout.most = std::max(layout.most, ++ranks[node]);
  layout.node_count = static_cast<int>(ranks.size());
  if (count_of(request.settings, "nodes") > layout.node_count) {
    throw InputError("", "--set nodes", fmt::format("the plan has {} machines", layout.node_count),
                     "give at most so many nodes");
  }
  return layout;
}

void write_files(const LaunchRequest& request, const Layout& layout) {
  std::error_code ignored;
  for (const char* name : {kEvents, kLog, kId, "result.json"})
    fs::remove(request.folder / name, ignored);
  for (int rank = 0; rank < request.ranks; ++rank)
    fs::remove(request.folder / fmt::format("log-{}.txt", rank), ignored);
  clear_run_files(request.folder);
  std::string ranks;
  for (const int node : layout.nodes) ranks += fmt::format("{}\n", node + 1);
  write_file(request.folder / kRanks, ranks);
  write_file(request.folder / kScript, kScriptText);
}

// Both sbatch and srun have to know them.
std::vector<std::string> of_each_task(const LaunchRequest& request) {
  std::vector<std::string> result;
  for (const char* name : {"gpus-per-task", "cpus-per-task"}) {
    if (const int count = count_of(request.settings, name))
      result.push_back(fmt::format("--{}={}", name, count));
  }
  return result;
}

bool exclusive(const LaunchRequest& request) {
  const std::string text = setting_of(request.settings, "exclusive");
  if (!text.empty() && text != "yes" && text != "no")
    throw InputError("", "--set exclusive", "\"" + text + "\" is neither yes nor no", "write yes");
  return text == "yes";
}

// Every node is asked for as much as the fullest one needs: Slurm may then choose any.
std::vector<std::string> sbatch_arguments(const LaunchRequest& request, const Layout& layout) {
  std::vector<std::string> result = {"sbatch",
                                     "--parsable",
                                     "--no-requeue",
                                     "--job-name=stratoscope",
                                     "--chdir=" + request.folder.string(),
                                     fmt::format("--output={}", kEvents),
                                     fmt::format("--error={}", kLog),
                                     fmt::format("--nodes={}", layout.node_count),
                                     fmt::format("--ntasks={}", layout.node_count * layout.most),
                                     fmt::format("--ntasks-per-node={}", layout.most)};
  for (const char* name : {"partition", "account", "time"}) {
    if (const std::string value = setting_of(request.settings, name); !value.empty())
      result.push_back(fmt::format("--{}={}", name, value));
  }
  if (exclusive(request)) result.push_back("--exclusive");
  append(result, of_each_task(request));
  return result;
}

std::vector<std::string> srun_arguments(const LaunchRequest& request, const Layout& layout) {
  std::vector<std::string> result = {fmt::format("--ntasks={}", request.ranks)};
  append(result, of_each_task(request));
  append(result, {request.worker.string(), "--job", request.folder.string()});
  std::string interface = setting_of(request.settings, "interface");
  if (interface.empty() && layout.node_count == 1) interface = "127.0.0.1";
  if (!interface.empty()) append(result, {"--interface", interface});
  return result;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Returns Slurm's number of the job. Throws InputError when Slurm refuses it.
std::string submit(const LaunchRequest& request) {
  const Layout layout = layout_of(request);
  std::vector<std::string> arguments = sbatch_arguments(request, layout);
  arguments.push_back((request.folder / kScript).string());
  append(arguments, srun_arguments(request, layout));
  write_files(request, layout);
  const ProgramResult said = run_program(arguments, kSubmission);
  const std::string id = said.output.substr(0, said.output.find_first_not_of("0123456789"));
  if (!said.problem.empty() || id.empty()) {
    const std::string cause = last_line(said.error);
    throw InputError("", "", "sbatch refuses the job: " + (cause.empty() ? said.problem : cause),
                     "see sinfo, and give --set partition=..., account=..., time=...");
  }
  write_file(request.folder / kId, id + "\n");
  return id;
}

// ---- the job on its way

constexpr const char* kPrefix = "slurm:";
constexpr auto kAnswer = 30s;
constexpr auto kAsk = 1s;    // controllers serve many: no more often than this
constexpr auto kGone = 60s;  // Slurm waits up to 30 s (KillWait) before it kills
constexpr auto kLag = 10s;   // until files that another node wrote are seen here

// Slurm's record of a job comes from the controller (scontrol) while it remembers the job, and from
// accounting (sacct) where there is any.
struct JobRecord {
  JobState state = JobState::Waiting;
  std::string word;    // Slurm's own: "TIMEOUT"
  std::string reason;  // "Priority", "NodeDown"; empty: none
};

constexpr const char* kForgotten = "forgotten";
constexpr std::array<std::string_view, 4> kWaiting = {"PENDING", "CONFIGURING", "REQUEUED",
                                                      "REQUEUE_HOLD"};
constexpr std::array<std::string_view, 7> kRunning = {
    "RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"};

// The value of the first " name=": those that a person chooses come later in the line.
std::string field_of(const std::string& line, const std::string& name) {
  const std::size_t found = line.find(" " + name + "=");
  if (found == std::string::npos) return "";
  const std::size_t start = found + name.size() + 2;
  return line.substr(start, line.find_first_of(" \n", start) - start);
}

// Words that newer versions add count as failures.
JobState state_of(const std::string& word) {
  if (std::ranges::find(kWaiting, word) != kWaiting.end()) return JobState::Waiting;
  if (std::ranges::find(kRunning, word) != kRunning.end()) return JobState::Running;
  if (word == "COMPLETED") return JobState::Finished;
  if (word == "CANCELLED") return JobState::Cancelled;
  return JobState::Failed;
}

JobRecord ask_accounting(const std::string& id) {
  const ProgramResult said = run_program(
      {"sacct", "--noheader", "--parsable2", "--allocations", "--jobs=" + id, "--format=State"},
      kAnswer);
  // "CANCELLED by 1000"
  const std::string word = said.output.substr(0, said.output.find_first_of(" \n|"));
  if (!said.problem.empty() || word.empty()) return {JobState::Finished, kForgotten, ""};
  return {state_of(word), word, ""};
}

// Ends that Slurm knows best, whatever the ranks say of it.
constexpr std::array<std::pair<const char*, const char*>, 6> kEnds = {{
    {"TIMEOUT", "the job has reached its time limit; give a longer one with --set time=..."},
    {"DEADLINE", "the job has reached its deadline"},
    {"OUT_OF_MEMORY", "the memory that Slurm gave the job is exhausted"},
    {"NODE_FAIL", "a node of the job is unreachable"},
    {"BOOT_FAIL", "a node of the job did not start"},
    {"PREEMPTED", "Slurm took the nodes for another job"},
}};

// Reads one line of srun: "srun: error: n7: task 3: Killed" is "rank 3 on n7: Killed". Nothing: the
// line does not tell that a signal or the system ended a rank.
std::optional<std::string> ended_rank(const std::string& line) {
  static const std::regex pattern(R"(^srun: error: (\S+): task (\d+): (.+)$)");
  std::smatch match;
  if (!std::regex_match(line, match, pattern)) return std::nullopt;
  const std::string how = match[3];
  // The rank ended by itself, as srun or Slurm asked it to.
  if (how.starts_with("Exited") || how.starts_with("Terminated")) return std::nullopt;
  return fmt::format("rank {} on {}: {}", match[2].str(), match[1].str(), how);
}

struct SlurmLog {
  std::string last;                  // line
  std::optional<std::string> ended;  // the first rank that did not end by itself
};

SlurmLog read_log(const fs::path& folder) {
  SlurmLog log;
  std::ifstream input(folder / kLog);
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) log.last = line;
    if (!log.ended) log.ended = ended_rank(line);
  }
  return log;
}

// One that Slurm has forgotten is finished, with the word "forgotten". Nothing: the controller
// cannot be reached now.
std::optional<JobRecord> ask_slurm(const std::string& id) {
  const ProgramResult said = run_program({"scontrol", "--oneliner", "show", "job", id}, kAnswer);
  const std::string word = said.problem.empty() ? field_of(said.output, "JobState") : "";
  if (!word.empty()) {
    const std::string reason = field_of(said.output, "Reason");
    return JobRecord{state_of(word), word, reason == "None" ? "" : reason};
  }
  if (said.error.find("Invalid job id") == std::string::npos) return std::nullopt;
  return ask_accounting(id);
}

// Why a job failed, from what Slurm says of it, what srun wrote, and what the ranks told.
std::string cause_of(const fs::path& folder, const JobRecord& record) {
  for (const auto& [word, text] : kEnds) {
    if (record.word == word) return text;
  }
  const SlurmLog log = read_log(folder);
  if (log.ended) return *log.ended;
  if (const auto failure = find_failure(folder))
    return fmt::format("rank {}: {}", failure->rank, failure->text);
  if (record.word == kForgotten) return "Slurm does not know the job any more; it left no result";
  std::string cause = "Slurm says " + record.word;
  if (!record.reason.empty()) cause += " (" + record.reason + ")";
  return log.last.empty() ? cause : cause + ": " + log.last;
}

// Lines of a file that another process, perhaps on another machine, is still writing.
class FileLines {
 public:
  explicit FileLines(fs::path file) : file_(std::move(file)) {}

  // A whole line that is there by now, without its end.
  std::optional<std::string> take() {
    if (pending_.find('\n') == std::string::npos) read_more();
    return take_line(pending_);
  }

 private:
  // Opened anew each time: a network file system then asks its server what there is.
  void read_more() {
    const std::string bytes = read_part(file_, read_, kMost);
    read_ += bytes.size();
    pending_ += bytes;
  }

  static constexpr std::size_t kMost = 1 << 16;
  fs::path file_;
  std::uint64_t read_ = 0;
  std::string pending_;
};

class SlurmJob final : public PolledJob {
 public:
  SlurmJob(std::string number, fs::path folder)
      : number_(std::move(number)), folder_(std::move(folder)), lines_(folder_ / kEvents) {}

  std::string id() const override { return kPrefix + number_; }

  JobState state() override {
    if (!is_over(record_.state) && Clock::now() >= ask_at_) ask();
    return record_.state;
  }

  std::string problem() override {
    return state() == JobState::Failed ? cause_of(folder_, record_) : "";
  }

  void cancel() override {
    if (is_over(state())) return;
    const ProgramResult said = run_program({"scancel", number_}, kGone);
    const auto until = Clock::now() + kGone;
    do {
      ask();
      if (is_over(record_.state)) return;
      std::this_thread::sleep_for(100ms);
    } while (Clock::now() < until);
    throw InputError("", "", fmt::format("job {} is not cancelled: {}", number_, said.error),
                     "try scancel " + number_);
  }

 private:
  std::optional<std::string> take_line() override { return lines_.take(); }
  bool wait_for_lines(std::chrono::milliseconds most) override {
    if (is_over(state())) return false;
    std::this_thread::sleep_for(most);
    return true;
  }

  void ask() {
    if (auto record = ask_slurm(number_)) record_ = *std::move(record);
    ask_at_ = Clock::now() + kAsk;
    if (record_.state == JobState::Finished) await_result();
  }

  // A job that ended well, or that Slurm has forgotten, has left its result.
  void await_result() {
    std::error_code ignored;
    if (fs::exists(folder_ / "result.json", ignored)) return;
    if (!ended_at_) ended_at_ = Clock::now();
    const bool late = Clock::now() > *ended_at_ + kLag || find_failure(folder_);
    record_.state = late ? JobState::Failed : JobState::Running;
  }

  std::string number_;
  fs::path folder_;
  FileLines lines_;
  JobRecord record_;
  Clock::time_point ask_at_;
  std::optional<Clock::time_point> ended_at_;
};

class SlurmLauncher final : public Launcher {
 public:
  std::vector<std::pair<std::string, std::string>> settings() const override { return kSettings; }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "slurm", kSettings);
    return std::make_unique<SlurmJob>(submit(request), request.folder);
  }

  std::unique_ptr<LaunchedJob> attach(const std::string& id, const fs::path& folder) override {
    const std::string number =
        id.starts_with(kPrefix) ? id.substr(std::string(kPrefix).size()) : "";
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos)
      throw InputError("", "", "\"" + id + "\" is no job of Slurm", "write slurm:NUMBER");
    std::istringstream file(read_part(folder / kId, 0, 1 << 10));
    std::string known;
    std::getline(file, known);
    if (known != number) {
      throw InputError(folder.string(), "", "is not the folder of " + id,
                       "name the folder that the job was launched with");
    }
    return std::make_unique<SlurmJob>(number, folder);
  }
};

}  // namespace
}  // namespace strato::slurm

STRATOSCOPE_LAUNCHER([](std::string_view) {
  return std::make_unique<strato::slurm::SlurmLauncher>();
})
