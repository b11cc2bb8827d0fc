#include "views/graph/op_figures.h"

#include <algorithm>

#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {
namespace {

bool computes(TaskKind kind) { return kind == TaskKind::Compute || kind == TaskKind::Update; }

class Figures {
 public:
  explicit Figures(const Outcome& outcome)
      : program_(*outcome.program), timeline_(*outcome.timeline), graph_(*program_.graph) {
    for (auto* values : {&result_.compute, &result_.communication, &result_.memory, &result_.blame,
                         &result_.critical, &result_.longest})
      values->assign(graph_.op_count(), 0);
    result_.devices.resize(graph_.op_count());
  }

  OpFigures run() {
    add_tasks();
    add_memory();
    for (const auto& row : gaps(timeline_)) {
      for (const Gap& gap : row) add(result_.blame, gap.cause, gap.end - gap.begin);
    }
    for (const PathPiece& piece : path_pieces(timeline_)) {
      add(result_.critical, piece.task, piece.end - piece.begin);
      const OpId op = op_of(piece.task);
      if (op.valid() && (result_.path.empty() || result_.path.back() != op))
        result_.path.push_back(op);
    }
    return std::move(result_);
  }

 private:
  // Of a moved tensor: the op that made it, or that reads it first.
  OpId op_of(TensorId tensor) const {
    if (!tensor.valid()) return {};
    if (const OpId producer = graph_.tensor(tensor).producer; producer.valid()) return producer;
    const auto readers = graph_.consumers(tensor);
    return readers.empty() ? OpId() : readers[0];
  }
  OpId op_of(TaskId id) const {
    if (!id.valid()) return {};
    const Task& task = program_.tasks[id];
    return task.op.valid() ? task.op : op_of(task.tensor);
  }

  void add(IdVector<OpId, std::int64_t>& values, TaskId task, Nanos time) const {
    if (const OpId op = op_of(task); op.valid()) values[op] += time.value;
  }

  void add_tasks() {
    for (std::size_t t = 0; t < program_.tasks.size(); ++t) {
      const TaskId id(t);
      const Task& task = program_.tasks[id];
      const Nanos time = timeline_.tasks[id].end - timeline_.tasks[id].start;
      add(computes(task.kind) ? result_.compute : result_.communication, id, time);
      if (!computes(task.kind) || !task.op.valid()) continue;
      result_.longest[task.op] = std::max(result_.longest[task.op], time.value);
      result_.devices[task.op].push_back(task.device);
    }
    for (auto& devices : result_.devices) {
      std::ranges::sort(devices);
      devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    }
  }

  void add_memory() {
    for (const Buffer& buffer : program_.buffers) {
      if (const OpId op = op_of(buffer.tensor); op.valid())
        result_.memory[op] += buffer.bytes.value;
    }
    for (const Resident& resident : program_.residents) {
      if (const OpId op = op_of(resident.tensor); op.valid())
        result_.memory[op] += resident.bytes.value;
    }
  }

  const Program& program_;
  const Timeline& timeline_;
  const Graph& graph_;
  OpFigures result_;
};

}  // namespace

OpFigures figures_of(const Outcome& outcome) { return Figures(outcome).run(); }

}  // namespace strato
