#include "core/launch/job/staged_file.h"

#include <fmt/format.h>

#include <system_error>

#include "core/base/error.h"
#include "core/graph/build/graph_file.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFile = "job-plan.json";
constexpr const char* kCalibrationFile = "job-calibration.json";
constexpr const char* kProfileFile = "job-profile.json";

[[noreturn]] void refuse(const fs::path& file, const std::string& problem,
                         const char* remedy = "stage the job again") {
  throw InputError(file.string(), "", problem, remedy);
}

}  // namespace

StagedFile staged(const std::string& content) { return {content.size(), digest_of(content)}; }

std::string read_staged(const fs::path& file, const StagedFile& expected) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (error) refuse(file, "is not there: " + error.message());
  if (bytes != expected.bytes)
    refuse(file, fmt::format("has {} bytes instead of {}", bytes, expected.bytes));
  std::string content = read_file(file, kAnySize);
  if (digest_of(content) != expected.digest)
    refuse(file, "is not the file that was staged (its digest differs)");
  return content;
}

Json to_json(const StagedFile& file) {
  return {{"bytes", file.bytes}, {"digest", file.digest.hex()}};
}

StagedFile staged_file_from(const JsonView& view) {
  return {static_cast<std::uintmax_t>(view.at("bytes").integer(0)), view.at("digest").digest()};
}

StagedGraph stage_graph(const fs::path& file, const Graph& graph) {
  const std::string content = serialise(graph);
  write_file(file, content);
  return {staged(content), graph.digest()};
}

std::shared_ptr<const Graph> read_staged(const fs::path& file, const StagedGraph& expected) {
  auto graph =
      std::make_shared<const Graph>(parse_graph(read_staged(file, expected.file), file.string()));
  if (graph->digest() != expected.graph)
    refuse(file, "is understood otherwise than when it was staged",
           "run the job with the program version that staged it");
  return graph;
}

StagedPlan stage_plan(const fs::path& folder, const JobPlan& plan) {
  const auto stage = [&](const char* name, const std::string& content) {
    write_file(folder / name, content);
    return staged(content);
  };
  StagedPlan result;
  result.plan = stage(kPlanFile, plan.plan);
  if (!plan.calibration.empty()) result.calibration = stage(kCalibrationFile, plan.calibration);
  if (!plan.profile.empty()) result.profile = stage(kProfileFile, plan.profile);
  result.priorities = plan.priorities;
  result.fair_links = plan.fair_links;
  result.digest = plan.digest;
  return result;
}

JobPlan read_staged(const fs::path& folder, const StagedPlan& expected) {
  JobPlan plan;
  plan.plan = read_staged(folder / kPlanFile, expected.plan);
  if (expected.calibration)
    plan.calibration = read_staged(folder / kCalibrationFile, *expected.calibration);
  if (expected.profile) plan.profile = read_staged(folder / kProfileFile, *expected.profile);
  plan.priorities = expected.priorities;
  plan.fair_links = expected.fair_links;
  plan.digest = expected.digest;
  return plan;
}

Json to_json(const StagedGraph& graph) {
  Json json = to_json(graph.file);
  json["graph"] = graph.graph.hex();
  return json;
}

StagedGraph staged_graph_from(const JsonView& view) {
  return {staged_file_from(view), view.at("graph").digest()};
}

}  // namespace strato
