// Pipelines of micro-batches: the stages of the planner of that name, and any search in
// micro-batches.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/framework/layout/model_layers.h"
#include "core/program/value/collective.h"
#include "core/schedule/dag/layers.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/run_record.h"
#include "tests/message_of.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult planned(const std::string& planner, const Problem& problem,
                   std::map<std::string, std::string> set = {}, MicroBatches micro_batches = {},
                   Observer* observer = nullptr) {
  PlannerOptions options;
  options.set = std::move(set);
  options.micro_batches = micro_batches;
  options.iterations = 60;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, observer ? *observer : quiet,
                     {});
}

Bytes most(const Timeline& timeline) {
  Bytes peak;
  for (const DeviceUse& device : timeline.devices) peak = std::max(peak, device.peak);
  return peak;
}

TEST(PipelinePlanner, StagesAreBlocksOfWholeLayersOnNeighbouringDevices) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  const PlanResult result = planned("pipeline", problem, {{"stages", "4"}, {"micro_batches", "4"}});
  EXPECT_EQ(result.strategy.micro_batches, (MicroBatches{4, PipelineSchedule::OneFOneB}));
  const Problem own = problem_for(problem, result.strategy);
  const auto first_device = [&](OpId op) {
    return result.strategy.groups[own.grouping->group_of(op)]->devices.front().device;
  };
  std::set<DeviceId> stages;
  for (const OpId op : problem.graph->ops().ids()) {
    const Decision& decision = *result.strategy.groups[own.grouping->group_of(op)];
    EXPECT_EQ(decision.devices.size(), 4u);
    EXPECT_EQ(decision.devices.back().device.index(), decision.devices.front().device.index() + 3);
    stages.insert(first_device(op));
    const OpId forward = problem.graph->op(op).forward;
    EXPECT_EQ(first_device(op), first_device(forward.valid() ? forward : op));
  }
  EXPECT_EQ(stages.size(), 4u);
}

// The head takes longer than a layer: by their work the last of eight stages has fewer.
TEST(PipelinePlanner, EqualLayersAreAsManyOnEachStage) {
  const Problem problem = sample("bert_large", 16, "h100-2x8");
  const frameworks::ModelLayers layers = frameworks::model_layers(*problem.graph);
  const auto layers_of_stages = [&](const char* option) {
    const PlanResult result =
        planned("pipeline", problem, {{"stages", "8"}, {"micro_batches", "8"}, {option, "true"}});
    const Problem own = problem_for(problem, result.strategy);
    std::map<DeviceId, std::set<std::int32_t>> found;
    for (const OpId op : problem.graph->ops().ids()) {
      const std::int32_t place = layers.place_of[op.index()];
      const auto& decision = result.strategy.groups[own.grouping->group_of(op)];
      if (place >= 1 && place <= layers.count)
        found[decision->devices.front().device].insert(place);
    }
    std::multiset<std::size_t> counts;
    for (const auto& [stage, all] : found) counts.insert(all.size());
    return counts;
  };
  EXPECT_EQ(layers_of_stages("equal_layers"), std::multiset<std::size_t>({3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_NE(layers_of_stages("whole_layers"), layers_of_stages("equal_layers"));
  EXPECT_NE(message_of([&] {
              planned("pipeline", problem, {{"stages", "16"}, {"equal_layers", "true"}});
            }).find("24 layers cannot be divided equally among 16 blocks"),
            std::string::npos);
}

// The best of all widths and ways to keep parameters is the best that they find one by one.
TEST(PipelinePlanner, WidthsAndShardingsAreTriedWhereNothingIsSaid) {
  const Problem problem = sample("bert_3l", 16, "h100-2x8");
  std::map<std::string, std::string> set = {{"stages", "2"}, {"micro_batches", "2"}};
  PlanResult best;
  std::set<std::string> evaluated;  // of one row there is nothing to share
  std::pair<std::string, std::string> found;
  for (const char* tensor : {"1", "2", "4", "8"})
    for (const char* shard : {"nothing", "updates", "gradients", "parameters"}) {
      set["tensor"] = tensor;
      set["shard"] = shard;
      const PlanResult result = planned("pipeline", problem, set);
      EXPECT_EQ(result.evaluations, 1);
      evaluated.insert(result.strategy.digest().hex());
      if (!found.first.empty() && !result.score.better_than(best.score)) continue;
      best = result;
      found = {tensor, shard};
    }
  set["tensor"] = "0";
  set["shard"] = "any";
  const PlanResult result = planned("pipeline", problem, set);
  EXPECT_EQ(result.score.step_time, best.score.step_time);
  EXPECT_EQ(evaluated.size(), 3 * 4 + 1);
  EXPECT_EQ(result.evaluations, std::ssize(evaluated));
  const auto fact = [&](const std::string& name) {
    const auto at = std::ranges::find(result.facts, name, &PlanResult::Fact::name);
    return at == result.facts.end() ? std::string() : at->value;
  };
  EXPECT_EQ(fact("tensor"), found.first);
  EXPECT_EQ(fact("kept in parts"), found.second);
  EXPECT_GT(found.first, "1") << "columns help nowhere";
}

// What constraints forbid everywhere is not tried, and refused where it is asked for.
TEST(PipelinePlanner, KeepsOutOfForbiddenRoles) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  PlannerOptions options;
  Constraints constraints;
  constraints.forbidden = {parse_forbid("pipeline,tensor,sharding,recompute")};
  options.constraints = std::make_shared<const Constraints>(constraints);
  options.set = {{"tensor", "0"}, {"shard", "any"}};
  Observer quiet;
  const auto run = [&] {
    return run_planner(*registry().planner("pipeline"), problem, options, quiet, {});
  };
  const PlanResult result = run();
  const auto fact = [&](const char* name) {
    const auto at = std::ranges::find(result.facts, name, &PlanResult::Fact::name);
    return at == result.facts.end() ? std::string() : at->value;
  };
  EXPECT_EQ(fact("stages"), "1");
  EXPECT_EQ(fact("constraints"), "kept by the planner's own result");
  EXPECT_TRUE(result.strategy.splits.empty());
  for (const auto& decision : result.strategy.groups) EXPECT_EQ(columns_of(*decision), 1u);
  EXPECT_LE(result.evaluations, 4) << "one to four micro-batches of one stage";
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"stages", "2"}, {"tensor", "2"}, {"shard", "updates"}, {"recompute", "blocks"}}) {
    options.set = {{key, value}};
    const std::string message = message_of(run);
    EXPECT_NE(message.find("--set " + key + "=" + value), std::string::npos) << message;
    EXPECT_NE(message.find("which a constraint forbids"), std::string::npos) << message;
  }
  options.set = {{"stages", "1"}, {"tensor", "1"}, {"recompute", "none"}};
  EXPECT_NO_THROW(run());
}

// A group's constraint is kept by what is found, whatever is tried.
TEST(PipelinePlanner, KeepsSomeGroupsOutOfRoles) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  PlannerOptions options;
  Constraints constraints;
  constraints.forbidden = {parse_forbid("*attention*=tensor")};
  options.constraints = std::make_shared<const Constraints>(constraints);
  options.set = {{"stages", "2"}, {"micro_batches", "4"}, {"tensor", "2"}};
  Observer quiet;
  const PlanResult result =
      run_planner(*registry().planner("pipeline"), problem, options, quiet, {});
  EXPECT_TRUE(BoundConstraints(constraints, problem).violated(result.strategy).empty());
  const auto has_columns = [](const auto& decision) { return columns_of(*decision) == 2; };
  EXPECT_TRUE(std::ranges::any_of(result.strategy.groups, has_columns));
  EXPECT_EQ(result.strategy.micro_batches.count, 4);
}

// A stage of one device has no columns, and machines of unequal size have rows in each.
TEST(PipelinePlanner, WidthsDivideMachinesAndStages) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");  // machines of 4 and 2
  const auto width = [&](const char* stages) {
    const PlanResult result =
        planned("pipeline", problem, {{"stages", stages}, {"tensor", "0"}, {"micro_batches", "2"}});
    return std::ranges::find(result.facts, "tensor", &PlanResult::Fact::name)->value;
  };
  EXPECT_EQ(width("16"), "1");
  EXPECT_LE(std::stoi(width("2")), 2);
}

// Two stages of two rows of four columns.
TEST(PipelinePlanner, StagesHaveRowsOfColumns) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  const PlanResult result =
      planned("pipeline", problem, {{"stages", "2"}, {"micro_batches", "4"}, {"tensor", "4"}});
  for (const auto& decision : result.strategy.groups) {
    EXPECT_EQ(columns_of(*decision), 4u);
    EXPECT_EQ(decision->devices.size(), 8u);
  }
  const Outcome outcome = simulate_strategy(problem, result.strategy);
  EXPECT_EQ(outcome.timeline->step_time, result.score.step_time);
  const Program& program = *outcome.timeline->program;
  const Problem own = problem_for(problem, result.strategy);
  std::map<std::string, std::set<int>> members;  // of the AllReduces, by phase of the reader
  for (const TaskId id : program.tasks.ids())
    if (program.tasks[id].kind == TaskKind::AllReduce) {
      const bool gradient =
          program.tasks[id].micro == 0 && program.tasks[id].tensor.valid() &&
          program.graph->tensor(program.tasks[id].tensor).batch.kind == BatchKind::Partial;
      members[gradient ? "gradients" : "activations"].insert(
          static_cast<int>(members_of(program, id).size()));
    }
  EXPECT_EQ(members["activations"], std::set<int>{4});
  EXPECT_EQ(members["gradients"], std::set<int>{2});
}

// Two stages of four rows of two columns: what a column has of a parameter, and its state, is kept
// once by its four devices.
TEST(PipelinePlanner, RowsOfAStageShareItsUpdates) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  std::map<std::string, Bytes> kept;
  for (const std::string shard : {"nothing", "updates", "parameters"}) {
    const PlanResult result =
        planned("pipeline", problem,
                {{"stages", "2"}, {"micro_batches", "2"}, {"tensor", "2"}, {"shard", shard}});
    const Outcome outcome = simulate_strategy(problem, result.strategy);
    const Program& program = *outcome.timeline->program;
    for (const Resident& resident : program.residents)
      if (program.graph->tensor(resident.tensor).role == TensorRole::OptimizerState)
        kept[shard] += resident.bytes;
    const auto scattered = std::ranges::count_if(program.tasks, [&](const Task& task) {
      return task.kind == TaskKind::ReduceScatter &&  // of what was summed up over the batch
             program.graph->tensor(task.tensor).batch.kind == BatchKind::Partial;
    });
    EXPECT_EQ(scattered > 0, shard != "nothing");
  }
  EXPECT_EQ(kept["updates"], kept["parameters"]);
  EXPECT_LT(kept["updates"] * 3, kept["nothing"]);  // what is small is kept by each row
}

TEST(PipelinePlanner, RowsDivideTheDevicesOfAStage) {
  const Problem problem = sample("bert_3l", 16, "celeritas");
  EXPECT_NE(message_of([&] {
              planned("pipeline", problem, {{"tensor", "3"}});
            }).find("does not divide the"),
            std::string::npos);
  for (const auto& decision : planned("pipeline", problem, {{"tensor", "2"}}).strategy.groups)
    EXPECT_EQ(columns_of(*decision), 2u);
}

TEST(PipelinePlanner, TriesWhatIsNotGivenAndTakesTheFastest) {
  const Problem problem = sample("bert_3l", 16, "celeritas");
  const PlanResult best = planned("pipeline", problem);
  const int devices = static_cast<int>(problem.cluster->device_count());
  int given = 0;
  for (const char* stages : {"1", "2", "4"})
    for (const char* micro_batches : {"1", "2", "4", "8", "16"}) {
      const auto plan = [&] {
        return planned("pipeline", problem, {{"stages", stages}, {"micro_batches", micro_batches}});
      };
      const int rows = devices / std::stoi(stages), samples = 16 / std::stoi(micro_batches);
      if (samples < rows) {
        EXPECT_EQ(message_of(plan).find(std::string("--set micro_batches=") + micro_batches), 0u);
        continue;
      }
      const PlanResult one = plan();
      const int each = std::stoi(micro_batches) / std::stoi(stages);
      if (each < 1 || each > 4) continue;
      ++given;
      EXPECT_FALSE(one.score.better_than(best.score)) << stages << " " << micro_batches;
    }
  EXPECT_EQ(best.evaluations, given);
}

// Blocks of a stage: one after the other around all stages, or there and back.
TEST(PipelinePlanner, StagesMayHaveSeveralChunks) {
  const Problem problem = sample("bert_3l", 16, "celeritas");
  const auto stages_by_layer = [&](const PlanResult& result) {
    const Problem own = problem_for(problem, result.strategy);
    const Layers layers = layers_of(*problem.graph);
    std::vector<std::size_t> stages(static_cast<std::size_t>(layers.count));
    for (const OpId op : problem.graph->ops().ids())
      stages[static_cast<std::size_t>(layers.of_op[op.index()])] =
          result.strategy.groups[own.grouping->group_of(op)]->devices.front().device.index() / 2;
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    return stages;
  };
  const auto planned_by = [&](const char* schedule, const char* chunks) {
    return planned(
        "pipeline", problem,
        {{"stages", "2"}, {"micro_batches", "8"}, {"schedule", schedule}, {"chunks", chunks}});
  };
  EXPECT_EQ(stages_by_layer(planned_by("interleaved", "3")),
            std::vector<std::size_t>({0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(stages_by_layer(planned_by("zb-v", "0")), std::vector<std::size_t>({0, 1, 0}));
  EXPECT_EQ(stages_by_layer(planned_by("1f1b", "0")), std::vector<std::size_t>({0, 1}));
  const PlanResult best = planned_by("interleaved", "0");
  EXPECT_EQ(best.evaluations, 3);  // 1, 2 and 4
  for (const char* chunks : {"1", "2", "4"})
    EXPECT_FALSE(planned_by("interleaved", chunks).score.better_than(best.score)) << chunks;
  EXPECT_NE(message_of([&] { planned_by("zb-v", "3"); }).find("is not 2"), std::string::npos);
  EXPECT_NE(message_of([&] { planned_by("interleaved", "1000"); }).find("is more than"),
            std::string::npos);
}

// What any planner is asked for holds for this one, too.
TEST(PipelinePlanner, TakesMicroBatchesThatAreGivenToAny) {
  const Problem problem = sample("bert_3l", 16, "celeritas");
  const MicroBatches eight{8, PipelineSchedule::ZbH1};
  EXPECT_EQ(planned("pipeline", problem, {{"stages", "4"}}, eight).strategy.micro_batches, eight);
  // Tables are of so many stages and chunks.
  for (const std::vector<std::string>& rows :
       {std::vector<std::string>{"0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1",
                                 "1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1"},
        {"0F0 0F1 2F0 2B0 0B0 2F1 2B1 0B1", "1F0 1F1 1B0 1B1"}}) {
    const MicroBatches by_hand{2, PipelineSchedule::ByHand, parse_schedule_rows(rows)};
    EXPECT_EQ(planned("pipeline", problem, {}, by_hand).strategy.micro_batches, by_hand);
  }
}

TEST(PipelinePlanner, RefusesWhatCannotBe) {
  const Problem problem = sample("lenet", 16, "celeritas");
  const auto refusal = [&](const char* name, const char* value) {
    return message_of([&] { planned("pipeline", problem, {{name, value}}); });
  };
  EXPECT_NE(refusal("stages", "3").find("does not divide the 4 devices"), std::string::npos);
  EXPECT_NE(refusal("micro_batches", "5").find("does not divide the batch of 16"),
            std::string::npos);
  EXPECT_NE(refusal("schedule", "fast").find("gpipe"), std::string::npos);
}

// Of all strategies that are looked at, and told of.
TEST(InMicroBatches, AnySearchLooksForStrategiesSo) {
  struct Told : Observer {
    void on_improvement(const Strategy& strategy, const Score&, const Progress&) override {
      counts.insert(strategy.micro_batches.count);
    }
    std::set<std::int32_t> counts;
  } told;
  const MicroBatches four{4, PipelineSchedule::Gpipe};
  const Problem problem = sample("bert_3l", 128, "celeritas");  // more activations than gradients
  const PlanResult whole = planned("dp-allreduce", problem);
  const PlanResult parts = planned("dp-allreduce", problem, {}, four);
  EXPECT_EQ(parts.strategy.micro_batches, four);
  EXPECT_LT(most(*simulate_strategy(problem, parts.strategy).timeline),
            most(*simulate_strategy(problem, whole.strategy).timeline));
  for (const char* planner : {"mcts", "fastt", "mcmc"}) {
    const PlanResult found = planned(planner, problem, {}, four, &told);
    EXPECT_EQ(found.score.step_time, simulate_strategy(problem, found.strategy).timeline->step_time)
        << planner;
    EXPECT_FALSE(parts.score.better_than(found.score)) << planner;
    EXPECT_EQ(found.strategy.micro_batches.count, found.strategy.splits.empty() ? 4 : 1);
  }
  EXPECT_TRUE(told.counts.contains(4));
}

// Bounds are those of a single micro-batch: they prove nothing about a pipeline.
TEST(InMicroBatches, NothingIsLeftOutByBoundsOfWholeSteps) {
  const MicroBatches four{4, PipelineSchedule::Gpipe};
  ProblemOptions options;
  options.grouping.max_groups = 4;
  const Problem small =
      make_problem(sample_model("lenet", 64), toy::sample_cluster("celeritas"), options);
  PlannerOptions search;
  search.iterations = 1500;
  search.micro_batches = four;
  Observer quiet;
  const PlanResult found = run_planner(*registry().planner("mcts"), small, search, quiet, {});
  EXPECT_EQ(found.note.find("nothing else can be faster"), std::string::npos) << found.note;
  search.set = {{"bounds", "false"}};
  EXPECT_EQ(run_planner(*registry().planner("mcts"), small, search, quiet, {}).score.step_time,
            found.score.step_time);
}

// Models whose steps take long: what was found before is the result.
TEST(PipelinePlanner, StopsWhenItIsAskedTo) {
  struct Stop : Observer {
    void on_improvement(const Strategy&, const Score&, const Progress&) override {
      source.request_stop();
    }
    std::stop_source source;
  } stop;
  const Problem problem = sample("bert_3l", 16, "celeritas");
  const PlanResult result =
      run_planner(*registry().planner("pipeline"), problem, {}, stop, stop.source.get_token());
  EXPECT_EQ(result.evaluations, 3);  // one stage, of 1, 2 and 4 micro-batches
  EXPECT_EQ(result.score.step_time,
            simulate_strategy(problem, result.strategy).timeline->step_time);
}

TEST(InMicroBatches, RunsAreContinuedSo) {
  RunOptions options;
  options.planner.micro_batches = {6, PipelineSchedule::Gpipe};
  EXPECT_EQ(parse_run_options(run_options_text(options), "run 1").planner.micro_batches,
            options.planner.micro_batches);
  EXPECT_EQ(parse_run_options(run_options_text({}), "run 1").planner.micro_batches, MicroBatches());
  options.planner.micro_batches = {2, PipelineSchedule::ByHand,
                                   parse_schedule_rows({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"})};
  EXPECT_EQ(parse_run_options(run_options_text(options), "run 1").planner.micro_batches,
            options.planner.micro_batches);
  EXPECT_NE(message_of([] {
              parse_run_options(R"({"micro_batches":{"count":2,"schedule":"best"}})", "run 1");
            }).find("no schedule of micro-batches"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
