// A discovery: every rank tells what its machine has, as a folder that any launcher starts, one
// rank a machine, beside the jobs that run plans (job.h):
//
//   discover.json     how many ranks there are
//   machine-<r>.json  what rank r's machine has (core/cluster/read/machine_report.h)
//   result.json       written by rank 0 when all have told
//
// Throws InputError for what is not such a folder. Safe from any process.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/cluster/read/machine_report.h"

namespace strato {

struct DiscoveryJob {
  static constexpr int kVersion = 1;
  int ranks = 1;
  std::chrono::seconds timeout{60};  // that rank 0 waits for the others
};

// The folder is a new one, or one of an earlier job, whose files go but for checkpoints.
void stage_discovery(const std::filesystem::path& folder, const DiscoveryJob& job);
bool is_discovery(const std::filesystem::path& folder);
DiscoveryJob load_discovery(const std::filesystem::path& folder);

void write_report(const std::filesystem::path& folder, int rank, const MachineReport& report);
// Nothing: it is not there yet.
std::optional<MachineReport> find_report(const std::filesystem::path& folder, int rank);
// Rank 0's last word: launchers take it for the sign that the job has done its work.
void finish_discovery(const std::filesystem::path& folder, const DiscoveryJob& job);
// Reads the reports by rank. Throws InputError when one is missing.
std::vector<MachineReport> read_reports(const std::filesystem::path& folder);

}  // namespace strato
