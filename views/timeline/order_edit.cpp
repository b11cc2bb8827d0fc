#include "views/timeline/order_edit.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

std::string short_name(const Graph& graph, OpId op) {
  const std::string& name = graph.op(op).name;
  if (name.size() <= 60) return name;
  std::size_t from = name.size() - 60;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
  return "…" + name.substr(from);
}

// When each op first starts: on this device, or where it is not there, on any. Views, which have no
// task, as the first that reads them.
std::vector<std::int64_t> first_starts(const Timeline& shown, DeviceId device) {
  const Program& program = *shown.program;
  const Graph& graph = *program.graph;
  std::vector<std::int64_t> here(graph.op_count(), kLast), anywhere(graph.op_count(), kLast);
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!is_ordered(task)) continue;
    const std::int64_t start = shown.tasks[TaskId(t)].start.value;
    anywhere[task.op.index()] = std::min(anywhere[task.op.index()], start);
    if (task.device == device) here[task.op.index()] = std::min(here[task.op.index()], start);
  }
  for (std::size_t i = graph.op_count(); i-- > 0;) {
    if (here[i] == kLast) here[i] = anywhere[i];
    if (here[i] != kLast) continue;
    for (const TensorId output : graph.op(OpId(i)).outputs) {
      if (!output.valid()) continue;
      for (const OpId reader : graph.consumers(output))
        here[i] = std::min(here[i], here[reader.index()]);
    }
  }
  return here;
}

// The op and all that it needs. Producers have smaller ids.
std::vector<char> with_ancestors(const Graph& graph, OpId op) {
  std::vector<char> marked(graph.op_count(), 0);
  marked[op.index()] = 1;
  for (std::size_t i = op.index() + 1; i-- > 0;) {
    if (marked[i] == 0) continue;
    for (const TensorId input : graph.op(OpId(i)).inputs) {
      if (!input.valid()) continue;
      const OpId producer = graph.tensor(input).producer;
      if (producer.valid()) marked[producer.index()] = 1;
    }
  }
  return marked;
}

// Also by more than data: an update waits for all that read what it changes.
bool waits_for(const Program& program, TaskId task, TaskId other) {
  std::vector<char> needed(task.index() + 1, 0);
  needed[task.index()] = 1;
  for (std::size_t t = task.index() + 1; t-- > other.index();) {
    if (needed[t] == 0) continue;
    if (TaskId(t) == other) return true;
    for (const TaskId need : program.dependencies[t]) needed[need.index()] = 1;
  }
  return false;
}

void refuse_if_needed(const Program& program, TaskId first, TaskId second) {
  const Graph& graph = *program.graph;
  const OpId op = program.tasks[first].op, other = program.tasks[second].op;
  if (with_ancestors(graph, op)[other.index()] == 0 && !waits_for(program, first, second)) return;
  throw InputError("", short_name(graph, op), "needs " + short_name(graph, other),
                   "it can only run after it");
}

}  // namespace

bool is_ordered(const Task& task) {
  return task.op.valid() && (task.kind == TaskKind::Compute || task.kind == TaskKind::Update);
}

Strategy with_order(const Strategy& strategy, const Timeline& shown, OrderWish wish) {
  const Program& program = *shown.program;
  const Graph& graph = *program.graph;
  const Task &moved = program.tasks[wish.moved], &other = program.tasks[wish.other];
  if (!is_ordered(moved) || !is_ordered(other) || moved.device != other.device)
    throw InputError("", "order", "these do not compute on one device", "choose two that do");
  if (moved.op == other.op)
    throw InputError("", short_name(graph, moved.op), "is one op", "choose another op");
  wish.before ? refuse_if_needed(program, wish.moved, wish.other)
              : refuse_if_needed(program, wish.other, wish.moved);
  const std::vector<std::int64_t> starts = first_starts(shown, moved.device);
  std::vector<std::size_t> order(graph.op_count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t op) { return starts[op]; });
  const auto place = [&](OpId op) { return std::ranges::find(order, op.index()); };
  if (wish.before) {
    const std::vector<char> goes = with_ancestors(graph, moved.op);
    std::stable_partition(place(other.op), order.end(),
                          [&](std::size_t op) { return goes[op] != 0; });
  } else if (place(moved.op) < place(other.op)) {
    std::rotate(place(moved.op), place(moved.op) + 1, place(other.op) + 1);
  }
  Strategy result = strategy;
  result.priorities.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result.priorities[order[i]] = static_cast<std::int32_t>(i);
  return result;
}

void check_order(const Timeline& shown, OrderWish wish, const Timeline& after) {
  const Graph& graph = *shown.program->graph;
  const Task &moved = shown.program->tasks[wish.moved], &other = shown.program->tasks[wish.other];
  const OpId first = (wish.before ? moved : other).op, second = (wish.before ? other : moved).op;
  const Program& program = *after.program;
  std::optional<Nanos> first_start, second_start;
  const auto earlier = [](std::optional<Nanos>& known, Nanos start) {
    known = known ? std::min(*known, start) : start;
  };
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!is_ordered(task) || task.device != moved.device) continue;
    if (task.op == first) earlier(first_start, after.tasks[TaskId(t)].start);
    if (task.op == second) earlier(second_start, after.tasks[TaskId(t)].start);
  }
  if (first_start && second_start && *first_start < *second_start) return;
  throw InputError("", short_name(graph, first),
                   "is not ready before " + short_name(graph, second) + " starts",
                   "move what it waits for");
}

}  // namespace strato
