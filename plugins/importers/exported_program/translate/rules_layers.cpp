#include "plugins/importers/exported_program/translate/rules_layers.h"

#include <algorithm>
#include <array>
#include <string>

namespace strato::exported_program_import {
namespace {

constexpr std::int64_t kYes = 1;

// ---- products

void linear(Lowering& to) {
  const TensorId x = to.required("input"), weight = to.required("weight"), bias = to.in("bias");
  if (to.rank(x) == 2) {
    Ids inputs = {x, weight};
    if (bias.valid()) inputs.push_back(bias);
    return to.emit("Gemm", std::move(inputs), {{"transB", kYes}});
  }
  const Attributes turned = {{"transB", kYes}};
  if (!bias.valid()) return to.emit("FusedMatMul", {x, weight}, turned);
  const TensorId product = to.step("FusedMatMul", {x, weight}, to.result().shape, turned);
  to.emit("Add", {product, bias});
}

// beta * self + alpha * (a @ b)
void product_and_sum(Lowering& to) {
  const TensorId a = to.required("mat1");
  TensorId b = to.required("mat2");
  Attributes attributes = {{"alpha", to.call.real("alpha", 1)}, {"beta", to.call.real("beta", 1)}};
  if (const TensorId stored = to.turned_parameter(b); stored.valid()) {
    b = stored;
    attributes.emplace_back("transB", kYes);
  }
  to.emit("Gemm", {a, b, to.required("self")}, std::move(attributes));
}

// A parameter that is read transposed is read as it is stored.
void product(Lowering& to) {
  const TensorId a = to.in("self").valid() ? to.in("self") : to.required("input");
  const TensorId b = to.in("mat2").valid()  ? to.in("mat2")
                     : to.in("vec").valid() ? to.in("vec")
                                            : to.required("other");
  const TensorId stored = to.turned_parameter(b);
  if (stored.valid()) return to.emit("FusedMatMul", {a, stored}, {{"transB", kYes}});
  to.emit("MatMul", {a, b});
}

void batched_product_and_sum(Lowering& to) {
  const TensorId product =
      to.step("MatMul", {to.required("batch1"), to.required("batch2")}, to.result().shape);
  to.emit("Add", {product, to.required("self")});
}

void einsum(Lowering& to) {
  to.emit("Einsum", to.list("tensors"), {{"equation", to.call.text("equation", "")}});
}

// ---- convolutions

Ints per_axis(const Lowering& to, std::string_view argument, std::size_t axes,
              std::int64_t fallback) {
  Ints list = to.call.integers(argument).value_or(Ints{fallback});
  if (list.empty()) list = {fallback};
  if (list.size() == 1) list.resize(axes, list[0]);
  return list;
}

// Before and behind each axis alike; "same" fills up what the filter takes away.
Ints pads_of(const Lowering& to, const Ints& window, const Ints& dilations) {
  const std::size_t axes = window.size();
  Ints both(2 * axes, 0);
  const std::string kind = to.call.text("padding", "");
  const Ints given = kind.empty() ? per_axis(to, "padding", axes, 0) : Ints(axes, 0);
  for (std::size_t i = 0; i < axes && i < given.size(); ++i) {
    const std::int64_t taken = dilations[i] * (window[i] - 1);
    both[i] = kind == "same" ? taken / 2 : given[i];
    both[i + axes] = kind == "same" ? taken - taken / 2 : given[i];
  }
  return both;
}

void convolution(Lowering& to) {
  const TensorId x = to.required("input"), weight = to.required("weight"), bias = to.in("bias");
  const Shape& filter = to.shape(weight);
  if (to.rank(x) != filter.size() || filter.size() < 3)
    to.call.refuse("convolves without samples, or with a filter of other axes",
                   "export the program with a batch");
  const Ints window(filter.begin() + 2, filter.end());
  const std::size_t axes = window.size();
  const Ints dilations = per_axis(to, "dilation", axes, 1);
  if (dilations.size() != axes) to.call.refuse("has other dilations than axes", "export it again");
  const bool transposed =
      to.call.flag("transposed", false) || to.call.op().find("transpose") != std::string::npos;
  Attributes attributes = {{"kernel_shape", window},
                           {"strides", per_axis(to, "stride", axes, 1)},
                           {"dilations", dilations},
                           {"pads", pads_of(to, window, dilations)},
                           {"group", to.call.integer("groups", 1)}};
  if (transposed)
    attributes.emplace_back("output_padding", per_axis(to, "output_padding", axes, 0));
  Ids inputs = {x, weight};
  if (bias.valid()) inputs.push_back(bias);
  to.emit(transposed ? "ConvTranspose" : "Conv", std::move(inputs), std::move(attributes));
}

// ---- normalisations

// x, scale and shift, as far as they are given.
Ids scaled(const Lowering& to, TensorId x) {
  Ids inputs = {x};
  for (const char* name : {"weight", "bias"})
    if (const TensorId given = to.in(name); given.valid()) inputs.push_back(given);
  return inputs;
}

TensorId normalized_input(const Lowering& to) {
  return to.in("input").valid() ? to.in("input") : to.required("self");
}

// Over the last axes.
void layer_norm(Lowering& to) {
  const Ints over = to.call.integers("normalized_shape").value_or(Ints{0});
  const bool root = to.call.op().find("rms_norm") != std::string::npos;
  to.emit(root ? "RMSNormalization" : "LayerNormalization", scaled(to, normalized_input(to)),
          {{"axis", -std::ssize(over)}, {"epsilon", to.call.real("eps", 1e-5)}}, to.results());
}

void batch_norm(Lowering& to) {
  Ids inputs = scaled(to, normalized_input(to));
  if (inputs.size() == 3)
    for (const char* name : {"running_mean", "running_var"})
      if (const TensorId given = to.in(name); given.valid()) inputs.push_back(given);
  const bool training =
      to.call.flag("training", false) || to.call.op().find("no_training") == std::string::npos;
  to.emit(
      "BatchNormalization", std::move(inputs),
      {{"epsilon", to.call.real("eps", 1e-5)}, {"training_mode", std::int64_t{training ? 1 : 0}}});
}

void group_norm(Lowering& to) {
  const std::int64_t groups = to.call.integer("num_groups", to.call.integer("group", 1));
  to.emit("GroupNormalization", scaled(to, normalized_input(to)),
          {{"num_groups", groups}, {"epsilon", to.call.real("eps", 1e-5)}});
}

void instance_norm(Lowering& to) {
  to.emit("InstanceNormalization", scaled(to, normalized_input(to)),
          {{"epsilon", to.call.real("eps", 1e-5)}});
}

void softmax(Lowering& to) {
  const TensorId x = normalized_input(to);
  const bool logarithm = to.call.op().find("log_softmax") != std::string::npos;
  to.emit(logarithm ? "LogSoftmax" : "Softmax", {x},
          {{"axis", to.axis(to.call.integer("dim", -1), to.rank(x))}});
}

// ---- attention and lookups

void attention(Lowering& to) {
  Ids inputs = {to.required("query"), to.required("key"), to.required("value")};
  for (const TensorId id : inputs)
    if (to.rank(id) != 4) return to.unknown(std::move(inputs));  // its heads are not told
  const TensorId bias = to.in("attn_bias");
  const TensorId mask = bias.valid() ? bias : to.in("attn_mask");
  if (mask.valid()) inputs.push_back(mask);
  Attributes attributes;
  if (to.call.flag("is_causal", false)) attributes.emplace_back("is_causal", kYes);
  if (to.call.has("scale")) attributes.emplace_back("scale", to.call.real("scale", 1));
  to.emit("Attention", std::move(inputs), std::move(attributes));
}

void embedding(Lowering& to) {
  to.emit("Gather", {to.required("weight"), to.required("indices")}, {{"axis", std::int64_t{0}}});
}

// ---- pooling

void pool(Lowering& to) {
  const TensorId x = to.required("self");
  const bool largest = to.call.op().find("max_pool") != std::string::npos;
  const Ints given = to.call.integers("kernel_size").value_or(Ints{});
  if (to.rank(x) < 3 || given.empty())
    to.call.refuse("pools without samples or a window", "export the program with a batch");
  const std::size_t axes = to.call.op().find("3d") != std::string::npos   ? 3
                           : to.call.op().find("1d") != std::string::npos ? 1
                                                                          : 2;
  if (to.rank(x) != axes + 2) return to.unknown({x});
  const Ints window = per_axis(to, "kernel_size", axes, 1);
  Ints strides = to.call.integers("stride").value_or(Ints{});
  if (strides.empty()) strides = window;
  strides.resize(axes, strides[0]);
  const Ints pads = pads_of(to, window, per_axis(to, "dilation", axes, 1));
  to.emit(largest ? "MaxPool" : "AveragePool", {x},
          {{"kernel_shape", window},
           {"strides", strides},
           {"pads", pads},
           {"ceil_mode", std::int64_t{to.call.flag("ceil_mode", false) ? 1 : 0}}},
          largest ? to.results() : 1);
}

// To a given number of places: windows of equal size where that is possible.
void adaptive_pool(Lowering& to) {
  const TensorId x = to.required("self");
  const Shape &from = to.shape(x), &made = to.result().shape;
  const bool largest = to.call.op().find("max") != std::string::npos;
  if (from.size() != made.size() || from.size() < 3) return to.unknown({x});
  const bool global =
      std::all_of(made.begin() + 2, made.end(), [](std::int64_t extent) { return extent == 1; });
  if (global) return to.emit(largest ? "GlobalMaxPool" : "GlobalAveragePool", {x});
  Ints window;
  for (std::size_t i = 2; i < from.size(); ++i)
    window.push_back(std::max<std::int64_t>(1, made[i] > 0 ? from[i] / made[i] : 1));
  to.emit(largest ? "MaxPool" : "AveragePool", {x},
          {{"kernel_shape", window}, {"strides", window}});
}

// ---- losses

std::string reduction_of(const Lowering& to) {
  static constexpr std::array names = {"none", "mean", "sum"};  // ATen's numbers
  return names[static_cast<std::size_t>(
      std::clamp<std::int64_t>(to.call.integer("reduction", 1), 0, 2))];
}

void class_loss(Lowering& to) {
  const bool scores = to.call.op() == "aten.cross_entropy_loss";
  Ids inputs = {to.required("self"), to.required("target")};
  if (const TensorId weight = to.in("weight"); weight.valid()) inputs.push_back(weight);
  const bool by_class = to.rank(inputs[0]) == to.rank(inputs[1]) + 1;
  if (!by_class) return to.unknown(std::move(inputs));  // targets are probabilities
  to.emit(scores ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss", std::move(inputs),
          {{"reduction", reduction_of(to)}});
}

void squared_loss(Lowering& to) {
  if (reduction_of(to) == "none") return to.unknown({to.required("self"), to.required("target")});
  to.emit("MeanSquaredLoss", {to.required("self"), to.required("target")});
}

}  // namespace

Rules layer_rules() {
  Rules rules = {{"aten.linear", linear},
                 {"aten.addmm", product_and_sum},
                 {"aten.baddbmm", batched_product_and_sum},
                 {"aten.einsum", einsum},
                 {"aten.instance_norm", instance_norm},
                 {"aten.embedding", embedding},
                 {"aten.mse_loss", squared_loss}};
  const auto add = [&rules](Rule rule, std::initializer_list<const char*> ops) {
    for (const char* op : ops) rules[op] = rule;
  };
  add(product, {"aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot"});
  add(convolution,
      {"aten.convolution", "aten._convolution", "aten.conv1d", "aten.conv2d", "aten.conv3d",
       "aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d"});
  add(layer_norm,
      {"aten.layer_norm", "aten.native_layer_norm", "aten.rms_norm", "aten._fused_rms_norm"});
  add(batch_norm, {"aten.batch_norm", "aten.native_batch_norm", "aten.cudnn_batch_norm",
                   "aten._native_batch_norm_legit", "aten._native_batch_norm_legit_functional",
                   "aten._native_batch_norm_legit_no_training",
                   "aten._batch_norm_with_update_functional", "aten._batch_norm_no_update"});
  add(group_norm, {"aten.group_norm", "aten.native_group_norm"});
  add(softmax, {"aten.softmax", "aten._softmax", "aten._safe_softmax", "aten.log_softmax",
                "aten._log_softmax"});
  add(attention,
      {"aten.scaled_dot_product_attention", "aten._scaled_dot_product_flash_attention",
       "aten._scaled_dot_product_flash_attention_for_cpu",
       "aten._scaled_dot_product_efficient_attention", "aten._scaled_dot_product_cudnn_attention"});
  add(pool,
      {"aten.max_pool1d", "aten.max_pool2d", "aten.max_pool3d", "aten.max_pool2d_with_indices",
       "aten.max_pool3d_with_indices", "aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d"});
  add(adaptive_pool,
      {"aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d",
       "aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d", "aten.adaptive_max_pool2d"});
  add(class_loss, {"aten.cross_entropy_loss", "aten.nll_loss", "aten.nll_loss_nd",
                   "aten.nll_loss2d", "aten.nll_loss_forward", "aten.nll_loss2d_forward"});
  return rules;
}

}  // namespace strato::exported_program_import
