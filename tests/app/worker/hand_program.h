// A rank program written by hand, on a graph of one op with as many tensors as are asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/build/graph_builder.h"
#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

// Tensor i is "t<i>": a parameter of this shape.
inline std::shared_ptr<const Graph> graph_of(std::size_t tensors, const Shape& shape) {
  GraphBuilder builder("hand", 4);
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < tensors; ++i) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(i);
    tensor.role = TensorRole::Parameter;
    tensor.shape = shape;
    inputs.push_back(builder.add_tensor(std::move(tensor)));
  }
  Tensor out;
  out.name = "out";
  out.shape = shape;
  Op op;
  op.name = "op";
  op.type = "Relu";
  op.inputs = {inputs[0]};
  op.outputs = {builder.add_tensor(std::move(out))};
  builder.add_op(std::move(op));
  return std::make_shared<const Graph>(std::move(builder).build());
}

struct HandRows {
  std::vector<std::size_t> reads = {}, writes = {}, releases = {};
  std::vector<std::uint32_t> waits = {};
  std::vector<std::size_t> members = {};
  std::vector<std::int32_t> cuts = {};
};

class HandProgram {
 public:
  HandProgram(int rank, std::size_t values, const Part& part = {}) {
    program_.rank = rank;
    program_.device = DeviceId(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < values; ++i) program_.values.push_back({TensorId(i), part, true});
  }
  HandProgram& compute(const HandRows& rows = {}) {
    Instruction what;
    what.task = TaskId(program_.instructions.size());
    return add(what, rows);
  }
  HandProgram& update(const HandRows& rows) {
    Instruction what;
    what.kind = InstructionKind::Update;
    what.task = TaskId(program_.instructions.size());
    return add(what, rows);
  }
  HandProgram& send(std::size_t to, std::size_t tag, const HandRows& rows) {
    return communicate(InstructionKind::Send, to, tag, rows);
  }
  HandProgram& receive(std::size_t from, std::size_t tag, const HandRows& rows) {
    return communicate(InstructionKind::Receive, from, tag, rows);
  }
  HandProgram& collective(InstructionKind kind, std::size_t tag, const HandRows& rows,
                          Stream stream = Stream::Communication) {
    Instruction what;
    what.kind = kind;
    what.stream = stream;
    what.task = TaskId(tag);
    return add(what, rows);
  }
  HandProgram& host_copy(InstructionKind kind, const HandRows& rows) {
    return collective(kind, program_.instructions.size(), rows);
  }
  void part(std::size_t value, const Part& part) { program_.values[ValueId(value)].part = part; }
  const RankProgram& program() const { return program_; }

 private:
  HandProgram& communicate(InstructionKind kind, std::size_t peer, std::size_t tag,
                           const HandRows& rows) {
    Instruction what;
    what.kind = kind;
    what.stream = Stream::Communication;
    what.task = TaskId(tag);
    what.peer = DeviceId(peer);
    return add(what, rows);
  }
  HandProgram& add(const Instruction& what, const HandRows& rows) {
    program_.instructions.push_back(what);
    push(program_.reads, rows.reads);
    push(program_.writes, rows.writes);
    push(program_.releases, rows.releases);
    push(program_.waits, rows.waits);
    push(program_.members, rows.members);
    push(program_.cuts, rows.cuts);
    return *this;
  }
  template <class Row, class T>
  static void push(Rows<Row>& rows, const std::vector<T>& values) {
    for (const T& value : values) rows.push(Row(value));
    rows.end_row();
  }

  RankProgram program_;
};

}  // namespace strato::worker
