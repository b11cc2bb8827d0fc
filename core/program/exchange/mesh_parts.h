// What was made, or is kept, on a mesh (Decision::tensor): which part of it stands on which of the
// mesh's devices. A base of those who bring it elsewhere. Partial sums that were summed up are
// called settled: over a letter, or over the samples, too. Not thread safe.
#pragma once

#include <vector>

#include "core/program/exchange/exchange_tasks.h"

namespace strato {

class MeshParts : protected ExchangeBase {
 public:
  explicit MeshParts(const ExchangeBase& base) : ExchangeBase(base) {}

  // Was it made, or is it kept, on a mesh?
  bool has(TensorId tensor) const {
    const LayoutId owners = copies_.owners(tensor);
    return owners >= 0 && placement_.layout(owners).is_mesh();
  }

 protected:
  const Layout& owners(TensorId tensor) const { return placement_.layout(copies_.owners(tensor)); }
  Part part_of(const Instance& instance) const { return emitter_.program().parts[instance.part]; }
  // What a shard of the mesh made, or keeps.
  Instance owned(TensorId tensor, std::size_t shard) const;
  bool is_same_mesh(OpId reader, const Layout& layout) const;
  bool concerns(TensorId tensor, std::size_t shard, const Part& wanted) const;
  const Instance* settled_there(TensorId tensor, std::size_t shard, bool sums_samples) const;
  Part with_axis(const Part& part, TensorId tensor, int axis) const;

  struct Collected {  // a collective that is about to be added
    Task task;
    LayoutId group;
    std::vector<LinkId> links;
    Stream stream;
  };
  Collected collective(TaskKind kind, TensorId tensor, LayoutId group, Bytes bytes, PartId part,
                       Stream stream = Stream::Communication);
  void commit(const Collected& what);
};

}  // namespace strato
