#include "core/launch/measured/make_job.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile.h"
#include "core/io/file.h"
#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_programs.h"
#include "core/program/project/ring_order.h"
#include "core/program/rank/rank_program.h"
#include "core/program/value/collective.h"
#include "core/sim/timeline/timeline.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/plan_file.h"

namespace strato {
namespace fs = std::filesystem;
namespace {

Job job_of(const Timeline& predicted, const std::string& name, const JobOptions& options) {
  Job job;
  job.name = name;
  job.options = options;
  job.graph = predicted.program->graph;
  job.predicted = predicted.step_time;
  return job;
}

void name_devices(Job& job, const Cluster& cluster) {
  for (const DeviceId id : devices_of(job)) {
    const Device& device = cluster.device(id);
    job.devices.push_back(device.name);
    job.machines.push_back(device.machine.value());
  }
}

struct Planned {
  Problem problem;
  Strategy strategy;
};

Digest digest_of(const Planned& planned) {
  return Hasher().digest(planned.problem.digest()).digest(planned.strategy.digest()).finish();
}

PlanFile plan_file(const Planned& planned) {
  const Graph& graph = *planned.problem.graph;
  PlanFile file;
  file.graph_file = "graph.bin";
  file.graph_name = graph.name();
  file.graph_digest = graph.digest();
  file.batch = graph.batch();
  file.optimizer = "none";  // it is the training graph
  file.cluster_json = planned.problem.cluster->json();
  file.strategy =
      name_strategy(planned.strategy, graph, *planned.problem.grouping, *planned.problem.cluster);
  return file;
}

CostSources costs_of(const JobPlan& plan, const std::string& name) {
  CostSources costs;
  if (!plan.calibration.empty())
    costs.calibration = std::make_shared<const Calibration>(
        parse_calibration(plan.calibration, name + ": calibration"));
  if (!plan.profile.empty())
    costs.profile =
        std::make_shared<const Profile>(parse_profile(plan.profile, name + ": profile"));
  return costs;
}

Planned read_planned(const JobPlan& plan, std::shared_ptr<const Graph> graph,
                     const std::string& name) {
  const PlanFile file = parse_plan(plan.plan, name);
  Planned planned;
  Problem& problem = planned.problem;
  problem.graph = std::move(graph);
  problem.cluster = std::make_shared<const Cluster>(plan_cluster(file, name));
  problem.cost = make_cost_model(problem.graph, problem.cluster, costs_of(plan, name));
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  BoundPlan bound = bind_plan(file, *problem.graph, *problem.cluster, times);
  problem.grouping = std::make_shared<const Grouping>(std::move(bound.grouping));
  planned.strategy = std::move(bound.strategy);
  return planned;
}

std::optional<RankProgram> lowered(const Planned& planned, const SimulateOptions& simulation,
                                   DeviceId device) {
  const Problem& problem = planned.problem;
  const Strategy& strategy = planned.strategy;
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Simulator simulator;
  const auto lower = [&](const LowerOptions& options) {
    return std::make_shared<const Program>(lowering.lower(strategy, options));
  };
  const auto order_of = [&](const std::shared_ptr<const Program>& program) {
    return execution_order(simulator.simulate(program, simulation));
  };
  const bool ordered = std::ranges::any_of(strategy.variables, [](const VariableSync& variable) {
    return std::ranges::any_of(variable.parts,
                               [](const SyncPart& part) { return !part.sequence.empty(); });
  });
  // Twins share fair links with those that are left out, and rings of an order go through them.
  if (!simulation.fair_links && !ordered) {
    Fold fold;
    LowerOptions options;
    options.fold = &fold;
    const auto folded = lower(options);
    auto own = rank_program_of_twin(*folded, order_of(folded), fold, strategy, device);
    if (own) return own;
  }
  const auto program = lower({});
  auto own = rank_program_of(*program, order_of(program), device);
  if (own) order_rings(*own, ring_orders(*program, strategy));
  return own;
}

}  // namespace

Job make_job(const Timeline& predicted, const PlannedBy& by, const std::string& name,
             const JobOptions& options) {
  std::optional<JobPlan> plan = plan_of_job(by, predicted.options);
  if (!plan) return make_job(predicted, name, options, &by.strategy);
  Job job = job_of(predicted, name, options);
  job.plan = std::move(plan);
  job.device_ids = working_devices(*predicted.program);
  name_devices(job, *predicted.program->cluster);
  return job;
}

Job make_job(const Timeline& predicted, const std::string& name, const JobOptions& options,
             const Strategy* strategy) {
  const Program& program = *predicted.program;
  Job job = job_of(predicted, name, options);
  job.programs = rank_programs(program, execution_order(predicted));
  if (strategy != nullptr) {
    const RingOrders rings = ring_orders(program, complete(*strategy, *program.cluster));
    for (RankProgram& rank : job.programs.ranks) order_rings(rank, rings);
  }
  check_termination(job.programs, name);
  name_devices(job, *program.cluster);
  return job;
}

std::vector<DeviceId> devices_of(const Job& job) {
  if (job.plan) return job.device_ids;
  std::vector<DeviceId> devices;
  for (const RankProgram& rank : job.programs.ranks) devices.push_back(rank.device);
  return devices;
}

fs::path worker_program() {
  constexpr const char* kName = "stratoscope-worker";
  std::error_code ignored;
  const fs::path running = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path beside = running.parent_path() / kName;
  return fs::exists(beside, ignored) ? beside : home_directory() / "bin" / kName;
}

std::optional<JobPlan> plan_of_job(const PlannedBy& by, const SimulateOptions& simulation) {
  Planned planned{problem_for(by.problem, by.strategy), complete(by.strategy, *by.problem.cluster)};
  planned.strategy.grouping = nullptr;  // it is in the problem's groups
  JobPlan plan;
  plan.plan = plan_json(plan_file(planned));
  if (by.costs.calibration) plan.calibration = calibration_json(*by.costs.calibration);
  if (by.costs.profile) plan.profile = profile_json(*by.costs.profile);
  plan.priorities = simulation.priorities;
  plan.fair_links = simulation.fair_links;
  plan.digest = digest_of(planned);
  try {
    if (digest_of(read_planned(plan, by.problem.graph, "plan")) == plan.digest) return plan;
  } catch (const InputError&) {  // what cannot be read back is no plan of a job
  }
  return std::nullopt;
}

RankProgram lower_rank(const JobPlan& plan, std::shared_ptr<const Graph> graph, DeviceId device,
                       const std::string& name) {
  const Planned planned = read_planned(plan, std::move(graph), name);
  if (digest_of(planned) != plan.digest)
    throw InputError(name, "", "is understood otherwise than when it was staged",
                     "run the job with the program version that staged it");
  std::optional<RankProgram> program;
  if (device.index() < planned.problem.cluster->device_count())
    program = lowered(planned, {plan.priorities, plan.fair_links}, device);
  if (!program)
    throw InputError(name, "", "gives this rank's device nothing to do", "stage the job again");
  return *std::move(program);
}

}  // namespace strato
