#include "app/cli/study/searches.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/study/cluster.h"
#include "app/cli/study/run.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"

namespace strato::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Draws the progress line; and asks the search to stop once data parallelism is beaten, if that is
// all that is wanted.
class StudyObserver final : public Observer {
 public:
  StudyObserver(std::string title, const StudySearch& search, std::stop_source& stop)
      : title_(std::move(title)), search_(search), stop_(stop) {}

  void on_progress(const Progress& progress) override {
    if (!line_.shown() || Clock::now() - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = Clock::now();
    std::string text = fmt::format("{}: {} of {}", title_, progress.iterations, search_.iterations);
    if (progress.best) text += ", best " + time_text(progress.best->step_time);
    line_.show(text);
  }
  // The first one is the best of the baselines; a better one that fits beats data parallelism, too.
  void on_improvement(const Strategy&, const Score& score, const Progress& progress) override {
    const bool baseline = improvements_++ == 0;
    if (search_.until_beaten && !baseline && score.feasible) stop_.request_stop();
    on_progress(progress);
  }

 private:
  std::string title_;
  const StudySearch& search_;
  std::stop_source& stop_;
  int improvements_ = 0;
  ProgressLine line_;
  Clock::time_point drawn_{};
};

// A manifest without its library is of a plugin that was left out of the build.
bool is_there(PluginKind kind, const std::string& name) {
  const auto list = plugins().list(kind);
  return std::any_of(list.begin(), list.end(), [&](const PluginInfo& plugin) {
    std::error_code error;
    return plugin.name == name && std::filesystem::exists(plugin.library, error);
  });
}

// "tag+sfb": the planner and all refiners.
bool is_built(const std::string& planner) {
  std::size_t begin = 0;
  for (PluginKind kind = PluginKind::Planner;; kind = PluginKind::Refiner) {
    const std::size_t end = planner.find('+', begin);
    if (!is_there(kind, planner.substr(begin, end - begin))) return false;
    if (end == std::string::npos) return true;
    begin = end + 1;
  }
}

PlannerOptions options_of(const StudySearch& search, const SearchLimits& limits) {
  PlannerOptions options;
  options.iterations = search.iterations;
  options.seed = search.seed;
  options.threads = limits.threads;
  options.set = search.set;
  options.floor = search.floor;
  options.record_steps = search.with_steps;
  return options;
}

std::shared_ptr<const Cluster> cluster_of(const StudySearch& search) {
  if (search.cluster.empty())
    return std::make_shared<const Cluster>(random_cluster(search.topology));
  if (search.gpus == 0) return load_cluster(search.cluster);
  const RestrictedCluster part = restricted_cluster(search.cluster, search.gpus, search.planner);
  return std::make_shared<const Cluster>(parse_cluster(part.json, search.cluster, GpuCatalogue()));
}

// The search's problem as a cell of a study of step times, with variables in the host's memory.
class PlacedStepTimes {
 public:
  explicit PlacedStepTimes(const StudySearch& search) {
    study_.per_gpu_batch = search.per_gpu_batch;
    study_.columns = {{search.planner, search.cluster, search.gpus}};
    study_.rows = {
        {search.model, search.model, search.batch, search.dimensions, Exchange::Host, 1}};
    study_.cells.resize(1);
    cell_ = prepare(std::span(&study_, 1)).front();
    CostOptions costs;
    if (search.calibration != "standard") costs.calibration = search.calibration;
    if (const auto given = costs.sources().calibration) calibration_ = *given;
  }
  PlacedStepTimes(const PlacedStepTimes&) = delete;
  PlacedStepTimes& operator=(const PlacedStepTimes&) = delete;

  Simulated at_host() const { return simulate(cell_, calibration_); }
  Nanos with_framework(const Simulated& step) const {
    return nanos_from_seconds(predict(cell_, step, calibration_).seconds);
  }
  Nanos with_framework(const Problem& problem, const Strategy& strategy) const {
    const Outcome outcome = simulate_outline(problem_for(problem, strategy), strategy, false);
    return with_framework({to_seconds(outcome.timeline->step_time),
                           kernels_of_a_process(cell_, *outcome.program), true});
  }

 private:
  Study study_;
  StudyCase cell_;
  Calibration calibration_ = Calibration::standard();
};

// Data parallelism as the studies of step times have it in rows of exchange "host": there is no
// such planner, since a problem's cluster has no host.
constexpr std::string_view kAtHost = "dp-host";

StudyResult at_host(const StudySearch& search) {
  const PlacedStepTimes times(search);
  const Simulated step = times.at_host();
  StudyResult result;
  result.state = StudyResult::Found;
  result.score.step_time =
      search.framework ? times.with_framework(step) : nanos_from_seconds(step.seconds);
  result.score.feasible = step.fits;
  return result;
}

}  // namespace

// Cells next to each other mostly share their problem, so that only the last one is kept.
const Problem& StudySearches::problem(const StudySearch& search) {
  StudySearch key = search;
  key.planner.clear();
  key.set.clear();
  key.iterations = 0;
  key.seed = 0;
  key.until_beaten = false;
  key.with_steps = false;
  if (problem_ && key == problem_of_) return *problem_;
  auto cluster = cluster_of(search);
  std::int64_t batch = search.batch;
  if (search.per_gpu_batch) batch *= static_cast<std::int64_t>(cluster->device_count());
  auto& graph = models_[{search.model, batch, search.dimensions}];
  ModelOptions options;
  options.graph = search.model;
  options.batch = batch;
  options.groups = search.groups;
  for (const auto& [name, value] : search.dimensions)
    options.dimensions.push_back(fmt::format("{}={}", name, value));
  if (!graph) graph = load_model(options).graph;
  ProblemOptions problem_options = options.problem_options();
  CostOptions costs;
  if (search.calibration != "standard") costs.calibration = search.calibration;
  problem_options.costs = costs.sources();
  problem_ = problem_of(*graph, std::move(cluster), problem_options);
  problem_of_ = key;
  return *problem_;
}

StudyResult StudySearches::search(const StudySearch& search, const SearchLimits& limits,
                                  const std::string& title) {
  if (search.planner == kAtHost) return at_host(search);
  StudyResult result;
  if (!is_built(search.planner)) {
    result.state = StudyResult::NotBuilt;
    return result;
  }
  const Problem& problem = this->problem(search);
  const auto start = Clock::now();
  std::stop_source stop;
  const std::stop_callback forward(interrupt_.token(), [&stop] { stop.request_stop(); });
  try {
    const auto planner = plugins().planner(search.planner);
    StudyObserver observer(title, search, stop);
    const auto begin = Clock::now();
    const PlanResult plan =
        run_planner(*planner, problem, options_of(search, limits), observer, stop.get_token());
    result.planning_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (stopped()) return result;
    result.score = plan.score;
    if (search.framework)
      result.score.step_time = PlacedStepTimes(search).with_framework(problem, plan.strategy);
    result.evaluations = plan.evaluations;
    result.evaluations_to_beat = plan.evaluations_to_beat_data_parallel;
    result.note = plan.note;
    result.summary = summarise(problem, plan.strategy);
    result.duplicated = duplicated_types(problem, plan.strategy);
    result.facts = plan.facts;
    for (const PlanResult::Curve& curve : plan.curves)
      if (!curve.points.empty()) result.curve_ends[curve.name] = curve.points.back().second;
    result.steps = plan.steps;
    result.state = StudyResult::Found;
  } catch (const InputError& error) {
    result.state = StudyResult::Refused;
    result.note = error.what();
  }
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

const StudyResult& StudySearches::run(const StudySearch& search, const SearchLimits& limits,
                                      const std::string& title) {
  static const StudyResult not_done;
  const auto found = results_.find(search);
  if (found != results_.end()) return found->second;
  if (stopped()) return not_done;
  StudyResult result = this->search(search, limits, title);
  if (result.state == StudyResult::NotDone) return not_done;
  return results_.emplace(search, std::move(result)).first->second;
}

Json StudySearches::json(const StudySearch& search) const {
  const auto found = results_.find(search);
  if (found == results_.end()) return {{"state", "not done"}};
  const StudyResult& result = found->second;
  Json json = {{"planner", search.planner}, {"seed", search.seed}};
  if (!search.cluster.empty()) json["cluster"] = search.cluster;
  if (search.gpus > 0) json["gpus_per_machine"] = search.gpus;
  if (!search.set.empty()) json["set"] = search.set;
  if (search.cluster.empty()) json["topology"] = search.topology;
  if (result.state != StudyResult::Found) {
    json["state"] = result.state == StudyResult::NotBuilt ? "not built" : "refused";
    if (!result.note.empty()) json["note"] = result.note;
    return json;
  }
  json["state"] = "found";
  json["step_time_s"] = to_seconds(result.score.step_time);
  json["feasible"] = result.score.feasible;
  json["evaluations"] = result.evaluations;
  json["evaluations_to_beat_data_parallel"] =
      result.evaluations_to_beat ? Json(*result.evaluations_to_beat) : Json();
  json["gpus_per_op"] = result.summary.gpus;
  json["gradients"] = {{"allreduce", result.summary.allreduce},
                       {"ps", result.summary.ps},
                       {"allreduce_by_bytes", result.summary.allreduce_bytes},
                       {"ps_by_bytes", result.summary.ps_bytes}};
  json["duplicated"] = result.duplicated;
  json["note"] = result.note;
  for (const PlanResult::Fact& fact : result.facts) json["facts"][fact.name] = fact.value;
  for (const auto& [name, end] : result.curve_ends) json["curve_ends"][name] = end;
  json["planning_s"] = result.planning_seconds;
  json["wall_s"] = result.wall_seconds;
  return json;
}

}  // namespace strato::cli
