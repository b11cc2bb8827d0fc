#include "plugins/launchers/slurm/cause.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <regex>
#include <utility>

#include "core/launch/job/run_files.h"
#include "plugins/launchers/slurm/submission.h"

namespace strato::slurm {
namespace {

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
