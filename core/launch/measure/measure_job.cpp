#include "core/launch/measure/measure_job.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_folder.h"
#include "core/launch/measure/measure_file.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeading = "measure.json";

}  // namespace

void stage_measure_job(const fs::path& folder, const MeasureJob& job) {
  check_measure_job(job, (folder / kHeading).string());
  stage_folder(folder, [&](const fs::path& at) {
    MeasureFile file{job, {}};
    for (std::size_t i = 0; i < job.graphs.size(); ++i)
      file.graphs.push_back(stage_graph(at / graph_file(i), *job.graphs[i]));
    write_secret(at);
    write_file(at / kHeading, to_json(file));  // last: the folder is whole then
  });
}

bool is_measure_job(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kHeading, ignored);
}

StagedMeasureJob load_measure_job(const fs::path& folder, int rank) {
  const fs::path at = folder / kHeading;
  const std::string text = read_file(at);
  MeasureFile file = parse_measure_job(text, at.string());
  const auto ranks = static_cast<int>(file.job.ranks.size());
  if (rank < 0 || rank >= ranks)
    throw InputError(at.string(), "ranks", fmt::format("there is no rank {} of {}", rank, ranks),
                     "start as many ranks as the job has");
  for (std::size_t i = 0; i < file.graphs.size(); ++i)
    file.job.graphs[i] = read_staged(folder / graph_file(i), file.graphs[i]);
  return {std::move(file.job), digest_of(text).hex(), read_secret(folder)};
}

}  // namespace strato
