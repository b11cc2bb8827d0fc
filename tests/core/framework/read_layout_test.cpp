// Megatron-LM's arguments as a layout, and a layout as arguments.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "core/framework/layout/stage_string.h"
#include "core/framework/megatron/parallel_arguments.h"
#include "tests/message_of.h"

namespace strato::frameworks {
namespace {

Training training(std::int64_t devices = 64, std::int64_t batch = 128) {
  return {
      .layers = 80,
      .devices = devices,
      .batch = batch,
      .model = {{"--hidden-size", "8192"}, {"--norm-epsilon", "1e-05"}, {"--num-experts", "8"}}};
}
ReadLayout read(const std::string& arguments, const Training& of = training()) {
  return read_layout(script_words("x.py " + arguments, "run.sh"), of, "run.sh");
}
std::string reading_refusal(const std::string& arguments, const Training& of = training()) {
  return message_of([&] { read(arguments, of); });
}
std::string blocks_of(const std::string& arguments) {
  return stage_string(read("--micro-batch-size 1 " + arguments).layout.blocks);
}

TEST(ReadLayout, SizesAndSamples) {
  const TrainingLayout layout =
      read(
          "--tensor-model-parallel-size 4 --sequence-parallel --pipeline-model-parallel-size 8 "
          "--micro-batch-size=2 --global-batch-size 128")
          .layout;
  EXPECT_EQ(layout.tensor, 4);
  EXPECT_EQ(layout.stages, 8);
  EXPECT_EQ(layout.rows, 2);
  EXPECT_EQ(layout.chunks, 1);
  EXPECT_EQ(layout.schedule, PipelineSchedule::OneFOneB);
  EXPECT_EQ(layout.micro_batch_size, 2);
  EXPECT_EQ(layout.micro_batches, 32);
  EXPECT_EQ(layout.batch(), 128);
  EXPECT_EQ(read("--micro-batch-size 2").layout.micro_batches, 1);  // the batch is of one, unasked
}

TEST(ReadLayout, StagesAndChunks) {
  EXPECT_EQ(blocks_of("--pipeline-model-parallel-size 4 --global-batch-size 128"),
            "Et*20|(t*20|)*2,t*20,L");
  EXPECT_EQ(blocks_of("--global-batch-size 128 --pipeline-model-parallel-size 4 "
                      "--num-layers-per-virtual-pipeline-stage 10"),
            "Et*10|(t*10|)*6,t*10,L");
  EXPECT_EQ(blocks_of("--global-batch-size 128 --pipeline-model-parallel-size 4 "
                      "--num-virtual-stages-per-pipeline-rank 2"),
            "Et*10|(t*10|)*6,t*10,L");
  EXPECT_EQ(
      blocks_of("--global-batch-size 128 --pipeline-model-parallel-size 4 "
                "--decoder-first-pipeline-num-layers 18 --decoder-last-pipeline-num-layers 16"),
      "Et*18|(t*23|)*2,t*16,L");
  const Training of = {.layers = 78, .devices = 4, .batch = 128, .model = {}};
  EXPECT_EQ(stage_string(read("--micro-batch-size 1 --pipeline-model-parallel-size 4 "
                              "--account-for-embedding-in-pipeline-split --global-batch-size 128 "
                              "--account-for-loss-in-pipeline-split",
                              of)
                             .layout.blocks),
            "Et*19|(t*20|)*2,t*19,L");
  const TrainingLayout chunked = read(
                                     "--micro-batch-size 1 --global-batch-size 128 "
                                     "--pipeline-model-parallel-size 4 "
                                     "--pipeline-model-parallel-layout 'Et*2|(t*12|)*6,t*6,L'")
                                     .layout;
  EXPECT_EQ(chunked.chunks, 2);
  EXPECT_EQ(chunked.schedule, PipelineSchedule::Interleaved);
}

TEST(ReadLayout, WhatIsKeptInParts) {
  const auto states = [](const std::string& arguments) {
    return read("--micro-batch-size 1 --global-batch-size 128 " + arguments).layout.states;
  };
  const std::string fsdp = "--use-megatron-fsdp --data-parallel-sharding-strategy ";
  EXPECT_EQ(states("").stage, 0);
  EXPECT_EQ(states("--use-distributed-optimizer"), (StateSharding{.stage = 1}));
  EXPECT_EQ(states("--use-distributed-optimizer --num-distributed-optimizer-instances 4"),
            (StateSharding{.stage = 1, .rows = 16}));
  EXPECT_EQ(states(fsdp + "no_shard").stage, 0);
  EXPECT_EQ(states(fsdp + "optim").stage, 1);
  EXPECT_EQ(states(fsdp + "optim_grads").stage, 2);
  EXPECT_EQ(states(fsdp + "optim_grads_params").stage, 3);
  EXPECT_EQ(states("--use-torch-fsdp2").stage, 3);
  EXPECT_EQ(states("--use-distributed-optimizer --pipeline-model-parallel-size 8 "
                   "--tensor-model-parallel-size 8")
                .stage,
            0);  // of one row
}

TEST(ReadLayout, RowsThatHavePositionsTogether) {
  const ReadLayout found = read(
      "--micro-batch-size 2 --global-batch-size 128 "
      "--context-parallel-size 4 --use-distributed-optimizer");
  EXPECT_EQ(found.layout.context, 4);
  EXPECT_EQ(found.layout.rows, 16);
  EXPECT_EQ(found.layout.micro_batches, 4);
  EXPECT_EQ(found.layout.states, (StateSharding{.stage = 1}));
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_NE(found.remarks[0].find("--cp-comm-type p2p: here keys and values are gathered"),
            std::string::npos)
      << found.remarks[0];
}

TEST(ReadLayout, WhatIsComputedAgain) {
  const auto layout = [](const std::string& arguments) {
    return read("--micro-batch-size 1 --global-batch-size 128 " + arguments).layout;
  };
  EXPECT_EQ(layout("").recompute, Recompute::None);
  EXPECT_EQ(layout("--recompute-activations").recompute, Recompute::Cheap);
  EXPECT_EQ(
      layout("--recompute-granularity selective --recompute-modules core_attn moe_act").recompute,
      Recompute::Cheap);
  const TrainingLayout full =
      layout("--recompute-granularity full --recompute-method uniform --recompute-num-layers 4");
  EXPECT_EQ(full.recompute, Recompute::Blocks);
  EXPECT_EQ(full.recomputed_layers, 4);
  EXPECT_EQ(
      layout("--recompute-granularity full --recompute-method block --recompute-num-layers 80")
          .recompute,
      Recompute::Blocks);
}

TEST(ReadLayout, SaysWhatItPassesOver) {
  const ReadLayout made = read(
      "--micro-batch-size 1 --global-batch-size 128 --lr 1e-4 --split 99 1 0 "
      "--hidden-size 8192 --norm-epsilon 0.00001 --context-parallel-size 1 "
      "--tensor-model-parallel-size 2 --data-path $DATA");
  EXPECT_EQ(made.passed_over, (std::vector<std::string>{"--data-path", "--lr", "--split"}));
  EXPECT_TRUE(made.remarks.empty());
  EXPECT_FALSE(made.layout.sequence);
}

// Each with what its message has to say.
TEST(ReadLayout, RefusesWhatDoesNotGoTogether) {
  const std::string some = "--micro-batch-size 1 --global-batch-size 128 ";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"", "no argument that begins with --"},
      {"--global-batch-size 128", "--micro-batch-size: is not there"},
      {"--micro-batch-size 1", "is 64, and the batch is 128; plan with --batch 64"},
      {"--micro-batch-size 3 --global-batch-size 128", "do not divide the batch of 128"},
      {"--micro-batch-size 1 --global-batch-size 256", "plan with --batch 256"},
      {some + "--micro-batch-size 2", "is there twice, as \"1\" and in line 1 as \"2\""},
      {some + "--tensor-model-parallel-size 3", "do not divide the 64 devices"},
      {some + "--tensor-model-parallel-size 0", "give a whole number from 1"},
      {some + "--tensor-model-parallel-size -2", "give a whole number from 1"},
      {some + "--tensor-model-parallel-size 99999999999999999999", "give a whole number from 1"},
      {some + "--tensor-model-parallel-size 8.0", "give a whole number from 1"},
      {some + "--tensor-model-parallel-size 2 2", "has 2 values"},
      {some + "--tensor-model-parallel-size", "has no value"},
      {some + "--tensor-model-parallel-size $TP", "is $TP, which is not set in this file"},
      {some + "--use-distributed-optimizer yes", "has a value, \"yes\""},
      {some + "--context-parallel-size 3",
       "--context-parallel-size: 1 columns of 3 rows with the same samples in 1 stages do not"},
      {some + "--context-parallel-size 2 --cp-comm-type ring", "give one of: p2p"},
      {some + "--context-parallel-size 4 --use-distributed-optimizer "
              "--num-distributed-optimizer-instances 32",
       "makes 2 rows share their states, which have not all positions among them"},
      {some + "--fp8-format hybrid", "costs are those of bf16"},
      {some + "--rampup-batch-size 1 1 1", "--rampup-batch-size: is not supported"},
      {some + "--hidden-size 4096", "is 4096, and the model has 8192"},
      {some + "--num-layers 32", "is 32, and the model has 80"},
      {some + "--pipeline-model-parallel-size 32", "makes 32 parts, which do not divide 80 layers"},
      {some + "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 7",
       "do not divide 80 layers"},
      {some + "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*40|t*40|L'",
       "has 3 parts, which the 4 stages do not divide"},
      {some + "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*40|t*41L'",
       "has 81 layers, and the model has 80"},
      {some + "--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 "
              "--num-layers-per-virtual-pipeline-stage 2",
       "leave one of them"},
      {some + "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 19",
       "leaves 61 layers for the 3 other stages"},
      {some + "--pipeline-model-parallel-size 1 --decoder-first-pipeline-num-layers 80",
       "two or more stages"},
      {some + "--expert-model-parallel-size 3", "does not divide the 8 experts and the 64 rows"},
      {some + "--tensor-model-parallel-size 4 --expert-tensor-parallel-size 1",
       "compute experts together here; leave it out, or give 4"},
      {some + "--use-distributed-optimizer --num-distributed-optimizer-instances 5",
       "which does not divide the 64 rows"},
      {some + "--use-megatron-fsdp --data-parallel-sharding-strategy all", "give one of: no_shard"},
      {some + "--recompute-granularity full", "give uniform beside full granularity"},
      {some + "--recompute-granularity half", "give one of: full, selective"},
      {some + "--recompute-granularity selective --recompute-modules mlp",
       "has mlp, with products"},
      {some + "--recompute-granularity full --recompute-method block --recompute-num-layers 3",
       "give uniform"},
      {"loose " + some, "\"loose\" belongs to no argument"},
      {"$ALL " + some, "$ALL is not set in this file"},
  };
  for (const auto& [arguments, says] : refused) {
    const std::string message = reading_refusal(arguments);
    EXPECT_NE(message.find(says), std::string::npos) << arguments << "\n" << message;
  }
  EXPECT_NE(reading_refusal(some + "--expert-model-parallel-size 2",
                            {.layers = 80, .devices = 64, .batch = 128, .model = {}})
                .find("the model has no experts"),
            std::string::npos);
}

TEST(ReadLayout, MessagesAreShort) {
  const std::string long_word(1 << 20, 'x');
  EXPECT_LT(reading_refusal("--micro-batch-size " + long_word).size(), 400u);
  EXPECT_LT(reading_refusal(long_word).size(), 400u);
  EXPECT_LT(reading_refusal("--" + long_word + " 1 --" + long_word + " 2").size(), 600u);
}

// ---- there and back

std::vector<Block> random_blocks(std::mt19937& random, std::int32_t blocks, std::int32_t layers) {
  std::vector<Block> result = even_blocks(layers, blocks);
  if (random() % 3 == 0) return result;
  for (int i = 0; i < 20; ++i) {
    Block &from = result[random() % result.size()], &to = result[random() % result.size()];
    if (from.layers > 1) --from.layers, ++to.layers;
  }
  return result;
}

TrainingLayout random_layout(std::mt19937& random) {
  const auto one_of = [&](std::vector<std::int32_t> values) {
    return values[random() % values.size()];
  };
  TrainingLayout layout;
  layout.tensor = one_of({1, 2, 4, 8});
  layout.stages = one_of({1, 2, 4});
  layout.rows = one_of({1, 2, 4, 8});
  layout.context = one_of({1, 1, 2});
  layout.chunks = layout.stages > 1 ? one_of({1, 2, 5}) : 1;
  if (layout.chunks > 1) layout.schedule = PipelineSchedule::Interleaved;
  layout.blocks = random_blocks(random, layout.stages * layout.chunks, 80);
  layout.micro_batches = one_of({1, 4, 7});
  layout.micro_batch_size = one_of({1, 3});
  layout.expert = layout.rows > 1 ? one_of({1, 2}) : 1;
  if (layout.all_rows() > 1) layout.states.stage = one_of({0, 1, 2, 3});
  if (layout.states.stage > 0 && layout.rows == 8)
    layout.states.rows = one_of({0, 2, 4}) * layout.context;
  layout.recompute = static_cast<Recompute>(random() % 3);
  if (layout.recompute == Recompute::Blocks) layout.recomputed_layers = one_of({1, 2});
  layout.sequence = layout.tensor == 1 || random() % 4 != 0;
  return layout;
}

TEST(ReadLayout, OfWrittenArgumentsIsTheSame) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const TrainingLayout layout = random_layout(random);
    std::string text;
    for (const Argument& argument : parallel_arguments(layout, true).arguments)
      text += argument.name + (argument.value.find('|') == std::string::npos
                                   ? " " + argument.value + " "
                                   : " '" + argument.value + "' ");
    const Training of = training(layout.tensor * layout.stages * layout.all_rows(), layout.batch());
    EXPECT_EQ(read(text, of).layout, layout) << text;
  }
}

TEST(WrittenArguments, SayInWordsWhatTheyCannot) {
  TrainingLayout layout{.stages = 4, .chunks = 1, .blocks = even_blocks(8, 4), .micro_batches = 8};
  EXPECT_TRUE(parallel_arguments(layout, false).unsaid.empty());
  const auto says = [&](const std::string& words) {
    std::string all;
    for (const std::string& sentence : parallel_arguments(layout, false).unsaid) all += sentence;
    return all.find(words) != std::string::npos;
  };
  layout.schedule = PipelineSchedule::Gpipe;
  EXPECT_TRUE(says("the schedule of the plan is gpipe"));
  layout.offload = Offload::States;
  EXPECT_TRUE(says("optimizer states on hosts"));
  layout.recompute = Recompute::Cheap;
  EXPECT_TRUE(says("bound by memory"));
  layout.states.stage = 3;
  EXPECT_TRUE(says("ZeRO 3 in a pipeline"));
  layout.chunks = 2;
  layout.blocks = even_blocks(8, 8);
  layout.micro_batches = 6;
  EXPECT_TRUE(says("in groups of the 4 stages"));
}

}  // namespace
}  // namespace strato::frameworks
