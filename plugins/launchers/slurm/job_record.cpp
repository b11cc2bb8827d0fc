#include "plugins/launchers/slurm/job_record.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/launch/process/child_process.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswer = 30s;
constexpr std::array<std::string_view, 4> kWaiting = {"PENDING", "CONFIGURING", "REQUEUED",
                                                      "REQUEUE_HOLD"};
constexpr std::array<std::string_view, 7> kRunning = {
    "RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

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

}  // namespace

JobState state_of(const std::string& word) {
  if (among(kWaiting, word)) return JobState::Waiting;
  if (among(kRunning, word)) return JobState::Running;
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

}  // namespace strato::slurm
