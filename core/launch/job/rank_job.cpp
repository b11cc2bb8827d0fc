#include "core/launch/job/rank_job.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_file.h"
#include "core/launch/job/job_folder.h"
#include "core/program/rank/rank_file.h"

namespace strato {

namespace fs = std::filesystem;

void expect_own_program(const RankJob& job, const std::string& name) {
  const auto& devices = job.device_of_rank;
  const auto is_rank = [&](DeviceId device) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  };
  bool fits = job.program.rank == job.rank &&
              job.program.device == devices[static_cast<std::size_t>(job.rank)];
  for (std::size_t i = 0; i < job.program.instructions.size(); ++i) {
    const DeviceId peer = job.program.instructions[i].peer;
    const auto members = job.program.members[i];
    fits = fits && (!peer.valid() || is_rank(peer)) &&
           std::all_of(members.begin(), members.end(), is_rank);
  }
  if (!fits) throw InputError(name, "", "is the program of other ranks", "stage the job again");
}

RankJob load_rank(const fs::path& folder, int rank) {
  const fs::path at = folder / "job.json";
  const JobFile job = parse_job(read_file(at), at.string());
  const auto ranks = static_cast<int>(job.ranks.size());
  if (rank < 0 || rank >= ranks)
    throw InputError(at.string(), "ranks",
                     "there is no rank " + std::to_string(rank) + " of " + std::to_string(ranks),
                     "start as many ranks as the job has");
  RankJob result;
  result.options = job.options;
  result.name = job.name;
  result.rank = rank;
  result.ranks = ranks;
  for (const JobFile::Rank& of : job.ranks) {
    result.devices.push_back(of.device);
    result.device_of_rank.push_back(of.id);
  }
  result.graph = read_staged(folder / "graph.bin", job.graph);
  if (job.plan) {
    result.plan = read_staged(folder, *job.plan);
  } else {
    const fs::path file = folder / rank_file(rank);
    const StagedFile& own = job.ranks[static_cast<std::size_t>(rank)].program;
    result.program = read_rank_program(read_staged(file, own), *result.graph, file.string());
    expect_own_program(result, file.string());
  }
  result.digest = job.programs.hex();
  result.secret = read_secret(folder);
  return result;
}

}  // namespace strato
