// Brings what was made, or is kept, on a mesh (Decision::tensor) to where it is needed: from the
// parts in which a tensor stands to the part that a reader wants.
//
// - What is there, or a slice of it, is taken (Split).
// - Partial sums are summed up first (mesh_sums.h).
// - Slices are put together by one AllGather in a row where its columns all need them, else the
//   nearest holders of what is missing send it (Transfer, Concat). A parameter of which the rows
//   have a share each is gathered in each column whose part is read.
//
// Not thread safe.
#pragma once

#include <span>
#include <vector>

#include "core/program/exchange/mesh_sums.h"

namespace strato {

class MeshExchange : public MeshParts {
 public:
  MeshExchange(const ExchangeBase& base, MeshSums& sums) : MeshParts(base), sums_(sums) {}

  // This part of a tensor that the mesh has, for an op on this device.
  Instance bring(OpId reader, TensorId tensor, Part wanted, DeviceId device);
  // Just this part of what stands there.
  Instance cut(TensorId tensor, const Instance& from, const Part& wanted);

 private:
  Instance settled(TensorId tensor, std::size_t shard, const Part& wanted) const;
  bool gather_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  bool gather_column(OpId reader, TensorId parameter, const Part& wanted, DeviceId device);
  Instance fetch(TensorId tensor, const Part& wanted, DeviceId device);
  struct Holder {
    Part part;  // of the wanted one
    Instance from;
  };
  std::vector<Holder> holders(TensorId tensor, const Part& wanted, DeviceId device) const;
  int distance(DeviceId from, DeviceId to) const;
  Instance send(TensorId tensor, const Holder& holder, DeviceId device);
  Instance concat(TensorId tensor, std::span<const Instance> pieces, const Part& made, int axis);
  std::vector<Instance> joined_along(int axis, TensorId tensor, std::span<const Instance> pieces,
                                     const Part& made);
  Instance join(TensorId tensor, std::vector<Instance> pieces, const Part& made);

  MeshSums& sums_;
};

}  // namespace strato
