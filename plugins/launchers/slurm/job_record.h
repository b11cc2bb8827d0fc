// Slurm's record of a job comes from the controller (scontrol) while it remembers the job, and from
// accounting (sacct) where there is any.
#pragma once

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

}  // namespace strato::slurm
