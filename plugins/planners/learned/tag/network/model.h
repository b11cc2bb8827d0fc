// The network's arithmetic on LibTorch tensors: parameters, and the way from features to scores.
// Private to network.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/planners/learned/kit/network/trainable.h"
#include "plugins/planners/learned/tag/network/network.h"

namespace strato::tag {

// Queries of one problem as tensors. Nodes come first and the batch second, so that messages are
// gathered by whole rows.
struct Batch {
  Batch(const ProblemFeatures& problem, std::span<const StateFeatures* const> queries, bool paper,
        const at::Device& device);

  std::int64_t queries, ops, devices, actions;
  at::Tensor op, op_state;          // [N, .], [N, B, .]
  at::Tensor device, device_state;  // [M, .], [M, B, .]
  at::Tensor sources, targets;      // [E]
  at::Tensor incidence;             // [N, E]: 1 where the edge ends at the group
  at::Tensor op_op;                 // [E, .]
  at::Tensor link;                  // [M to, M from, B, .]
  at::Tensor placement;             // [N, M, B, .]
  at::Tensor next;                  // [B]: row of the next group in [N * B]
  at::Tensor used, share, action;   // [A, M], [A, M], [A, .]
  at::Tensor slice, forbidden;      // [A, B, .], [A, B]: 0, or -1e9 where illegal
};

class Model final : public learned::Trainable {
 public:
  explicit Model(const NetworkSize& of);  // declares its parameters

  // The first values of a network that has learned nothing: random, and (not in the paper's
  // variant) as if it knew that actions which look fast, or follow the first group, are better.
  void start(std::uint64_t seed);
  // Logarithms of the probabilities, [A, B].
  at::Tensor log_probabilities(const Batch& batch) const;

  const NetworkSize size;

 private:
  // One edge type in one layer: W and b on (source, edge), attention of source and target.
  struct Relation {
    std::size_t source, edge, bias, key, query;
  };
  struct Layer {
    Relation op_op, device_device, device_to_op, op_to_device;
    learned::Norm op_norm, device_norm;  // not in the paper
  };
  struct Nodes {
    at::Tensor op, device;  // [N, B, width], [M, B, width]
  };
  Relation relation(std::int64_t edge_columns);
  at::Tensor attend(const Relation& r, const at::Tensor& messages, const at::Tensor& target,
                    std::int64_t over) const;
  at::Tensor op_from_op(const Relation& r, const Nodes& nodes, const Batch& batch) const;
  at::Tensor dense(const Relation& r, const at::Tensor& source, const at::Tensor& edge,
                   const at::Tensor& target, std::int64_t over) const;
  Nodes layer(const Layer& layer, const Nodes& nodes, const Batch& batch) const;
  at::Tensor scores(const Nodes& nodes, const Batch& batch) const;

  std::size_t op_in_, op_state_in_, op_bias_, device_in_, device_state_in_, device_bias_;
  std::vector<Layer> layers_;
  std::size_t use_out_, share_out_, group_out_, action_out_, slice_out_, hidden_bias_, score_out_,
      slice_skip_;
};

}  // namespace strato::tag
