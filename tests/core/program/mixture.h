// A small mixture of experts, and what of it is how large.
#pragma once

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {

inline constexpr std::int64_t kMoeSamples = 8, kMoeTokens = 8, kMoeSize = 4, kMoeInner = 16,
                              kMoeExperts = 4, kMoeRoom = 2;
inline constexpr Bytes kDispatched(kMoeSamples* kMoeExperts* kMoeRoom* kMoeSize *
                                   4);                                        // of the whole batch
inline constexpr Bytes kWeights(2 * kMoeExperts * kMoeSize * kMoeInner * 4);  // of all experts

// A scale, so that tokens have a gradient, and a mixture behind it.
inline Graph small_mixture() {
  ModelKit kit(kMoeSamples);
  const TensorId chosen = kit.input("chosen", {kMoeSamples, kMoeTokens, 1}, DataType::I64),
                 weights = kit.input("weights", {kMoeSamples, kMoeTokens, 1});
  const TensorId x = kit.op("Mul", {kit.input("x", {kMoeSamples, kMoeTokens, kMoeSize}),
                                    kit.weight("scale", {kMoeSize})});
  const TensorId sent =
      kit.op("DispatchTokens", {x, chosen},
             {{"capacity", Attribute(kMoeRoom)}, {"experts", Attribute(kMoeExperts)}});
  const TensorId inner = kit.op(
      "Relu", {kit.op("MatMul", {sent, kit.weight("up", {kMoeExperts, kMoeSize, kMoeInner})})});
  const TensorId made =
      kit.op("MatMul", {inner, kit.weight("down", {kMoeExperts, kMoeInner, kMoeSize})});
  kit.op("CombineTokens", {made, chosen, weights});
  return make_training_graph(kit.build(), Optimizer::Adam);
}

}  // namespace strato
