// Plans of transformers as Megatron-LM's scripts, and such scripts as plans.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/framework/layout/recognise.h"
#include "core/framework/megatron/parallel_arguments.h"
#include "core/search/evaluate/baselines.h"
#include "tests/plugins/exporters/frameworks/framework_kit.h"

namespace strato {
namespace {

using frameworks::TrainingLayout;

std::string as_script(const TrainingLayout& layout) {
  std::string text = "ARGS=(\n";
  for (const auto& argument : frameworks::parallel_arguments(layout, false).arguments)
    text += "  " + argument.name + " '" + argument.value + "'\n";
  std::string::size_type at = 0;
  while ((at = text.find(" ''", at)) != std::string::npos) text.erase(at, 3);
  return text + ")\n";
}

// On 16 devices.
TrainingLayout any_layout(std::mt19937& random, bool has_experts) {
  const auto one_of = [&](std::vector<std::int32_t> values) {
    return values[random() % values.size()];
  };
  TrainingLayout layout;
  layout.tensor = one_of({1, 2, 4});
  layout.stages = one_of({1, 2, 4});
  layout.context = layout.tensor * layout.stages <= 8 && !has_experts ? one_of({1, 2}) : 1;
  layout.rows = 16 / layout.tensor / layout.stages / layout.context;
  layout.chunks = layout.stages > 1 ? one_of({1, 2}) : 1;
  if (layout.chunks > 1) layout.schedule = PipelineSchedule::Interleaved;
  layout.blocks = frameworks::even_blocks(8, layout.stages * layout.chunks);
  if (random() % 2 == 0 && layout.blocks.size() > 1 && layout.blocks.back().layers > 1)
    --layout.blocks.back().layers, ++layout.blocks.front().layers;
  layout.micro_batches = 8 * one_of({1, 2}) / std::min(8, layout.rows);
  layout.micro_batch_size = 32 / layout.micro_batches / layout.rows;
  if (has_experts && layout.rows > 1) layout.expert = one_of({1, 2});
  if (layout.all_rows() > 1) layout.states.stage = one_of({0, 1, 2, 3});
  if (layout.states.stage > 0 && layout.rows > 2 && layout.expert <= 2)
    layout.states.rows = one_of({0, 2}) * layout.context;
  layout.recompute = static_cast<Recompute>(random() % 3);
  if (random() % 2 == 0) layout.pieces = layout.tensor;
  layout.sequence = layout.tensor == 1 || layout.pieces > 1 || random() % 3 != 0;
  return layout;
}

class MegatronFamilies : public testing::TestWithParam<const char*> {};

// In, out and in again: the same strategy, and the same script.
TEST_P(MegatronFamilies, ThereAndBack) {
  const Problem problem = small_model(GetParam(), 32);
  const bool has_experts = has(GetParam(), "mixtral") || has(GetParam(), "deepseek");
  std::mt19937 random(3);
  for (int i = 0; i < 12; ++i) {
    const TrainingLayout layout = any_layout(random, has_experts);
    const std::string first = as_script(layout);
    const Strategy strategy = read_back(problem, first);
    frameworks::Recognised found = frameworks::recognise(problem, strategy);
    EXPECT_TRUE(found.differences.empty()) << first << found.differences[0];
    found.layout.recomputed_layers = layout.recomputed_layers;  // as many as the model is cut by
    EXPECT_EQ(found.layout, layout) << first;
    const std::string second = script_of(problem, strategy);
    const Strategy again = read_back(problem, second);
    EXPECT_EQ(again.digest(), strategy.digest()) << first << second;
    EXPECT_EQ(again, strategy);
    EXPECT_EQ(script_of(problem, again), second);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MegatronFamilies,
                         testing::Values("llama_3_8b", "llama_3_2_1b", "mixtral_8x7b",
                                         "deepseek_v2_lite", "gpt2", "pythia_160m", "falcon_7b",
                                         "opt_125m", "gemma_2b", "bert_base_uncased"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MegatronScript, HasWhatThePlannerWasTold) {
  const Problem problem = small_model("llama_3_8b", 32);
  const std::string script = script_of(problem, planned_by("pipeline", problem,
                                                           {{"stages", "2"},
                                                            {"tensor", "4"},
                                                            {"micro_batches", "4"},
                                                            {"shard", "updates"},
                                                            {"recompute", "cheap"},
                                                            {"offload", "none"}}));
  for (const char* line :
       {"--tensor-model-parallel-size 4\n", "--sequence-parallel\n",
        "--pipeline-model-parallel-size 2\n", "--micro-batch-size 4\n", "--global-batch-size 32\n",
        "--use-distributed-optimizer\n", "--recompute-granularity selective\n"})
    EXPECT_TRUE(has(script, std::string("  ") + line)) << line << script;
  EXPECT_TRUE(has(script, "4 columns (tensor) x 2 rows (data) x 2 stages"));
}

TEST(MegatronScript, HasTheModel) {
  const auto script = [](const std::string& model) {
    const Problem problem = small_model(model, 32);
    return script_of(problem, data_parallel(problem));
  };
  const auto expect = [](const std::string& text, std::vector<std::string> lines) {
    for (const std::string& line : lines)
      EXPECT_TRUE(has(text, "  " + line + "\n")) << line << text;
  };
  expect(script("llama_3_8b"),
         {"--num-layers 8", "--hidden-size 4096", "--ffn-hidden-size 14336",
          "--num-attention-heads 32", "--group-query-attention", "--num-query-groups 8", "--swiglu",
          "--normalization RMSNorm", "--norm-epsilon 1e-05", "--position-embedding-type rope",
          "--rotary-base 500000", "--vocab-size 128256", "--bf16", "--seq-length 128",
          "--disable-bias-linear", "--untie-embeddings-and-output-weights"});
  const std::string gpt = script("gpt2");
  expect(gpt, {"--hidden-size 768", "--ffn-hidden-size 3072", "--normalization LayerNorm",
               "--position-embedding-type learned_absolute", "--vocab-size 50257"});
  for (const char* none :
       {"--swiglu", "--untie", "--disable-bias-linear", "--bf16", "--num-experts"})
    EXPECT_FALSE(has(gpt, none)) << none;
  expect(script("mixtral_8x7b"),
         {"--num-experts 8", "--moe-router-topk 2", "--moe-ffn-hidden-size 14336"});
  expect(script("deepseek_v3"),
         {"--multi-latent-attention", "--q-lora-rank 1536", "--kv-lora-rank 512",
          "--qk-head-dim 128", "--qk-pos-emb-head-dim 64", "--v-head-dim 128", "--num-experts 256",
          "--moe-router-topk 8", "--ffn-hidden-size 18432", "--moe-ffn-hidden-size 2048",
          "--moe-shared-expert-intermediate-size 2048", "--moe-router-score-function sigmoid",
          "--moe-layer-freq '([0]*3+[1]*5)'"});
  expect(script("qwen2_7b"), {"--add-qkv-bias", "--disable-bias-linear"});
}

TEST(MegatronScript, SaysInWordsWhatItCannotSay) {
  const Problem problem = small_model("llama_3_8b", 32);
  Strategy strategy = read_back(problem, "ARGS=(--micro-batch-size 2 --global-batch-size 32)");
  EXPECT_FALSE(has(script_of(problem, strategy), "do not say"));
  Strategy other = strategy;
  other.groups.front()->devices.front().weight = 2;
  EXPECT_TRUE(has(script_of(problem, other), "unequal shares"));
  other = strategy;
  other.priorities.assign(problem.graph->op_count(), 1);
  EXPECT_TRUE(has(script_of(problem, other), "an order of their own"));
  other = strategy;
  other.offloaded = offloaded_ops(*problem.graph, Offload::States);
  EXPECT_TRUE(has(script_of(problem, other), "optimizer states on hosts"));
}

// Stages of the planner pipeline may begin within a layer.
TEST(MegatronScript, TellsWhichLayersStagesCut) {
  const Problem problem = small_model("llama_3_8b", 32, 5);
  const Strategy strategy =
      planned_by("pipeline", problem, {{"stages", "4"}, {"micro_batches", "4"}});
  const std::string script = script_of(problem, strategy);
  EXPECT_TRUE(has(script, "stages begin within layer ")) << script;
  EXPECT_TRUE(has(script, "--pipeline-model-parallel-layout 'E")) << script;
  read_back(problem, script);
}

// Of whole layers the script says all of a plan.
TEST(MegatronScript, PlansOfWholeLayersComeBackAsTheyWere) {
  const Problem problem = small_model("mixtral_8x7b", 32, 9);
  for (const char* stages : {"1", "2", "4"})
    for (const char* tensor : {"1", "2"}) {
      const Strategy strategy = planned_by("pipeline", problem,
                                           {{"stages", stages},
                                            {"tensor", tensor},
                                            {"micro_batches", "2"},
                                            {"schedule", "interleaved"},
                                            {"chunks", stages[0] == '1' ? "1" : "2"},
                                            {"shard", "updates"},
                                            {"recompute", "none"},
                                            {"offload", "none"},
                                            {"whole_layers", "true"}});
      const std::string script = script_of(problem, strategy);
      EXPECT_FALSE(has(script, "stages begin within")) << script;
      Strategy back = read_back(problem, script);
      if (stages[0] == '1') back.micro_batches.schedule = strategy.micro_batches.schedule;
      EXPECT_EQ(back.digest(), strategy.digest()) << script;
    }
}

TEST(MegatronScript, MeshesOfWholeLayersAreFound) {
  const Problem problem = small_model("llama_3_8b", 32, 9);
  const Strategy strategy = planned_by("meshes", problem, {});
  EXPECT_EQ(read_back(problem, script_of(problem, strategy)).digest(), strategy.digest());
}

TEST(MegatronScript, RefusesStrategiesThatAreNoLayout) {
  const Problem problem = small_model("llama_3_8b", 32);
  const Strategy plain = data_parallel(problem);
  Strategy strategy = plain;
  strategy.groups.back() = decision_on_device(DeviceId(3));
  EXPECT_TRUE(has(refusal_of(problem, strategy), "is on 1 devices and \""))
      << refusal_of(problem, strategy);
  strategy = plain;
  for (auto& decision : strategy.groups) decision->devices.resize(8);
  EXPECT_TRUE(has(refusal_of(problem, strategy), "only 8 of 16 devices"));
  for (auto& decision : strategy.groups) {
    decision->devices.clear();
    for (std::size_t d = 4; d < 12; ++d) decision->devices.push_back({DeviceId(d)});
  }
  EXPECT_TRUE(has(refusal_of(problem, strategy), "no stage of a pipeline"));
  strategy = plain;
  strategy.groups.back()->mode = Mode::ReplicatePs;
  EXPECT_TRUE(has(refusal_of(problem, strategy), "is in the mode replicate-ps"));
  strategy = plain;
  strategy.groups.back()->roles.tensor = 2;
  EXPECT_TRUE(has(refusal_of(problem, strategy), "has other roles"));
  strategy = plain;
  strategy.recomputed = {recomputed_ops(*problem.graph, Recompute::Cheap).front()};
  EXPECT_TRUE(has(refusal_of(problem, strategy), "1 ops are computed again"));
  strategy = plain;
  strategy.offloaded = {offloaded_ops(*problem.graph, Offload::States).front()};
  EXPECT_TRUE(has(refusal_of(problem, strategy), "neither states, activations nor all"));
  strategy = planned_by("pipeline", problem,
                        {{"stages", "4"}, {"micro_batches", "4"}, {"schedule", "zb-v"}});
  EXPECT_TRUE(has(refusal_of(problem, strategy), "there and back (zb-v)"));
  const Problem odd = small_model("llama_3_8b", 24);
  EXPECT_TRUE(
      has(refusal_of(odd, data_parallel(odd)), "24 samples are no equal parts for 16 rows"));
}

TEST(MegatronScript, IsOfOneStackOfNumberedLayers) {
  const Problem lenet = sample("lenet", 32, "h100-2x8");
  EXPECT_TRUE(has(refusal_of(lenet, data_parallel(lenet)), "no layers are numbered"));
  const Problem t5 = small_model("t5_small", 32);
  EXPECT_TRUE(has(refusal_of(t5, data_parallel(t5)), "several stacks of layers"));
}

TEST(MegatronPlanner, TellsWhatItPassesOver) {
  const Problem problem = small_model("llama_3_8b", 32);
  std::vector<PlanResult::Fact> facts;
  read_back(problem, "ARGS=(--micro-batch-size 2 --global-batch-size 32 --lr 1 --split 9 1)",
            &facts);
  const auto found = std::ranges::find(facts, "passed over", &PlanResult::Fact::name);
  ASSERT_NE(found, facts.end());
  EXPECT_EQ(found->value, "--lr --split");
}

TEST(MegatronPlanner, ReadsYaml) {
  const Problem problem = small_model("llama_3_8b", 32);
  const std::string yaml =
      "MODEL_ARGS:\n  --micro-batch-size: 2\n  --global-batch-size: 32\n"
      "  --use-distributed-optimizer: true\n  --sequence-parallel: false\n";
  const Strategy strategy =
      planned_by("configuration", problem, {{"file", written("run.yaml", yaml).string()}});
  EXPECT_EQ(strategy, read_back(problem,
                                "ARGS=(--micro-batch-size 2 --global-batch-size 32 "
                                "--use-distributed-optimizer)"));
}

TEST(MegatronPlanner, RefusesFilesThatAreNone) {
  const Problem problem = small_model("llama_3_8b", 32);
  const auto refusal = [&](const std::string& text) {
    return message_of([&] { read_back(problem, text); });
  };
  EXPECT_TRUE(has(refusal(""), "has no argument"));
  EXPECT_TRUE(has(refusal(std::string(1 << 20, '\0')), "is no text"));
  EXPECT_NE(refusal(std::string((1 << 20) + 1, ' ')), "no error");
  EXPECT_TRUE(has(message_of([&] { planned_by("configuration", problem, {}); }), "is not given"));
  EXPECT_NE(message_of([&] {
              planned_by("configuration", problem, {{"file", "/nowhere"}});
            }),
            "no error");
  // Cut short anywhere a script is read or refused, never more.
  const std::string whole = script_of(problem, data_parallel(problem));
  for (std::size_t size = 0; size < whole.size(); size += 97) refusal(whole.substr(0, size));
}

}  // namespace
}  // namespace strato
