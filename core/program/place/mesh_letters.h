// Which letters of each op its mesh divides: rows that have positions among them one that no weight
// has (MeshRoles::context), and the columns of a row one of what is left (MeshRoles::tensor). The
// ops of all groups on the same mesh are one region, for which letters are chosen together
// (tensor_letters.h); what was chosen is remembered from strategy to strategy. Not thread safe.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/program/place/placement.h"
#include "core/program/place/tensor_letters.h"

namespace strato {

// What one dimension of a mesh divides of an op.
struct DividedLetter {
  const LetterSplit* split = nullptr;  // one of Tables::letter_splits(); null: nothing
  std::int32_t ordinal = 0;            // of the split among those
  std::vector<int> inputs;             // by Tables::inputs(), as LetterSplit has them

  explicit operator bool() const { return split != nullptr; }
  int input(std::size_t index) const { return split ? inputs[index] : kAllOf; }
  int output(std::size_t index) const { return split ? split->outputs[index] : kAllOf; }
};

// What a mesh divides of an op: over rows that have positions among them, over columns, and over
// rows that have experts among them. The first two may divide the same letter, one what the other
// leaves.
struct DividedOp {
  DividedLetter context, columns, experts;
  // Of an update that rows share, each of what its column has (of experts: the rows that have the
  // same ones): the axis of the parameter of which a row has its slice (StateSharding). So are what
  // casts the parameter once a step, and its gradient for the update. kAllOf: they do not.
  int shared_axis = kAllOf;
};

// Dimensions of a mesh, from the outer to the inner one.
enum class UpTo : std::uint8_t { Context, Columns, Experts };

// By Tables::inputs(), which input of the op the tensor is.
std::size_t input_of(const Tables& tables, OpId op, TensorId tensor);
// By Tables::outputs(), which of its outputs.
std::size_t output_of(const Tables& tables, OpId op, TensorId tensor);

class MeshLetters {
 public:
  MeshLetters(Tables& tables, const Placement& placement)
      : tables_(tables), placement_(placement) {}

  // For every op that stands on a mesh, of the strategy that is placed.
  void choose();
  const DividedOp& of(OpId op) const { return parts_[op]; }
  // Into how many equal parts the mesh divides it.
  std::int64_t part_count(OpId op) const;
  // Of an input of the op (by Tables::inputs()), or of an output, what a shard of its layout reads,
  // or makes, of these samples of it; or what is left when just some dimensions divide it.
  Part part_read(const Part& samples, OpId op, std::size_t input, std::size_t shard,
                 UpTo up_to = UpTo::Experts) const;
  Part part_made(const Part& samples, OpId op, std::size_t output, std::size_t shard,
                 UpTo up_to = UpTo::Experts) const;
  // What a shard of the mesh keeps of the parameter that is updated there.
  Part kept(OpId update, TensorId parameter, std::size_t shard) const;
  // What a row has of its column's part, where rows share the op (ColumnPart::shared_axis).
  Part share_of(const Part& of_column, OpId op, std::size_t shard) const;
  // Of the axis, or of the letter that the tensor's producer sums over (kSumOver and on).
  std::int64_t extent(TensorId tensor, int axis) const {
    if (axis < kSumOver) return tables_.graph->tensor(tensor).shape[static_cast<std::size_t>(axis)];
    const OpId producer = tables_.tensors[tensor].op;
    return tables_.letter_splits(producer)[static_cast<std::size_t>(axis - kSumOver)].extent;
  }

 private:
  using Region = std::pair<LayoutId, std::vector<OpId>>;  // a layout of it; ascending
  const std::vector<ColumnChoice>& choices_for(const Region& region, UpTo dimension);
  ColumnCosts costs_of(const Layout& layout, UpTo dimension, std::span<const DeviceId> members,
                       const MeshRoles& roles);
  DividedLetter divided(OpId op, const LetterSplit* split, ColumnChoice choice) const;
  std::vector<int> axes_read(OpId op, const LetterSplit& split) const;
  int shared_axis(OpId update);
  void share_updates();
  using Axes = std::pair<int, int>;  // of which a column has its slice, and a row its experts
  Axes axes_of_input(OpId op, TensorId tensor) const;
  bool casts_beside(OpId op, OpId update, Axes cast, Axes read) const;
  std::int64_t parts_of(OpId op, const LetterSplit& split);
  void cast_sums(std::span<const OpId> ops);
  bool sums_otherwise(OpId op, const LetterSplit& split) const;
  bool reads_its_samples(OpId op) const;

  Tables& tables_;
  const Placement& placement_;
  IdVector<OpId, DividedOp> parts_;  // empty: there is no mesh
  std::map<Digest, std::vector<ColumnChoice>> known_;
};

}  // namespace strato
