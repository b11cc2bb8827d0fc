// The history of a search tree, step by step.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/output.h"
#include "app/cli/tree/report.h"
#include "core/base/quantity_text.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"

namespace strato::cli {
namespace {

struct PriorShare {
  std::size_t action;
  float prior;
};

// Of the vertex's next group, the largest first; empty: uniform.
std::vector<PriorShare> largest_priors(const SearchTree& tree, std::int32_t vertex, int top) {
  const std::int32_t row = tree.vertices[static_cast<std::size_t>(vertex)].prior_row;
  if (row < 0) return {};
  const std::size_t width = tree.actions.size();
  std::vector<PriorShare> all;
  for (std::size_t a = 0; a < width; ++a)
    all.push_back({a, tree.priors[static_cast<std::size_t>(row) * width + a]});
  std::ranges::stable_sort(
      all, [](const PriorShare& a, const PriorShare& b) { return a.prior > b.prior; });
  if (all.size() > static_cast<std::size_t>(top)) all.resize(static_cast<std::size_t>(top));
  return all;
}

struct BackedUp {
  std::int32_t vertex = 0;
  std::int32_t visits_before = 0, visits_after = 0;
  double value_before = 0, value_after = 0;
};

struct ComparedVertex {
  std::int32_t vertex;        // where selection stood
  std::vector<PuctRow> rows;  // the best score first
};

// One back-up with all that led to it.
struct Step {
  std::size_t number = 0;
  std::int32_t vertex = 0;
  bool expanded = false;
  float reward = 0;
  std::int64_t step_time_ns = 0;
  std::vector<BackedUp> path;  // from the root
  std::vector<ComparedVertex> compared;
  std::vector<PriorShare> priors;
};

std::vector<ComparedVertex> compare_on_way(TreeReplay& replay,
                                           const std::vector<std::int32_t>& path,
                                           const TreeSearchOptions& options, int top) {
  std::vector<ComparedVertex> compared;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    std::vector<PuctRow> rows = puct_rows(replay, path[i], options);
    std::ranges::stable_sort(
        rows, [](const PuctRow& a, const PuctRow& b) { return a.score() > b.score(); });
    if (rows.size() > static_cast<std::size_t>(top)) rows.resize(static_cast<std::size_t>(top));
    compared.push_back({path[i], std::move(rows)});
  }
  return compared;
}

// Leaves `replay` at `number`.
Step step_of(TreeReplay& replay, std::size_t number, const TreeSearchOptions& options,
             const ReplayRange& range) {
  const SearchTree& tree = replay.tree();
  Step step;
  step.number = number;
  replay.seek(number);
  const std::vector<std::int32_t> path = replay.path();
  step.vertex = path.back();
  step.expanded = replay.expanded();
  step.reward = tree.log[number - 1].reward;
  step.step_time_ns = tree.vertices[static_cast<std::size_t>(step.vertex)].step_time_ns;
  if (step.expanded) step.priors = largest_priors(tree, step.vertex, range.top);
  for (const std::int32_t vertex : path)
    step.path.push_back({vertex, 0, replay.visits(vertex), 0, replay.value(vertex)});
  replay.seek(number - 1);
  for (BackedUp& vertex : step.path) {
    vertex.visits_before = replay.visits(vertex.vertex);
    vertex.value_before = replay.value(vertex.vertex);
  }
  if (range.scores) step.compared = compare_on_way(replay, path, options, range.top);
  replay.seek(number);
  return step;
}

class ReplayPrinter {
 public:
  ReplayPrinter(const SearchTree& tree, const Problem& problem) : tree_(tree), problem_(problem) {}

  std::string text(const Step& step) const {
    std::string text = fmt::format("step {} of {}: {}\n", step.number, tree_.log.size(),
                                   vertex_path(tree_, step.vertex));
    text += "  selection\n" + selection(step);
    text += expansion(step);
    text += fmt::format("  evaluation   {}, reward {}{}\n",
                        step.step_time_ns > 0 ? time_text(Nanos(step.step_time_ns)) : "not timed",
                        significant_text(static_cast<double>(step.reward)),
                        step.reward > -1 ? "" : " (does not fit)");
    text += "  back-up\n";
    Table table({"  vertex", "N", "Q before", "after"});
    for (const BackedUp& v : step.path) {
      table.add({"  " + vertex_path(tree_, v.vertex),
                 fmt::format("{} -> {}", v.visits_before, v.visits_after),
                 v.visits_before > 0 ? significant_text(v.value_before, 4) : "-",
                 significant_text(v.value_after, 4)});
    }
    return text + table.text();
  }

  Json json(const Step& step) const {
    Json path = Json::array(), compared = Json::array(), priors = Json::array();
    for (const BackedUp& v : step.path) {
      path.push_back({{"vertex", vertex_path(tree_, v.vertex)},
                      {"decision", edge_words(tree_, problem_, v.vertex)},
                      {"visits_before", v.visits_before},
                      {"visits_after", v.visits_after},
                      {"value_before", v.value_before},
                      {"value_after", v.value_after}});
    }
    for (const ComparedVertex& each : step.compared) {
      Json rows = Json::array();
      for (const PuctRow& row : each.rows) rows.push_back(json_of(row));
      compared.push_back({{"vertex", vertex_path(tree_, each.vertex)}, {"candidates", rows}});
    }
    for (const PriorShare& each : step.priors) {
      priors.push_back({{"decision", decision_json(tree_.actions[each.action], *problem_.cluster)},
                        {"prior", each.prior}});
    }
    Json json = {{"step", step.number},
                 {"vertex", vertex_path(tree_, step.vertex)},
                 {"expanded", step.expanded},
                 {"reward", step.reward},
                 {"path", std::move(path)}};
    if (step.step_time_ns > 0) json["step_time_s"] = to_seconds(Nanos(step.step_time_ns));
    if (step.expanded) json["priors"] = std::move(priors);
    if (!step.compared.empty()) json["compared"] = std::move(compared);
    return json;
  }

 private:
  std::string action_words(std::int32_t action) const {
    return action < 0
               ? "an action that is not kept"
               : describe(tree_.actions[static_cast<std::size_t>(action)], *problem_.cluster);
  }

  std::string selection(const Step& step) const {
    std::string text;
    for (std::size_t i = 0; i < step.path.size(); ++i) {
      const std::int32_t vertex = step.path[i].vertex;
      const std::string words = edge_words(tree_, problem_, vertex);
      text +=
          fmt::format("    {}{}\n", vertex_path(tree_, vertex), words.empty() ? "" : "  " + words);
      if (i >= step.compared.size()) continue;
      Table table({"      U", "= Q", "+ prior term", "N", "prior", ""});
      for (const PuctRow& row : step.compared[i].rows) {
        table.add(
            {"      " + significant_text(row.score()), significant_text(row.normalised),
             significant_text(row.exploration), std::to_string(row.visits),
             significant_text(static_cast<double>(row.prior)),
             row.child < 0 ? "next: " + action_words(row.action) : vertex_path(tree_, row.child)});
      }
      text += table.text();
    }
    return text;
  }

  std::string expansion(const Step& step) const {
    if (!step.expanded) return "  expansion    none: the vertex was there\n";
    const SearchTree::Vertex& v = tree_.vertices[static_cast<std::size_t>(step.vertex)];
    if (static_cast<std::size_t>(v.depth) == tree_.order.size())
      return "  expansion    a complete strategy\n";
    const std::string group =
        problem_.grouping->group(tree_.order[static_cast<std::size_t>(v.depth)]).name;
    if (step.priors.empty()) {
      return fmt::format("  expansion    next is {}: all of {} actions alike\n", group,
                         tree_.actions.size());
    }
    std::string text = fmt::format("  expansion    next is {}:\n", group);
    for (const PriorShare& each : step.priors) {
      text += fmt::format("    {:>6}  {}\n", significant_text(static_cast<double>(each.prior)),
                          action_words(static_cast<std::int32_t>(each.action)));
    }
    return text;
  }

  Json json_of(const PuctRow& row) const {
    Json json = {{"visits", row.visits},           {"value", row.value},
                 {"normalised", row.normalised},   {"prior", row.prior},
                 {"exploration", row.exploration}, {"score", row.score()}};
    if (row.child >= 0) json["vertex"] = vertex_path(tree_, row.child);
    if (row.action >= 0) {
      json["decision"] =
          decision_json(tree_.actions[static_cast<std::size_t>(row.action)], *problem_.cluster);
    }
    return json;
  }

  const SearchTree& tree_;
  const Problem& problem_;
};

}  // namespace

std::string replay_text(TreeReplay& replay, const Problem& problem,
                        const TreeSearchOptions& options, const ReplayRange& range) {
  const ReplayPrinter printer(replay.tree(), problem);
  std::string text;
  for (std::size_t number = range.from; number <= range.to; ++number)
    text += (text.empty() ? "" : "\n") + printer.text(step_of(replay, number, options, range));
  return text;
}

Json replay_json(TreeReplay& replay, const Problem& problem, const TreeSearchOptions& options,
                 const ReplayRange& range) {
  const ReplayPrinter printer(replay.tree(), problem);
  Json steps = Json::array();
  for (std::size_t number = range.from; number <= range.to; ++number)
    steps.push_back(printer.json(step_of(replay, number, options, range)));
  return {{"steps", replay.steps()}, {"replay", std::move(steps)}};
}

}  // namespace strato::cli
