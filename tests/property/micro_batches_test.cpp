// Random models in several micro-batches under random strategies: programs compute what their
// graphs say, keep to their schedules, are folded without a difference, and run to their end.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/program/lower/lower.h"
#include "core/program/lower/pipeline.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/explain/dump.h"
#include "core/sim/explain/stage_waits.h"
#include "core/sim/timeline/feedback.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/paths.h"
#include "tests/property/random_model.h"
#include "tests/property/rank_checker.h"
#include "tests/property/schedule_checker.h"

namespace strato {
namespace {

struct BlockedCase {
  RandomProblem problem;
  Strategy strategy;
};

// Each stage takes, in any order, what need not wait.
ScheduleTable random_table(const BlockedCase& made, Random& random) {
  const std::int32_t micros = made.strategy.micro_batches.count;
  Tables tables(made.problem.graph, made.problem.grouping, made.problem.cluster, made.problem.cost,
                micros);
  Placement placement(tables);
  placement.place(complete(made.strategy, *made.problem.cluster));
  const bool in_two = random.below(2) == 0;
  const Chunks chunks(tables, placement, in_two);
  ScheduleTable table(chunks.stages().size());
  std::vector<std::int32_t> done(chunks.passes().size(), 0);
  while (true) {
    std::vector<ScheduleCell> ready;
    for (std::size_t pass = 0; pass < done.size(); ++pass) {
      const ScheduleCell cell = Chunks::cell_of(pass, done[pass]);
      if (cell.micro == micros || (!in_two && cell.pass == PassKind::Weights)) continue;
      if (std::ranges::all_of(chunks.passes()[pass].follows,
                              [&](std::size_t from) { return done[from] > cell.micro; }))
        ready.push_back(cell);
    }
    if (ready.empty()) return table;
    const ScheduleCell& cell = ready[random.below(ready.size())];
    ++done[Chunks::pass_of(cell)];
    table[at(chunks.stage_of_chunk(cell.chunk))].push_back(cell);
  }
}

// Nothing: the model or the strategy does not go with micro-batches.
std::optional<BlockedCase> random_blocked(std::uint64_t seed, Random& random) {
  BlockedCase made;
  made.problem = seed % 2 != 0 ? random_model_problem(random) : random_problem(random);
  made.strategy = seed % 3 != 0 ? random_strategy(made.problem, random)
                                : random_data_parallel(made.problem, random);
  if (seed % 5 == 4) made.strategy = with_meshes(made.problem, made.strategy, random);
  if (seed % 4 == 1) {  // of ops that the catalogue knows
    std::mt19937_64 numbers(seed);
    made.strategy = complete(made.strategy, *made.problem.cluster);
    made.strategy.variables = RandomVariables{*made.problem.graph, *made.problem.grouping,
                                              *made.problem.cluster, numbers, true}
                                  .variables(made.strategy);
  }
  if (seed % 6 == 3) made.strategy = with_shared_states(made.problem, made.strategy, random);
  if (seed % 7 > 0) made.strategy.recomputed = random_recomputed(*made.problem.graph, random);
  const auto micro_batches = random_micro_batches(*made.problem.graph, random);
  if (seed % 9 < 3)
    made.strategy.offloaded =
        random_offloaded(*made.problem.graph, made.strategy.recomputed, random);
  if (!micro_batches) return std::nullopt;
  made.strategy.micro_batches = *micro_batches;
  if (!goes_with(made.problem, *micro_batches)) return std::nullopt;
  if (seed % 7 == 3) {
    made.strategy.micro_batches.table = random_table(made, random);
    made.strategy.micro_batches.schedule = PipelineSchedule::ByHand;
  }
  return made;
}

std::shared_ptr<const Program> lowered(const BlockedCase& made, Lowering& lowering, Fold* fold) {
  LowerOptions options;
  options.verify = true;
  options.fold = fold;
  return std::make_shared<const Program>(lowering.lower(made.strategy, options));
}

Lowering lowering_of(const RandomProblem& problem) {
  return Lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
}

// The pipeline of a case, with what it refers to.
struct PlacedPipeline {
  explicit PlacedPipeline(const BlockedCase& made)
      : tables(made.problem.graph, made.problem.grouping, made.problem.cluster, made.problem.cost,
               made.strategy.micro_batches.count),
        placement(tables) {
    placement.place(complete(made.strategy, *made.problem.cluster));
    pipeline.emplace(tables, placement, made.strategy.micro_batches);
  }
  Tables tables;
  Placement placement;
  std::optional<Pipeline> pipeline;
};

// What is said of stages is of those that the program was made with. Returns how many there are.
std::size_t expect_stages(const BlockedCase& made, const Timeline& timeline) {
  const PlacedPipeline placed(made);
  const std::vector<StageWait> waits = stage_waits(timeline);
  std::set<DeviceId> seen;
  for (const StageWait& wait : waits) {
    for (const DeviceId device : wait.devices) {
      EXPECT_TRUE(seen.insert(device).second);
      EXPECT_GE(placed.pipeline->chunks().stage_of(device), 0);
      EXPECT_EQ(placed.pipeline->chunks().stage_of(device),
                placed.pipeline->chunks().stage_of(wait.devices.front()));
    }
    EXPECT_GE(std::min({wait.before, wait.between, wait.after}), Nanos(0));
    EXPECT_LT(wait.all(), timeline.step_time);
  }
  std::set<std::int32_t> stages;
  for (const Task& task : timeline.program->tasks)
    if (task.kind == TaskKind::Compute && placed.tables.is_repeated(task.op))
      stages.insert(placed.pipeline->chunks().stage_of(task.device));
  EXPECT_EQ(waits.size(), stages.size() < 2 ? 0 : stages.size());
  return waits.size();
}

// What a device does of micro-batches one after the other, as the schedule has it.
void expect_schedule(const BlockedCase& made, const Timeline& timeline) {
  const Program& program = *timeline.program;
  const PlacedPipeline placed(made);
  const Tables& tables = placed.tables;
  const Pipeline& pipeline = *placed.pipeline;
  std::map<OpId, std::size_t> pass_of;
  for (std::size_t pass = 0; pass < pipeline.chunks().passes().size(); ++pass)
    for (const OpId op : pipeline.chunks().passes()[pass].ops) pass_of[op] = pass;
  std::map<std::int32_t, std::vector<ScheduleCell>> expected;
  for (const ScheduleCell& cell : pipeline.cells())
    if (!pipeline.ops(cell).empty())
      expected[pipeline.chunks().stage_of_chunk(cell.chunk)].push_back(cell);
  std::map<DeviceId, std::vector<ScheduleCell>> seen;
  for (const TaskId id : execution_order(timeline)) {
    const Task& task = program.tasks[id];
    if (task.kind != TaskKind::Compute || !tables.is_repeated(task.op) || task.again) continue;
    const ScheduleCell cell = Chunks::cell_of(pass_of.at(task.op), task.micro);
    std::vector<ScheduleCell>& of = seen[task.device];
    if (of.empty() || of.back() != cell) of.push_back(cell);
  }
  for (const auto& [device, cells] : seen) {
    // A device of a stage may have no part in some cell: then that one is not seen.
    std::vector<ScheduleCell> all = expected.at(pipeline.chunks().stage_of(device));
    std::erase_if(all, [&](const ScheduleCell& cell) {
      return std::ranges::find(cells, cell) == cells.end();
    });
    EXPECT_EQ(cells, all) << program.cluster->device(device).name;
  }
}

// Every task, buffer and resident as text, with parts as they are: their order is not compared.
std::vector<std::string> lines_of(const Program& program) {
  std::vector<std::string> lines;
  const auto join = [](const auto& ids) {
    std::string text;
    for (const auto id : ids) text += std::to_string(id.value()) + " ";
    return text;
  };
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    lines.push_back(program.task_name(TaskId(i)) + " of " + std::to_string(task.micro) + ", " +
                    describe(program.part_of(task)) + ", " + std::to_string(task.duration.value) +
                    " ns, " + std::to_string(task.bytes.value) + " B, again " +
                    std::to_string(task.again) + ", waits " + join(program.dependencies[i]) +
                    "on " + join(program.resources[i]) + "reads " + join(program.reads[i]) +
                    "writes " + join(program.writes[i]));
  }
  for (const BufferId id : program.buffers.ids()) {
    const Buffer& buffer = program.buffers[id];
    lines.push_back("buffer of " + std::to_string(buffer.tensor.value()) + " on " +
                    std::to_string(buffer.device.value()) + ", " +
                    std::to_string(buffer.bytes.value) + " B, " + describe(program.part_of(id)));
  }
  for (const Resident& resident : program.residents)
    lines.push_back("resident of " + std::to_string(resident.tensor.value()) + " on " +
                    std::to_string(resident.device.value()) + ", " +
                    std::to_string(resident.bytes.value) + " B, " +
                    describe(program.part_of(resident)));
  return lines;
}

// What is the same for every micro-batch is lowered for two of them: the program is the one that
// lowering each of them gives.
TEST(MicroBatches, AreRepeatedAsIfEachWereLowered) {
  std::size_t long_enough = 0, with_order = 0, recomputed = 0;
  for (std::uint64_t seed = 0; seed < 1200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto made = random_blocked(seed, random);
    if (!made || !made->strategy.variables.empty()) continue;
    Lowering lowering = lowering_of(made->problem);
    LowerOptions each;
    each.repeat_cells = false;
    const std::vector<std::string> wanted = lines_of(lowering.lower(made->strategy, each));
    const std::vector<std::string> lines = lines_of(lowering.lower(made->strategy));
    ASSERT_EQ(lines.size(), wanted.size());
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], wanted[i]);
    const auto gathers_each_pass = [](const std::optional<Decision>& decision) {
      return decision->roles.states.stage == 3;
    };
    if (made->strategy.micro_batches.count < 4 ||
        std::ranges::any_of(made->strategy.groups, gathers_each_pass))
      continue;
    ++long_enough;
    with_order += made->strategy.micro_batches.schedule != PipelineSchedule::AsReady;
    recomputed += !made->strategy.recomputed.empty();
  }
  EXPECT_GT(long_enough, 100u);
  EXPECT_GT(with_order, 50u);
  EXPECT_GT(recomputed, 20u);
}

TEST(MicroBatches, ProgramsAreRightAndKeepToTheirSchedules) {
  const std::uint64_t count = kSanitized ? 150 : 800;
  std::uint64_t blocked = 0, sums = 0, sent_sums = 0, stages = 0, again = 0, pipelines = 0;
  for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto made = random_blocked(seed, random);
    if (!made) continue;
    ++blocked;
    Lowering lowering = lowering_of(made->problem);
    const auto program = lowered(*made, lowering, nullptr);
    SimulateOptions how;
    how.fair_links = seed % 5 == 0;
    Simulator simulator;
    const Timeline timeline = simulator.simulate(program, how);
    const ScheduleReport report = check_schedule(parse_schedule(dump_tasks(timeline)));
    for (const std::string& problem : report.problems) ADD_FAILURE() << problem;
    if (made->strategy.micro_batches.schedule != PipelineSchedule::AsReady)
      expect_schedule(*made, timeline);
    pipelines += expect_stages(*made, timeline) > 1;
    for (std::size_t i = 0; i < program->tasks.size(); ++i) {
      const Task& task = program->tasks[TaskId(i)];
      sums += task.kind == TaskKind::Sum && program->writes[i].empty();
      sent_sums += task.kind == TaskKind::Transfer && program->part_of(task).times() > 1;
      again += task.again;
      stages = std::max(stages, static_cast<std::uint64_t>(task.micro));
    }

    const RankPrograms ranks = rank_programs(*program, execution_order(timeline));
    EXPECT_NO_THROW(check_termination(ranks, "job"));
    EXPECT_TRUE(ends_when_blocking(ranks));
    for (std::size_t r = 0; r < ranks.ranks.size(); ++r) {
      EXPECT_EQ(problem_of(ranks, r), "");
      const std::string stored = write_rank_program(ranks.ranks[r]);
      EXPECT_EQ(write_rank_program(read_rank_program(stored, *ranks.graph, "rank")), stored);
    }
  }
  EXPECT_GT(blocked, count / 8);
  EXPECT_GT(sums, 10 * blocked);
  EXPECT_GT(again, 4 * blocked);
  EXPECT_GT(sent_sums, blocked / 16);
  EXPECT_GT(pipelines, blocked / 16);
}

TEST(MicroBatches, FoldedTimelinesAreTheFullOnes) {
  std::size_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto made = random_blocked(2 * seed, random);
    if (!made) continue;
    Lowering lowering = lowering_of(made->problem);
    Fold fold;
    Simulator simulator;
    const Timeline folded = simulator.simulate(lowered(*made, lowering, &fold));
    if (fold.left_out == 0) continue;
    left_out += fold.left_out;
    const Timeline full = simulator.simulate(lowered(*made, lowering, nullptr));
    EXPECT_EQ(folded.step_time, full.step_time);
    for (const DeviceId device : fold.representative.ids()) {
      const DeviceUse& use = folded.devices[fold.representative[device]];
      EXPECT_EQ(use.peak + fold.more_resident[device], full.devices[device].peak);
      EXPECT_EQ(use.compute_busy, full.devices[device].compute_busy);
    }
  }
  EXPECT_GT(left_out, 100u);
}

}  // namespace
}  // namespace strato
