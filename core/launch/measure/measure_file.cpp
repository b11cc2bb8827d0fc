#include "core/launch/measure/measure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/io/json.h"

namespace strato {
namespace {

constexpr std::string_view kMeasureFormat = "stratoscope-measure-job";
constexpr std::int64_t kMostCount = std::numeric_limits<int>::max();
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostBudget = std::int64_t{30} * 24 * 3'600'000;  // a month, in ms
constexpr std::array kCollectives = {Collective::AllReduce, Collective::AllGather,
                                     Collective::ReduceScatter};  // that transports offer
constexpr const char* kTransfer = "transfer";

int count_from(const JsonView& view, std::int64_t low) {
  return static_cast<int>(view.integer(low, kMostCount));
}

Json options_json(const MeasureJobOptions& options) {
  return {{"engine", options.engine},
          {"transport", options.transport},
          {"device", options.device},
          {"threads", options.threads},
          {"seed", options.seed},
          {"repetitions", options.repetitions},
          {"budget_ms", options.budget.count()},
          {"smallest_bytes", options.smallest.value},
          {"largest_bytes", options.largest.value},
          {"timeout_s", options.timeout.count()}};
}

MeasureJobOptions options_from(const JsonView& view) {
  view.allow_only({"engine", "transport", "device", "threads", "seed", "repetitions", "budget_ms",
                   "smallest_bytes", "largest_bytes", "timeout_s"});
  MeasureJobOptions options;
  options.engine = view.at("engine").string();
  options.transport = view.at("transport").string();
  options.device = view.at("device").string();
  options.threads = count_from(view.at("threads"), 1);
  const JsonView seed = view.at("seed");
  if (!seed.json().is_number_unsigned()) seed.fail("is not a number from 0", "stage the job again");
  options.seed = seed.json().get<std::uint64_t>();
  options.repetitions = count_from(view.at("repetitions"), 1);
  options.budget = std::chrono::milliseconds(view.at("budget_ms").integer(0, kMostBudget));
  options.smallest = Bytes(view.at("smallest_bytes").integer(0, kMostBytes));
  options.largest = Bytes(view.at("largest_bytes").integer(0, kMostBytes));
  options.timeout = std::chrono::seconds(view.at("timeout_s").integer(0, kMostBudget / 1000));
  return options;
}

Json probe_json(const Probe& probe) {
  return {{"kind", probe.collective ? std::string(name_of(*probe.collective)) : kTransfer},
          {"members", probe.members}};
}

Probe probe_from(const JsonView& view) {
  Probe probe;
  const std::string kind = view.at("kind").string();
  for (const Collective each : kCollectives) {
    if (name_of(each) == kind) probe.collective = each;
  }
  if (!probe.collective && kind != kTransfer)
    view.at("kind").fail("is not a kind of communication", "stage the job again");
  for (const JsonView& member : view.at("members").items())
    probe.members.push_back(count_from(member, 0));
  return probe;
}

std::string problem_of(const Probe& probe, int ranks) {
  const std::vector<int>& members = probe.members;
  if (members.size() < 2) return "has fewer than two members";
  const bool known = std::all_of(members.begin(), members.end(),
                                 [&](int rank) { return rank >= 0 && rank < ranks; });
  if (!known) return "names a rank that the job does not have";
  if (!probe.collective)
    return members.size() > 2 || members[0] == members[1] ? "is not between two ranks" : "";
  const bool ascending =
      std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end();
  if (!ascending) return "does not name its members in order, each once";
  const bool offered =
      std::find(kCollectives.begin(), kCollectives.end(), *probe.collective) != kCollectives.end();
  return offered ? "" : "is of a kind that transports do not offer";
}

JobOptions common_options(const MeasureJobOptions& options) {
  JobOptions common;
  common.engine = options.engine;
  common.transport = options.transport;
  common.device = options.device;
  common.threads = options.threads;
  common.timeout = options.timeout;
  return common;
}

}  // namespace

void check_measure_job(const MeasureJob& job, const std::string& file) {
  const MeasureJobOptions& options = job.options;
  const auto refuse = [&](const std::string& place, const std::string& problem,
                          const char* remedy) { throw InputError(file, place, problem, remedy); };
  check_options(common_options(options), file);
  if (options.budget.count() < 1) refuse("options.budget", "is below a millisecond", "give time");
  if (options.budget.count() > kMostBudget)
    refuse("options.budget", "is more than a month", "give less time");
  if (options.repetitions < 1) refuse("options.repetitions", "is below 1", "give at least 1");
  if (options.smallest.value < 1 || options.largest < 2 * options.smallest ||
      options.largest.value > kMostBytes)
    refuse("options.largest_bytes", "is not at least twice smallest_bytes, and at most 2^40",
           "give two sizes or more");
  if (job.ranks.empty()) refuse("ranks", "is empty", "name the devices to measure");
  if (job.graphs.empty() && job.probes.empty())
    refuse("", "has nothing to measure", "give a model, or more than one device");
  const int ranks = static_cast<int>(job.ranks.size());
  for (std::size_t i = 0; i < job.probes.size(); ++i) {
    if (const std::string problem = problem_of(job.probes[i], ranks); !problem.empty())
      refuse(fmt::format("probes[{}]", i), problem, "stage the job again");
  }
}

std::string to_json(const MeasureFile& file) {
  Json ranks = Json::array(), graphs = Json::array(), probes = Json::array();
  for (const MeasureJob::Rank& rank : file.job.ranks)
    ranks.push_back({{"device", rank.device}, {"gpu", rank.gpu}, {"machine", rank.machine}});
  for (const StagedGraph& graph : file.graphs) graphs.push_back(to_json(graph));
  for (const Probe& probe : file.job.probes) probes.push_back(probe_json(probe));
  return json_text(Json{{"format", kMeasureFormat},
                        {"version", MeasureJob::kVersion},
                        {"name", file.job.name},
                        {"options", options_json(file.job.options)},
                        {"ranks", std::move(ranks)},
                        {"graphs", std::move(graphs)},
                        {"probes", std::move(probes)}}) +
         "\n";
}

MeasureFile parse_measure_job(const std::string& json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format(kMeasureFormat, MeasureJob::kVersion);
  root.allow_only({"format", "version", "name", "options", "ranks", "graphs", "probes"});
  MeasureFile result;
  result.job.name = root.at("name").string();
  result.job.options = options_from(root.at("options"));
  for (const JsonView& rank : root.at("ranks").items()) {
    result.job.ranks.push_back(
        {rank.at("device").string(), rank.at("gpu").string(), count_from(rank.at("machine"), 0)});
  }
  for (const JsonView& graph : root.at("graphs").items())
    result.graphs.push_back(staged_graph_from(graph));
  for (const JsonView& probe : root.at("probes").items())
    result.job.probes.push_back(probe_from(probe));
  result.job.graphs.resize(result.graphs.size());
  check_measure_job(result.job, file);
  return result;
}

}  // namespace strato
