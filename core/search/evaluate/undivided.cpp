#include "core/search/evaluate/undivided.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/graph/axes/position_letters.h"

namespace strato {
namespace {

// `weights`: null, where it is columns that divide the op.
std::vector<std::int64_t> extents_of(const Graph& graph, OpId op, const WeightTensors* weights) {
  std::vector<std::int64_t> extents;
  for (const LetterSplit& split : letter_splits(graph, op))
    if (!weights || may_share_positions(graph.op(op), split, *weights))
      extents.push_back(split.extent);
  return extents;
}

bool makes_samples(const Graph& graph, OpId op) {
  return std::ranges::any_of(graph.op(op).outputs, [&](TensorId output) {
    return graph.tensor(output).batch.kind == BatchKind::Batched;
  });
}

// Nothing: an op can be divided.
std::optional<UndividedGroup> undivided(const Problem& problem, GroupId group, std::size_t between,
                                        const WeightTensors* weights) {
  const Graph& graph = *problem.graph;
  const bool by_positions = weights != nullptr;
  std::vector<OpId> ops = problem.grouping->group(group).ops;
  if (by_positions) std::erase_if(ops, [&](OpId op) { return !makes_samples(graph, op); });
  const auto parts = static_cast<std::int32_t>(between);
  const auto can_be = [&](std::int64_t extent) { return extent % parts == 0; };
  if (parts == 1 || ops.empty() || std::ranges::any_of(ops, [&](OpId op) {
        return std::ranges::any_of(extents_of(graph, op, weights), can_be);
      }))
    return std::nullopt;
  const OpId most =
      *std::ranges::max_element(ops, {}, [&](OpId op) { return graph.op(op).work.flops; });
  return UndividedGroup{group, parts, by_positions, most, extents_of(graph, most, weights)};
}

}  // namespace

std::vector<UndividedGroup> undivided_groups(const Problem& problem, const Strategy& strategy) {
  const Problem own = problem_for(problem, strategy);
  const bool in_context = std::ranges::any_of(
      strategy.groups, [](const auto& decision) { return context_rows_of(*decision) > 1; });
  const WeightTensors weights = in_context ? weights_of(*own.graph) : WeightTensors();
  std::vector<UndividedGroup> result;
  for (std::size_t g = 0; g < own.grouping->size(); ++g) {
    const Decision& decision = *strategy.groups[GroupId(g)];
    for (const bool by_positions : {false, true}) {
      const std::size_t parts = by_positions ? context_rows_of(decision) : columns_of(decision);
      if (const auto found = undivided(own, GroupId(g), parts, by_positions ? &weights : nullptr))
        result.push_back(*found);
    }
  }
  return result;
}

std::string describe_undivided(const Problem& problem, const Strategy& strategy) {
  const std::vector<UndividedGroup> groups = undivided_groups(problem, strategy);
  if (groups.empty()) return "";
  const Problem own = problem_for(problem, strategy);
  const UndividedGroup& first = groups.front();
  const OpGroup& group = own.grouping->group(first.group);
  const std::string how =
      first.extents.empty()
          ? first.by_positions ? "has no axis but weights' and the batch"
                               : "has no axis but the batch"
          : fmt::format("could be along {} of {}", first.extents.size() == 1 ? "an axis" : "axes",
                        fmt::join(first.extents, ", "));
  std::string text = fmt::format(
      "op group \"{}\": none of its {} ops can be divided between {} {} (\"{}\" {})", group.name,
      group.ops.size(), first.parts, first.by_positions ? "rows with the same samples" : "columns",
      own.graph->op(first.op).name, how);
  if (groups.size() > 1) text += fmt::format("; {} more op groups are alike", groups.size() - 1);
  return text;
}

}  // namespace strato
