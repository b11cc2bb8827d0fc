#include "core/launch/measure/measure_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_file.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeading = "measure.json";

constexpr std::string_view kMeasureFormat = "stratoscope-measure-job";
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostBudget = std::int64_t{30} * 24 * 3'600'000;  // a month, in ms
constexpr std::array kCollectives = {Collective::AllReduce, Collective::AllGather,
                                     Collective::ReduceScatter};  // that transports offer
constexpr const char* kTransfer = "transfer";

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
  read_worker_options(view, options);
  options.repetitions = count_from(view.at("repetitions"), 1);
  options.budget = std::chrono::milliseconds(view.at("budget_ms").integer(0, kMostBudget));
  options.smallest = Bytes(view.at("smallest_bytes").integer(0, kMostBytes));
  options.largest = Bytes(view.at("largest_bytes").integer(0, kMostBytes));
  return options;
}

Json probe_json(const Probe& probe) {
  return {{"kind", probe.collective ? std::string(name_of(*probe.collective)) : kTransfer},
          {"members", probe.members}};
}

Probe probe_from(const JsonView& view) {
  Probe probe;
  const std::string kind = view.at("kind").string();
  for (const Collective each : kCollectives)
    if (name_of(each) == kind) probe.collective = each;
  if (!probe.collective && kind != kTransfer)
    view.at("kind").fail("is not a kind of communication", "stage the job again");
  for (const JsonView& member : view.at("members").items())
    probe.members.push_back(count_from(member, 0));
  return probe;
}

std::string problem_of(const Probe& probe, int ranks) {
  const std::vector<int>& members = probe.members;
  if (members.size() < 2) return "has fewer than two members";
  if (!std::ranges::all_of(members, [&](int rank) { return rank >= 0 && rank < ranks; }))
    return "names a rank that the job does not have";
  if (!probe.collective)
    return members.size() > 2 || members[0] == members[1] ? "is not between two ranks" : "";
  if (std::ranges::adjacent_find(members, std::greater_equal<>()) != members.end())
    return "does not name its members in order, each once";
  const bool offered = std::ranges::find(kCollectives, *probe.collective) != kCollectives.end();
  return offered ? "" : "is of a kind that transports do not offer";
}

// The table of pairs grows with the square of the devices; cost models pool pairs of one kind.
constexpr std::size_t kMostPairs = 4096;

using Pair = std::pair<int, int>;
using Members = std::vector<int>;

// Every device talks to the next, then every one to the next but one, ...: whatever part of them is
// measured has seen every device.
std::vector<Pair> pairs_of(int ranks) {
  std::vector<Pair> pairs;
  for (int step = 1; step < ranks; ++step)
    for (int from = 0; from < ranks && pairs.size() < kMostPairs; ++from)
      pairs.emplace_back(from, (from + step) % ranks);
  return pairs;
}

auto kind_of_pair(const Cluster& cluster, Pair pair) {
  const auto& from = cluster.devices()[DeviceId(static_cast<std::size_t>(pair.first))];
  const auto& to = cluster.devices()[DeviceId(static_cast<std::size_t>(pair.second))];
  return std::tuple(from.type, to.type, from.machine == to.machine);
}

// One pair of each kind, of all pairs there are.
std::vector<Pair> first_of_kinds(const Cluster& cluster, int ranks) {
  std::set<decltype(kind_of_pair(cluster, {}))> seen;
  std::vector<Pair> firsts;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to)
      if (from != to && seen.insert(kind_of_pair(cluster, {from, to})).second)
        firsts.emplace_back(from, to);
  }
  return firsts;
}

// All devices, those of each machine and of each GPU type, and one of every machine.
std::vector<Members> sets_of(const Cluster& cluster) {
  Members all, one_a_machine;
  std::map<MachineId, Members> machines;
  std::map<GpuTypeId, Members> types;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) {
    const Device& device = cluster.device(DeviceId(i));
    const int rank = static_cast<int>(i);
    all.push_back(rank);
    if (machines[device.machine].empty()) one_a_machine.push_back(rank);
    machines[device.machine].push_back(rank);
    types[device.type].push_back(rank);
  }
  std::vector<Members> sets = {all, one_a_machine};
  for (const auto& [machine, members] : machines) sets.push_back(members);
  for (const auto& [type, members] : types) sets.push_back(members);
  std::vector<Members> distinct;
  for (const Members& set : sets)
    if (set.size() >= 2 && std::ranges::find(distinct, set) == distinct.end())
      distinct.push_back(set);
  return distinct;
}

struct MeasureFile {
  MeasureJob job;  // without its graphs
  std::vector<StagedGraph> graphs;
};

std::string graph_file(std::size_t i) { return fmt::format("graph-{}.bin", i); }

// Throws InputError (place: the option, or the probe) for what no worker can measure.
void check_measure_job(const MeasureJob& job, const std::string& file) {
  const MeasureJobOptions& options = job.options;
  const auto refuse = [&](const std::string& place, const std::string& problem,
                          const char* remedy) { throw InputError(file, place, problem, remedy); };
  check_worker_options(options, file);
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
  for (std::size_t i = 0; i < job.probes.size(); ++i)
    if (const std::string problem = problem_of(job.probes[i], ranks); !problem.empty())
      refuse(fmt::format("probes[{}]", i), problem, "stage the job again");
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
  check_rank(rank, static_cast<int>(file.job.ranks.size()), at.string());
  for (std::size_t i = 0; i < file.graphs.size(); ++i)
    file.job.graphs[i] = read_staged(folder / graph_file(i), file.graphs[i]);
  return {std::move(file.job), digest_of(text).hex(), read_secret(folder)};
}

MeasureJob make_measure_job(const Cluster& cluster, const std::string& name,
                            std::vector<std::shared_ptr<const Graph>> graphs,
                            const MeasureJobOptions& options) {
  MeasureJob job;
  job.name = name;
  job.options = options;
  job.graphs = std::move(graphs);
  for (const Device& device : cluster.devices()) {
    job.ranks.push_back({device.name, cluster.gpu_types()[device.type].name,
                         static_cast<int>(device.machine.index())});
  }
  const int ranks = static_cast<int>(job.ranks.size());
  std::set<Pair> taken;
  const auto add_pair = [&](Pair pair) {
    if (taken.insert(pair).second) job.probes.push_back({{}, {pair.first, pair.second}});
  };
  for (const Pair& pair : first_of_kinds(cluster, ranks)) add_pair(pair);
  for (const Members& set : sets_of(cluster))
    for (const Collective kind : kCollectives) job.probes.push_back({kind, set});
  for (const Pair& pair : pairs_of(ranks)) add_pair(pair);
  return job;
}

}  // namespace strato
