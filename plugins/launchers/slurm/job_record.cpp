#include "plugins/launchers/slurm/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <string_view>
#include <utility>

#include "core/launch/job/run_files.h"
#include "core/launch/process/child_process.h"
#include "plugins/launchers/slurm/submission.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswer = 30s;
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

Asked ask_accounting(const std::string& id) {
  const ProgramResult said = run_program(
      {"sacct", "--noheader", "--parsable2", "--allocations", "--jobs=" + id, "--format=State"},
      kAnswer);
  // "CANCELLED by 1000"
  const std::string word = said.output.substr(0, said.output.find_first_of(" \n|"));
  if (!said.problem.empty() || word.empty()) return {Answer::Unknown, {}};
  return {Answer::Known, {state_of(word), word, ""}};
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

}  // namespace

JobState state_of(const std::string& word) {
  if (std::ranges::find(kWaiting, word) != kWaiting.end()) return JobState::Waiting;
  if (std::ranges::find(kRunning, word) != kRunning.end()) return JobState::Running;
  if (word == "COMPLETED") return JobState::Finished;
  if (word == "CANCELLED") return JobState::Cancelled;
  return JobState::Failed;
}

std::optional<JobRecord> parse_record(const std::string& line) {
  const std::string word = field_of(line, "JobState");
  if (word.empty()) return std::nullopt;
  const std::string reason = field_of(line, "Reason");
  return JobRecord{state_of(word), word, reason == "None" ? "" : reason};
}

Asked ask_slurm(const std::string& id) {
  const ProgramResult said = run_program({"scontrol", "--oneliner", "show", "job", id}, kAnswer);
  if (said.problem.empty()) {
    if (const auto record = parse_record(said.output)) return {Answer::Known, *record};
  }
  if (said.error.find("Invalid job id") == std::string::npos) return {Answer::Silent, {}};
  return ask_accounting(id);
}

std::optional<std::string> ended_rank(const std::string& line) {
  static const std::regex pattern(R"(^srun: error: (\S+): task (\d+): (.+)$)");
  std::smatch match;
  if (!std::regex_match(line, match, pattern)) return std::nullopt;
  const std::string how = match[3];
  // The rank ended by itself, as srun or Slurm asked it to.
  if (how.starts_with("Exited") || how.starts_with("Terminated")) return std::nullopt;
  return fmt::format("rank {} on {}: {}", match[2].str(), match[1].str(), how);
}

std::string cause_of(const std::filesystem::path& folder, const JobRecord& record) {
  for (const auto& [word, text] : kEnds) {
    if (record.word == word) return text;
  }
  const SlurmLog log = read_log(folder);
  if (log.ended) return *log.ended;
  if (const auto failure = find_failure(folder))
    return fmt::format("rank {}: {}", failure->rank, failure->text);
  if (record.word == "forgotten") return "Slurm does not know the job any more; it left no result";
  std::string cause = "Slurm says " + record.word;
  if (!record.reason.empty()) cause += " (" + record.reason + ")";
  return log.last.empty() ? cause : cause + ": " + log.last;
}

}  // namespace strato::slurm
