// What was made, or is kept, on a mesh (MeshRoles::tensor): which part of it stands on which of the
// mesh's devices. A base of those who bring it elsewhere. Not thread safe.
//
// Partial sums are of up to three kinds at once: columns sum over a letter, rows that have
// positions together over one (or over what the columns leave of the same), and rows over samples.
// They are summed up in this order, the last two at once where both are due.
#pragma once

#include <optional>
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
  // Does a dimension (Context or Columns) make partial sums of it?
  bool sums_over(UpTo dimension, TensorId tensor) const;
  // What is left of a part that a shard made when the columns' sums are there.
  Part with_columns_summed(const Part& made, TensorId tensor, std::size_t shard) const;
  // Which sums are due before the wanted part can be cut out.
  struct DueSums {
    bool positions = true, samples = true;
  };
  DueSums due_for(const Part& wanted) const {
    return {!wanted.sums_letter(), !wanted.sums_samples()};
  }
  // What a device of the mesh has of what it made once the columns' sums are there, and those that
  // are due; null: it is not there yet. Others may have sent it other parts.
  const Instance* summed_there(TensorId tensor, std::size_t shard, DueSums due) const;
  const Instance* term_there(TensorId tensor, std::size_t shard) const {  // of the columns' sums
    return summed_there(tensor, shard, {false, false});
  }
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
  // Those of the tensor's mesh that sum up over samples, and over positions where each row has a
  // sum over its own: columns, or of experts the rows that have the same.
  MeshLine summing_lines(TensorId tensor) const;
  // Of a row, or of rows that have positions together: what a member has of a part along an axis.
  // Nothing: they do not divide it evenly.
  std::optional<Part> part_in_line(const Line& of, TensorId tensor, const Part& all,
                                   std::size_t shard, int axis) const;
  // Have its members these parts of it along the axis, in their order?
  bool are_parts_in_line(const Line& of, TensorId tensor, std::span<const Instance> parts,
                         const Part& all, int axis) const;
  // The only axis along which the first part has less than the second one, of which it is else a
  // cut; nothing: there is none, or several.
  static std::optional<int> divided_axis(const Part& part, const Part& of);
  struct Collected {  // a collective that is about to be added
    Task task;
    LayoutId group;
    std::vector<LinkId> links;
    Stream stream;
  };
  Collected collective(TaskKind kind, TensorId tensor, Line at, Bytes bytes, PartId part);
  void commit(const Collected& what);
  // To put together the slices that the devices of the line have, in their order: the wanted part.
  // `along`: all of the axis that it is in slices of.
  Collected gathering(Line at, TensorId tensor, const Part& wanted, const Part& along);
  void gather(const Collected& what, TensorId tensor, std::span<const Instance> slices,
              const Part& wanted);
};

}  // namespace strato
