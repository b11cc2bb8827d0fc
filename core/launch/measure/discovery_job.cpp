#include "core/launch/measure/discovery_job.h"

#include <system_error>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_folder.h"

namespace strato {
namespace {

constexpr const char* kDiscovery = "discover.json";
constexpr const char* kDiscovered = "result.json";
constexpr const char* kDiscoveryFormat = "stratoscope-discovery";
constexpr int kMostMachines = 1024;

std::filesystem::path report_file(const std::filesystem::path& folder, int rank) {
  return folder / ("machine-" + std::to_string(rank) + ".json");
}

}  // namespace

void stage_discovery(const std::filesystem::path& folder, const DiscoveryJob& job) {
  if (job.ranks < 1 || job.ranks > kMostMachines) {
    throw InputError("", "", std::to_string(job.ranks) + " machines cannot be asked",
                     "ask 1 to " + std::to_string(kMostMachines));
  }
  stage_folder(folder, [&](const std::filesystem::path& at) {
    write_file(at / kDiscovery, json_text(Json{{"format", kDiscoveryFormat},
                                               {"version", DiscoveryJob::kVersion},
                                               {"ranks", job.ranks},
                                               {"timeout_s", job.timeout.count()}}));
  });
}

bool is_discovery(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kDiscovery, ignored);
}

DiscoveryJob load_discovery(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kDiscovery;
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format(kDiscoveryFormat, DiscoveryJob::kVersion);
  return {static_cast<int>(root.at("ranks").integer(1, kMostMachines)),
          std::chrono::seconds(root.at("timeout_s").integer(1, 86'400))};
}

void write_report(const std::filesystem::path& folder, int rank, const MachineReport& report) {
  write_file(report_file(folder, rank), to_json(report) + "\n");
}

std::optional<MachineReport> find_report(const std::filesystem::path& folder, int rank) {
  const std::filesystem::path file = report_file(folder, rank);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return parse_machine_report(read_file(file), file.string());
}

void finish_discovery(const std::filesystem::path& folder, const DiscoveryJob& job) {
  write_file(folder / kDiscovered, json_text(Json{{"machines", job.ranks}}) + "\n");
}

std::vector<MachineReport> read_reports(const std::filesystem::path& folder) {
  std::vector<MachineReport> reports;
  const int ranks = load_discovery(folder).ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    auto report = find_report(folder, rank);
    if (!report) {
      throw InputError(report_file(folder, rank).string(), "", "is not there",
                       "see the log of rank " + std::to_string(rank));
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace strato
