// Training graphs of any size for benchmarks of what decides op by op: blocks of parallel branches
// that meet, each op with a parameter or none, then the way back through them with gradients, sums
// where a value had several readers, and updates. About a third of the ops are forward ones; edges
// are about 2.5 times as many as ops.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/core/program/toy.h"

namespace strato::synthetic {

class TrainingGraph {
 public:
  TrainingGraph(std::size_t ops, std::uint64_t seed) : random_(seed), most_(ops), model_(32) {}

  std::shared_ptr<const Graph> make() {
    TensorId at = input_ = model_.input("x", width());
    while (forward_.size() * 3 < most_) at = add_block(at);
    gradients_.resize(model_.builder().tensor_count());
    gradients_[at].push_back(model_.seed("seed", at));
    for (std::size_t i = forward_.size(); i-- > 0;) add_backward(forward_[i]);
    for (const auto& [parameter, gradient] : trained_)
      model_.update("update" + std::to_string(parameter.value()), parameter, gradient);
    return std::move(model_).build();
  }

 private:
  struct Forward {
    OpId op;
    std::vector<TensorId> from;  // activations, the first inputs
    TensorId weight;             // may be invalid
    TensorId output;
  };

  std::int64_t width() { return 64 << random_.below(5); }
  std::int64_t width_of(TensorId id) { return model_.builder().tensor(id).shape.back(); }

  TensorId add_layer(const std::vector<TensorId>& from) {
    const std::string n = std::to_string(forward_.size());
    std::vector<TensorId> inputs = from;
    TensorId weight;
    if (random_.below(3) == 0) inputs.push_back(weight = model_.parameter("w" + n, 64 * width()));
    const std::int64_t out = random_.below(2) == 0 ? width() : width_of(from[0]);
    const TensorId output = model_.layer("f" + n, inputs, out);
    forward_.push_back({model_.last(), from, weight, output});
    return output;
  }

  TensorId add_block(TensorId from) {
    std::vector<TensorId> ends;
    for (std::size_t branch = 1 + random_.below(4); branch > 0; --branch) {
      TensorId at = from;
      for (std::size_t length = 2 + random_.below(6); length > 0; --length) at = add_layer({at});
      ends.push_back(at);
    }
    if (random_.below(2) == 0) ends.push_back(from);  // a residual
    return add_layer(ends);
  }

  TensorId gradient_of(TensorId of) {
    std::vector<TensorId>& parts = gradients_[of];
    if (parts.size() == 1) return parts[0];
    const std::string name = "sum" + std::to_string(of.value());
    const TensorId sum = model_.activation(name + ":0", model_.builder().tensor(of).shape);
    model_.builder().tensor(sum).role = TensorRole::Gradient;
    model_.builder().op(model_.op(name, "AddN", parts, sum)).phase = Phase::Backward;
    return sum;
  }

  void add_backward(const Forward& forward) {
    const TensorId gradient = gradient_of(forward.output);
    const std::string n = std::to_string(forward.output.value());
    for (std::size_t i = 0; i < forward.from.size(); ++i) {
      if (forward.from[i] == input_) continue;
      std::vector<TensorId> saved = {forward.output};
      if (forward.weight.valid()) saved.push_back(forward.weight);
      const auto wrt = static_cast<std::int64_t>(i);
      gradients_[forward.from[i]].push_back(model_.gradient(
          "gx" + n + "_" + std::to_string(i), forward.op, wrt, gradient, std::move(saved)));
    }
    if (!forward.weight.valid()) return;
    const auto wrt = static_cast<std::int64_t>(forward.from.size());
    trained_.emplace_back(forward.weight,
                          model_.gradient("gw" + n, forward.op, wrt, gradient, {forward.from[0]}));
  }

  Random random_;
  std::size_t most_;
  toy::Model model_;
  TensorId input_;
  std::vector<Forward> forward_;
  IdVector<TensorId, std::vector<TensorId>> gradients_;
  std::vector<std::pair<TensorId, TensorId>> trained_;
};

// About `ops` ops.
inline std::shared_ptr<const Graph> training_graph(std::size_t ops, std::uint64_t seed = 1) {
  return TrainingGraph(ops, seed).make();
}

}  // namespace strato::synthetic
