// Compares how each parameter's gradient is synchronised, and what that costs.
#include "core/compare/variable_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

template <class Entry>
const Entry* find_entry(const std::vector<Entry>& entries, OpId Entry::*key, OpId op) {
  const auto at = std::ranges::lower_bound(entries, op, {}, key);
  return at != entries.end() && (*at).*key == op ? &*at : nullptr;
}

// The gradient is what the update reads beside the parameter and its state.
TensorId gradient_of(const Graph& graph, OpId update) {
  for (const TensorId input : graph.op(update).inputs)
    if (input.valid() && graph.tensor(input).role == TensorRole::Gradient) return input;
  return {};
}

class VariableTexts {
 public:
  explicit VariableTexts(const PlanToCompare& plan)
      : graph_(*plan.problem.graph), problem_(plan.problem), strategy_(plan.strategy) {}

  std::string of(OpId update) const {
    const auto& decision = strategy_.groups[problem_.grouping->group_of(update)];
    if (!decision) return "undecided";
    if (const OpSplit* split = find_entry(strategy_.splits, &OpSplit::op, update))
      return fmt::format("a slice on each of {} devices", split->parts.size());
    const std::size_t devices = decision->devices.size();
    if (devices == 1) return "none: one device";
    switch (decision->mode) {
      case Mode::Duplicate:
        return "none: computed whole on each device";
      case Mode::ModelParallel:
        return "none: one copy";
      case Mode::ReplicateAllReduce:
      case Mode::ReplicatePs:
        break;
    }
    if (is_duplicated(update)) return "none: computed whole on each device";
    if (const VariableSync* sync = find_entry(strategy_.variables, &VariableSync::update, update)) {
      const std::string text = describe(*sync, graph_, *problem_.cluster);
      const std::string name = graph_.tensor(parameter_of(graph_, update)).name + ": ";
      return text.starts_with(name) ? text.substr(name.size()) : text;
    }
    return fmt::format("{} of {} devices", label_of(decision->mode), devices);
  }

 private:
  bool is_duplicated(OpId update) const {
    const TensorId gradient = gradient_of(graph_, update);
    const OpId maker = gradient.valid() ? graph_.tensor(gradient).producer : OpId();
    const auto has = [&](OpId op) {
      return op.valid() && std::ranges::binary_search(strategy_.duplicated, op);
    };
    return has(maker);
  }

  const Graph& graph_;
  const Problem& problem_;
  const Strategy& strategy_;
};

// Adds up, for each update op, the times of the tasks that move its parameter or its gradient.
IdVector<OpId, Nanos> communication_of(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const Graph& graph = *program.graph;
  IdVector<TensorId, OpId> owner(graph.tensor_count());
  for (std::size_t t = 0; t < graph.tensor_count(); ++t) {
    const OpId update = graph.update_of(TensorId(t));
    if (!update.valid()) continue;
    owner[TensorId(t)] = update;
    if (const TensorId gradient = gradient_of(graph, update); gradient.valid())
      owner[gradient] = update;
    for (const TensorId output : graph.op(update).outputs)
      if (output.valid() && graph.tensor(output).role == TensorRole::Parameter)
        owner[output] = update;
  }
  IdVector<OpId, Nanos> times(graph.op_count());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    if (!is_communication(task.kind) || !task.tensor.valid() || !owner[task.tensor].valid())
      continue;
    const TaskTimes& at = timeline.tasks[TaskId(i)];
    times[owner[task.tensor]] += at.end - at.start;
  }
  return times;
}

bool is_update(const Graph& graph, OpId op) {
  return graph.op(op).phase == Phase::Update && parameter_of(graph, op).valid();
}

}  // namespace

std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match) {
  const Graph &graph_from = *from.problem.graph, &graph_to = *to.problem.graph;
  const VariableTexts texts_from(from), texts_to(to);
  const auto times_from = communication_of(*from.outcome.timeline);
  const auto times_to = communication_of(*to.outcome.timeline);
  std::vector<VariableChange> changes;
  const auto add = [&](OpId op_from, OpId op_to) {
    const bool has_from = op_from.valid() && is_update(graph_from, op_from);
    const Graph& graph = op_to.valid() ? graph_to : graph_from;
    const Tensor& parameter = graph.tensor(parameter_of(graph, op_to.valid() ? op_to : op_from));
    VariableChange change{op_to, parameter.name, parameter.bytes(), {"-", "-"}, false, {}};
    if (has_from) {
      change.synchronised.from = texts_from.of(op_from);
      change.communication.from = times_from[op_from];
    }
    if (op_to.valid()) {
      change.synchronised.to = texts_to.of(op_to);
      change.communication.to = times_to[op_to];
    }
    change.differs = change.synchronised.from != change.synchronised.to;
    changes.push_back(std::move(change));
  };
  for (std::size_t i = 0; i < graph_to.op_count(); ++i)
    if (is_update(graph_to, OpId(i))) add(match.from_of_to[OpId(i)], OpId(i));
  for (const OpId op : match.only_from)
    if (is_update(graph_from, op)) add(op, {});
  std::ranges::stable_sort(
      changes, [](const VariableChange& a, const VariableChange& b) { return a.bytes > b.bytes; });
  return changes;
}

}  // namespace strato
