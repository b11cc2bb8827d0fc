// Every family at a small size: its graph is trained, its samples can be divided, its parts have
// the names that people know.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build/copy_graph.h"
#include "core/graph/train/initial_value.h"
#include "core/graph/train/training_graph.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

class ModelFamily : public testing::TestWithParam<std::string> {};

bool reads_batch(const Graph& graph, const Op& op) {
  return std::ranges::any_of(op.inputs, [&](TensorId input) {
    return input.valid() && graph.tensor(input).batch.kind != BatchKind::Whole;
  });
}

TEST_P(ModelFamily, DividesItsSamples) {
  const Graph graph = import_small(GetParam());
  EXPECT_EQ(graph.batch(), 4);
  for (const Op& op : graph.ops()) {
    EXPECT_FALSE(op.estimated) << op.name << " " << op.type;
    if (!reads_batch(graph, op)) continue;
    EXPECT_EQ(op.split, Splittability::Concat) << op.name << " " << op.type;
  }
}

TEST_P(ModelFamily, IsTrainedWhole) {
  for (const char* type : {"float32", "bfloat16"}) {
    const Graph graph = import_small(GetParam(), {{"torch_dtype", type}});
    ASSERT_EQ(results_of(graph).size(), 1u);
    const Graph training = make_training_graph(graph, Optimizer::Adam);
    for (const TensorId id : training.tensors().ids()) {
      const Tensor& tensor = training.tensor(id);
      if (tensor.role != TensorRole::Parameter) continue;
      EXPECT_TRUE(training.update_of(id).valid()) << tensor.name;
    }
  }
}

TEST_P(ModelFamily, IsTheSameModelWithAttentionWrittenOut) {
  Json config = small_configs().at(GetParam());
  ImportOptions options = GetParam() == "vit" ? pixels_batch() : small_batch();
  const Graph flash = import_text(config.dump(), options);
  options.dimensions["flash"] = 0;
  const Graph plain = import_text(config.dump(), options);
  EXPECT_EQ(parameter_count(plain), parameter_count(flash));
  EXPECT_EQ(ops_of_type(plain, "Attention"), 0);
  EXPECT_EQ(plain.tensor(results_of(plain)[0]).shape, flash.tensor(results_of(flash)[0]).shape);
  make_training_graph(plain, Optimizer::Sgd);
}

TEST_P(ModelFamily, CastsEachParameterOnce) {
  const Graph graph = import_small(GetParam(), {{"torch_dtype", "bfloat16"}});
  int parameters = 0;
  for (const TensorId id : graph.tensors().ids()) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.role != TensorRole::Parameter) continue;
    ++parameters;
    EXPECT_EQ(tensor.type, DataType::F32) << tensor.name;
    ASSERT_EQ(graph.consumers(id).size(), 1u) << tensor.name;
    EXPECT_EQ(graph.op(graph.consumers(id)[0]).type, "Cast") << tensor.name;
  }
  const int pixels = GetParam() == "vit" ? 1 : 0;
  EXPECT_EQ(ops_of_type(graph, "Cast"), parameters + pixels);
  for (const Tensor& tensor : graph.tensors()) {
    if (!tensor.producer.valid() || !is_floating(tensor.type)) continue;
    EXPECT_EQ(tensor.type, DataType::BF16) << tensor.name;
  }
}

// Parameters that are cast start as those do that are not.
TEST_P(ModelFamily, StartsAlikeInAnyPrecision) {
  const Graph plain = import_small(GetParam());
  const Graph mixed = import_small(GetParam(), {{"dtype", "bfloat16"}});
  for (const TensorId id : plain.tensors().ids()) {
    const Tensor& tensor = plain.tensor(id);
    if (tensor.role != TensorRole::Parameter) continue;
    const InitialValue a = initial_value(plain, id);
    const InitialValue b = initial_value(mixed, id_called(mixed, tensor.name));
    EXPECT_EQ(a.kind, b.kind) << tensor.name;
    EXPECT_EQ(a.low, b.low) << tensor.name;
    EXPECT_EQ(a.high, b.high) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelFamily, testing::ValuesIn(family_names()),
                         [](const auto& info) { return info.param; });

TEST(ConfiguredNames, AreThoseOfCheckpoints) {
  const Graph llama = import_small("llama");
  EXPECT_EQ(tensor_called(llama, "model.layers.1.self_attn.k_proj.weight").shape, (Shape{16, 8}));
  EXPECT_TRUE(llama.find_op("model.layers.1.mlp.down_proj").valid());
  EXPECT_TRUE(llama.find_op("lm_head").valid());
  const Graph gpt = import_small("gpt2");
  EXPECT_EQ(tensor_called(gpt, "transformer.h.0.attn.c_attn.q.weight").shape, (Shape{16, 16}));
  EXPECT_TRUE(gpt.find_op("transformer.h.0.mlp.c_fc/bias").valid());
  const Graph mixtral = import_small("mixtral");
  EXPECT_EQ(tensor_called(mixtral, "model.layers.0.block_sparse_moe.experts.w2.weight").shape,
            (Shape{4, 24, 16}));
}

TEST(ConfiguredNames, ModelsAreCalledAsTheyArePublishedOrAsTheirFiles) {
  const auto name_with = [](const Json& path) {
    return import_small("llama", {{"_name_or_path", path}}).name();
  };
  EXPECT_EQ(name_with("meta-llama/Llama-2-7b-hf"), "Llama-2-7b-hf");
  EXPECT_EQ(name_with("./"), "small");
  EXPECT_EQ(name_with("line\nbreak"), "small");
  const ConfigFolder folder;
  const std::filesystem::path own = folder / "my-model";
  std::filesystem::create_directory(own);
  std::ofstream(own / "config.json") << small_configs().at("llama").dump();
  EXPECT_EQ(import_config(own / "config.json", small_batch()).name(), "my-model");
}

// A table that scores words, too, is one parameter with two readers.
TEST(ConfiguredHeads, AreTiedWhereTheConfigurationSaysSo) {
  const std::int64_t table = 32 * 16;
  const Graph apart = import_small("llama");
  const Graph tied = import_small("llama", {{"tie_word_embeddings", true}});
  EXPECT_EQ(parameter_count(apart), parameter_count(tied) + table);
  EXPECT_TRUE(import_small("gpt2").find_op("lm_head").valid());
  for (const char* family : {"gpt2", "gemma", "bloom", "falcon", "opt", "t5", "bert"})
    EXPECT_EQ(ops_of_type(import_small(family), "FusedMatMul"), 1) << family;
}

TEST(ConfiguredHeads, FollowTheTask) {
  const auto shape_of = [](const std::string& family, const char* architecture) {
    const Graph graph = import_small(family, {{"architectures", {architecture}}});
    return graph.tensor(results_of(graph)[0]).shape;
  };
  EXPECT_EQ(shape_of("bert", "BertForMaskedLM"), (Shape{4, 6, 32}));
  EXPECT_EQ(shape_of("bert", "BertModel"), (Shape{4, 16}));
  EXPECT_EQ(shape_of("roberta", "RobertaForSequenceClassification"), (Shape{4, 2}));
  EXPECT_EQ(shape_of("vit", "ViTForImageClassification"), (Shape{4, 5}));
  EXPECT_EQ(shape_of("t5", "T5ForConditionalGeneration"), (Shape{4, 7, 32}));
}

TEST(ConfiguredExperts, HaveRoomForEvenShares) {
  const Graph graph = import_small("mixtral");  // six tokens, two of four experts each
  EXPECT_EQ(tensor_called(graph, "model.layers.0.block_sparse_moe.experts/dispatch").shape,
            (Shape{4, 4, 3, 16}));
  const Graph deepseek = import_small("deepseek_v3");
  EXPECT_EQ(ops_of_type(deepseek, "DispatchTokens"), 1);  // the first layer is dense
  const Graph qwen = import_small("qwen3_moe");
  EXPECT_EQ(ops_of_type(qwen, "DispatchTokens"), 1);  // by "mlp_only_layers"
}

}  // namespace
}  // namespace strato::test
