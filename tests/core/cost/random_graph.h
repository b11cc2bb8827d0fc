// Random training graphs for properties: towers of products, activations, reshapes, concatenations
// and sums of branches, with their gradients and updates.
#pragma once

#include <string>

#include "core/base/random.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"
#include "core/graph/value/graph.h"

namespace strato::toy {

class RandomForward {
 public:
  RandomForward(std::uint64_t seed, std::int64_t batch)
      : random_(seed), batch_(batch), builder_("random", batch) {}

  Graph build() && {
    last_ = {
        tensor("x", TensorRole::Input, {batch_, width()}),
    };
    const std::uint64_t layers = 1 + random_.below(8);
    for (std::uint64_t i = 0; i < layers; ++i) layer(std::to_string(i));
    return std::move(builder_).build();
  }

 private:
  std::int64_t width() { return std::int64_t{1} << (3 + random_.below(5)); }

  TensorId tensor(std::string name, TensorRole role, Shape shape) {
    Tensor result;
    result.name = std::move(name);
    result.role = role;
    result.shape = std::move(shape);
    return builder_.add_tensor(std::move(result));
  }

  TensorId op(std::string name, std::string type, std::vector<TensorId> inputs, Shape shape,
              std::vector<std::pair<std::string, Attribute>> attributes = {}) {
    const TensorId out = tensor(name + ".out", TensorRole::Activation, std::move(shape));
    Op result;
    result.name = std::move(name);
    result.type = std::move(type);
    result.inputs = std::move(inputs);
    result.outputs = {out};
    result.attributes = std::move(attributes);
    builder_.add_op(std::move(result));
    return out;
  }

  void layer(const std::string& n) {
    const std::int64_t in = builder_.tensor(last_).shape[1];
    switch (random_.below(4)) {
      case 0: {
        const std::int64_t out = width();
        const TensorId weight = tensor("w" + n, TensorRole::Parameter, {in, out});
        last_ = op("m" + n, "MatMul", {last_, weight}, {batch_, out});
        break;
      }
      case 1:
        last_ = op("a" + n, random_.below(2) == 0 ? "Relu" : "Tanh", {last_}, {batch_, in});
        break;
      case 2: {
        const TensorId other = op("b" + n, "Sigmoid", {last_}, {batch_, in});
        last_ =
            op("c" + n, "Concat", {last_, other}, {batch_, 2 * in}, {{"axis", std::int64_t{1}}});
        break;
      }
      default: {
        const TensorId bias = tensor("p" + n, TensorRole::Parameter, {in});
        last_ = op("s" + n, "Add", {last_, bias}, {batch_, in});
      }
    }
  }

  Random random_;
  std::int64_t batch_;
  GraphBuilder builder_;
  TensorId last_;
};

inline Graph random_graph(std::uint64_t seed, std::int64_t batch) {
  Graph forward = RandomForward(seed, batch).build();
  return forward.parameter_bytes() > Bytes(0) ? make_training_graph(forward, Optimizer::Adam)
                                              : forward;
}

}  // namespace strato::toy
