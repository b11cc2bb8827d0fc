#include "plugins/importers/transformers/families/encoders.h"

#include <fmt/format.h>

#include "plugins/importers/transformers/families/plain_parts.h"

namespace strato::transformers_import {
namespace {

std::int64_t label_count(Keys& keys, std::int64_t usual) {
  const std::size_t listed = keys.entries("id2label", 0);
  if (listed > 0) return static_cast<std::int64_t>(listed);
  return keys.count("num_labels", usual);
}

// BERT, RoBERTa and ViT: one stack of layers that look both ways.
Description encoder(Keys& keys, const std::string& prefix) {
  Description model;
  model.norm = Norm::Layer;
  model.width = model.embedding.width = keys.count("hidden_size", 768);
  model.epsilon = keys.number("layer_norm_eps", 1e-12);
  Stack& stack = model.stack;
  stack.causal = false;
  stack.layer_prefix = prefix + "encoder.layer.";
  stack.layers = keys.count("num_hidden_layers", 12, kMostLayers);
  stack.attention = even_heads(keys, "hidden_size", model.width, "num_attention_heads",
                               keys.count("num_attention_heads", 12, kMostHeads));
  stack.attention.scope = "attention";
  stack.feed.scope = "output";
  stack.feed.width = keys.count("intermediate_size", 3072);
  stack.feed.up = {"intermediate.dense", true};
  stack.feed.down = {"output.dense", true};
  stack.feed.activation = keys.activation("hidden_act", "gelu");
  stack.attention.output = {"attention.output.dense", true};
  return model;
}

void name_queries(Attention& attention, const std::string& scope, bool bias) {
  attention.query = {scope + ".query", bias};
  attention.key = {scope + ".key", bias};
  attention.value = {scope + ".value", bias};
}

// The first position's result once more, as a sentence.
void pool(Head& head, const std::string& name) {
  head.first_token = true;
  head.transform = {name, true};
  head.activation = Activation::Tanh;
}

struct WordTask {
  const char *transform, *norm, *bias;  // of a head that predicts words
  const char *sentence, *classifier;    // of one that classifies
};

// What its class says that it is for: hidden words, classes of sentences, or neither.
void read_head(Keys& keys, Description& model, const std::string& prefix, const WordTask& task) {
  Head& head = model.head;
  if (keys.is_for("ForMaskedLM")) {
    head.transform = {task.transform, true};
    head.activation = model.stack.feed.activation;
    head.norm = task.norm;
    head.scores = task.bias;
    head.size = model.embedding.rows;
    head.tied = keys.flag("tie_word_embeddings", true);
    head.bias_name = std::string(task.bias) + ".bias";
    return;
  }
  keys.pass({"tie_word_embeddings"});
  if (!keys.is_for("ForSequenceClassification")) return pool(head, prefix + "pooler.dense");
  pool(head, task.sentence);
  head.dropout = keys.share("classifier_dropout", model.dropout);
  head.scores = task.classifier;
  head.size = label_count(keys, 2);
  head.bias_name = std::string(task.classifier) + ".bias";
}

Description word_encoder(Keys& keys, const std::string& prefix, std::int64_t vocabulary,
                         const WordTask& task) {
  keys.allow_tasks({"ForMaskedLM", "ForSequenceClassification", "Model"});
  Description model = encoder(keys, prefix);
  model.stack.causal = keys.flag("is_decoder", false);
  model.embedding.rows = keys.count("vocab_size", vocabulary, kMostRows);
  model.embedding.table = prefix + "embeddings.word_embeddings";
  model.embedding.segment_table = prefix + "embeddings.token_type_embeddings";
  model.embedding.segments = keys.count("type_vocab_size", 2);
  model.embedding.norm = prefix + "embeddings.LayerNorm";
  model.dropout = model.embedding.dropout = keys.share("hidden_dropout_prob", 0.1);
  model.positions = Positions::Table;
  model.position_table = prefix + "embeddings.position_embeddings";
  model.position_rows = keys.count("max_position_embeddings", 512, kMostRows);
  model.usual_sequence = model.position_rows;
  Stack& stack = model.stack;
  stack.order = Order::NormLast;
  stack.attention_norm = "attention.output.LayerNorm";
  stack.feed_norm = "output.LayerNorm";
  stack.attention.dropout = keys.share("attention_probs_dropout_prob", 0.1);
  name_queries(stack.attention, "attention.self", true);
  read_head(keys, model, prefix, task);
  if (keys.text("position_embedding_type", "absolute") != "absolute")
    keys.fail("position_embedding_type", "is not built", "give a model with \"absolute\" ones");
  keys.pass({"classifier_dropout", "num_labels"});
  return model;
}

// Heads stand beside the model: only then has its name a place in front of its parts.
std::string prefix_of(Keys& keys, const std::string& name) {
  return keys.is_for("Model") ? "" : name + ".";
}

}  // namespace

Description read_bert(Keys& keys) {
  const std::string prefix = prefix_of(keys, "bert");
  keys.pass({"directionality", "pooler_fc_size", "pooler_num_attention_heads",
             "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  return word_encoder(keys, prefix, 30'522,
                      {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                       "cls.predictions", "bert.pooler.dense", "classifier"});
}

// Positions are counted from behind the one of padding.
Description read_roberta(Keys& keys) {
  Description model = word_encoder(keys, prefix_of(keys, "roberta"), 50'265,
                                   {"lm_head.dense", "lm_head.layer_norm", "lm_head",
                                    "classifier.dense", "classifier.out_proj"});
  model.first_row = keys.count("pad_token_id", 1, kMostRows, 0) + 1;
  model.usual_sequence = model.position_rows - model.first_row;
  if (model.usual_sequence < 1)
    keys.fail("max_position_embeddings", "leaves no position behind the padding's",
              "give more positions");
  return model;
}

Description read_vit(Keys& keys) {
  keys.allow_tasks({"ForImageClassification", "Model"});
  const std::string prefix = prefix_of(keys, "vit");
  Description model = encoder(keys, prefix);
  Patches patches;
  patches.image = keys.count("image_size", 224, kMostHeads);
  patches.patch = keys.count("patch_size", 16, kMostHeads);
  patches.channels = keys.count("num_channels", 3, kMostHeads);
  if (patches.image % patches.patch != 0)
    keys.fail("image_size",
              fmt::format("{} is no multiple of patches of {}", patches.image, patches.patch),
              "give a multiple of patch_size");
  patches.projection = prefix + "embeddings.patch_embeddings.projection";
  patches.class_token = prefix + "embeddings.cls_token";
  const std::int64_t side = patches.image / patches.patch;
  model.patches = patches;
  model.positions = Positions::Table;
  model.position_table = prefix + "embeddings.position_embeddings";
  model.usual_sequence = model.position_rows = side * side + 1;
  model.dropout = model.embedding.dropout = keys.share("hidden_dropout_prob", 0);
  Stack& stack = model.stack;
  stack.attention_norm = "layernorm_before";
  stack.feed_norm = "layernorm_after";
  stack.final_norm = prefix + "layernorm";
  stack.attention.dropout = keys.share("attention_probs_dropout_prob", 0);
  name_queries(stack.attention, "attention.attention", keys.flag("qkv_bias", true));
  keys.pass({"encoder_stride", "num_labels", "pooler_act", "pooler_output_size"});
  if (prefix.empty()) {
    pool(model.head, "pooler.dense");
    return model;
  }
  constexpr std::int64_t kImageNet = 1000;
  model.head.first_token = true;
  model.head.scores = "classifier";
  model.head.size = label_count(keys, kImageNet);
  model.head.bias_name = "classifier.bias";
  return model;
}

}  // namespace strato::transformers_import
