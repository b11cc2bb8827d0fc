// The launcher "slurm": one batch job, whose ranks srun starts. The job does not need the process
// that submitted it: another one may attach to it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <regex>
#include <string_view>
#include <thread>

#include "core/base/error.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launching.h"
#include "plugins/launchers/slurm/submission.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

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

// Reads one line of "scontrol --oneliner show job".
std::optional<JobRecord> parse_record(const std::string& line) {
  const std::string word = field_of(line, "JobState");
  if (word.empty()) return std::nullopt;
  const std::string reason = field_of(line, "Reason");
  return JobRecord{state_of(word), word, reason == "None" ? "" : reason};
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

SlurmLog read_log(const std::filesystem::path& folder) {
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
  if (said.problem.empty()) {
    if (auto record = parse_record(said.output)) return record;
  }
  if (said.error.find("Invalid job id") == std::string::npos) return std::nullopt;
  return ask_accounting(id);
}

// Why a job failed, from what Slurm says of it, what srun wrote, and what the ranks told.
std::string cause_of(const std::filesystem::path& folder, const JobRecord& record) {
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
  explicit FileLines(std::filesystem::path file) : file_(std::move(file)) {}

  // A whole line that is there by now, without its end.
  std::optional<std::string> take() {
    if (pending_.find('\n') == std::string::npos) read_more();
    return take_line(pending_);
  }

 private:
  // Opened anew each time: a network file system then asks its server what there is.
  void read_more() {
    std::ifstream input(file_, std::ios::binary);
    if (!input.seekg(static_cast<std::streamoff>(read_))) return;
    std::string bytes(kMost, '\0');
    input.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    read_ += static_cast<std::uint64_t>(input.gcount());
    pending_.append(bytes, 0, static_cast<std::size_t>(input.gcount()));
  }

  static constexpr std::size_t kMost = 1 << 16;
  std::filesystem::path file_;
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
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return slurm::settings();
  }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "slurm", slurm::settings());
    return std::make_unique<SlurmJob>(submit(request), request.folder);
  }

  std::unique_ptr<LaunchedJob> attach(const std::string& id, const fs::path& folder) override {
    const std::string number =
        id.starts_with(kPrefix) ? id.substr(std::string(kPrefix).size()) : "";
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos)
      throw InputError("", "", "\"" + id + "\" is no job of Slurm", "write slurm:NUMBER");
    std::string known;
    std::getline(std::ifstream(folder / kId), known);
    if (known != number) {
      throw InputError(folder.string(), "", "is not the folder of " + id,
                       "name the folder that the job was launched with");
    }
    return std::make_unique<SlurmJob>(number, folder);
  }
};

}  // namespace
}  // namespace strato::slurm

STRATOSCOPE_LAUNCHER([](std::string_view) -> std::unique_ptr<strato::Launcher> {
  return std::make_unique<strato::slurm::SlurmLauncher>();
})
