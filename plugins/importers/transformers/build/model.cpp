#include "plugins/importers/transformers/build/model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plugins/importers/transformers/build/layers.h"

namespace strato::transformers_import {
namespace {

// Near positions have buckets of their own, far ones share them, the more the farther they are;
// half of all are for each direction, where both are looked in.
std::int64_t bucket(std::int64_t distance, bool both_ways, const Description& model) {
  std::int64_t count = model.buckets, first = 0;
  if (both_ways) {
    count /= 2;
    if (distance > 0) first = count;
    distance = std::abs(distance);
  } else {
    distance = std::max<std::int64_t>(-distance, 0);
  }
  const std::int64_t own = count / 2;
  if (distance < own) return first + distance;
  const auto near = static_cast<double>(own);
  const double farthest = std::max(static_cast<double>(model.farthest), near + 1);
  const double share = std::log(static_cast<double>(distance) / near) / std::log(farthest / near);
  const auto further = static_cast<std::int64_t>(share * static_cast<double>(count - own));
  return first + std::min(own + further, count - 1);
}

class ModelWriter {
 public:
  ModelWriter(const Description& model, const Sizes& sizes, const std::string& name,
              const std::string& file)
      : model_(model), sizes_(sizes), to_(name, sizes.batch, model, file, sizes.adapter_rank) {}

  Graph write() {
    const TensorId first = model_.patches ? patches() : words("input_ids", sizes_.sequence);
    TensorId memory, x = first;
    if (model_.encoder) {
      memory = write_stack(to_, model_, *model_.encoder, shared(*model_.encoder, sizes_.sequence),
                           first, {});
      x = words("decoder_input_ids", sizes_.target_sequence);
    }
    const std::int64_t sequence = to_.shape(x)[1];
    head(write_stack(to_, model_, model_.stack, shared(model_.stack, sequence), x, memory));
    return to_.build();
  }

 private:
  const std::string& table() const { return model_.embedding.table; }

  TensorId word_table() {
    return to_.parameter(table() + ".weight", {model_.embedding.rows, model_.embedding.width});
  }

  // ---- in front of the layers

  TensorId words(const std::string& input, std::int64_t sequence) {
    const Embedding& embedding = model_.embedding;
    const std::string name = input == "input_ids" ? table() : "decoder." + table();
    const TensorId ids = to_.input(input, {sizes_.batch, sequence}, DataType::I64);
    TensorId x = to_.op(name, "Gather", {word_table(), ids});
    x = to_.scaled(name + "/scale", x, embedding.scale);
    if (!embedding.project_in.empty()) x = to_.product(embedding.project_in, x, model_.width);
    if (embedding.segments > 0) x = to_.add(name + "/segments", x, segments(sequence));
    return embedded(name, x, sequence);
  }

  TensorId segments(std::int64_t sequence) {
    const Embedding& embedding = model_.embedding;
    const TensorId ids = to_.input("token_type_ids", {sizes_.batch, sequence}, DataType::I64);
    const TensorId rows =
        to_.parameter(embedding.segment_table + ".weight", {embedding.segments, embedding.width});
    return to_.op(embedding.segment_table, "Gather", {rows, ids});
  }

  // Each square of pixels becomes a token; in front of them stands one that is learned.
  TensorId patches() {
    const Patches& p = *model_.patches;
    TensorId pixels =
        to_.input("pixel_values", {sizes_.batch, p.channels, p.image, p.image}, DataType::F32);
    if (model_.type != DataType::F32) pixels = to_.cast("pixel_values/cast", pixels);
    const TensorId weight =
        to_.parameter(p.projection + ".weight", {model_.width, p.channels, p.patch, p.patch});
    const std::vector<std::int64_t> square = {p.patch, p.patch};
    TensorId x = to_.op(p.projection, "Conv",
                        {pixels, weight, to_.parameter(p.projection + ".bias", {model_.width})},
                        {{"kernel_shape", square}, {"strides", square}});
    x = to_.reshape(p.projection + "/flat", x, {sizes_.batch, model_.width, -kOne});
    x = to_.transpose(p.projection + "/tokens", x, {0, 2, 1});
    const TensorId one = to_.parameter(p.class_token, {kOne, kOne, model_.width});
    const TensorId token =
        to_.op(p.class_token, "Expand", {one, to_.integers({sizes_.batch, kOne, kOne})});
    x = to_.op(p.class_token + "/first", "Concat", {token, x}, {{"axis", kOne}});
    return embedded(p.projection, x, to_.shape(x)[1]);
  }

  TensorId embedded(const std::string& name, TensorId x, std::int64_t sequence) {
    const Embedding& embedding = model_.embedding;
    if (model_.positions == Positions::Table) x = to_.add(name + "/positions", x, places(sequence));
    if (!embedding.norm.empty()) x = to_.normalized(embedding.norm, x);
    return to_.dropped(name + "/dropout", x, embedding.dropout);
  }

  TensorId places(std::int64_t sequence) {
    const std::string& name = model_.position_table;
    const TensorId rows = to_.parameter(model_.patches ? name : name + ".weight",
                                        {model_.position_rows, model_.width});
    if (model_.first_row == 0 && sequence == model_.position_rows) return rows;
    return to_.slice(name, rows, 0, model_.first_row, model_.first_row + sequence);
  }

  // ---- what all layers read

  Shared shared(const Stack& stack, std::int64_t sequence) {
    Shared shared;
    shared.flash = sizes_.flash && model_.positions != Positions::Buckets;
    if (!shared.flash && stack.causal) shared.mask = causal_mask(to_, sequence);
    if (model_.positions == Positions::Rotary) add_rotation(to_, shared, model_, sequence);
    if (model_.positions == Positions::Slopes)
      shared.bias = slopes(to_, stack.attention.heads, sequence);
    if (model_.positions == Positions::Buckets) shared.bias = distances(stack, sequence);
    return shared;
  }

  // Of Raffel et al. (2020, section 2.1): [heads, positions, positions], from a table that holds a
  // number for each bucket of distances and head.
  TensorId distances(const Stack& stack, std::int64_t sequence) {
    const std::string& name = stack.bias_table;
    const TensorId rows = to_.parameter(name + ".weight", {model_.buckets, stack.attention.heads});
    const TensorId buckets = to_.integer_table(
        name + "/buckets", {sequence, sequence},
        [&](std::int64_t i) { return bucket(i % sequence - i / sequence, !stack.causal, model_); });
    return to_.transpose(name + "/by_heads", to_.op(name, "Gather", {rows, buckets}), {2, 0, 1});
  }

  // ---- behind the layers

  TensorId first_token(TensorId x) {
    const Shape shape = to_.shape(x);
    const TensorId one = to_.slice("first_token", x, 1, 0, 1);
    return to_.reshape("first_token/flat", one, {shape[0], shape[2]});
  }

  void head(TensorId x) {
    const Head& head = model_.head;
    if (head.first_token) x = first_token(x);
    if (!head.transform.name.empty()) {
      x = to_.linear(head.transform, "", x, model_.width);
      x = to_.activated(head.transform.name + "/activation", x, head.activation);
    }
    if (!head.norm.empty()) x = to_.normalized(head.norm, x);
    if (head.scores.empty()) return;
    x = to_.dropped(head.scores + "/dropout", x, head.dropout);
    scores(to_.scaled(head.scores + "/scale", x, head.scale));
  }

  void scores(TensorId x) {
    const Head& head = model_.head;
    const Embedding& embedding = model_.embedding;
    if (!embedding.project_out.empty()) x = to_.product(embedding.project_out, x, embedding.width);
    x = head.tied ? to_.op(head.scores, "FusedMatMul", {x, word_table()}, {{"transB", kOne}})
                  : to_.product(head.scores, x, head.size);
    if (!head.bias_name.empty())
      x = to_.add(head.scores + "/bias", x, to_.parameter(head.bias_name, {head.size}));
    capped(to_, head.scores, x, head.cap);
  }

  const Description& model_;
  const Sizes& sizes_;
  Writer to_;
};

}  // namespace

Graph write_model(const Description& model, const Sizes& sizes, const std::string& name,
                  const std::string& file) {
  return ModelWriter(model, sizes, name, file).write();
}

}  // namespace strato::transformers_import
