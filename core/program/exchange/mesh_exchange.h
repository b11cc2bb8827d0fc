// Brings what was made, or is kept, on a mesh (MeshRoles::tensor) to where it is needed: from the
// parts in which a tensor stands to the part that a reader wants.
//
// - What is there, or a slice of it, is taken (Split).
// - Partial sums are summed up first (mesh_sums.h).
// - Slices are put together by one AllGather in a row where its columns all need them, and so are
//   those of rows that have positions together; parts along one axis are swapped for those along
//   another one by one AllToAll (mesh_swaps.h). A parameter
//   of which rows have a share each is gathered among them, in each column whose part is read.
// - What is elsewhere is sent (mesh_transfers.h); where rows that have positions together need all
//   of them, each is sent its own, and they gather them.
//
// Not thread safe.
#pragma once

#include "core/program/exchange/mesh_sums.h"
#include "core/program/exchange/mesh_swaps.h"
#include "core/program/exchange/mesh_transfers.h"

namespace strato {

class MeshExchange : public MeshParts {
 public:
  MeshExchange(const ExchangeBase& base, MeshSums& sums)
      : MeshParts(base), sums_(sums), pieces_(base), swaps_(base), transfers_(base) {}

  // This part of a tensor that the mesh has, for an op on this device.
  Instance bring(OpId reader, TensorId tensor, Part wanted, DeviceId device);
  using MeshParts::cut;

 private:
  void check_twins(OpId reader, TensorId tensor) const;
  bool bring_to_experts(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  bool bring_in_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  bool bring_in_context(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  bool gather_sent_positions(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  Instance of_row(OpId reader, TensorId tensor, const Instance& piece, std::size_t shard);
  bool put_together(const Line& at, TensorId tensor, std::span<const Instance> slices,
                    const Part& wanted, std::size_t shard, OpId reader = {});
  Part with_all_positions(const Part& wanted, TensorId tensor, std::size_t shard, int axis) const;
  bool gather_column(OpId reader, TensorId parameter, const Part& wanted, DeviceId device);

  MeshSums& sums_;
  MeshPieces pieces_;
  MeshSwaps swaps_;
  MeshTransfers transfers_;
};

}  // namespace strato
