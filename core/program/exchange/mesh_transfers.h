// Brings what stands on a mesh (MeshRoles::tensor) to devices that have it not: of another mesh, or
// whose columns need other slices.
//
// - Where the columns of the reader's mesh all need what the columns of a like mesh have slices of,
//   or all of, each sends its slice to its peer, and the row gathers it (Narayanan et al. 2021,
//   "Efficient large-scale language model training on GPU clusters using Megatron-LM", section
//   4.1): over the slower way between the meshes it goes once.
// - Else the nearest holders of what is missing send it (Transfer, Concat).
//
// Not thread safe.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/program/exchange/mesh_parts.h"

namespace strato {

class MeshTransfers : public MeshParts {
 public:
  using MeshParts::MeshParts;

  // The sums of which it is are there.
  Instance bring(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);

 private:
  struct Holder {
    Part part;  // of the wanted one
    Instance from;
  };
  Instance fetch(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  std::vector<Holder> holders(TensorId tensor, const Part& wanted, DeviceId device) const;
  Instance send(TensorId tensor, const Holder& holder, DeviceId device);
  Instance concat(TensorId tensor, std::span<const Instance> pieces, const Part& made, int axis);
  std::vector<Instance> joined_along(int axis, TensorId tensor, std::span<const Instance> pieces,
                                     const Part& made);
  Instance join(TensorId tensor, std::vector<Instance> pieces, const Part& made);
  std::optional<int> slice_axis(TensorId tensor, std::size_t shard, const Part& wanted) const;
  bool is_sent_in_slices(TensorId tensor, const Part& wanted, LayoutId row, const Path& path);
  bool gather_sent(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
};

}  // namespace strato
