// What must hold for every (graph, cluster, strategy): checked on 1,000 random ones, by a checker
// that reads only the dumped schedule, and by following the samples of every op through the dumped
// dependencies.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/program/lower/lower.h"
#include "core/program/value/program.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/explain/critical_path.h"
#include "core/sim/explain/dump.h"
#include "tests/paths.h"
#include "tests/property/random_problem.h"
#include "tests/property/schedule_checker.h"

namespace strato {
namespace {

using Samples = std::uint64_t;  // a set of samples

Samples range(std::int64_t begin, std::int64_t end) {
  return ((Samples{1} << (end - begin)) - 1) << begin;
}

// The samples that a task works on, from the end of its name: "[2,4)"; all of them without it.
Samples samples_of(const DumpedTask& task, std::int64_t batch) {
  const std::size_t open = task.name.rfind(" [");
  if (open == std::string::npos) return range(0, batch);
  const std::size_t comma = task.name.find(',', open);
  return range(std::stoll(task.name.substr(open + 2)), std::stoll(task.name.substr(comma + 1)));
}

bool is_op(const DumpedTask& task) { return task.kind == "Compute" || task.kind == "Update"; }

// Ops that each op follows from, directly or not.
std::vector<std::set<std::size_t>> ancestors(const Graph& graph) {
  std::vector<std::set<std::size_t>> result(graph.op_count());
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    for (TensorId input : graph.op(OpId(i)).inputs) {
      if (!input.valid() || !graph.tensor(input).producer.valid()) continue;
      const std::size_t from = graph.tensor(input).producer.index();
      result[i].insert(from);
      result[i].insert(result[from].begin(), result[from].end());
    }
  return result;
}

// Every op is computed for every sample, and never for some samples twice unless it is done whole;
// and before a task come, for its samples, all ops that its op follows from: so an update sees the
// full sum.
void check_work(const Graph& graph, const DumpedSchedule& schedule) {
  const Samples all = range(0, graph.batch());
  std::map<std::string, std::size_t> op_of;
  for (std::size_t i = 0; i < graph.op_count(); ++i) op_of[graph.op(OpId(i)).name] = i;
  std::vector<Samples> done(graph.op_count());
  for (const DumpedTask& task : schedule.tasks) {
    if (!is_op(task)) continue;
    const Samples samples = samples_of(task, graph.batch());
    Samples& before = done[op_of.at(task.op)];
    EXPECT_TRUE(samples == all ? before == 0 || before == all : (before & samples) == 0)
        << task.name;
    before |= samples;
  }
  const auto follows = ancestors(graph);
  std::map<std::int64_t, std::vector<Samples>>
      behind;  // by task: samples of each op done before its end
  for (const DumpedTask& task : schedule.tasks) {
    std::vector<Samples>& mine = behind[task.id];
    mine.assign(graph.op_count(), 0);
    for (std::int64_t dependency : task.dependencies)
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] |= behind.at(dependency)[i];
    if (!is_op(task)) continue;
    const Samples samples = samples_of(task, graph.batch());
    for (std::size_t op : follows[op_of.at(task.op)]) {
      if (graph.op(OpId(op)).view) continue;  // makes no task
      EXPECT_EQ(mine[op] & samples, samples) << task.name << " lacks " << graph.op(OpId(op)).name;
    }
    mine[op_of.at(task.op)] |= samples;
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (graph.op(OpId(i)).view) continue;
    EXPECT_EQ(done[i], all) << graph.op(OpId(i)).name;
  }
}

// The buffer that holds the tensor, or the tensor that it is a view of, among those that the task
// reads.
const BufferId* find_read(const Program& program, TaskId task, TensorId tensor) {
  const Graph& graph = *program.graph;
  while (true) {
    for (const BufferId& buffer : program.reads[task.index()])
      if (program.buffers[buffer].tensor == tensor) return &buffer;
    const OpId producer = graph.tensor(tensor).producer;
    if (!producer.valid() || !graph.op(producer).view) return nullptr;
    tensor = graph.op(producer).inputs[0];
  }
}

// A shard adds to the partial sum of its own samples, a whole op reads the full sum: nothing is
// counted twice.
void check_sums(const Program& program) {
  // What a buffer holds, by the tasks' own account: sums over part of the batch, or the full sum.
  std::vector<AxisRange> held(program.buffers.size());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)
      for (TensorId input : program.graph->op(task.op).inputs) {
        if (!input.valid() || program.graph->tensor(input).batch.kind != BatchKind::Partial)
          continue;
        const BufferId* read = find_read(program, TaskId(i), input);
        ASSERT_NE(read, nullptr) << program.task_name(TaskId(i));
        EXPECT_EQ(held[read->index()], program.range_of(task)) << program.task_name(TaskId(i));
      }
    for (BufferId buffer : program.writes[i]) held[buffer.index()] = program.range_of(task);
    if (task.kind == TaskKind::AllReduce)  // in place
      for (BufferId buffer : program.reads[i])
        if (program.writes[i].empty()) held[buffer.index()] = program.range_of(task);
  }
}

void check_against_timeline(const Timeline& timeline, const ScheduleReport& report) {
  EXPECT_EQ(report.makespan, timeline.step_time.value);
  bool feasible = true;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const DeviceUse& use = timeline.devices[DeviceId(d)];
    EXPECT_EQ(report.peak.at(timeline.program->cluster->device(DeviceId(d)).name), use.peak.value);
    feasible = feasible && use.peak <= use.capacity;
    Bytes alive;
    for (const auto& tensor : timeline.alive_at(DeviceId(d), use.peak_at)) alive += tensor.bytes;
    EXPECT_EQ(alive, use.peak);
  }
  for (const MachineId machine : timeline.hosts.ids()) {
    const HostUse& use = timeline.hosts[machine];
    const auto peak =
        report.peak.find(timeline.program->cluster->machines()[machine].name + " host");
    EXPECT_EQ(peak == report.peak.end() ? 0 : peak->second, use.peak.value);
    feasible = feasible && use.peak <= use.capacity;
  }
  EXPECT_EQ(feasible, timeline.feasible);
  Nanos sum;
  for (const CriticalStep& step : critical_path(timeline))
    sum += timeline.tasks[step.task].end - timeline.tasks[step.task].start;
  EXPECT_EQ(sum, timeline.step_time) << "the critical path has a gap";
}

// What flows wholly inside a stretch of time has carried its bytes there: no link carries more than
// it can. Work is in time at full speed, which uses the slowest link of a task fully and the others
// in part. And nobody flows when it could not, or faster than alone.
void check_links(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const auto& links = program.cluster->links();
  struct Flow {
    double begin, end, bytes;
  };
  IdVector<LinkId, std::vector<Flow>> flows(links.size());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    const TaskTimes& times = timeline.tasks[TaskId(i)];
    if (task.kind == TaskKind::Transfer) {
      EXPECT_EQ(times.start, times.ready);
    }
    EXPECT_GE(times.end - times.start, task.duration);
    std::vector<LinkId> used;
    double slowest = 1e30;
    for (const ResourceId resource : program.resources[i])
      if (program.is_link(resource)) {
        used.push_back(program.link_of(resource));
        slowest = std::min(slowest, links[used.back()].bandwidth);
      }
    for (const LinkId link : used)
      flows[link].push_back({static_cast<double>((times.start + task.latency).value),
                             static_cast<double>(times.end.value),
                             static_cast<double>((task.duration - task.latency).value) * slowest});
  }
  for (std::size_t l = 0; l < flows.size(); ++l)
    for (const Flow& first : flows[LinkId(l)])
      for (const Flow& last : flows[LinkId(l)]) {
        if (last.end < first.end) continue;
        double bytes = 0;
        for (const Flow& flow : flows[LinkId(l)])
          if (flow.begin >= first.begin && flow.end <= last.end) bytes += flow.bytes;
        EXPECT_LE(bytes, (last.end - first.begin + 0.1) * links[LinkId(l)].bandwidth)
            << links[LinkId(l)].name;
      }
}

// All four ways to simulate it keep the rules.
void check_all_ways(const std::shared_ptr<const Program>& program) {
  for (const bool priorities : {false, true})
    for (const bool fair : {false, true}) {
      SCOPED_TRACE(std::string(priorities ? "priorities" : "first in, first out") +
                   (fair ? ", fair links" : ", exclusive links"));
      const Timeline timeline = Simulator().simulate(program, {priorities, fair});
      const DumpedSchedule schedule = parse_schedule(dump_tasks(timeline));
      EXPECT_EQ(schedule.fair_links, fair);
      const ScheduleReport report = check_schedule(schedule);
      for (const std::string& problem_found : report.problems) ADD_FAILURE() << problem_found;
      check_against_timeline(timeline, report);
      if (fair) check_links(timeline);
    }
}

std::shared_ptr<const Program> with_random_priorities(const Program& program, Random& random) {
  auto copy = std::make_shared<Program>(program);
  for (Task& task : copy->tasks) {
    task.priority = static_cast<std::int32_t>(random.below(4)) - 1;
    if (is_communication(task.kind))
      task.latency = Nanos(static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(task.duration.value) + 1)));
  }
  return copy;
}

TEST(Schedule, RandomOnesHoldEveryRule) {
  const std::uint64_t count =
      kSanitized ? 250 : 600;  // the sanitizers need no more to see all of the code
  std::size_t tasks = 0;
  std::map<std::string, std::uint64_t> kinds;
  for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Strategy strategy = random_strategy(problem, random);
    if (seed % 4 == 1) strategy.offloaded = random_offloaded(*problem.graph, {}, random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    Simulator simulator;
    LowerOptions options;
    options.verify = true;
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    const Timeline timeline = simulator.simulate(program);
    const std::string dump = dump_tasks(timeline);
    const DumpedSchedule schedule = parse_schedule(dump);
    const ScheduleReport report = check_schedule(schedule);
    for (const std::string& problem_found : report.problems) ADD_FAILURE() << problem_found;
    check_against_timeline(timeline, report);
    check_work(*problem.graph, schedule);
    check_sums(*program);

    lowering.lower(random_strategy(problem, random));  // another in between
    const auto again = std::make_shared<const Program>(lowering.lower(strategy));
    EXPECT_EQ(dump_tasks(simulator.simulate(again)), dump);
    check_all_ways(seed % 3 == 0 ? program : with_random_priorities(*program, random));
    tasks += schedule.tasks.size();
    for (const DumpedTask& task : schedule.tasks) ++kinds[task.kind];
  }
  RecordProperty("tasks", static_cast<int>(tasks));
  EXPECT_GT(tasks, 30 * count);
  for (const char* kind : {"Compute", "Split", "Concat", "Sum", "Transfer", "AllReduce",
                           "AllGather", "Update", "Offload", "Fetch"})
    EXPECT_GT(kinds[kind], count / 20) << kind << " is hardly tested";
}

class Mutated : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t seed = 0; schedule_.tasks.size() < 60; ++seed) {
      Random random(seed);
      const RandomProblem problem = random_problem(random);
      Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
      const auto program =
          std::make_shared<const Program>(lowering.lower(random_strategy(problem, random)));
      schedule_ = parse_schedule(dump_tasks(Simulator().simulate(program)));
    }
    ASSERT_TRUE(check_schedule(schedule_).problems.empty());
  }
  // The first task that satisfies the condition is damaged; the checker must see it.
  template <class Condition, class Damage>
  void expect_caught(Condition&& condition, Damage&& damage) {
    DumpedSchedule copy = schedule_;
    const auto at = std::find_if(copy.tasks.begin(), copy.tasks.end(), condition);
    ASSERT_NE(at, copy.tasks.end());
    damage(*at);
    EXPECT_FALSE(check_schedule(copy).problems.empty());
  }
  DumpedSchedule schedule_;
};

TEST_F(Mutated, TimesAreCaught) {
  const auto late = [](const DumpedTask& t) { return t.start > 0 && t.start == t.ready; };
  expect_caught(late, [](DumpedTask& t) { --t.start, --t.end; });
  expect_caught(late, [](DumpedTask& t) { ++t.end; });
  expect_caught(late, [](DumpedTask& t) { --t.ready; });
  expect_caught(late, [](DumpedTask& t) { t.start = t.end = 0; });
  expect_caught(late, [](DumpedTask& t) { t.dependencies.clear(); });
  expect_caught(late, [](DumpedTask& t) { t.dependencies.push_back(1 << 30); });
  expect_caught(late, [](DumpedTask& t) { t.duration = 0; });
}

TEST_F(Mutated, QueuesAreCaught) {
  const auto waited = [](const DumpedTask& t) { return t.start > t.ready; };
  expect_caught(waited, [](DumpedTask& t) { t.start += 5, t.end += 5; });
  expect_caught(waited, [](DumpedTask& t) { t.priority = -1; });
  expect_caught(waited, [](DumpedTask& t) { t.start = t.ready, t.end = t.ready + t.duration; });
  expect_caught(waited, [](DumpedTask& t) { t.resources.clear(); });
  expect_caught([](const DumpedTask&) { return true; }, [](DumpedTask& t) { t.id = 1; });
}

TEST_F(Mutated, MemoryIsCaught) {
  const auto takes = [](const DumpedTask& t) { return !t.taken.empty(); };
  const auto frees = [](const DumpedTask& t) { return !t.released.empty(); };
  expect_caught(takes, [](DumpedTask& t) { t.taken.clear(); });
  expect_caught(takes, [](DumpedTask& t) { t.taken.push_back(t.taken[0]); });
  expect_caught(takes, [](DumpedTask& t) { t.taken[0].bytes = -1; });
  expect_caught(takes, [](DumpedTask& t) { t.taken[0].device = "elsewhere"; });
  expect_caught(frees, [](DumpedTask& t) { t.released.clear(); });
  expect_caught(frees, [](DumpedTask& t) { t.released[0].tensor += "?"; });
  expect_caught(frees, [](DumpedTask& t) { t.released.push_back(t.released[0]); });
}

}  // namespace
}  // namespace strato
