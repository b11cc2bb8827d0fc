// Two search trees of one problem, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/cli/output.h"
#include "app/cli/tree/report.h"
#include "core/base/quantity_text.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {
namespace {

// Those whose visits differ most, as parts of all visits of their tree.
std::vector<TreeDifference::Row> most_different(const SearchTree& before, const SearchTree& after,
                                                const TreeDifference& difference, int top) {
  const auto share = [](const SearchTree& tree, std::int32_t visits) {
    return static_cast<double>(visits) / std::max(tree.vertices.front().visits, 1);
  };
  const auto distance = [&](const TreeDifference::Row& row) {
    return std::abs(share(before, row.visits_before) - share(after, row.visits_after));
  };
  std::vector<TreeDifference::Row> rows = difference.vertices;
  std::ranges::stable_sort(rows,
                           [&](const auto& a, const auto& b) { return distance(a) > distance(b); });
  if (rows.size() > static_cast<std::size_t>(top)) rows.resize(static_cast<std::size_t>(top));
  return rows;
}

std::string place(const SearchTree& tree, std::int32_t vertex) {
  return vertex < 0 ? "-" : vertex_path(tree, vertex);
}

std::string value_words(std::int32_t visits, double value) {
  return visits > 0 ? significant_text(value) : "-";
}

// The decision at each depth of both best paths.
std::string paths_text(const SearchTree& before, const SearchTree& after,
                       const TreeDifference& difference, const Problem& problem) {
  Table table({"best path, at", "this run", "the other", ""});
  table.align_left(0);
  const auto words = [&](const SearchTree& tree, const std::vector<std::int32_t>& path,
                         std::size_t depth) {
    if (depth >= path.size()) return std::string("-");
    const auto action = tree.vertices[static_cast<std::size_t>(path[depth])].action;
    return describe(tree.actions[static_cast<std::size_t>(action)], *problem.cluster);
  };
  const std::size_t depths = std::max(difference.best_before.size(), difference.best_after.size());
  for (std::size_t depth = 1; depth < depths; ++depth) {
    table.add({problem.grouping->group(before.order[depth - 1]).name,
               words(before, difference.best_before, depth),
               words(after, difference.best_after, depth),
               depth <= difference.common_depth ? "" : "differs"});
  }
  return table.empty() ? "" : table.text() + "\n";
}

Json path_json(const SearchTree& tree, const std::vector<std::int32_t>& path,
               const Problem& problem) {
  Json json = Json::array();
  for (const std::int32_t vertex : path)
    json.push_back(
        {{"vertex", vertex_path(tree, vertex)}, {"decision", edge_words(tree, problem, vertex)}});
  return json;
}

}  // namespace

std::string comparison_text(const SearchTree& before, const SearchTree& after,
                            const TreeDifference& difference, const Problem& problem, int top) {
  std::string text = fmt::format(
      "{} vertices in both, {} here only, {} in the other only; the best paths agree on "
      "the first {} op groups\n\n",
      difference.common, difference.only_before, difference.only_after, difference.common_depth);
  text += paths_text(before, after, difference, problem);
  Table table({"vertex", "in the other", "N", "N there", "Q", "Q there", "decision"});
  table.align_left(6);
  for (const TreeDifference::Row& row : most_different(before, after, difference, top)) {
    table.add({place(before, row.before), place(after, row.after),
               std::to_string(row.visits_before), std::to_string(row.visits_after),
               value_words(row.visits_before, row.value_before),
               value_words(row.visits_after, row.value_after),
               row.before >= 0 ? edge_words(before, problem, row.before)
                               : edge_words(after, problem, row.after)});
  }
  return text + "Most different by their part of all visits\n" + table.text();
}

Json comparison_json(const SearchTree& before, const SearchTree& after,
                     const TreeDifference& difference, const Problem& problem, int top) {
  Json rows = Json::array();
  for (const TreeDifference::Row& row : most_different(before, after, difference, top)) {
    Json json = {{"visits", row.visits_before},
                 {"other_visits", row.visits_after},
                 {"value", row.value_before},
                 {"other_value", row.value_after}};
    if (row.before >= 0) json["vertex"] = vertex_path(before, row.before);
    if (row.after >= 0) json["other_vertex"] = vertex_path(after, row.after);
    rows.push_back(std::move(json));
  }
  return {{"common", difference.common},
          {"only_here", difference.only_before},
          {"only_other", difference.only_after},
          {"common_depth", difference.common_depth},
          {"best_path", path_json(before, difference.best_before, problem)},
          {"other_best_path", path_json(after, difference.best_after, problem)},
          {"most_different", std::move(rows)}};
}

}  // namespace strato::cli
