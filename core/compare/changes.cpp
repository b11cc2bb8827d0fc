#include "core/compare/changes.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/base/at.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// --- ops ---

// Texts as numbers, so that those of many ops compare quickly.
struct Texts {
  std::vector<std::string> texts;
  std::map<std::string, int> numbers;

  int number_of(const std::string& text) {
    const auto [at, added] = numbers.try_emplace(text, static_cast<int>(texts.size()));
    if (added) texts.push_back(text);
    return at->second;
  }
};

std::string split_text(const OpSplit& split, const Cluster& cluster) {
  const std::string text = describe(Decision{Mode::ModelParallel, split.parts}, cluster);
  return fmt::format("split along axis {}{}", split.axis, text.substr(text.find(" on ")));
}

IdVector<OpId, int> decisions_of(const Problem& problem, const Strategy& strategy, Texts& texts) {
  IdVector<GroupId, int> groups;
  for (const auto& decision : strategy.groups)
    groups.push_back(
        texts.number_of(decision ? describe(*decision, *problem.cluster) : "undecided"));
  IdVector<OpId, int> ops;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    ops.push_back(groups[problem.grouping->group_of(OpId(i))]);
  for (const OpId op : strategy.duplicated)
    ops[op] = texts.number_of(texts.texts[at(ops[op])] + ", whole on each");
  for (const OpSplit& split : strategy.splits)
    ops[split.op] = texts.number_of(split_text(split, *problem.cluster));
  for (const OpId op : strategy.recomputed)
    ops[op] = texts.number_of(texts.texts[at(ops[op])] + ", computed again");
  for (const OpId op : strategy.offloaded)
    ops[op] = texts.number_of(texts.texts[at(ops[op])] + ", kept on the host");
  return ops;
}

// --- op groups ---

// Adds the times of one plan to the rows; `row_of` gives the row of an op of this plan.
template <class RowOf>
void add_times(const Timeline& timeline, const std::vector<PathPiece>& path, bool second,
               RowOf row_of, std::vector<GroupChange>& rows) {
  const Program& program = *timeline.program;
  for (const PathPiece& piece : path)
    rows[row_of(program.tasks[piece.task].op)].on_path.of(second) += piece.end - piece.begin;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (is_communication(task.kind)) continue;
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    rows[row_of(task.op)].busy.of(second) += times.end - times.start;
  }
}

GroupChange group_change(const Grouping& grouping, GroupId id, const OpMatch& match,
                         const OpDecisions& decided) {
  GroupChange change;
  change.group = id;
  change.name = grouping.group(id).name;
  change.ops = grouping.group(id).ops.size();
  std::map<int, std::size_t> from, to;
  for (const OpId op : grouping.group(id).ops) {
    ++to[decided.of.to[op]];
    const OpId other = match.from_of_to[op];
    if (other.valid())
      ++from[decided.of.from[other]];
    else
      ++change.unmatched;
    change.differs |= !other.valid() || decided.of.from[other] != decided.of.to[op];
  }
  change.decision = {composition(from, decided.texts), composition(to, decided.texts)};
  return change;
}

GroupChange gone_change(const std::string& label, const OpMatch& match,
                        const OpDecisions& decided) {
  GroupChange change;
  change.name = fmt::format("only in {}", label);
  std::map<int, std::size_t> from;
  for (const OpId op : match.only_from) ++from[decided.of.from[op]];
  change.ops = match.only_from.size();
  change.differs = change.ops > 0;
  change.decision = {composition(from, decided.texts), "-"};
  return change;
}

// --- variables ---

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

std::string synchronised_text(const PlanToCompare& plan, OpId update) {
  const Graph& graph = *plan.problem.graph;
  const Strategy& strategy = plan.strategy;
  const auto& decision = strategy.groups[plan.problem.grouping->group_of(update)];
  if (!decision) return "undecided";
  if (const OpSplit* split = find_entry(strategy.splits, &OpSplit::op, update))
    return fmt::format("a slice on each of {} devices", split->parts.size());
  if (decision->devices.size() == 1) return "none: one device";
  if (decision->mode == Mode::ModelParallel) return "none: one copy";
  if (const std::size_t rows = state_rows_of(*decision); rows > 1)
    return fmt::format("ZeRO {} in {} rows", decision->roles.states.stage, rows);
  const TensorId gradient = gradient_of(graph, update);
  const OpId maker = gradient.valid() ? graph.tensor(gradient).producer : OpId();
  if (decision->mode == Mode::Duplicate ||
      (maker.valid() && std::ranges::binary_search(strategy.duplicated, maker)))
    return "none: computed whole on each device";
  const VariableSync* sync = find_entry(strategy.variables, &VariableSync::update, update);
  if (!sync)
    return fmt::format("{} of {} devices", label_of(decision->mode), decision->devices.size());
  const std::string text = describe(*sync, graph, *plan.problem.cluster);
  const std::string name = graph.tensor(parameter_of(graph, update)).name + ": ";
  return text.starts_with(name) ? text.substr(name.size()) : text;
}

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

OpDecisions op_decisions(const Problem& from_problem, const Strategy& from,
                         const Problem& to_problem, const Strategy& to) {
  Texts texts;
  OpDecisions result;
  result.of = {decisions_of(from_problem, from, texts), decisions_of(to_problem, to, texts)};
  result.texts = std::move(texts.texts);
  return result;
}

std::string composition(const std::map<int, std::size_t>& counts,
                        const std::vector<std::string>& texts) {
  if (counts.empty()) return "-";
  if (counts.size() == 1) return texts[at(counts.begin()->first)];
  std::vector<std::pair<std::size_t, std::string_view>> order;
  std::size_t all = 0;
  for (const auto& [number, count] : counts) {
    order.emplace_back(count, texts[at(number)]);
    all += count;
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const auto& [most, text] = order[0];
  const auto& [second, second_text] = order[1];
  return fmt::format("{} ({} of {} ops); {} ({}){}", text, most, all, second_text, second,
                     order.size() > 2 ? fmt::format("; {} more", order.size() - 2) : "");
}

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths) {
  const Grouping& grouping = *to.problem.grouping;
  const OpDecisions decided = op_decisions(from.problem, from.strategy, to.problem, to.strategy);
  std::vector<GroupChange> rows;
  for (std::size_t g = 0; g < grouping.size(); ++g)
    rows.push_back(group_change(grouping, GroupId(g), match, decided));
  rows.push_back(gone_change(from.label, match, decided));
  const auto row_of = [&](OpId op) {  // of the second graph; invalid: it has no such op
    return op.valid() ? grouping.group_of(op).index() : grouping.size();
  };
  const auto row_of_first = [&](OpId op) {
    return row_of(op.valid() ? match.to_of_from[op] : OpId());
  };
  add_times(*from.outcome.timeline, paths.from, false, row_of_first, rows);
  add_times(*to.outcome.timeline, paths.to, true, row_of, rows);
  const GroupChange& gone = rows.back();
  if (gone.ops == 0 && gone.on_path == Pair<Nanos>()) rows.pop_back();
  std::ranges::stable_sort(rows, std::greater(), [](const GroupChange& change) {
    return std::abs(change.change().value);
  });
  return rows;
}

std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match) {
  const Graph &graph_from = *from.problem.graph, &graph_to = *to.problem.graph;
  const auto times_from = communication_of(*from.outcome.timeline);
  const auto times_to = communication_of(*to.outcome.timeline);
  std::vector<VariableChange> changes;
  const auto add = [&](OpId op_from, OpId op_to) {
    const bool has_from = op_from.valid() && is_update(graph_from, op_from);
    const Graph& graph = op_to.valid() ? graph_to : graph_from;
    const Tensor& parameter = graph.tensor(parameter_of(graph, op_to.valid() ? op_to : op_from));
    const Pair<std::string> words{has_from ? synchronised_text(from, op_from) : "-",
                                  op_to.valid() ? synchronised_text(to, op_to) : "-"};
    changes.push_back(
        {op_to,
         parameter.name,
         parameter.bytes(),
         words,
         words.from != words.to,
         {has_from ? times_from[op_from] : Nanos(), op_to.valid() ? times_to[op_to] : Nanos()}});
  };
  for (std::size_t i = 0; i < graph_to.op_count(); ++i)
    if (is_update(graph_to, OpId(i))) add(match.from_of_to[OpId(i)], OpId(i));
  for (const OpId op : match.only_from)
    if (is_update(graph_from, op)) add(op, {});
  std::ranges::stable_sort(changes, std::greater(), &VariableChange::bytes);
  return changes;
}

}  // namespace strato
