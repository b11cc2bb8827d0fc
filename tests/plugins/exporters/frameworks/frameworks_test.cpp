// Plans of transformers for DeepSpeed, torchtitan, Accelerate and NeMo Automodel, and what they say
// read back.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/search/evaluate/baselines.h"
#include "core/strategy/value/schedule_table.h"
#include "tests/plugins/exporters/frameworks/framework_kit.h"

namespace strato {
namespace {

Strategy piped(const Problem& problem, OptionTexts more) {
  OptionTexts set = {{"stages", "2"},       {"tensor", "2"},     {"micro_batches", "4"},
                     {"recompute", "none"}, {"offload", "none"}, {"whole_layers", "true"}};
  more.merge(set);
  return planned_by("pipeline", problem, std::move(more));
}

TEST(DeepSpeedConfiguration, SaysBatchesAndZero) {
  const Problem problem = small_model("llama_3_8b", 64);
  const Strategy strategy = planned_by("sharded-dp", problem, {{"stage", "3"}, {"rows", "8"}});
  const Json json = Json::parse(script_of(problem, strategy, "deepspeed"));
  EXPECT_EQ(json["train_batch_size"], 64);
  EXPECT_EQ(json["train_micro_batch_size_per_gpu"], 4);
  EXPECT_EQ(json["gradient_accumulation_steps"], 1);
  EXPECT_EQ(json["zero_optimization"], (Json{{"stage", 3}, {"mics_shard_size", 8}}));
  EXPECT_EQ(json["bf16"]["enabled"], true);
  EXPECT_EQ(json["stratoscope"]["not_said"], Json::array());
  const Problem plain = small_model("gpt2", 64);
  EXPECT_FALSE(Json::parse(script_of(plain, data_parallel(plain), "deepspeed")).contains("bf16"));
}

TEST(DeepSpeedConfiguration, SaysInWordsWhatAProgramHasToDo) {
  const Problem problem = small_model("mixtral_8x7b", 64);
  Strategy strategy = piped(problem, {{"expert", "2"},
                                      {"shard", "gradients"},
                                      {"shard_rows", "2"},
                                      {"recompute", "blocks"},
                                      {"schedule", "interleaved"},
                                      {"chunks", "2"}});
  strategy.offloaded =
      kept_ones(offloaded_ops(*problem.graph, Offload::States), strategy.recomputed);
  const Json json = Json::parse(script_of(problem, strategy, "deepspeed"));
  EXPECT_EQ(json["tensor_parallel"]["autotp_size"], 2);
  EXPECT_EQ(json["zero_optimization"]["offload_optimizer"]["device"], "cpu");
  EXPECT_EQ(json["train_batch_size"], 128);  // of both columns
  EXPECT_EQ(json["stratoscope"]["layout"]["blocks"], "Et*2|(t*2|)*2,t*2,L");
  const std::string words = json["stratoscope"]["not_said"].dump();
  for (const char* part :
       {"num_stages=2", "ZeRO 1 at most", "one chunk each", "by interleaved", "ep_size=2",
        "among 2 rows", "updated on the CPU", "checkpoint activations"})
    EXPECT_TRUE(has(words, part)) << part << words;
}

TEST(TorchtitanScript, HasTheOverrides) {
  const Problem problem = small_model("llama_3_8b", 64);
  const std::string script = script_of(
      problem, piped(problem, {{"shard", "parameters"}, {"shard_rows", "2"}}), "torchtitan");
  for (const char* line :
       {"--parallelism.tensor_parallel_degree 2", "--parallelism.pipeline_parallel_degree 2",
        "--parallelism.pipeline_parallel_schedule 1F1B", "--parallelism.num_pp_microbatches 4",
        "--parallelism.data_parallel_replicate_degree 2",
        "--parallelism.data_parallel_shard_degree 2",
        "--parallelism.fsdp_reshard_after_forward always", "--training.max_context_length 128",
        "--training.num_tokens_per_microbatch_per_dp_rank 512",
        "--training.num_tokens_per_train_step 8192"})
    EXPECT_TRUE(has(script, std::string("  ") + line + "\n")) << line << script;
  EXPECT_TRUE(has(script, "--parallelism.pipeline_parallel_first_stage_less_layers 0\n"));
  EXPECT_TRUE(has(script, "--parallelism.pipeline_parallel_last_stage_less_layers 1\n")) << script;
  EXPECT_FALSE(has(script, "module_fqns"));
  EXPECT_FALSE(has(script, "expert_parallel_degree"));
  EXPECT_FALSE(has(script, "activation_checkpoint"));
}

TEST(TorchtitanScript, NamesModulesWhereItDividesLayersOtherwise) {
  const Problem problem = small_model("llama_3_8b", 64);
  const Strategy uneven =
      read_back(problem,
                "ARGS=(--micro-batch-size 4 --global-batch-size 64 --use-torch-fsdp2 "
                "--pipeline-model-parallel-size 4 "
                "--pipeline-model-parallel-layout 'Et|t*3|t|t*3,L')");
  const std::string script = script_of(problem, uneven, "torchtitan");
  EXPECT_TRUE(has(script, R"(module_fqns_per_model_part = [["tok_embeddings", "layers.0"],)"));
  EXPECT_TRUE(has(script, R"("layers.7", "norm", "lm_head"]])"));
  EXPECT_FALSE(has(script, "less_layers"));
  EXPECT_EQ(read_back(problem, script_of(problem, uneven, "nemo")).digest(), uneven.digest());
}

TEST(TorchtitanScript, SaysInWordsWhatItCannotSay) {
  const Problem problem = small_model("mixtral_8x7b", 64);
  Strategy strategy =
      piped(problem,
            {{"expert", "2"}, {"shard", "updates"}, {"recompute", "cheap"}, {"schedule", "zb-h1"}});
  strategy.offloaded =
      kept_ones(offloaded_ops(*problem.graph, Offload::States), strategy.recomputed);
  const std::string script = script_of(problem, strategy, "torchtitan");
  EXPECT_TRUE(has(script, "  --parallelism.expert_parallel_degree 4\n")) << script;
  for (const char* part : {"torchtitan has no schedule zb-h1", "FSDP divides gradients, too",
                           "have whole ones in torchtitan", "SelectiveAC", "keeps states on hosts"})
    EXPECT_TRUE(has(script, part)) << part << script;
}

TEST(AccelerateConfiguration, IsFsdpsOrMegatronsOrDeepSpeeds) {
  const Problem problem = small_model("llama_3_8b", 64);
  const auto text = [&](OptionTexts more) {
    OptionTexts set = {{"stages", "1"}, {"tensor", "1"}, {"micro_batches", "1"}};
    more.merge(set);
    return script_of(problem, piped(problem, std::move(more)), "accelerate");
  };
  EXPECT_TRUE(has(text({}), "distributed_type: MULTI_GPU\n"));
  EXPECT_TRUE(has(text({{"shard", "updates"}}), "distributed_type: DEEPSPEED\n"));
  const std::string fsdp = text({{"shard", "parameters"}, {"shard_rows", "4"}, {"tensor", "2"}});
  for (const char* line :
       {"num_processes: 16", "mixed_precision: bf16", "distributed_type: FSDP",
        "  fsdp_reshard_after_forward: true", "  parallelism_config_dp_replicate_size: 2",
        "  parallelism_config_dp_shard_size: 4", "  parallelism_config_tp_size: 2"})
    EXPECT_TRUE(has(fsdp, std::string(line) + "\n")) << line << fsdp;
  const std::string megatron = text(
      {{"stages", "2"}, {"schedule", "zb-h1"}, {"shard", "gradients"}, {"micro_batches", "4"}});
  for (const char* part : {"distributed_type: MEGATRON_LM\n", "  megatron_lm_pp_degree: 2\n",
                           "  megatron_lm_num_micro_batches: 4\n", "ZeRO 1), where the plan has",
                           "the plan's by zb-h1"})
    EXPECT_TRUE(has(megatron, part)) << part << megatron;
}

// ---- read back

// Any of these values, but what does not fit 16 devices and a batch of 64.
OptionTexts any_of(const std::map<std::string, std::vector<std::string>>& values,
                   std::mt19937& random) {
  OptionTexts set;
  for (const auto& [name, all] : values)
    set[name] = all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  return set;
}

// What a configuration says in full comes back as it was.
void expect_back(const std::string& format, const std::string& model,
                 const std::map<std::string, std::vector<std::string>>& values) {
  const Problem problem = small_model(model, 64);
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const OptionTexts set = any_of(values, random);
    const Strategy strategy = piped(problem, set);
    const std::string text = script_of(problem, strategy, format);
    EXPECT_EQ(read_back(problem, text).digest(), strategy.digest()) << text;
  }
}

TEST(ReadBack, Torchtitan) {
  expect_back("torchtitan", "llama_3_8b",
              {{"stages", {"1", "2", "4"}},
               {"tensor", {"1", "2"}},
               {"micro_batches", {"2", "4"}},
               {"schedule", {"1f1b", "gpipe"}},
               {"shard", {"gradients", "parameters"}},
               {"shard_rows", {"0", "2"}}});
  expect_back("torchtitan", "llama_3_8b",
              {{"stages", {"2"}},
               {"pieces", {"1", "0"}},
               {"schedule", {"interleaved"}},
               {"chunks", {"2"}},
               {"shard", {"gradients", "parameters"}}});
}

TEST(ReadBack, DeepSpeed) {
  expect_back("deepspeed", "mixtral_8x7b",
              {{"stages", {"1", "2"}},
               {"tensor", {"1", "2"}},
               {"pieces", {"1", "0"}},
               {"sequence", {"true", "false"}},
               {"expert", {"1", "2"}},
               {"micro_batches", {"1", "4"}},
               {"schedule", {"1f1b", "gpipe", "zb-h1"}},
               {"shard", {"nothing", "updates", "gradients", "parameters"}},
               {"shard_rows", {"0", "2"}},
               {"offload", {"none", "states"}},
               {"recompute", {"none", "cheap", "blocks"}}});
  expect_back("deepspeed", "llama_3_8b", {{"stages", {"1"}}, {"context", {"2", "4"}}});
}

TEST(ReadBack, Accelerate) {
  expect_back("accelerate", "llama_3_8b",
              {{"stages", {"1"}},
               {"micro_batches", {"1"}},
               {"tensor", {"1", "2"}},
               {"context", {"1", "2"}},
               {"shard", {"gradients", "parameters"}},
               {"shard_rows", {"0", "4"}},
               {"recompute", {"none", "blocks"}}});
  expect_back("accelerate", "llama_3_8b",
              {{"stages", {"2"}},
               {"tensor", {"1", "2"}},
               {"sequence", {"true", "false"}},
               {"shard", {"nothing", "updates"}},
               {"recompute", {"none", "blocks"}}});
}

TEST(ReadBack, Nemo) {
  expect_back("nemo", "mixtral_8x7b",
              {{"stages", {"1", "2", "4"}},
               {"tensor", {"1", "2"}},
               {"sequence", {"true", "false"}},
               {"expert", {"1", "2"}},
               {"micro_batches", {"2", "4"}},
               {"shard", {"gradients", "parameters"}},
               {"shard_rows", {"0", "2"}},
               {"recompute", {"none", "cheap", "blocks"}}});
  expect_back("nemo", "mixtral_8x7b",
              {{"stages", {"2", "4"}},
               {"schedule", {"1f1b", "gpipe"}},
               {"shard", {"gradients", "parameters"}}});
}

// DeepSpeed's file keeps it for the program; Accelerate's and NeMo's have no word for it.
TEST(ReadBack, PiecesThatCannotBeSaidAreSaidInWords) {
  const Problem problem = small_model("llama_3_8b", 64);
  for (const char* format : {"accelerate", "nemo", "deepspeed"}) {
    const auto says = [&](const char* pieces) {
      return has(script_of(problem, piped(problem, {{"pieces", pieces}}), format),
                 "columns exchange in 2 pieces");
    };
    EXPECT_TRUE(says("0")) << format;
    EXPECT_FALSE(says("1")) << format;
  }
}

TEST(ReadBack, OtherOrdersOnOneStageAreSaid) {
  const Problem problem = small_model("llama_3_8b", 64);
  const Strategy strategy =
      piped(problem, {{"stages", "1"}, {"micro_batches", "4"}, {"schedule", "gpipe"}});
  for (const char* format : {"accelerate", "deepspeed", "megatron", "nemo", "torchtitan"})
    EXPECT_TRUE(has(script_of(problem, strategy, format), "run by gpipe on their one stage"))
        << format;
}

// ---- schedules

TEST(PytorchSchedule, IsATableThatIsReadBack) {
  const Problem problem = small_model("llama_3_8b", 64);
  for (const char* schedule : {"1f1b", "gpipe", "zb-h1"}) {
    const std::string table = script_of(
        problem, piped(problem, {{"stages", "4"}, {"schedule", schedule}, {"shard", "nothing"}}),
        "pytorch-schedule");
    const ScheduleTable rows = parse_schedule_csv(table, "schedule.csv");
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_NO_THROW(check_table(rows, 4));
    EXPECT_EQ(splits_backward(rows), std::string(schedule) == "zb-h1") << table;
  }
  const std::string first =
      script_of(problem, piped(problem, {{"stages", "2"}}), "pytorch-schedule");
  EXPECT_EQ(first, "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n");
  EXPECT_TRUE(
      has(message_of([&] { script_of(problem, data_parallel(problem), "pytorch-schedule"); }),
          "needs no schedule"));
}

}  // namespace
}  // namespace strato
