// Builds the programs of all ranks, or that of one device alone, from the tasks of a program, one
// task after the other (internal to core/program). Of other devices than that one it only keeps in
// mind which piece a buffer holds: what is sent and gathered goes by it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/program/project/rank_draft.h"
#include "core/program/rank/rank_program.h"
#include "core/program/value/program.h"

namespace strato {

class RankBuilder {
 public:
  // `only`: the device whose program is wanted; invalid: all of them. `folded`: a program whose
  // AllReduces lack members (see symmetry.h).
  explicit RankBuilder(const Program& program, DeviceId only = {}, bool folded = false);
  void add(TaskId task);
  RankPrograms finish() &&;

 private:
  struct Placed {  // what a task became on one device
    DeviceId device;
    RankDraft::Index index;
  };
  struct Part {
    Piece piece;
    ValueId value;
  };
  using Range = std::pair<std::int32_t, std::int32_t>;
  struct RowByDevice {  // a row of reads or writes, sorted
    const BufferId* row = nullptr;
    std::vector<std::pair<DeviceId, BufferId>> buffers;
  };

  [[noreturn]] void fail(TensorId tensor, const std::string& problem) const;
  void expect(bool holds, TensorId tensor, const char* problem) const {
    if (!holds) fail(tensor, problem);
  }
  void list_kept_slices();
  void list_carried();
  const Resident* resident(TensorId tensor, DeviceId device) const;  // null: none
  bool wanted(DeviceId device) const { return !only_.valid() || device == only_; }
  RankDraft& draft(DeviceId device) { return drafts_[rank_of_[device.index()]]; }

  // Pieces.
  bool is_trained(TensorId tensor) const;
  Piece samples(TensorId tensor, std::int32_t begin, std::int32_t end) const;
  Piece slice(TensorId tensor, int axis, std::int32_t begin, std::int32_t end) const;
  Piece slice_of(TensorId tensor, const Task& task) const;  // what it says of a tensor like its own
  Piece of_task(TensorId tensor) const;                     // what the task says of its tensor
  Piece kept(TensorId tensor, DeviceId device, const Piece& otherwise) const;
  Piece output_piece(const Op& op, std::size_t output) const;
  std::vector<Piece> input_pieces(const Op& op) const;
  std::vector<int> input_axes(const Op& op, int axis) const;
  void cut_more(const Op& op, std::vector<Piece>& pieces) const;
  Range range_of(TensorId tensor, const Piece& piece, int axis) const;
  void expect_tiles(TensorId tensor, std::vector<Range> ranges, Range whole) const;

  // What the task's reads, residents and views of them hold; invalid: they lack it.
  ValueId find(TensorId tensor, const Piece& piece, const Instruction& reader, DeviceId device);
  ValueId find_resident(TensorId tensor, const Piece& piece, DeviceId device);
  ValueId find_view(OpId op, TensorId tensor, const Piece& piece, const Instruction& reader,
                    DeviceId device);
  // The same, or something of other shape with the same bytes.
  ValueId find_bytes(TensorId tensor, const Piece& piece, const Instruction& reader,
                     DeviceId device);
  ValueId get(TensorId tensor, const Piece& piece, const Instruction& reader, DeviceId device);
  // What the step before kept of a gradient; invalid: nothing.
  ValueId carried(TensorId tensor, const Piece& piece, DeviceId device);
  ValueId bind(BufferId buffer, const Piece& piece, Encoding encoding = Encoding::None);
  Encoding encoding_of(BufferId buffer) const;
  const RowByDevice& by_device(std::span<const BufferId> row) const;
  std::vector<BufferId> on_device(std::span<const BufferId> buffers, DeviceId device) const;

  // Tasks.
  Instruction instruction(InstructionKind kind) const;
  void emit(DeviceId device, const RankDraft::Parts& parts);
  void compute();
  void split();
  void concat();
  void sum();
  void transfer();
  void all_reduce();
  void all_gather();
  void reduce_scatter();
  Piece split_source() const;
  bool keeps() const {  // it writes what the next step has
    return task_->kind == TaskKind::Split && program_.writes[id_.index()].empty();
  }
  std::vector<Part> concat_parts(const Instruction& what, const Piece& made);
  std::vector<Piece> gathered_pieces(std::span<const DeviceId> members) const;
  Piece partial_of(BufferId buffer) const;
  Piece part_of_sum(const Piece& sum) const;
  Piece whole_sum(const Piece& term) const;
  void gather_records(std::span<const DeviceId> members);
  void decode(BufferId from);

  struct Sent {  // as what a buffer's content travels
    Encoding encoding = Encoding::None;
    std::int32_t records = 0;
  };
  static constexpr ValueId kElsewhere{0};  // a value of a device that is not wanted

  const Program& program_;
  const DeviceId only_;
  const bool folded_;
  const Graph& graph_;
  std::int32_t batch_;
  std::vector<std::size_t> rank_of_;  // by device
  std::vector<RankDraft> drafts_;
  int first_rank_ = 0;  // of the first draft
  IdVector<BufferId, ValueId> value_of_;
  IdVector<BufferId, Piece> holds_;  // now
  IdVector<BufferId, Sent> sent_;
  std::map<std::pair<DeviceId, TensorId>, std::vector<Piece>> kept_;     // of parameters, in slices
  std::map<std::pair<DeviceId, TensorId>, std::vector<Piece>> carried_;  // of gradients
  mutable RowByDevice by_device_[2];  // of the task's reads and writes
  mutable int next_row_ = 0;
  std::vector<Placed> placed_;
  IdVector<TaskId, Range> placed_of_;  // by task: in placed_
  TaskId id_;                          // being added
  const Task* task_ = nullptr;
};

}  // namespace strato
