#include "plugins/importers/transformers/build/feed_forward.h"

namespace strato::transformers_import {
namespace {

constexpr std::int64_t kChoiceAxis = 2;  // of [batch, sequence, experts]

// `product(layer, x, out)` writes a product with weights.
template <class Product>
TensorId feed_of(Writer& writer, const FeedForward& feed, const std::string& prefix, TensorId x,
                 const Product& product) {
  const std::string name = prefix + feed.scope;
  const std::int64_t width = writer.shape(x).back();
  const TensorId up = product(feed.up, x, feed.width);
  if (feed.gate.name.empty())
    return product(feed.down, writer.activated(name + "/activation", up, feed.activation), width);
  const TensorId gate = product(feed.gate, x, feed.width);
  const TensorId open = writer.activated(name + "/activation", gate, feed.activation);
  return product(feed.down, writer.op(name + "/gated", "Mul", {open, up}), width);
}

struct Choice {
  TensorId experts, weights;  // [batch, sequence, chosen]
};

Choice best(Writer& writer, const Experts& experts, const std::string& name, TensorId scores) {
  Shape shape = writer.shape(scores);
  shape.back() = experts.chosen;
  const auto made =
      writer.ops(name + "/choice", "TopK", {scores, writer.integers({experts.chosen})}, {},
                 {shape, shape}, {writer.type(), DataType::I64});
  return {made[1], made[0]};
}

// Of DeepSeek-V3 (2024, section 2.1.2): what corrects the scores decides which experts are chosen,
// and is taken away again from their weights. So its gradient is zero, but it is made and added up
// over the batch, as what the paper updates it by is: a number for each expert.
Choice by_sigmoid(Writer& writer, const Experts& experts, const std::string& name,
                  const std::string& prefix, TensorId logits) {
  const TensorId scores = writer.op(name + "/scores", "Sigmoid", {logits});
  const TensorId correction =
      writer.parameter(prefix + experts.correction, {writer.shape(scores).back()});
  const TensorId corrected = writer.add(name + "/corrected", scores, correction);
  Choice choice = best(writer, experts, name, corrected);
  const TensorId added = writer.op(name + "/correction", "Gather", {correction, choice.experts});
  choice.weights = writer.op(name + "/weights", "Sub", {choice.weights, added});
  if (!experts.sum_to_one) return choice;
  const TensorId sum =
      writer.op(name + "/sum", "ReduceSum", {choice.weights, writer.integers({kChoiceAxis})});
  choice.weights = writer.op(name + "/shares", "Div", {choice.weights, sum});
  return choice;
}

// Probabilities of all experts, or, where those of the chosen sum to one, of the chosen.
Choice by_softmax(Writer& writer, const Experts& experts, const std::string& name,
                  TensorId logits) {
  const auto softmax = [&](TensorId of) {
    return writer.op(name + "/softmax", "Softmax", {of}, {{"axis", -kOne}});
  };
  if (!experts.sum_to_one) return best(writer, experts, name, softmax(logits));
  Choice choice = best(writer, experts, name, logits);
  choice.weights = softmax(choice.weights);
  return choice;
}

TensorId shared_expert(Writer& writer, const Experts& experts, const std::string& prefix,
                       TensorId x) {
  const TensorId made = write_feed_forward(writer, *experts.shared, prefix, x);
  if (experts.shared_gate.empty()) return made;
  const std::string name = prefix + experts.shared_gate;
  const TensorId open = writer.op(name + "/sigmoid", "Sigmoid", {writer.product(name, x, 1)});
  return writer.op(name + "/gated", "Mul", {made, open});
}

}  // namespace

TensorId write_feed_forward(Writer& writer, const FeedForward& feed, const std::string& prefix,
                            TensorId x) {
  return feed_of(writer, feed, prefix, x, [&](const Linear& layer, TensorId of, std::int64_t out) {
    return writer.linear(layer, prefix, of, out);
  });
}

TensorId write_experts(Writer& writer, const Experts& experts, const std::string& prefix,
                       TensorId x) {
  const std::string name = prefix + experts.router, scope = prefix + experts.each.scope;
  const TensorId logits = writer.product(name, x, experts.count);
  Choice choice = experts.scores == Scores::Sigmoid
                      ? by_sigmoid(writer, experts, name, prefix, logits)
                      : by_softmax(writer, experts, name, logits);
  choice.weights = writer.scaled(name + "/scale", choice.weights, experts.scale);
  const std::int64_t choices = writer.shape(x)[1] * experts.chosen;
  const std::int64_t capacity = (choices + experts.count - 1) / experts.count;
  const TensorId sent = writer.op(scope + "/dispatch", "DispatchTokens", {x, choice.experts},
                                  {{"capacity", capacity}, {"experts", experts.count}});
  const auto product = [&](const Linear& layer, TensorId of, std::int64_t out) {
    const Shape stacked = {experts.count, writer.shape(of).back(), out};
    const TensorId weight = writer.parameter(prefix + layer.name + ".weight", stacked);
    return writer.op(prefix + layer.name, "MatMul", {of, weight});
  };
  const TensorId made = feed_of(writer, experts.each, prefix, sent, product);
  const TensorId sum =
      writer.op(scope + "/combine", "CombineTokens", {made, choice.experts, choice.weights});
  if (!experts.shared) return sum;
  return writer.add(scope + "/sum", sum, shared_expert(writer, experts, prefix, x));
}

}  // namespace strato::transformers_import
