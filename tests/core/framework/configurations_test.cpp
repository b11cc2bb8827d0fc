// What configurations of torchtitan, DeepSpeed, Accelerate and NeMo Automodel say of a layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/framework/configuration/configuration_file.h"
#include "core/framework/layout/stage_string.h"
#include "core/framework/torchtitan/torchtitan_configuration.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato::frameworks {
namespace {

Training trained_on(std::int64_t devices, std::int64_t batch) {
  return {.layers = 32,
          .devices = devices,
          .batch = batch,
          .devices_of_machine = 8,
          .model = {{"--seq-length", "2048"}, {"--num-experts", "8"}}};
}

class Configurations : public testing::Test {
 protected:
  ReadConfiguration read(const std::string& text, const Training& of) {
    const auto file = folder_ / "configuration";
    std::ofstream(file) << text;
    return read_configuration(file, of);
  }
  std::string refusal(const std::string& text, const Training& of) {
    return message_of([&] { read(text, of); });
  }

 private:
  TemporaryFolder folder_;
};

bool says(const ReadConfiguration& configuration, const std::string& part) {
  for (const std::string& remark : configuration.read.remarks)
    if (remark.find(part) != std::string::npos) return true;
  return false;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- torchtitan

using Torchtitan = Configurations;

TEST_F(Torchtitan, ShardsAllRowsAndComputesEverySecondLayerAgainIfNothingIsSaid) {
  const auto found =
      read("[training]\nlocal_batch_size = 2\nseq_len = 2048\n[model]\nname='llama3'\n",
           trained_on(16, 32));
  EXPECT_EQ(found.framework, "torchtitan");
  const TrainingLayout& layout = found.read.layout;
  EXPECT_EQ(layout.rows, 16);
  EXPECT_EQ(layout.micro_batch_size, 2);
  EXPECT_EQ(layout.micro_batches, 1);
  EXPECT_EQ(layout.states.stage, 3);
  EXPECT_EQ(layout.states.rows, 0);
  EXPECT_EQ(layout.recompute, Recompute::Cheap);
  EXPECT_TRUE(says(found, "one of 2 layers"));
}

TEST_F(Torchtitan, NamesOfEachVersionMeanTheSame) {
  const Training of = trained_on(32, 16);
  const TrainingLayout of_2024 =
      read(
          "[training]\nbatch_size = 4\ndata_parallel_replicate_degree = 2\n"
          "data_parallel_shard_degree = -1\ntensor_parallel_degree = 4\n[experimental]\n"
          "pipeline_parallel_degree = 2\npipeline_parallel_microbatches = 4\n"
          "pipeline_parallel_split_points = \"layers.17\"\n"
          "[activation_checkpoint]\nmode = 'full'\n",
          of)
          .read.layout;
  const TrainingLayout of_2025 =
      read(
          "[training]\nlocal_batch_size = 4\n[parallelism]\n"
          "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 2\n"
          "tensor_parallel_degree = 4\npipeline_parallel_degree = 2\n"
          "module_fqns_per_model_part = [[\"tok_embeddings\"" +
              [] {
                std::string layers;
                for (int i = 0; i < 32; ++i)
                  layers += fmt::format("{}\"layers.{}\"", i == 17 ? "], [" : ", ", i);
                return layers;
              }() +
              ", \"norm\", \"output\"]]\n[activation_checkpoint]\nmode = 'full'\n",
          of)
          .read.layout;
  const TrainingLayout of_2026 =
      read(
          "./run_train.sh --parallelism.tensor_parallel_degree 4 "
          "--parallelism.data_parallel_replicate_degree=2 "
          "--parallelism.pipeline-parallel-degree 2 --parallelism.num_pp_microbatches 4 "
          "--parallelism.pipeline_parallel_first_stage_less_layers 0 "
          "--parallelism.pipeline_parallel_last_stage_less_layers 2 "
          "--training.num_tokens_per_microbatch_per_dp_rank 2048 "
          "--training.num_tokens_per_train_step 32768 activation-checkpoint:full\n",
          of)
          .read.layout;
  EXPECT_EQ(stage_string(of_2024.blocks), "Et*17|t*15,L");
  EXPECT_EQ(of_2024.tensor, 4);
  EXPECT_EQ(of_2024.micro_batches, 4);
  EXPECT_EQ(of_2024.micro_batch_size, 1);
  EXPECT_EQ(of_2024.states, (StateSharding{.stage = 2, .rows = 2}));
  EXPECT_EQ(of_2024.recompute, Recompute::Blocks);
  EXPECT_EQ(of_2024, of_2025);
  EXPECT_EQ(of_2024, of_2026);
}

TEST_F(Torchtitan, DividesLayersAsItDoes) {
  EXPECT_EQ(stage_string(torchtitan_blocks(32, 4, 1, 1)), "Et*8|t*9|t*8|t*7,L");
  EXPECT_EQ(stage_string(torchtitan_blocks(32, 2, 0, 0)), "Et*16|t*16,L");
  EXPECT_EQ(torchtitan_blocks(2, 8, 1, 1), std::vector<Block>());
  const TrainingLayout layout =
      read(
          "[training]\nlocal_batch_size = 8\n[parallelism]\npipeline_parallel_degree = 4\n"
          "pipeline_parallel_schedule = 'Interleaved1F1B'\n"
          "pipeline_parallel_layers_per_stage = 3\n",
          trained_on(4, 8))
          .read.layout;  // 34 count, so that 12 parts are 3 or 2
  EXPECT_EQ(layout.chunks, 3);
  EXPECT_EQ(layout.schedule, PipelineSchedule::Interleaved);
  EXPECT_EQ(stage_string(layout.blocks), "Et*2|(t*3|)*9,t*2|tL");
}

TEST_F(Torchtitan, ExpertsAreAmongRowsAndColumns) {
  const std::string text =
      "[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\n"
      "expert_parallel_degree = 8\n";
  const auto whole = read(text, trained_on(16, 8));
  EXPECT_EQ(whole.read.layout.expert, 4);
  EXPECT_TRUE(says(whole, "whole on each column"));
  const auto divided = read(text + "expert_tensor_parallel_degree = 2\n", trained_on(16, 8));
  EXPECT_EQ(divided.read.layout.expert, 8);
}

TEST_F(Torchtitan, RefusesInWords) {
  const std::string start = "[training]\nlocal_batch_size = 1\n[parallelism]\n";
  const Training of = trained_on(16, 16);
  for (const auto& [more, part] : std::vector<std::pair<std::string, std::string>>{
           {"data_parallel_shard_degree = 3\n", "makes 1 x 3 rows, and the devices make 16"},
           {"tensor_parallel_degree = 3\n", "do not divide the 16 devices"},
           {"tensor_parallel_degree = \"x\"\n", "is \"x\""},
           {"pipeline_parallel_degree = 2\npipeline_parallel_schedule = 'LoopedBFS'\n",
            "give 1F1B, GPipe"},
           {"pipeline_parallel_degree = 2\npipeline_parallel_schedule_csv = 'a.csv'\n",
            "pipeline_parallel_schedule_csv: is not supported"},
           {"[activation_checkpoint]\nmode = 'memory_budget'\n", "is memory_budget"},
           {"[fault_tolerance]\nenable = true\n", "fault_tolerance.enable: is not supported"},
           {"[broken\n", "is not valid TOML"}}) {
    EXPECT_TRUE(has(refusal(start + more, of), part)) << refusal(start + more, of);
  }
  EXPECT_TRUE(has(refusal(start, trained_on(16, 32)), "plan with --batch 16"));
  EXPECT_TRUE(has(refusal("[training]\nseq_len = 4096\n[model]\nname='a'\n", of),
                  "plan with --set-dim sequence=4096"));
}

// ---- DeepSpeed

using DeepSpeed = Configurations;

TEST_F(DeepSpeed, BatchesAndZero) {
  const auto found = read(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2,
          "zero_optimization": {"stage": 3, "mics_shard_size": 8,
                                "offload_optimizer": {"device": "cpu"}}})",
      trained_on(16, 64));
  EXPECT_EQ(found.framework, "DeepSpeed");
  EXPECT_EQ(found.read.layout.micro_batches, 2);
  EXPECT_EQ(found.read.layout.states, (StateSharding{.stage = 3, .rows = 8}));
  EXPECT_EQ(found.read.layout.offload, Offload::States);
  EXPECT_TRUE(says(found, "updates on the CPU"));
}

TEST_F(DeepSpeed, ColumnsHaveTheSameSamplesAndAreCountedAll) {
  const std::string text = R"({"train_batch_size": 64, "gradient_accumulation_steps": 2,
      "train_micro_batch_size_per_gpu": 2, "tensor_parallel": {"autotp_size": 4}})";
  const TrainingLayout layout = read(text, trained_on(16, 16)).read.layout;
  EXPECT_EQ(layout.tensor, 4);
  EXPECT_EQ(layout.rows, 4);
  EXPECT_EQ(layout.micro_batches, 2);
  EXPECT_EQ(layout.batch(), 16);
  EXPECT_TRUE(has(refusal(text, trained_on(16, 64)), "plan with --batch 16"));
}

TEST_F(DeepSpeed, WhatIsLeftToTheProgramIsSaidBesideIt) {
  const std::string text = R"({"train_batch_size": "auto", "zero_optimization": {"stage": 1},
      "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"})";
  Training of = trained_on(16, 64);
  EXPECT_EQ(read(text, of).read.layout.micro_batch_size, 4);
  of.program = {.stages = 2, .micro_batch_size = 2, .recompute = Recompute::Blocks};
  const TrainingLayout layout = read(text, of).read.layout;
  EXPECT_EQ(layout.stages, 2);
  EXPECT_EQ(layout.micro_batches, 4);
  EXPECT_EQ(layout.recompute, Recompute::Blocks);
  EXPECT_EQ(stage_string(layout.blocks), "Et*16|t*16,L");
}

TEST_F(DeepSpeed, RefusesInWords) {
  const Training of = trained_on(16, 64);
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {R"({"train_batch_size": 64, "gradient_accumulation_steps": 3})", "do not divide"},
           {R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2,
                "gradient_accumulation_steps": 4})",
            "2 samples x 4 steps x 16 devices are 128"},
           {R"({"zero_optimization": {"stage": 4}})", "give 0 to 3"},
           {R"({"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme"}}})",
            "nothing rests on disks"},
           {R"({"zero_optimization": {"zenflow": 1}})", "zenflow: is not supported"},
           {R"({"elasticity": {"enabled": true}, "train_batch_size": 64})", "elasticity.enabled"},
           {R"({"something": 1})", "of no framework that is known"}}) {
    EXPECT_TRUE(has(refusal(text, of), part)) << refusal(text, of);
  }
}

// ---- Accelerate

using Accelerate = Configurations;

TEST_F(Accelerate, FsdpOfBothVersions) {
  const auto first = read(
      "distributed_type: FSDP\nnum_processes: 16\nfsdp_config:\n"
      "  fsdp_sharding_strategy: HYBRID_SHARD\n  fsdp_activation_checkpointing: true\n",
      trained_on(16, 32));
  EXPECT_EQ(first.framework, "Accelerate");
  EXPECT_EQ(first.read.layout.states, (StateSharding{.stage = 3, .rows = 8}));
  EXPECT_EQ(first.read.layout.recompute, Recompute::Blocks);
  const auto second = read(
      "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n"
      "  fsdp_reshard_after_forward: false\nparallelism_config:\n"
      "  parallelism_config_dp_replicate_size: 2\n  parallelism_config_dp_shard_size: 2\n"
      "  parallelism_config_cp_size: 2\n  parallelism_config_tp_size: 2\n",
      trained_on(16, 32));
  const TrainingLayout& layout = second.read.layout;
  EXPECT_EQ(layout.tensor, 2);
  EXPECT_EQ(layout.context, 2);
  EXPECT_EQ(layout.rows, 4);
  EXPECT_EQ(layout.states, (StateSharding{.stage = 2, .rows = 4}));
  EXPECT_TRUE(says(second, "says nothing of the batch"));
}

TEST_F(Accelerate, DeepSpeedsAndMegatronsSections) {
  const auto deepspeed = read(
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  gradient_accumulation_steps: 2\n"
      "  offload_optimizer_device: cpu\n",
      trained_on(16, 64));
  EXPECT_EQ(deepspeed.read.layout.states.stage, 2);  // if nothing is said
  EXPECT_EQ(deepspeed.read.layout.micro_batches, 2);
  EXPECT_EQ(deepspeed.read.layout.offload, Offload::States);
  const auto megatron = read(
      "distributed_type: MEGATRON_LM\nmegatron_lm_config:\n  megatron_lm_tp_degree: 2\n"
      "  megatron_lm_pp_degree: 2\n  megatron_lm_num_micro_batches: 4\n"
      "  megatron_lm_sequence_parallelism: true\n"
      "  megatron_lm_use_distributed_optimizer: true\n",
      trained_on(16, 64));
  const TrainingLayout& layout = megatron.read.layout;
  EXPECT_EQ(layout.tensor, 2);
  EXPECT_EQ(layout.stages, 2);
  EXPECT_EQ(layout.micro_batches, 4);
  EXPECT_EQ(layout.micro_batch_size, 4);
  EXPECT_EQ(layout.states.stage, 1);
}

TEST_F(Accelerate, RefusesInWords) {
  const Training of = trained_on(16, 64);
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"distributed_type: FSDP\nnum_processes: 8\n", "the cluster has 16 devices"},
           {"distributed_type: XLA\n", "give one of: NO, MULTI_GPU"},
           {"distributed_type: FSDP\nparallelism_config:\n  tp_size: 2\n",
            "parallelism_config_tp_size"},
           {"distributed_type: FSDP\nparallelism_config:\n  parallelism_config_tp_size: 2\n",
            "makes 2 devices"},
           {"distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: a.json\n",
            "give that file instead"},
           {"distributed_type: [\n", "is not valid YAML"},
           {"distributed_type: FSDP\ndistributed_type: FSDP\n", "is there more than once"}}) {
    EXPECT_TRUE(has(refusal(text, of), part)) << refusal(text, of);
  }
}

// ---- NeMo Automodel

using Nemo = Configurations;

TEST_F(Nemo, StagesHaveRowsOfSamplesAndVirtualStages) {
  const auto found = read(
      "recipe: x\nstep_scheduler:\n  global_batch_size: 64\n  local_batch_size: 8\n"
      "distributed:\n  strategy: fsdp2\n  dp_size: none\n  tp_size: 2\n  pp_size: 4\n"
      "  activation_checkpointing: true\n  pipeline:\n    pp_schedule: interleaved1f1b\n"
      "    pp_microbatch_size: 2\n    layers_per_stage: 3\n"
      "    round_virtual_stages_to_pp_multiple: down\n",
      trained_on(32, 64));
  EXPECT_EQ(found.framework, "NeMo Automodel");
  const TrainingLayout& layout = found.read.layout;
  EXPECT_EQ(layout.rows, 4);
  EXPECT_EQ(layout.chunks, 2);  // 11 parts are made 8
  EXPECT_EQ(stage_string(layout.blocks), "Et*4|(t*4|)*6,t*4,L");
  EXPECT_EQ(layout.micro_batch_size, 2);
  EXPECT_EQ(layout.micro_batches, 8);
  EXPECT_EQ(layout.states.stage, 3);
  EXPECT_EQ(layout.recompute, Recompute::Blocks);
  EXPECT_TRUE(says(found, "emptied 2 times"));
}

TEST_F(Nemo, RecipesOfBeforeNameAClass) {
  const std::string head = "step_scheduler: {global_batch_size: 32, local_batch_size: 2}\n";
  const Training of = trained_on(16, 32);
  EXPECT_EQ(read(head + "distributed: {_target_: a.b.DDPManager}\n", of).read.layout.states.stage,
            0);
  EXPECT_EQ(read(head + "distributed: {_target_: a.MegatronFSDPManager, zero_dp_strategy: 1}\n", of)
                .read.layout.states.stage,
            1);
  const TrainingLayout hybrid =
      read(head + "distributed: {_target_: a.FSDP2Manager, dp_replicate_size: 4}\n", of)
          .read.layout;
  EXPECT_EQ(hybrid.states, (StateSharding{.stage = 3, .rows = 4}));
}

TEST_F(Nemo, RefusesInWords) {
  const std::string head = "step_scheduler: {global_batch_size: 32, local_batch_size: 2}\n";
  const Training of = trained_on(16, 32);
  for (const auto& [more, part] : std::vector<std::pair<std::string, std::string>>{
           {"distributed: {dp_size: 8}\n", "the devices make 16 rows"},
           {"distributed: {strategy: x}\n", "give fsdp2, megatron_fsdp or ddp"},
           {"distributed: {tp_size: 2}\npeft: {dim: 16}\n", "peft: is not supported"},
           {"distributed: {ep_size: 3}\n", "does not divide the 8 experts"},
           {"distributed: {pp_size: 4, pipeline: {layers_per_stage: 5}}\n",
            "makes 7 parts, which the 4 stages do not divide"}}) {
    EXPECT_TRUE(has(refusal(head + more, of), part)) << refusal(head + more, of);
  }
}

// ---- files

using ConfigurationFiles = Configurations;

TEST_F(ConfigurationFiles, AreKnownByWhatTheySay) {
  const Training of = trained_on(16, 16);
  EXPECT_EQ(read("#!/bin/bash\ntorchrun pretrain_gpt.py --micro-batch-size 1\n", of).framework,
            "Megatron-LM");
  EXPECT_EQ(read("MODEL_ARGS:\n  --micro-batch-size: 1\n", of).framework, "Megatron-LM");
  EXPECT_EQ(read("# a comment\n\n[parallelism]\ntensor_parallel_degree = 1\n[training]\n"
                 "local_batch_size = 1\n",
                 of)
                .framework,
            "torchtitan");
  for (const char* text : {"", "\n\n", "[", "{", "[1]", "null", "a: 1", "x=1\n", "--- \n- 1\n",
                           "{\"a\":", "&a [*a]", "a: &a [*a, *a]"})
    EXPECT_NE(refusal(text, of), "") << text;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_NE(refusal("a: " + deep, of), "");
  EXPECT_NE(refusal("[parallelism]\na = " + deep, of), "");
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                        i - 1);
  EXPECT_TRUE(has(refusal(bomb, of), "has more than")) << refusal(bomb, of);
}

}  // namespace
}  // namespace strato::frameworks
