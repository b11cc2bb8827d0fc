// Swaps one way in which a line of a mesh has a tensor in parts for another one, by one AllToAll:
// each member gives every other one what that needs of its part.
//
// - Between ops that experts compute, of which rows have their part for the samples of all
//   (MeshRoles::expert), and other ops, of which each row has all experts for its own samples
//   (Lepikhin et al. 2020, GShard, 3.2).
// - In a row, or among rows that have positions together, between slices along one axis and along
//   another: of heads and of positions (Jacobs et al. 2023, DeepSpeed-Ulysses, 3.1).
//
// Not thread safe.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/program/exchange/mesh_parts.h"

namespace strato {

class MeshSwaps : public MeshParts {
 public:
  using MeshParts::MeshParts;
  // Brings this part of the tensor to a device for the reader.
  using Bring = std::function<Instance(const Part& wanted, DeviceId device)>;

  // Has one of the two ops a layout of experts, and the other one not?
  bool concerns_experts(OpId reader, TensorId tensor) const {
    return owners(tensor).experts != placement_.layout(reader).experts;
  }
  // The wanted part is what the device's row has of the experts: brings it to all that have experts
  // together, from rows that have all of them. False: it is something else.
  bool to_experts(OpId reader, TensorId tensor, const Part& wanted, DeviceId device,
                  const Bring& bring);
  // Of what experts made, of which the sums are there: what the shard's column has of all experts
  // for the samples of the reader's row. Nothing: it is something else.
  std::optional<Instance> from_experts(OpId reader, TensorId tensor, std::size_t shard);
  // The members of a row, or of rows that have positions together, have these slices, in their
  // order, and need slices along another axis, as the shard does. False: it is not so.
  bool along_line(Line at, TensorId tensor, std::span<const Instance> slices, const Part& wanted,
                  std::size_t shard);

 private:
  Part row_samples(const Part& of_all, const Layout& rows, DeviceId device) const;
  bool exchange(TensorId tensor, Line at, const Part& all, std::span<const Instance> pieces,
                std::span<const Part> targets);
};

}  // namespace strato
