// What configurations say of the model and of how much is trained at once, before there is a
// cluster.
#include "core/framework/configuration/training_job.h"

#include <gtest/gtest.h>

#include "core/io/json.h"
#include "tests/message_of.h"

namespace strato::frameworks {
namespace {

constexpr const char* kLlama =
    R"(torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py \
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 \
  --group-query-attention --num-query-groups 8 --seq-length 4096 \
  --max-position-embeddings 8192 --normalization RMSNorm --swiglu --disable-bias-linear \
  --position-embedding-type rope --rotary-base 500000 --untie-embeddings-and-output-weights \
  --vocab-size 128256 --bf16 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 \
  --micro-batch-size 1 --global-batch-size 512 --use-distributed-optimizer)";

TrainingJob job_of(const std::string& text) {
  const auto job = training_job(text, "run.sh");
  if (!job) throw InputError("run.sh", "", "is none", "");
  return *job;
}
Json config_of(const std::string& text) { return Json::parse(job_of(text).model->config); }
std::string job_refusal(const std::string& text) {
  return message_of([&] { job_of(text); });
}

TEST(TrainingJob, OfMegatronHasTheModel) {
  const TrainingJob job = job_of(kLlama);
  EXPECT_EQ(job.framework, "Megatron-LM");
  ASSERT_TRUE(job.model);
  EXPECT_EQ(job.model->name, "llama-70.6B");
  EXPECT_EQ(job.batch, 512);
  EXPECT_EQ(job.sequence, 4096);
  EXPECT_EQ(job.devices_of_a_row, 32);
  EXPECT_EQ(job.machines, 8);
  EXPECT_EQ(job.gpus, 8);
  const Json config = Json::parse(job.model->config);
  EXPECT_EQ(config["model_type"], "llama");
  EXPECT_EQ(config["num_hidden_layers"], 80);
  EXPECT_EQ(config["num_key_value_heads"], 8);
  EXPECT_EQ(config["rope_theta"], 500000.0);
  EXPECT_EQ(config["torch_dtype"], "bfloat16");
  EXPECT_EQ(config["tie_word_embeddings"], false);
  EXPECT_FALSE(config.contains("attention_bias"));
}

TEST(TrainingJob, DefaultsAreMegatrons) {
  const std::string gpt =
      "pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
      "--seq-length 1024 --micro-batch-size 4 --tokenizer-type GPT2BPETokenizer ";
  const Json config = config_of(gpt);
  EXPECT_EQ(config["model_type"], "gpt2");
  EXPECT_EQ(config["n_inner"], 4096);
  EXPECT_EQ(config["vocab_size"], 50257);
  EXPECT_EQ(config["tie_word_embeddings"], true);
  EXPECT_EQ(job_of(gpt).batch, std::nullopt);
  EXPECT_EQ(job_of(gpt).batch_on(16), 64);
  EXPECT_EQ(job_of(gpt + "--pipeline-model-parallel-size 4").batch_on(16), 16);
  EXPECT_EQ(config_of(gpt + "--use-rotary-position-embeddings")["model_type"], "gpt_neox");
  EXPECT_EQ(config_of(gpt + "--normalization RMSNorm --swiglu --position-embedding-type rope "
                            "--num-experts 8 --moe-router-topk 2")["num_local_experts"],
            8);
  const auto unsaid = job_of(
      "pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 2 --seq-length 8");
  ASSERT_EQ(unsaid.model->remarks.size(), 1u);
  EXPECT_NE(unsaid.model->remarks[0].find("32000 are assumed"), std::string::npos);
}

TEST(TrainingJob, OfOtherFrameworks) {
  const TrainingJob titan = job_of(
      "CONFIG_FILE=./llama3_70b.toml ./run_train.sh --model.name llama3 --model.flavor 70B "
      "--parallelism.tensor_parallel_degree 8 --training.local_batch_size 2 "
      "--training.seq_len 8192");
  EXPECT_EQ(titan.framework, "torchtitan");
  ASSERT_TRUE(titan.model);
  EXPECT_EQ(titan.model->name, "llama3-70b");
  EXPECT_EQ(titan.batch_on(64), 16);
  const TrainingJob deep =
      job_of(R"({"train_batch_size": 256, "zero_optimization": {"stage": 3}})");
  EXPECT_EQ(deep.framework, "DeepSpeed");
  EXPECT_FALSE(deep.model);
  EXPECT_EQ(deep.batch, 256);
  EXPECT_EQ(job_of("distributed_type: FSDP\nnum_processes: 8\n").framework, "Accelerate");
}

TEST(TrainingJob, IsNoneOfOtherTexts) {
  for (const char* other : {"", "hello", "{\"a\": 1}", "rm --recursive x", "a: 1\n", "[x]\ny=1\n",
                            "python train.py --epochs 3 --lr 1e-4"})
    EXPECT_FALSE(training_job(other, "x")) << other;
}

TEST(TrainingJob, SaysWhatIsWrong) {
  const std::string sizes = "pretrain_gpt.py --num-layers 2 --hidden-size 64 --seq-length 8 ";
  EXPECT_EQ(job_refusal(sizes),
            "run.sh: --num-attention-heads: is not there; give the heads of a layer");
  EXPECT_EQ(job_refusal(sizes + "--num-attention-heads 3"),
            "run.sh: line 1: --num-attention-heads: is 3, which does not divide --hidden-size 64; "
            "give a number that does, or --kv-channels");
  EXPECT_NE(job_refusal(sizes + "--num-attention-heads $HEADS").find("not set in this file"),
            std::string::npos);
  EXPECT_NE(job_refusal(sizes + "--num-attention-heads 4 --normalization RMSNorm")
                .find("without --swiglu"),
            std::string::npos);
}

TEST(TrainingJob, MachinesAreReadInFrontOfTheProgram) {
  const Machines found = machines_in(
      "GPUS_PER_NODE=4\nNUM_NODES=16\nWORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))\n"
      "torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES x.py --a 1");
  EXPECT_EQ(found.machines, 16);
  EXPECT_EQ(found.gpus, 4);
  EXPECT_FALSE(machines_in("x.py --tensor-model-parallel-size 8").gpus);
}

}  // namespace
}  // namespace strato::frameworks
