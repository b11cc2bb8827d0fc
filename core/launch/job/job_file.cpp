#include "core/launch/job/job_file.h"

#include <fmt/format.h>

#include <system_error>

#include "core/base/error.h"
#include "core/graph/build/graph_file.h"
#include "core/io/file.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJobFormat = "stratoscope-job";
constexpr std::int64_t kMaxTimeout = 30 * 24 * 3600;  // a month, in seconds

Json to_json(const JobOptions& options) {
  Json json = {{"engine", options.engine},
               {"transport", options.transport},
               {"device", options.device},
               {"steps", options.steps},
               {"warm_up", options.warm_up},
               {"seed", options.seed},
               {"threads", options.threads},
               {"timeout_s", options.timeout.count()},
               {"checkpoint_every", options.checkpoint_every},
               {"keep_parameters", options.keep_parameters},
               {"resume", options.resume},
               {"weights", options.weights},
               {"inputs", options.inputs}};
  if (options.learning_rate) json["learning_rate"] = *options.learning_rate;
  return json;
}

JobOptions read_options(const JsonView& view) {
  view.allow_only({"engine", "transport", "device", "steps", "warm_up", "seed", "threads",
                   "timeout_s", "checkpoint_every", "keep_parameters", "resume", "weights",
                   "inputs", "learning_rate"});
  JobOptions options;
  read_worker_options(view, options);
  options.steps = count_from(view.at("steps"), 1);
  options.warm_up = count_from(view.at("warm_up"), 0);
  options.checkpoint_every = count_from(view.at("checkpoint_every"), 0);
  options.keep_parameters = view.at("keep_parameters").boolean();
  options.resume = view.at("resume").string();
  options.weights = view.at("weights").boolean();
  options.inputs = view.at("inputs").boolean();
  if (const auto rate = view.find("learning_rate")) options.learning_rate = rate->number();
  return options;
}

Json to_json(const StagedPlan& plan) {
  Json json = to_json(plan.plan);
  if (plan.calibration) json["calibration"] = to_json(*plan.calibration);
  if (plan.profile) json["profile"] = to_json(*plan.profile);
  json["priorities"] = plan.priorities;
  json["fair_links"] = plan.fair_links;
  json["plan"] = plan.digest.hex();
  return json;
}

StagedPlan staged_plan_from(const JsonView& view) {
  view.allow_only(
      {"bytes", "digest", "calibration", "profile", "priorities", "fair_links", "plan"});
  const auto file_of = [&](const char* key) {
    const auto file = view.find(key);
    return file ? std::optional(staged_file_from(*file)) : std::nullopt;
  };
  return {
      staged_file_from(view),          file_of("calibration"),          file_of("profile"),
      view.at("priorities").boolean(), view.at("fair_links").boolean(), view.at("plan").digest()};
}

// A word that is no path.
bool is_plain(const std::string& name) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:";
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(kPlain) == std::string::npos;
}

constexpr const char* kPlanFile = "job-plan.json";
constexpr const char* kCalibrationFile = "job-calibration.json";
constexpr const char* kProfileFile = "job-profile.json";

[[noreturn]] void refuse(const fs::path& file, const std::string& problem,
                         const char* remedy = "stage the job again") {
  throw InputError(file.string(), "", problem, remedy);
}

}  // namespace

void read_worker_options(const JsonView& view, WorkerOptions& options) {
  options.engine = view.at("engine").string();
  options.transport = view.at("transport").string();
  options.device = view.at("device").string();
  const JsonView seed = view.at("seed");
  if (!seed.json().is_number_unsigned()) seed.fail("is not a number from 0", "stage the job again");
  options.seed = seed.json().get<std::uint64_t>();
  options.threads = count_from(view.at("threads"), 1);
  options.timeout = std::chrono::seconds(view.at("timeout_s").integer(1, kMaxTimeout));
}

void refuse_option(const std::string& file, const char* option, const char* problem,
                   const char* remedy) {
  throw InputError(file, fmt::format("options.{}", option), problem, remedy);
}

void check_worker_options(const WorkerOptions& options, const std::string& file) {
  const auto refuse = std::bind_front(refuse_option, file);
  if (!is_plain(options.engine)) refuse("engine", "is no plugin's name", "name an engine");
  if (!is_plain(options.transport)) refuse("transport", "is no plugin's name", "name a transport");
  if (!is_plain(options.device)) refuse("device", "is no device", "give cpu or cuda");
  if (options.threads < 1) refuse("threads", "is below 1", "give at least 1");
  if (options.timeout.count() < 1 || options.timeout.count() > kMaxTimeout)
    refuse("timeout", "is out of range", "give a second to a month");
}

void check_options(const JobOptions& options, const std::string& file) {
  check_worker_options(options, file);
  const auto refuse = std::bind_front(refuse_option, file);
  if (options.steps < 1) refuse("steps", "is below 1", "give at least 1");
  if (options.warm_up < 0) refuse("warm_up", "is below 0", "give 0 or more");
  if (options.checkpoint_every < 0) refuse("checkpoint_every", "is below 0", "give 0 or more");
  if (!options.resume.empty() && !is_plain(options.resume))
    refuse("resume", "is not the name of a checkpoint in the job's folder",
           "give a name such as checkpoint-5");
}

void check_rank(int rank, int ranks, const std::string& file) {
  if (rank < 0 || rank >= ranks)
    throw InputError(file, "ranks", fmt::format("there is no rank {} of {}", rank, ranks),
                     "start as many ranks as the job has");
}

Digest digest_of_programs(const JobFile& job) {
  std::vector<Digest> digests;
  for (const JobFile::Rank& rank : job.ranks)
    digests.push_back(job.plan ? Hasher().number(rank.id.value()).finish() : rank.program.digest);
  const Digest ranks = digest_of_ranks(job.graph.graph, digests);
  if (!job.plan) return ranks;
  return Hasher()
      .text("plan of ranks")
      .digest(ranks)
      .digest(job.plan->digest)
      .number(job.plan->priorities)
      .number(job.plan->fair_links)
      .finish();
}

std::string to_json(const JobFile& job) {
  Json ranks = Json::array();
  for (const JobFile::Rank& rank : job.ranks) {
    ranks.push_back({{"device", rank.device}, {"id", rank.id.value()}, {"machine", rank.machine}});
    if (!job.plan) ranks.back()["program"] = to_json(rank.program);
  }
  Json json = {{"format", kJobFormat},
               {"version", Job::kVersion},
               {"name", job.name},
               {"predicted_ns", job.predicted.value},
               {"options", to_json(job.options)},
               {"graph", to_json(job.graph)}};
  if (job.plan) json["plan"] = to_json(*job.plan);
  json["programs"] = job.programs.hex();
  json["ranks"] = std::move(ranks);
  return json_text(json, 1) + "\n";
}

JobFile parse_job(const std::string& json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format(kJobFormat, Job::kVersion);
  root.allow_only({"format", "version", "name", "predicted_ns", "options", "graph", "plan",
                   "programs", "ranks"});
  JobFile job;
  job.name = root.at("name").string();
  job.predicted = Nanos(root.at("predicted_ns").integer(0));
  job.options = read_options(root.at("options"));
  check_options(job.options, file);
  job.graph = staged_graph_from(root.at("graph"));
  if (const auto plan = root.find("plan")) job.plan = staged_plan_from(*plan);
  job.programs = root.at("programs").digest();
  for (const JsonView& rank : root.at("ranks").items()) {
    job.ranks.push_back({rank.at("device").string(),
                         DeviceId(static_cast<std::size_t>(count_from(rank.at("id"), 0))),
                         count_from(rank.at("machine"), 0),
                         job.plan ? StagedFile() : staged_file_from(rank.at("program"))});
  }
  if (job.ranks.empty()) root.at("ranks").fail("is empty", "stage the job again");
  if (digest_of_programs(job) != job.programs)
    root.at("programs").fail("is not the digest of the ranks' programs", "stage the job again");
  return job;
}

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
  StagedPlan result{
      stage(kPlanFile, plan.plan), {}, {}, plan.priorities, plan.fair_links, plan.digest};
  if (!plan.calibration.empty()) result.calibration = stage(kCalibrationFile, plan.calibration);
  if (!plan.profile.empty()) result.profile = stage(kProfileFile, plan.profile);
  return result;
}

JobPlan read_staged(const fs::path& folder, const StagedPlan& expected) {
  const auto text_of = [&](const char* name, const std::optional<StagedFile>& file) {
    return file ? read_staged(folder / name, *file) : "";
  };
  return {text_of(kPlanFile, expected.plan),
          text_of(kCalibrationFile, expected.calibration),
          text_of(kProfileFile, expected.profile),
          expected.priorities,
          expected.fair_links,
          expected.digest};
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
