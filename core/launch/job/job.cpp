#include "core/launch/job/job.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_file.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

void check(const Job& job, const std::string& name) {
  const std::size_t ranks = job.plan ? job.device_ids.size() : job.programs.ranks.size();
  CHECK(job.graph && (job.plan || job.programs.graph == job.graph), "a job of another graph");
  CHECK(!job.plan || job.programs.ranks.empty(), "a job of a plan and of programs");
  CHECK(ranks >= 1 && job.devices.size() == ranks && job.machines.size() == ranks,
        "a job with another number of devices than ranks");
  CHECK(job.write_data || (!job.options.weights && !job.options.inputs), "a job without its data");
  check_options(job.options, name);
  if (!job.plan) check_termination(job.programs, name);
}

// Each rank's device, and of a job without a plan its program, which `write` takes.
template <class Write>
void add_ranks(JobFile& file, const Job& job, const Write& write) {
  for (std::size_t r = 0; r < job.devices.size(); ++r) {
    file.ranks.push_back({job.devices[r], DeviceId(), job.machines[r], StagedFile()});
    JobFile::Rank& rank = file.ranks.back();
    rank.id = job.plan ? job.device_ids[r] : job.programs.ranks[r].device;
    if (job.plan) continue;
    const std::string program = write_rank_program(job.programs.ranks[r]);
    write(static_cast<int>(r), program);
    rank.program = staged(program);
  }
  file.programs = digest_of_programs(file);
}

void write_contents(const fs::path& folder, const Job& job) {
  JobFile file;
  file.name = job.name;
  file.options = job.options;
  file.predicted = job.predicted;
  file.graph = stage_graph(folder / "graph.bin", *job.graph);
  if (job.write_data) job.write_data(folder);
  if (job.plan) file.plan = stage_plan(folder, *job.plan);
  add_ranks(file, job, [&](int rank, const std::string& program) {
    write_file(folder / rank_file(rank), program);
  });
  write_secret(folder);
  write_file(folder / "job.json", to_json(file));  // last: the folder is whole then
}

}  // namespace

std::string job_digest(const Job& job) {
  JobFile file;
  file.graph.graph = job.graph->digest();
  if (job.plan)
    file.plan = {{}, {}, {}, job.plan->priorities, job.plan->fair_links, job.plan->digest};
  add_ranks(file, job, [](int, const std::string&) {});
  return file.programs.hex();
}

void stage_job(const fs::path& folder, const Job& job) {
  check(job, (folder / "job.json").string());
  stage_folder(folder, [&](const fs::path& at) { write_contents(at, job); });
}

void expect_own_program(const RankJob& job, const std::string& name) {
  const auto& devices = job.device_of_rank;
  const auto is_rank = [&](DeviceId device) {
    return std::ranges::find(devices, device) != devices.end();
  };
  bool fits = job.program.rank == job.rank &&
              job.program.device == devices[static_cast<std::size_t>(job.rank)];
  for (std::size_t i = 0; i < job.program.instructions.size(); ++i) {
    const DeviceId peer = job.program.instructions[i].peer;
    fits = fits && (!peer.valid() || is_rank(peer)) &&
           std::ranges::all_of(job.program.members[i], is_rank);
  }
  if (!fits) throw InputError(name, "", "is the program of other ranks", "stage the job again");
}

RankJob load_rank(const fs::path& folder, int rank) {
  const fs::path at = folder / "job.json";
  const JobFile job = parse_job(read_file(at), at.string());
  const auto ranks = static_cast<int>(job.ranks.size());
  check_rank(rank, ranks, at.string());
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
