// A small model for every op that has a gradient: what each engine or export is tried on.
#pragma once

#include "tests/plugins/engines/torch/small_model.h"

namespace strato {

struct GradientCase {
  std::string name;
  std::function<TensorId(SmallModel&)> result;
  double low = -1, high = 1;
};

inline void PrintTo(const GradientCase& each, std::ostream* to) { *to << each.name; }

inline GradientCase of(std::string name, std::function<TensorId(SmallModel&)> result,
                       double low = -1, double high = 1) {
  return {std::move(name), std::move(result), low, high};
}

// One op on one parameter of this shape.
inline GradientCase alone(const std::string& type, Shape shape, Attributes attributes = {},
                          double low = -1, double high = 1, std::string suffix = "") {
  return of(
      type + suffix, [=](SmallModel& m) { return m.op(type, {m.weight(shape)}, attributes); }, low,
      high);
}
inline GradientCase pair(const std::string& type, Shape a, Shape b, Attributes attributes = {},
                         double low = -1, double high = 1, std::string suffix = "") {
  return of(
      type + suffix,
      [=](SmallModel& m) {
        return m.op(type, {m.weight(a), m.weight(b)}, attributes);
      },
      low, high);
}
inline GradientCase triple(const std::string& type, Shape a, Shape b, Shape c,
                           Attributes attributes = {}, std::string suffix = "") {
  return of(type + suffix, [=](SmallModel& m) {
    return m.op(type, {m.weight(a), m.weight(b), m.weight(c)}, attributes);
  });
}

inline std::vector<GradientCase> products_cases() {
  return {
      pair("MatMul", {2, 3}, {3, 4}),
      pair("MatMul", {2, 5, 3}, {3, 4}, {}, -1, 1, "Weight"),
      pair("MatMul", {2, 5, 3}, {2, 3, 4}, {}, -1, 1, "Batched"),
      pair("MatMul", {2, 1, 5, 3}, {4, 3, 4}, {}, -1, 1, "Broadcast"),
      pair("MatMul", {3}, {3, 4}, {}, -1, 1, "Row"),
      pair("MatMul", {2, 3}, {3}, {}, -1, 1, "Column"),
      pair("MatMul", {2, 5, 3}, {3}, {}, -1, 1, "BatchedColumn"),
      pair("MatMul", {3, 4}, {2, 4, 5}, {}, -1, 1, "SharedLeft"),
      of("FusedMatMul",
         [](SmallModel& m) {
           return m.op("FusedMatMul", {m.weight({3, 2}), m.weight({4, 3})},
                       {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.5}},
                       {2, 4});
         }),
      pair("Gemm", {2, 3}, {3, 4}),
      triple("Gemm", {2, 3}, {3, 4}, {4}, {}, "Bias"),
      triple(
          "Gemm", {3, 2}, {4, 3}, {2, 1},
          {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}},
          "Turned"),
      triple("Gemm", {3, 2}, {3, 4}, {1}, {{"transA", std::int64_t{1}}, {"beta", 2.0}}, "Scalar"),
      triple("Gemm", {2, 3}, {4, 3}, {2, 4}, {{"transB", std::int64_t{1}}}, "Full")};
}

inline const Ints k3 = {3, 3}, k2 = {2, 2};

inline std::vector<GradientCase> windows_cases() {
  return {
      triple("Conv", {2, 3, 5, 6}, {4, 3, 3, 3}, {4}, {{"kernel_shape", k3}}),
      pair("Conv", {2, 3, 7, 6}, {4, 3, 3, 2}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", k2}}, -1, 1,
           "Strided"),
      pair("Conv", {2, 4, 6, 6}, {6, 2, 3, 3},
           {{"group", std::int64_t{2}}, {"dilations", k2}, {"pads", Ints{2, 2, 2, 2}}}, -1, 1,
           "Groups"),
      triple("Conv", {2, 2, 5, 5}, {3, 2, 2, 2}, {3}, {{"pads", Ints{0, 1, 1, 0}}}, "Uneven"),
      pair("Conv", {2, 2, 5, 5}, {3, 2, 2, 2}, {{"auto_pad", std::string("SAME_UPPER")}}, -1, 1,
           "Same"),
      pair("Conv", {2, 2, 6, 5}, {3, 2, 4, 4},
           {{"auto_pad", std::string("SAME_LOWER")}, {"strides", k2}}, -1, 1, "SameLower"),
      triple("Conv", {2, 2, 9}, {3, 2, 3}, {3}, {{"pads", Ints{1, 1}}}, "OneAxis"),
      pair("Conv", {2, 1, 4, 4, 4}, {2, 1, 2, 2, 2}, {}, -1, 1, "ThreeAxes"),
      triple("ConvTranspose", {2, 3, 4, 4}, {3, 2, 3, 3}, {2},
             {{"strides", k2}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}}),
      alone("MaxPool", {2, 3, 6, 6}, {{"kernel_shape", k2}, {"strides", k2}}),
      alone("MaxPool", {2, 2, 7, 7},
            {{"kernel_shape", k3}, {"strides", k2}, {"pads", Ints{1, 1, 1, 1}}}, -1, -0.1,
            "Padded"),
      alone("MaxPool", {2, 2, 6, 6},
            {{"kernel_shape", k3}, {"strides", k2}, {"pads", Ints{0, 0, 1, 1}}}, -1, -0.1,
            "Uneven"),
      alone("MaxPool", {2, 2, 6, 6},
            {{"kernel_shape", k3}, {"strides", k2}, {"ceil_mode", std::int64_t{1}}}, -1, -0.1,
            "Ceil"),
      alone("AveragePool", {2, 3, 6, 6}, {{"kernel_shape", k2}, {"strides", k2}}),
      alone("AveragePool", {2, 2, 7, 7},
            {{"kernel_shape", k3}, {"strides", k2}, {"pads", Ints{1, 1, 1, 1}}}, -1, 1, "Padded"),
      alone("AveragePool", {2, 2, 7, 7},
            {{"kernel_shape", k3},
             {"pads", Ints{1, 1, 1, 1}},
             {"count_include_pad", std::int64_t{1}}},
            -1, 1, "CountsPads"),
      alone("AveragePool", {2, 2, 6, 6},
            {{"kernel_shape", k3}, {"strides", k2}, {"pads", Ints{0, 0, 1, 1}}}, -1, 1, "Uneven"),
      alone("AveragePool", {2, 2, 6, 6},
            {{"kernel_shape", k3}, {"strides", k2}, {"ceil_mode", std::int64_t{1}}}, -1, 1, "Ceil"),
      alone("GlobalAveragePool", {2, 3, 4, 5}),
      alone("GlobalMaxPool", {2, 3, 4, 5})};
}

inline std::vector<GradientCase> elementwise_cases() {
  return {alone("Abs", {2, 6}),
          alone("Cos", {2, 6}),
          alone("Sin", {2, 6}),
          alone("Erf", {2, 6}),
          alone("Exp", {2, 6}),
          alone("Gelu", {2, 6}),
          alone("FastGelu", {2, 6}),
          alone("Gelu", {2, 6}, {{"approximate", std::string("tanh")}}, -1, 1, "Tanh"),
          alone("QuickGelu", {2, 6}, {}, -4, 4),
          alone("QuickGelu", {2, 6}, {{"alpha", 0.6}}, -4, 4, "Alpha"),
          alone("HardSigmoid", {2, 6}, {}, -4, 4),
          alone("HardSwish", {2, 6}, {}, -4, 4),
          alone("LeakyRelu", {2, 6}),
          alone("Elu", {2, 6}, {{"alpha", 0.7}}),
          alone("Log", {2, 6}, {}, 0.2, 2),
          alone("Neg", {2, 6}),
          alone("Relu", {2, 6}),
          alone("Reciprocal", {2, 6}, {}, 0.2, 2),
          alone("Sigmoid", {2, 6}),
          alone("Silu", {2, 6}),
          alone("Swish", {2, 6}),
          alone("Softplus", {2, 6}),
          alone("Sqrt", {2, 6}, {}, 0.2, 2),
          alone("Tanh", {2, 6}),
          alone("Clip", {2, 6}, {{"min", -0.4}, {"max", 0.6}}),
          alone("Cast", {2, 6}, {{"to", std::int64_t{11}}}),
          pair("Add", {2, 3}, {2, 3}),
          pair("Add", {2, 3, 4}, {3, 1}, {}, -1, 1, "Broadcast"),
          pair("Sub", {2, 3}, {3}),
          pair("Sub", {3}, {2, 3}, {}, -1, 1, "Wide"),
          pair("Mul", {2, 3}, {1, 3}),
          pair("Div", {2, 3}, {3}, {}, 0.3, 1),
          pair("Div", {3}, {2, 3}, {}, 0.3, 1, "Wide"),
          pair("Pow", {2, 3}, {3}, {}, 0.3, 2),
          pair("Max", {2, 3}, {3}),
          pair("Min", {2, 3}, {3}),
          triple("Max", {2, 3}, {3}, {2, 1}, {}, "Three"),
          triple("Sum", {2, 3}, {3}, {2, 1}),
          triple("Mean", {2, 3}, {3}, {2, 1}),
          triple("AddN", {2, 3}, {2, 3}, {2, 3}),
          of("SquareOfItself",
             [](SmallModel& m) {
               const TensorId w = m.weight({2, 3});
               return m.op("Mul", {w, w});
             }),
          of("SeveralReaders",
             [](SmallModel& m) {
               const TensorId w = m.weight({2, 3}), y = m.op("Tanh", {w});
               return m.op("Add", {m.op("Mul", {y, w}), m.op("Sub", {y, m.op("Exp", {y})})});
             }),
          of("Where", [](SmallModel& m) {
            const TensorId a = m.weight({2, 3}), b = m.weight({3});
            return m.op("Where", {m.op("Greater", {a, b}), m.op("Exp", {a}), b});
          })};
}

inline std::vector<GradientCase> normalizations_cases() {
  return {
      of("BatchNormalization",
         [](SmallModel& m) {
           const Shape c = {3};
           return m.op("BatchNormalization",
                       {m.weight({2, 3, 2, 2}), m.weight(c), m.weight(c),
                        m.tensor("mean", TensorRole::Constant, c),
                        m.tensor("var", TensorRole::Constant, c)},
                       {{"epsilon", 1e-3}});
         }),
      of("BatchNormalizationScaleOnly",
         [](SmallModel& m) {
           const Shape c = {3};
           return m.op("BatchNormalization",
                       {m.tensor("x", TensorRole::Input, {2, 3, 2, 2}), m.weight(c), m.weight(c),
                        m.tensor("mean", TensorRole::Constant, c),
                        m.tensor("var", TensorRole::Constant, c)});
         }),
      triple("LayerNormalization", {2, 3, 4}, {4}, {4}),
      triple("LayerNormalization", {2, 3, 4}, {3, 4}, {3, 4}, {{"axis", std::int64_t{1}}},
             "TwoAxes"),
      pair("LayerNormalization", {2, 3, 4}, {4}, {}, -1, 1, "NoShift"),
      pair("RMSNormalization", {2, 3, 4}, {4}),
      pair("RMSNormalization", {2, 3, 4}, {3, 4}, {{"axis", std::int64_t{1}}}, -1, 1, "TwoAxes"),
      pair("SimplifiedLayerNormalization", {2, 3, 4}, {4}, {{"epsilon", 0.1}}),
      alone("Softmax", {2, 3, 4}),
      alone("Softmax", {2, 3, 4}, {{"axis", std::int64_t{1}}}, -1, 1, "Middle"),
      alone("LogSoftmax", {2, 5}),
      alone("LogSoftmax", {2, 3, 4}, {{"axis", std::int64_t{1}}}, -1, 1, "Middle")};
}

// Queries, keys and values by [batch, heads, positions, size].
inline GradientCase attention(Shape q, Shape k, Shape v, Attributes attributes,
                              std::string suffix) {
  return triple("Attention", std::move(q), std::move(k), std::move(v), std::move(attributes),
                std::move(suffix));
}

inline std::vector<GradientCase> attention_cases() {
  constexpr std::int64_t kYes = 1;
  const Attributes packed = {{"kv_num_heads", std::int64_t{2}}, {"q_num_heads", std::int64_t{4}}};
  Attributes causal = packed;
  causal.emplace_back("is_causal", kYes);
  // Sines and cosines of any angles: the sum of their squares matters to nobody here.
  const auto rotated = [](std::string suffix, Shape x, Shape table, bool positions,
                          Attributes attributes) {
    return of("RotaryEmbedding" + suffix, [=](SmallModel& m) {
      const auto angles = [&](const char* name) {
        return m.tensor(name, TensorRole::Input, table);
      };
      std::vector<TensorId> inputs = {m.weight(x), angles("cos"), angles("sin")};
      if (positions) inputs.push_back(m.integers({0, 2, 4, 4, 1, 0}, {2, 3}));
      return m.op("RotaryEmbedding", inputs, attributes);
    });
  };
  return {attention({2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, {}, "Heads"),
          attention({2, 2, 4, 4}, {2, 2, 4, 4}, {2, 2, 4, 4}, {{"is_causal", kYes}}, "Causal"),
          attention({2, 4, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 2}, {{"scale", 0.7}}, "Grouped"),
          attention({2, 3, 8}, {2, 5, 4}, {2, 5, 6}, packed, "Packed"),
          attention({2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, {{"softcap", 0.8}}, "Capped"),
          attention({2, 4, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 2},
                    {{"is_causal", kYes}, {"scale", 0.7}, {"softcap", 0.5}}, "GroupedCapped"),
          attention({2, 4, 8}, {2, 4, 4}, {2, 4, 4}, causal, "PackedCausal"),
          of("AttentionMasked",
             [](SmallModel& m) {
               const TensorId x = m.weight({2, 2, 3, 4});
               return m.op("Attention", {x, m.weight({2, 2, 3, 4}), m.weight({2, 2, 3, 4}),
                                         m.tensor("mask", TensorRole::Input, {3, 3})});
             }),
          of("AttentionOfItself",
             [](SmallModel& m) {
               const TensorId x = m.weight({2, 2, 3, 4});
               return m.op("Attention", {x, x, x});
             }),
          rotated("", {2, 2, 3, 4}, {2, 3, 2}, false, {}),
          rotated("Interleaved", {2, 2, 3, 4}, {2, 3, 2}, false, {{"interleaved", kYes}}),
          rotated("Positions", {2, 2, 3, 4}, {5, 2}, true, {}),
          rotated("Packed", {2, 3, 8}, {5, 2}, true, {{"num_heads", std::int64_t{2}}}),
          rotated("Part", {2, 2, 3, 6}, {5, 2}, true, {{"rotary_embedding_dim", std::int64_t{4}}}),
          of("RotaryEmbeddingFromOffset", [](SmallModel& m) {
            return m.op("RotaryEmbedding", {m.weight({2, 3, 8}), m.integers({1}),
                                            m.tensor("cos", TensorRole::Input, {5, 2}),
                                            m.tensor("sin", TensorRole::Input, {5, 2})});
          })};
}

// Three positions, two choices each, of three experts with room for two: the last choice of expert
// 1 finds none.
inline std::vector<GradientCase> expert_cases() {
  const Attributes rooms = {{"capacity", std::int64_t{2}}, {"experts", std::int64_t{3}}};
  const auto chosen = [](SmallModel& m) {
    return m.integers({1, 0, 1, 2, 0, 1, 2, 1, 0, 1, 2, 1}, {2, 3, 2});
  };
  return {
      of("DispatchTokens",
         [=](SmallModel& m) {
           return m.op("DispatchTokens", {m.weight({2, 3, 4}), chosen(m)}, rooms);
         }),
      of("CombineTokens",
         [=](SmallModel& m) {
           return m.op("CombineTokens", {m.weight({2, 3, 2, 4}), chosen(m), m.weight({2, 3, 2})});
         }),
      of("MixtureOfExperts",
         [=](SmallModel& m) {
           const TensorId x = m.weight({2, 3, 4});
           const auto top =
               m.ops("TopK", {m.op("MatMul", {x, m.weight({4, 3})}), m.integers({2})}, {}, {}, 2);
           TensorId h = m.op("DispatchTokens", {x, top[1]}, rooms);
           h = m.op("Swish", {m.op("MatMul", {h, m.weight({3, 4, 5})})});
           h = m.op("MatMul", {h, m.weight({3, 5, 4})});
           return m.op("CombineTokens", {h, top[1], m.op("Softmax", {top[0]})});
         }),
      of("TopK", [](SmallModel& m) {
        return m.ops("TopK", {m.weight({2, 5}), m.integers({3})}, {}, {}, 2)[0];
      })};
}

inline std::vector<GradientCase> movement_cases() {
  return {of("Reshape",
             [](SmallModel& m) {
               return m.op("Reshape", {m.op("Exp", {m.weight({2, 3, 4})}), m.integers({2, 12})});
             }),
          alone("Flatten", {2, 3, 4}),
          of("Squeeze",
             [](SmallModel& m) {
               return m.op("Squeeze", {m.weight({2, 1, 4}), m.integers({1})});
             }),
          of("Unsqueeze",
             [](SmallModel& m) {
               return m.op("Unsqueeze", {m.weight({2, 4}), m.integers({1})});
             }),
          alone("Transpose", {2, 3, 4}),
          alone("Transpose", {2, 3, 4, 5}, {{"perm", Ints{2, 0, 3, 1}}}, -1, 1, "Cycle"),
          of("Expand",
             [](SmallModel& m) {
               return m.op("Expand", {m.weight({2, 1, 4}), m.integers({2, 3, 4})});
             }),
          pair("Concat", {2, 3}, {2, 2}, {{"axis", std::int64_t{1}}}),
          of("ConcatOfOneTrained",
             [](SmallModel& m) {
               return m.op("Concat",
                           {m.tensor("x", TensorRole::Input, {2, 3}), m.weight({2, 2}),
                            m.tensor("z", TensorRole::Input, {2, 1})},
                           {{"axis", std::int64_t{-1}}});
             }),
          of("Split",
             [](SmallModel& m) {
               const auto parts =
                   m.ops("Split", {m.weight({2, 5})},
                         {{"axis", std::int64_t{1}}, {"split", Ints{2, 3}}}, {{2, 2}, {2, 3}});
               return m.op("MatMul", {m.op("Transpose", {parts[0]}), parts[1]});
             }),
          of("Slice",
             [](SmallModel& m) {
               return m.op("Slice",
                           {m.weight({2, 7, 5}), m.integers({1, -3}), m.integers({6, 1 << 30}),
                            m.integers({1, 2}), m.integers({2, 1})},
                           {}, {2, 3, 3});
             }),
          of("Pad",
             [](SmallModel& m) {
               return m.op("Pad", {m.weight({2, 3}), m.integers({0, 1, 0, 2})}, {}, {2, 6});
             }),
          of("Gather",
             [](SmallModel& m) {
               return m.op("Gather", {m.weight({5, 3}), m.integers({4, 0, 4, -1, 2, 2}, {2, 3})});
             }),
          of("GatherMiddle",
             [](SmallModel& m) {
               return m.op("Gather", {m.weight({2, 5, 3}), m.integers({4, 0, 4})},
                           {{"axis", std::int64_t{1}}});
             }),
          of("GatherElements",
             [](SmallModel& m) {
               return m.op("GatherElements",
                           {m.weight({2, 4}), m.integers({3, 0, 3, 1, 1, 2}, {2, 3})},
                           {{"axis", std::int64_t{1}}}, {2, 3});
             }),
          alone("ReduceMean", {2, 3, 4}, {{"axes", Ints{1}}}),
          alone("ReduceSum", {2, 3, 4}, {{"axes", Ints{-1}}, {"keepdims", std::int64_t{0}}}),
          alone("ReduceMax", {2, 3, 4}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}}),
          alone("ReduceMin", {2, 3, 4}, {{"axes", Ints{2}}})};
}

// Of six labels, one of which is ignored.
inline TensorId block_loss(SmallModel& m, TensorId scores, std::int64_t blocks) {
  const TensorId labels = m.integers({1, 5, 0, 2, 4, 3}, {2, 3});
  const auto sums = m.ops("BlockLogSumExp", {scores, labels}, {{"blocks", blocks}}, {}, 2);
  return m.op("BlockCrossEntropy", {sums[0], sums[1], labels}, {{"ignore_index", std::int64_t{4}}});
}

inline std::vector<GradientCase> losses_cases() {
  return {alone("Identity", {2, 5}),
          alone("Identity", {2, 3, 5}, {}, -1, 1, "ThreeAxes"),
          alone("Identity", {2, 4, 3, 3}, {}, -1, 1, "Images"),
          alone("Identity", {6}, {}, -1, 1, "Squared"),
          of("OwnCrossEntropy",
             [](SmallModel& m) {
               return m.op("SoftmaxCrossEntropyLoss", {m.weight({3, 5}), m.integers({1, 4, 0})});
             }),
          of("OwnCrossEntropyIgnores",
             [](SmallModel& m) {
               return m.op("SoftmaxCrossEntropyLoss", {m.weight({3, 5}), m.integers({1, 4, 0})},
                           {{"ignore_index", std::int64_t{4}}, {"reduction", std::string("sum")}});
             }),
          of("OwnCrossEntropyKeepsLogs",
             [](SmallModel& m) {
               return m.ops("SoftmaxCrossEntropyLoss", {m.weight({3, 5}), m.integers({1, 4, 0})},
                            {}, {}, 2)[0];
             }),
          of("InBlocksOfClasses",
             [](SmallModel& m) {
               return block_loss(m, m.weight({2, 3, 6}), 3);
             }),
          of("InOneBlock",
             [](SmallModel& m) {
               return block_loss(m, m.weight({2, 3, 6}), 1);
             }),
          of("OwnLikelihood", [](SmallModel& m) {
            return m.op("NegativeLogLikelihoodLoss",
                        {m.op("LogSoftmax", {m.weight({2, 5, 3})}, {{"axis", std::int64_t{1}}}),
                         m.integers({1, 4, 0, 2, 2, 3}, {2, 3})});
          })};
}

}  // namespace strato
