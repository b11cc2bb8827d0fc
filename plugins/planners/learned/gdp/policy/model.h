// The network's arithmetic on LibTorch tensors. Private to network.cpp.
#pragma once

#include "plugins/planners/learned/gdp/policy/network.h"
#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::gdp {

// A graph's features as tensors.
struct Inputs {
  Inputs(const GraphFeatures& graph, const at::Device& device);
  std::int64_t units, neighbours;
  at::Tensor unit, type, adjacent;  // [N, .], [N], [N * neighbours]
  at::Tensor choice, choice_row;    // [A, .], [A]
  at::Tensor placed, turn;          // [N], [N, .]; undefined unless the policy is step-wise
};

class Model final : public learned::Trainable {
 public:
  explicit Model(const NetworkSize& of);  // declares its parameters

  // Logarithms of the probabilities, [N, A]. `attention`: gets one of each layer, mean over heads:
  // [segments, length, 2 length], columns being the segment before and then the segment itself.
  at::Tensor log_probabilities(const Inputs& graph,
                               std::vector<at::Tensor>* attention = nullptr) const;

  const NetworkSize size;

 private:
  struct Aggregate {
    learned::Dense neighbour;
    std::size_t own, from_neighbours, bias;
    learned::Norm norm;  // not in the paper
  };
  struct Transformer {
    learned::Norm before_attention, before_inner;
    std::size_t query, key, value, out;
    learned::Dense inner, outer;
  };
  Transformer transformer();
  at::Tensor embed(const Inputs& graph) const;
  at::Tensor attend(const Transformer& t, const at::Tensor& rows,
                    std::vector<at::Tensor>* attention) const;
  // `condition`: what the dense layers' inputs are multiplied by; undefined: nothing.
  at::Tensor run(const Transformer& t, const at::Tensor& rows, const at::Tensor& condition,
                 std::vector<at::Tensor>* attention = nullptr) const;

  std::size_t type_rows_, to_width_;
  learned::Dense unit_in_;
  std::vector<Aggregate> aggregates_;
  std::vector<Transformer> layers_;
  Transformer conditioner_{};
  std::size_t condition_out_ = 0;
  learned::Norm last_{};
  std::size_t place_, choice_in_ = 0, choice_rows_;
  std::size_t placed_in_ = 0, placed_rows_ = 0, turn_in_ = 0;  // of a step-wise policy
};

}  // namespace strato::gdp
