#include "core/base/error.h"
#include "core/base/file.h"
#include "core/job/job_file.h"
#include "core/job/job_folder.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

void check(const Job& job, const std::string& name) {
  const std::size_t ranks = job.programs.ranks.size();
  CHECK(job.graph && job.programs.graph == job.graph, "a job of another graph");
  CHECK(ranks >= 1 && job.devices.size() == ranks && job.machines.size() == ranks,
        "a job with another number of devices than ranks");
  CHECK(job.write_data || (!job.options.weights && !job.options.inputs), "a job without its data");
  check_options(job.options, name);
  check_termination(job.programs, name);
}

void write_contents(const fs::path& folder, const Job& job) {
  JobFile file;
  file.name = job.name;
  file.options = job.options;
  file.predicted = job.predicted;
  file.graph = stage_graph(folder / "graph.bin", *job.graph);
  if (job.write_data) job.write_data(folder);
  std::vector<Digest> digests;
  for (std::size_t r = 0; r < job.programs.ranks.size(); ++r) {
    const std::string program = write_rank_program(job.programs.ranks[r]);
    write_file(folder / rank_file(static_cast<int>(r)), program);
    file.ranks.push_back(
        {job.devices[r], job.programs.ranks[r].device, job.machines[r], staged(program)});
    digests.push_back(file.ranks.back().program.digest);
  }
  file.programs = digest_of_ranks(file.graph.graph, digests);
  write_secret(folder);
  write_file(folder / "job.json", to_json(file));  // last: the folder is whole then
}

}  // namespace

void stage_job(const fs::path& folder, const Job& job) {
  check(job, (folder / "job.json").string());
  stage_folder(folder, [&](const fs::path& at) { write_contents(at, job); });
}

}  // namespace strato
