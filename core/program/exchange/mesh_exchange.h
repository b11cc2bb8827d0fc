// Brings what was made, or is kept, on a mesh (Decision::tensor) to where it is needed: reshard()
// of one tensor, from the parts in which it stands to the part that a reader wants.
//
// - What is there, or a slice of it, is taken (Split).
// - Sums over a letter are all-reduced in each row whose samples are wanted, or where the reader
//   stands on the same mesh and its columns need just slices, reduced and scattered (Megatron:
//   Shoeybi et al. 2019, section 3; with sequence parallelism Korthikanti et al. 2022,
//   section 4.2.2).
// - Sums over samples are all-reduced in each column; several gradients of the same mesh as one
//   message (fuse()).
// - Slices are put together by one AllGather in a row where its columns all need them, else the
//   nearest holders of what is missing send it (Transfer, Concat).
//
// Not thread safe.
#pragma once

#include <span>
#include <vector>

#include "core/program/exchange/exchange_tasks.h"

namespace strato {

class MeshExchange : ExchangeBase {
 public:
  explicit MeshExchange(const ExchangeBase& base) : ExchangeBase(base) {}

  // Was it made, or is it kept, on a mesh?
  bool has(TensorId tensor) const {
    const LayoutId owners = copies_.owners(tensor);
    return owners >= 0 && placement_.layout(owners).is_mesh();
  }
  // This part of such a tensor, for an op on this device.
  Instance bring(OpId reader, TensorId tensor, Part wanted, DeviceId device);
  // Just this part of what stands there.
  Instance cut(TensorId tensor, const Instance& from, const Part& wanted);
  // All-reduces what waits for the updates in buckets of at most `limit` bytes of a column.
  void fuse(Bytes limit);

 private:
  const Layout& owners(TensorId tensor) const { return placement_.layout(copies_.owners(tensor)); }
  Part part_of(const Instance& instance) const { return emitter_.program().parts[instance.part]; }
  Instance owned(TensorId tensor, std::size_t shard) const;
  const Instance* find(TensorId tensor, DeviceId device, const Part& wanted) const;
  bool is_same_mesh(OpId reader, const Layout& layout) const;

  // ---- sums
  void settle_sums(OpId reader, TensorId tensor, const Part& wanted);
  void reduce_row(OpId reader, TensorId tensor, std::size_t row);
  void reduce_columns(std::span<const TensorId> tensors);
  bool allow_sum_in_place(TensorId tensor, const Part& term) const;
  bool is_fusible(TensorId tensor) const;

  // ---- what stands settled
  bool concerns(TensorId tensor, std::size_t shard, const Part& wanted) const;
  const Instance* settled_there(TensorId tensor, std::size_t shard, bool sums_samples) const;
  Instance settled(TensorId tensor, std::size_t shard, const Part& wanted) const;
  bool gather_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device);
  Instance fetch(TensorId tensor, const Part& wanted, DeviceId device);
  struct Holder {
    Part part;  // of the wanted one
    Instance from;
  };
  std::vector<Holder> holders(TensorId tensor, const Part& wanted, DeviceId device) const;
  int distance(DeviceId from, DeviceId to) const;
  Instance send(TensorId tensor, const Holder& holder, DeviceId device);
  Instance join(TensorId tensor, DeviceId device, std::span<const Instance> pieces,
                const Part& made);

  struct Collected;
  Collected collective(TaskKind kind, TensorId tensor, LayoutId group, Bytes bytes, PartId part);
  void commit(const Collected& what);
};

}  // namespace strato
