// Slurm's record of a job comes from the controller (scontrol) while it remembers the job, and from
// accounting (sacct) where there is any.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/plugin/api/launcher.h"

namespace strato::slurm {

struct JobRecord {
  JobState state = JobState::Waiting;
  std::string word;    // Slurm's own: "TIMEOUT"
  std::string reason;  // "Priority", "NodeDown"; empty: none
};

// Reads one line of "scontrol --oneliner show job".
std::optional<JobRecord> parse_record(const std::string& line);
// Slurm's word as a state; words that newer versions add count as failures.
JobState state_of(const std::string& word);

enum class Answer { Known, Unknown, Silent };  // Silent: the controller cannot be reached now
struct Asked {
  Answer answer = Answer::Silent;
  JobRecord record;
};
Asked ask_slurm(const std::string& id);

// Why a job failed, from what Slurm says of it, what srun wrote, and what the ranks told.
std::string cause_of(const std::filesystem::path& folder, const JobRecord& record);

// Reads one line of srun: "srun: error: n7: task 3: Killed" is "rank 3 on n7: Killed". Nothing: the
// line does not tell that a signal or the system ended a rank.
std::optional<std::string> ended_rank(const std::string& line);

}  // namespace strato::slurm
