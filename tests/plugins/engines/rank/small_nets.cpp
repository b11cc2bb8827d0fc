#include "tests/plugins/engines/rank/small_nets.h"

#include <set>

#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

constexpr std::int64_t kOne = 1;

class NetKit : public ModelKit {
 public:
  explicit NetKit(std::int64_t of) : ModelKit(of), batch(of) {}

  TensorId w(Shape shape) { return weight("w" + std::to_string(weights_++), std::move(shape)); }
  TensorId batch_norm(TensorId x, std::int64_t channels) {
    const Shape one = {channels};
    return op("BatchNormalization", {x, w(one), w(one), w(one), w(one)});
  }
  TensorId conv(TensorId x, std::int64_t in, std::int64_t out, std::int64_t window) {
    const std::int64_t pad = window / 2;
    return op("Conv", {x, w({out, in, window, window}), w({out})},
              {{"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
  }
  TensorId linear(TensorId x, std::int64_t in, std::int64_t out) {
    return op("Add", {op("MatMul", {x, w({in, out})}), w({out})});
  }
  TensorId pool(TensorId x) {
    return op("MaxPool", {x},
              {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
               {"strides", std::vector<std::int64_t>{2, 2}}});
  }
  TensorId labels() { return input("labels", {batch}, DataType::I64); }
  void classify(TensorId scores) { op("SoftmaxCrossEntropyLoss", {scores, labels()}); }

  std::int64_t batch;

 private:
  int weights_ = 0;
};

Graph convolutional(std::int64_t batch) {
  NetKit kit(batch);
  TensorId x = kit.input("x", {batch, 2, 8, 8});
  x = kit.op("Relu", {kit.batch_norm(kit.conv(x, 2, 4, 3), 4)});
  x = kit.pool(x);
  x = kit.op("Relu", {kit.conv(x, 4, 6, 3)});
  x = kit.shaped("Dropout", {x}, {{batch, 6, 4, 4}, {batch, 6, 4, 4}});
  x = kit.op("Flatten",
             {kit.op("AveragePool", {x}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})});
  x = kit.op("Gemm", {x, kit.w({6 * 3 * 3, 5}), kit.w({5})});
  kit.classify(x);
  return kit.build();
}

Graph inception(std::int64_t batch) {
  NetKit kit(batch);
  const TensorId x = kit.op("Relu", {kit.conv(kit.input("x", {batch, 3, 6, 6}), 3, 4, 1)});
  const TensorId one = kit.conv(x, 4, 2, 1);
  const TensorId three = kit.conv(kit.op("Relu", {kit.conv(x, 4, 2, 1)}), 2, 3, 3);
  const TensorId five = kit.conv(kit.op("Relu", {kit.conv(x, 4, 1, 1)}), 1, 2, 5);
  const TensorId pooled = kit.conv(kit.op("MaxPool", {x},
                                          {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                           {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}),
                                   4, 1, 1);
  TensorId y = kit.op("Concat", {one, three, five, pooled}, {{"axis", kOne}});
  y = kit.op("Flatten", {kit.op("GlobalAveragePool", {kit.op("Relu", {y})})});
  kit.classify(kit.linear(y, 8, 4));
  return kit.build();
}

// Two heads; positions are a parameter that is broadcast over the samples.
Graph transformer(std::int64_t batch) {
  NetKit kit(batch);
  const std::int64_t steps = 4, width = 6, heads = 2, each = width / heads;
  const TensorId ids = kit.input("ids", {batch, steps}, DataType::I64);
  TensorId x = kit.op("Add", {kit.op("Gather", {kit.w({9, width}), ids}), kit.w({steps, width})});
  const auto split = [&](TensorId from, std::vector<std::int64_t> permutation) {
    return kit.transpose(kit.reshape(from, {batch, steps, heads, each}), std::move(permutation));
  };
  const TensorId q = split(kit.linear(x, width, width), {0, 2, 1, 3});
  const TensorId k = split(kit.linear(x, width, width), {0, 2, 3, 1});
  const TensorId v = split(kit.linear(x, width, width), {0, 2, 1, 3});
  const TensorId weights = kit.op("Softmax", {kit.op("MatMul", {q, k})}, {{"axis", -kOne}});
  const TensorId mixed = kit.transpose(kit.op("MatMul", {weights, v}), {0, 2, 1, 3});
  x = kit.op("Add", {x, kit.linear(kit.reshape(mixed, {batch, steps, width}), width, width)});
  x = kit.op("LayerNormalization", {x, kit.w({width}), kit.w({width})});
  x = kit.op("Add", {x, kit.linear(kit.op("Gelu", {kit.linear(x, width, 8)}), 8, width)});
  x = kit.op("ReduceMean", {x}, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", 0 * kOne}});
  kit.classify(kit.linear(x, width, 5));
  return kit.build();
}

// As GPT has it: the words that come next, of a vocabulary that is read from the table that they
// are looked up in; their cross entropy in blocks of words.
Graph gpt(std::int64_t batch) {
  NetKit kit(batch);
  const std::int64_t steps = 3, heads = 2, width = 4, words = 16, blocks = 4;
  const Shape labels = {batch, steps};
  const TensorId table = kit.w({words, width});
  TensorId x = kit.op("Gather", {table, kit.input("ids", labels, DataType::I64)});
  x = kit.op("Add", {x, kit.w({steps, width})});
  const auto norm = [&](TensorId of) {
    return kit.op("LayerNormalization", {of, kit.w({width}), kit.w({width})});
  };
  const auto by_heads = [&](TensorId of) {
    const Shape split = {batch, steps, heads, width / heads};
    return kit.transpose(kit.reshape(kit.linear(of, width, width), split), {0, 2, 1, 3});
  };
  TensorId h = norm(x);
  h = kit.op("Attention", {by_heads(h), by_heads(h), by_heads(h)}, {{"is_causal", kOne}});
  h = kit.reshape(kit.transpose(h, {0, 2, 1, 3}), {batch, steps, width});
  x = kit.op("Add", {x, kit.linear(h, width, width)});
  h = kit.linear(kit.op("Gelu", {kit.linear(norm(x), width, 8)}), 8, width);
  x = norm(kit.op("Add", {x, h}));
  const TensorId scores = kit.op("FusedMatMul", {x, table}, {{"transB", kOne}});
  const TensorId next = kit.input("labels", labels, DataType::I64);
  const TensorId sums = kit.op("BlockLogSumExp", {scores, next}, {{"blocks", blocks}}, 2);
  kit.op("BlockCrossEntropy", {sums, TensorId(sums.index() + 1), next});
  return kit.build();
}

// As Llama has it: grouped queries, rotated positions, no mean in the norms, gated products.
Graph llama(std::int64_t batch) {
  NetKit kit(batch);
  const std::int64_t steps = 3, heads = 4, key_heads = 2, each = 2, width = heads * each;
  const TensorId ids = kit.input("ids", {batch, steps}, DataType::I64);
  const TensorId cosines = kit.input("cosines", {batch, steps, each / 2});
  const TensorId sines = kit.input("sines", {batch, steps, each / 2});
  TensorId x = kit.op("Gather", {kit.w({9, width}), ids});
  const auto norm = [&](TensorId of) { return kit.op("RMSNormalization", {of, kit.w({width})}); };
  const auto product = [&](TensorId of, std::int64_t in, std::int64_t out) {
    return kit.op("MatMul", {of, kit.w({in, out})});
  };
  const auto split = [&](TensorId from, std::int64_t count) {
    return kit.transpose(kit.reshape(from, {batch, steps, count, each}), {0, 2, 1, 3});
  };
  const auto turned = [&](TensorId from) {
    return kit.op("RotaryEmbedding", {from, cosines, sines});
  };
  TensorId h = norm(x);
  const TensorId q = turned(split(product(h, width, width), heads));
  const TensorId k = turned(split(product(h, width, key_heads * each), key_heads));
  const TensorId v = split(product(h, width, key_heads * each), key_heads);
  const TensorId mixed = kit.op("Attention", {q, k, v}, {{"is_causal", kOne}});
  h = kit.reshape(kit.transpose(mixed, {0, 2, 1, 3}), {batch, steps, width});
  x = kit.op("Add", {x, product(h, width, width)});
  h = norm(x);
  h = kit.op("Mul", {kit.op("Swish", {product(h, width, 6)}), product(h, width, 6)});
  x = kit.op("Add", {x, product(h, 6, width)});
  x = kit.op("ReduceMean", {norm(x)},
             {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", 0 * kOne}});
  kit.classify(product(x, width, 5));
  return kit.build();
}

// Each head has keys of its own. Two of four experts a token, with room for half of all choices.
Graph mixture(std::int64_t batch) {
  NetKit kit(batch);
  const std::int64_t steps = 3, heads = 2, width = 4, experts = 4, choices = 2;
  const auto norm = [&](TensorId of) { return kit.op("RMSNormalization", {of, kit.w({width})}); };
  const TensorId ids = kit.input("ids", {batch, steps}, DataType::I64);
  TensorId x = norm(kit.op("Gather", {kit.w({9, width}), ids}));
  const TensorId angles = kit.input("angles", {batch, steps, width / heads / 2});
  const auto by_heads = [&](TensorId from) {
    const TensorId all = kit.op("MatMul", {from, kit.w({width, width})});
    return kit.transpose(kit.reshape(all, {batch, steps, heads, width / heads}), {0, 2, 1, 3});
  };
  const TensorId q = kit.op("RotaryEmbedding", {by_heads(x), angles, angles});
  const TensorId mixed = kit.op("Attention", {q, by_heads(x), by_heads(x)});
  x = kit.op("Add", {x, kit.reshape(kit.transpose(mixed, {0, 2, 1, 3}), {batch, steps, width})});
  const TensorId logits = kit.op("MatMul", {x, kit.w({width, experts})});
  const TensorId best = kit.op("TopK", {logits, kit.constant("choices", {choices})}, {}, 2);
  const TensorId chosen(best.index() + 1);
  kit.builder.tensor(chosen).type = DataType::I64;
  TensorId h = kit.op("DispatchTokens", {x, chosen}, {{"capacity", kOne}, {"experts", experts}});
  const auto expert_product = [&](std::int64_t in, std::int64_t out) {
    return kit.op("MatMul", {h, kit.w({experts, in, out})});
  };
  h = kit.op("Mul", {kit.op("Swish", {expert_product(width, 5)}), expert_product(width, 5)});
  h = expert_product(5, width);
  h = kit.op("CombineTokens", {h, chosen, kit.op("Softmax", {best})});
  const TensorId y = kit.op("ReduceMean", {norm(kit.op("Add", {x, h}))},
                            {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", 0 * kOne}});
  kit.classify(kit.linear(y, width, 5));
  return kit.build();
}

// Time outermost, merged with the samples for the product with the inputs.
Graph recurrent(std::int64_t batch) {
  NetKit kit(batch);
  const std::int64_t steps = 3, in = 4, width = 3;
  const TensorId turned = kit.transpose(kit.input("x", {batch, steps, in}), {1, 0, 2});
  const TensorId rows = kit.reshape(turned, {steps * batch, in});
  const TensorId inputs = kit.reshape(kit.linear(rows, in, 4 * width), {steps, batch, 4 * width});
  const TensorId again = kit.w({width, 4 * width});
  TensorId hidden, cell;
  for (std::int64_t t = 0; t < steps; ++t) {
    const TensorId now = kit.shaped(
        "Slice",
        {inputs, kit.constant("from", {t}), kit.constant("to", {t + 1}), kit.constant("axes", {0})},
        {{1, batch, 4 * width}});
    TensorId gates = kit.reshape(now, {batch, 4 * width});
    if (hidden.valid()) gates = kit.op("Add", {gates, kit.op("MatMul", {hidden, again})});
    const Shape part = {batch, width};
    const TensorId first = kit.shaped("Split", {gates}, {part, part, part, part}, {{"axis", kOne}});
    const auto gate = [&](std::size_t i) { return TensorId(first.index() + i); };
    const TensorId input_gate = kit.op("Sigmoid", {gate(0)}), candidate = kit.op("Tanh", {gate(3)});
    const TensorId fresh = kit.op("Mul", {input_gate, candidate});
    const TensorId forget = kit.op("Sigmoid", {gate(1)});
    cell = cell.valid() ? kit.op("Add", {kit.op("Mul", {forget, cell}), fresh})
                        : kit.op("Add", {fresh, kit.op("Mul", {forget, fresh})});
    hidden = kit.op("Mul", {kit.op("Sigmoid", {gate(2)}), kit.op("Tanh", {cell})});
  }
  kit.classify(kit.linear(hidden, width, 4));
  return kit.build();
}

// Few of the rows of the tables are touched; the loss is of numbers, made by the training graph.
Graph embedding(std::int64_t batch) {
  NetKit kit(batch);
  const TensorId users =
      kit.op("Gather", {kit.w({40, 5}), kit.input("user", {batch}, DataType::I64)});
  const TensorId table = kit.w({60, 5});
  const TensorId items = kit.op("Gather", {table, kit.input("items", {batch, 3}, DataType::I64)});
  const TensorId taste =
      kit.op("ReduceSum", {items, kit.constant("axes", {1})}, {{"keepdims", 0 * kOne}});
  const TensorId both = kit.op("Concat", {users, taste}, {{"axis", kOne}});
  kit.linear(kit.op("Tanh", {kit.linear(both, 10, 6)}), 6, 1);
  return kit.build();
}

// Computes in another type than its weights are kept in, as mixed precision does.
Graph casting(std::int64_t batch) {
  NetKit kit(batch);
  constexpr std::int64_t kDouble = 11;
  const auto cast = [&](TensorId x) { return kit.op("Cast", {x}, {{"to", kDouble}}); };
  TensorId x = cast(kit.input("x", {batch, 12}));
  x = kit.op("Relu", {kit.op("MatMul", {x, cast(kit.w({12, 8}))})});
  x = kit.op("Relu", {kit.op("MatMul", {x, cast(kit.w({8, 12}))})});
  kit.classify(kit.op("MatMul", {x, cast(kit.w({12, 6}))}));
  return kit.build();
}

std::string as_doubles(const std::string& floats) {
  std::string bytes;
  for (std::size_t at = 0; at < floats.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, floats.data() + at, sizeof value);
    const double wide = value;
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return bytes;
}

}  // namespace

Graph in_double(const Graph& graph) { return with_numbers(graph, DataType::F64); }

Graph with_numbers(const Graph& graph, DataType type) {
  GraphBuilder builder = builder_with_tensors(graph);
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    Tensor& tensor = builder.tensor(TensorId(i));
    if (tensor.type != DataType::F32 || type == DataType::F32) continue;
    tensor.type = DataType::F64;
    if (tensor.data) tensor.data = std::make_shared<const std::string>(as_doubles(*tensor.data));
  }
  for (const Op& op : graph.ops()) {
    if (op.type == "Dropout" && op.outputs.size() > 1)
      builder.tensor(op.outputs[1]).type = DataType::Bool;
    builder.add_op(op);
  }
  return std::move(builder).build();
}

std::vector<SmallNet> small_nets(std::int64_t batch, Optimizer optimizer, DataType type) {
  std::vector<SmallNet> nets;
  const auto add = [&](std::string name, const Graph& forward) {
    nets.push_back({std::move(name), std::make_shared<const Graph>(make_training_graph(
                                         with_numbers(forward, type), optimizer))});
  };
  add("convolutional", convolutional(batch));
  add("inception", inception(batch));
  add("transformer", transformer(batch));
  add("gpt", gpt(batch));
  add("llama", llama(batch));
  add("mixture", mixture(batch));
  add("recurrent", recurrent(batch));
  add("embedding", embedding(batch));
  return nets;
}

SmallNet casting_net(std::int64_t batch, Optimizer optimizer) {
  return {"casting",
          std::make_shared<const Graph>(make_training_graph(in_double(casting(batch)), optimizer))};
}

void duplicate_batch_norm(const Graph& graph, Strategy& strategy) {
  const auto is_one = [&](OpId op) { return graph.op(op).type.starts_with("BatchNormalization"); };
  std::set<OpId> ops(strategy.duplicated.begin(), strategy.duplicated.end());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (is_one(OpId(i))) ops.insert(OpId(i));
  }
  strategy.duplicated.assign(ops.begin(), ops.end());
  std::erase_if(strategy.splits, [&](const OpSplit& split) { return is_one(split.op); });
}

}  // namespace strato
