// Why a job failed, from what Slurm says of it, what srun wrote, and what the ranks told.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "plugins/launchers/slurm/job_record.h"

namespace strato::slurm {

std::string cause_of(const std::filesystem::path& folder, const JobRecord& record);

// Reads one line of srun: "srun: error: n7: task 3: Killed" is "rank 3 on n7: Killed". Nothing: the
// line does not tell that a signal or the system ended a rank.
std::optional<std::string> ended_rank(const std::string& line);

}  // namespace strato::slurm
