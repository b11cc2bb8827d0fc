// What was made, or is kept, on a mesh (MeshRoles::tensor): which part of it stands on which of the
// mesh's devices. A base of those who bring it elsewhere. Partial sums that were summed up are
// called settled: over a letter, or over the samples, too. Not thread safe.
#pragma once

#include <span>
#include <vector>

#include "core/program/copies/exchange_tasks.h"

namespace strato {

class MeshParts : protected ExchangeBase {
 public:
  explicit MeshParts(const ExchangeBase& base) : ExchangeBase(base) {}

  // Was it made, or is it kept, on a mesh?
  bool has(TensorId tensor) const {
    const LayoutId owners = copies_.owners(tensor);
    return owners >= 0 && placement_.layout(owners).is_mesh;
  }

 protected:
  const Layout& owners(TensorId tensor) const { return placement_.layout(copies_.owners(tensor)); }
  Part part_of(const Instance& instance) const { return emitter_.program().parts[instance.part]; }
  // What a shard of the mesh made, or keeps.
  Instance owned(TensorId tensor, std::size_t shard) const;
  // Does the reader stand on the mesh that has the tensor?
  bool is_same_mesh(OpId reader, TensorId tensor) const;
  bool concerns(TensorId tensor, std::size_t shard, const Part& wanted) const;
  const Instance* settled_there(TensorId tensor, std::size_t shard, bool sums_samples) const;
  // What a shard of the mesh has of the wanted part, or keeps. The sums of which it is are there.
  Instance settled(TensorId tensor, std::size_t shard, const Part& wanted) const;
  // Just this part of what stands there.
  Instance cut(TensorId tensor, const Instance& from, const Part& wanted);
  Part with_axis(const Part& part, TensorId tensor, int axis) const;

  struct Line {
    LayoutId mesh;
    MeshLine kind;
    std::size_t index;
  };
  const LineOfMesh& line(const Line& of) const {
    return placement_.layouts().lines(of.mesh, of.kind)[of.index];
  }
  Line line_with(LayoutId mesh, MeshLine kind, std::size_t shard) const;
  // Those of a mesh that sum up over samples: columns, or of experts the rows that have the same.
  MeshLine summing_lines(LayoutId mesh) const {
    return placement_.layout(mesh).experts > 1 ? MeshLine::Peers : MeshLine::Column;
  }
  struct Collected {  // a collective that is about to be added
    Task task;
    LayoutId group;
    std::vector<LinkId> links;
    Stream stream;
  };
  Collected collective(TaskKind kind, TensorId tensor, Line at, Bytes bytes, PartId part);
  void commit(const Collected& what);
  // Puts together the slices that the devices of the line have, in their order: the wanted part.
  // `along`: all of the axis that it is in slices of.
  void gather_slices(Line at, TensorId tensor, std::span<const Instance> slices, const Part& wanted,
                     const Part& along);
};

}  // namespace strato
