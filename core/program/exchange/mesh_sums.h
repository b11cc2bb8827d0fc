// Sums up what the devices of a mesh (MeshRoles::tensor) made partial sums of.
//
// - Sums over a letter are all-reduced in each row whose samples are wanted, or where the reader
//   stands on the same mesh and its columns need just slices, reduced and scattered (Megatron:
//   Shoeybi et al. 2019, section 3; with sequence parallelism Korthikanti et al. 2022, section
//   4.2.2). What goes on inside a row has a stream of its own (Stream::TensorCommunication).
// - Sums over samples are all-reduced in each column; several gradients of the same mesh as one
//   message (fuse()). Where the reader is an update that rows share (StateSharding), they are
//   reduced and scattered among these instead, and what rows that have the same share made of it
//   is all-reduced then. From ZeRO's stage 2 on each micro-batch's are scattered.
//
// Not thread safe.
#pragma once

#include <span>

#include "core/program/exchange/mesh_pieces.h"

namespace strato {

class MeshSums : public MeshParts {
 public:
  explicit MeshSums(const ExchangeBase& base) : MeshParts(base), pieces_(base) {}

  // As far as the reader needs it for this part.
  void settle(OpId reader, TensorId tensor, const Part& wanted);
  // Of a gradient that this micro-batch made: where just a share of it is kept, that is scattered
  // now, and stands beside what was made. Was it? By shard, it is scattered().
  bool scatter_of_micro_batch(TensorId gradient);
  Instance scattered(TensorId gradient, std::size_t shard);
  // All-reduces what waits for the updates in buckets of at most `limit` bytes of a column.
  void fuse(Bytes limit);

 private:
  void reduce_rows(OpId reader, TensorId tensor, const Part& wanted);
  void reduce_context(OpId reader, TensorId tensor, const Part& wanted);
  void reduce_among(const Line& at, OpId reader, TensorId tensor);
  void reduce_columns(std::span<const TensorId> tensors);
  void reduce_line(std::span<const TensorId> tensors, const Line& at);
  OpId sharing_reader(TensorId gradient) const;
  Part share_of(OpId update, TensorId gradient, std::size_t shard) const;
  Part sum_of(OpId update, TensorId gradient, const std::vector<std::size_t>& shards);
  void scatter(OpId update, TensorId gradient);
  void sum_up_shares(OpId update, TensorId gradient);
  bool allow_sum_in_place(TensorId tensor, UpTo dimension, bool of_samples) const;
  bool gives_slices(const Line& at, OpId reader, TensorId tensor, const Part& total,
                    int axis) const;
  int read_along(OpId op, TensorId tensor, UpTo dimension) const;
  bool is_fusible(TensorId tensor) const;

  MeshPieces pieces_;
};

}  // namespace strato
