#include "core/search/evaluate/undivided.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/graph/axes/letter_splits.h"

namespace strato {
namespace {

std::vector<std::int64_t> extents_of(const Graph& graph, OpId op) {
  std::vector<std::int64_t> extents;
  for (const LetterSplit& split : letter_splits(graph, op)) extents.push_back(split.extent);
  return extents;
}

bool can_divide(const Graph& graph, OpId op, std::int32_t columns) {
  return std::ranges::any_of(extents_of(graph, op),
                             [&](std::int64_t extent) { return extent % columns == 0; });
}

}  // namespace

std::vector<UndividedGroup> undivided_groups(const Problem& problem, const Strategy& strategy) {
  const Problem own = problem_for(problem, strategy);
  const Graph& graph = *own.graph;
  std::vector<UndividedGroup> result;
  for (std::size_t g = 0; g < own.grouping->size(); ++g) {
    const GroupId group(g);
    const auto columns = static_cast<std::int32_t>(columns_of(*strategy.groups[group]));
    const std::vector<OpId>& ops = own.grouping->group(group).ops;
    if (columns == 1 ||
        std::ranges::any_of(ops, [&](OpId op) { return can_divide(graph, op, columns); }))
      continue;
    const OpId most =
        *std::ranges::max_element(ops, {}, [&](OpId op) { return graph.op(op).work.flops; });
    result.push_back({group, columns, most, extents_of(graph, most)});
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
          ? "has no axis but the batch"
          : fmt::format("could be along {} of {}", first.extents.size() == 1 ? "an axis" : "axes",
                        fmt::join(first.extents, ", "));
  std::string text = fmt::format(
      "op group \"{}\": none of its {} ops can be divided between {} columns (\"{}\" {})",
      group.name, group.ops.size(), first.columns, own.graph->op(first.op).name, how);
  if (groups.size() > 1) text += fmt::format("; {} more op groups are alike", groups.size() - 1);
  return text;
}

}  // namespace strato
