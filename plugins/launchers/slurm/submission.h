// Hands a staged job to sbatch. The script is always the same and is written beside the job; what
// differs reaches it as arguments:
//
//   slurm-job.sh      starts the ranks by srun
//   slurm-ranks.txt   by rank: the number of its node, from 1
//   slurm-id.txt      Slurm's number of the job
//   events.txt        what rank 0 writes to standard output
//   slurm-log.txt     what Slurm itself says
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plugin/api/launcher.h"

namespace strato::slurm {

inline constexpr const char* kEvents = "events.txt";
inline constexpr const char* kLog = "slurm-log.txt";
inline constexpr const char* kId = "slurm-id.txt";

const std::vector<std::pair<std::string, std::string>>& settings();

// Slurm's number of the job. Throws InputError when Slurm refuses it.
std::string submit(const LaunchRequest& request);

}  // namespace strato::slurm
