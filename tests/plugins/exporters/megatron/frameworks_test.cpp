// Plans of transformers for DeepSpeed and torchtitan.
#include <gtest/gtest.h>

#include "core/search/evaluate/baselines.h"
#include "tests/plugins/exporters/megatron/framework_kit.h"

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
  EXPECT_EQ(json["stratoscope"]["parts"].size(), 4u);
  EXPECT_EQ(json["stratoscope"]["parts"][0].get<std::string>().substr(0, 11), "embedding, ");
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
  EXPECT_TRUE(has(script, R"(module_fqns_per_model_part = [["tok_embeddings", "layers.0",)"));
  EXPECT_TRUE(has(script, R"("layers.7", "norm", "lm_head"]])"));
  EXPECT_FALSE(has(script, "expert_parallel_degree"));
  EXPECT_FALSE(has(script, "activation_checkpoint"));
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

}  // namespace
}  // namespace strato
