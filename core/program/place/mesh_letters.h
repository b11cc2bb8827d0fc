// Which letter of each op the columns of its mesh split (MeshRoles::tensor). The ops of all groups
// on the same mesh are one region, for which letters are chosen together (tensor_letters.h); what
// was chosen is remembered from strategy to strategy. Not thread safe.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/program/place/placement.h"
#include "core/program/place/tensor_letters.h"

namespace strato {

// What the columns of a mesh, and rows that have experts among them, compute of an op.
struct ColumnPart {
  const LetterSplit* split = nullptr;  // one of Tables::letter_splits(); null: each computes all
  std::int32_t ordinal = 0;            // of the split among those
  std::vector<int> inputs;  // by Tables::inputs(): the axis that a column has its slice of; kAllOf
  // Of an update that rows share, each of what its column has (of experts: the rows that have the
  // same ones): the axis of the parameter of which a row has its slice (StateSharding). So are what
  // casts the parameter once a step, and its gradient for the update. kAllOf: they do not.
  int shared_axis = kAllOf;
  const LetterSplit* experts = nullptr;  // where rows have experts among them, that letter
  std::vector<int> expert_inputs;  // by Tables::inputs(): the axis of experts, of which a row has
                                   // its part; kAllOf

  // The axis of an input of which a column has its slice; kAllOf: it has all of it.
  int input(const Tables& tables, OpId op, TensorId tensor) const;
  int output(std::size_t index) const { return split ? split->outputs[index] : kAllOf; }
  int expert_input(std::size_t index) const { return experts ? expert_inputs[index] : kAllOf; }
  int expert_output(std::size_t index) const { return experts ? experts->outputs[index] : kAllOf; }
};

// By Tables::inputs(), which input of the op the tensor is.
std::size_t input_of(const Tables& tables, OpId op, TensorId tensor);

class MeshLetters {
 public:
  MeshLetters(Tables& tables, const Placement& placement)
      : tables_(tables), placement_(placement) {}

  // For every op that stands on a mesh, of the strategy that is placed.
  void choose();
  const ColumnPart& of(OpId op) const { return parts_[op]; }
  // Of an input of the op (by Tables::inputs()), or of an output, what a shard of its layout reads,
  // or makes, of these samples of it: its column's slice, of the experts its row's.
  Part part_read(const Part& samples, OpId op, std::size_t input, std::size_t shard) const;
  Part part_made(const Part& samples, OpId op, std::size_t output, std::size_t shard) const;
  // The same without what the row has of the experts: all that its column has of them.
  Part read_by_column(const Part& samples, OpId op, std::size_t input, std::size_t shard) const;
  Part made_by_column(const Part& samples, OpId op, std::size_t output, std::size_t shard) const;
  // What a shard of the mesh keeps of the parameter that is updated there.
  Part kept(OpId update, TensorId parameter, std::size_t shard) const;
  // What a row has of its column's part, where rows share the op (ColumnPart::shared_axis).
  Part share_of(const Part& of_column, OpId op, std::size_t shard) const;
  // Of the letter that the tensor's producer sums over (kSumOver and on).
  std::int64_t extent(TensorId tensor, int axis) const {
    const OpId producer = tables_.tensors[tensor].op;
    return tables_.letter_splits(producer)[static_cast<std::size_t>(axis - kSumOver)].extent;
  }

 private:
  using Region = std::pair<LayoutId, std::vector<OpId>>;  // a layout of it; ascending
  const std::vector<ColumnChoice>& choices_for(const Region& region);
  ColumnPart part_of(OpId op, ColumnChoice choice);
  std::vector<int> axes_read(OpId op, const LetterSplit& split) const;
  int shared_axis(OpId update);
  void share_updates();
  using Axes = std::pair<int, int>;  // of which a column has its slice, and a row its experts
  Axes axes_of_input(OpId op, TensorId tensor) const;
  bool casts_beside(OpId op, OpId update, Axes cast, Axes read) const;
  std::int64_t parts_of(OpId op, const LetterSplit& split);
  Part own_experts(const Part& of_column, OpId op, TensorId tensor, int axis,
                   std::size_t shard) const;
  bool reads_its_samples(OpId op) const;

  Tables& tables_;
  const Placement& placement_;
  IdVector<OpId, ColumnPart> parts_;  // empty: there is no mesh
  std::map<Digest, std::vector<ColumnChoice>> known_;
};

}  // namespace strato
