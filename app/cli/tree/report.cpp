#include "app/cli/tree/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"

namespace strato::cli {
namespace {

const SearchTree::Vertex& at(const SearchTree& tree, std::int32_t vertex) {
  return tree.vertices[static_cast<std::size_t>(vertex)];
}

// What a person has said, and where the search would go.
struct Marks {
  const SearchTree& tree;
  std::vector<bool> on_best_path;

  explicit Marks(const SearchTree& of) : tree(of), on_best_path(of.vertices.size(), false) {
    for (const std::int32_t vertex : of.best_path())
      on_best_path[static_cast<std::size_t>(vertex)] = true;
  }

  bool is_pinned(std::int32_t vertex) const {
    const SearchTree::Vertex& v = at(tree, vertex);
    return vertex > 0 && !tree.pinned.empty() &&
           tree.pinned[tree.order[static_cast<std::size_t>(v.depth - 1)]].has_value();
  }

  std::vector<std::string> of(std::int32_t vertex) const {
    const float weight = at(tree, vertex).weight;
    std::vector<std::string> marks;
    if (on_best_path[static_cast<std::size_t>(vertex)]) marks.emplace_back("best path");
    if (weight == 0) marks.emplace_back("excluded");
    if (weight != 0 && weight != 1)
      marks.push_back(fmt::format("{} {}", weight > 1 ? "boosted" : "lowered",
                                  factor_text(static_cast<double>(weight))));
    if (is_pinned(vertex))
      marks.emplace_back(weight != 0 && tree.is_closed(vertex) ? "against the pin" : "pinned");
    if (tree.focus == vertex) marks.emplace_back("focus");
    return marks;
  }
};

std::vector<std::int32_t> by_visits(const SearchTree& tree, std::int32_t vertex) {
  std::vector<std::int32_t> children = tree.children(vertex);
  std::ranges::stable_sort(children, [&](std::int32_t a, std::int32_t b) {
    return at(tree, a).visits > at(tree, b).visits;
  });
  return children;
}

class Printer {
 public:
  Printer(const SearchTree& tree, const Problem& problem, const TreeView& view)
      : tree_(tree), problem_(problem), view_(view), marks_(tree) {}

  std::string text() {
    table_.align_left(5);
    add(view_.vertex, 0);
    return table_.text();
  }
  Json json(std::int32_t vertex, int level) const {
    const SearchTree::Vertex& v = at(tree_, vertex);
    Json json = {{"vertex", vertex_path(tree_, vertex)}};
    if (vertex > 0) {
      json["group"] = group_of(v).name;
      json["decision"] =
          decision_json(tree_.actions[static_cast<std::size_t>(v.action)], *problem_.cluster);
    }
    json["visits"] = v.visits;
    json["value"] = v.value();
    json["prior"] = v.prior;
    json["weight"] = v.weight;
    json["reward"] = v.reward;
    if (v.step_time_ns > 0) json["step_time_s"] = to_seconds(Nanos(v.step_time_ns));
    json["feasible"] = v.step_time_ns > 0 && v.reward > -1;
    json["marks"] = marks_.of(vertex);
    json["child_count"] = v.child_count;
    if (level == view_.depth) return json;
    json["children"] = Json::array();
    for (const std::int32_t child : shown(vertex))
      json["children"].push_back(this->json(child, level + 1));
    return json;
  }

 private:
  const OpGroup& group_of(const SearchTree::Vertex& v) const {
    return problem_.grouping->group(tree_.order[static_cast<std::size_t>(v.depth - 1)]);
  }
  std::vector<std::int32_t> shown(std::int32_t vertex) const {
    std::vector<std::int32_t> children = by_visits(tree_, vertex);
    if (children.size() > static_cast<std::size_t>(view_.top))
      children.resize(static_cast<std::size_t>(view_.top));
    return children;
  }

  void add(std::int32_t vertex, int level) {
    const SearchTree::Vertex& v = at(tree_, vertex);
    const std::string indent(static_cast<std::size_t>(2 * level), ' ');
    table_.add({indent + vertex_path(tree_, vertex), std::to_string(v.visits),
                significant_text(v.value()), significant_text(static_cast<double>(v.prior)),
                time_words(v), edge_words(tree_, problem_, vertex),
                fmt::format("{}", fmt::join(marks_.of(vertex), ", "))});
    if (level == view_.depth) return;
    const std::vector<std::int32_t> children = shown(vertex);
    for (const std::int32_t child : children) add(child, level + 1);
    const std::size_t hidden = static_cast<std::size_t>(v.child_count) - children.size();
    if (hidden > 0)
      table_.add({indent + fmt::format("  ... {} more", hidden), "", "", "", "", "", ""});
  }
  static std::string time_words(const SearchTree::Vertex& v) {
    if (v.step_time_ns == 0) return "-";
    return time_text(Nanos(v.step_time_ns)) + (v.reward > -1 ? "" : " (no fit)");
  }

  const SearchTree& tree_;
  const Problem& problem_;
  const TreeView view_;
  const Marks marks_;
  Table table_{{"vertex", "N", "Q", "prior", "step time", "decision", ""}};
};

std::string pins_text(const SearchTree& tree, const Problem& problem) {
  std::string text;
  for (std::size_t g = 0; g < tree.pinned.size(); ++g) {
    const auto& pin = tree.pinned[GroupId(g)];
    if (!pin) continue;
    text += fmt::format("  {}: {}\n", problem.grouping->group(GroupId(g)).name,
                        describe(*pin, *problem.cluster));
  }
  return text.empty() ? "" : "\nPinned\n" + text;
}

Json pins_json(const SearchTree& tree, const Problem& problem) {
  Json json = Json::object();
  for (std::size_t g = 0; g < tree.pinned.size(); ++g) {
    if (const auto& pin = tree.pinned[GroupId(g)])
      json[problem.grouping->group(GroupId(g)).name] = decision_json(*pin, *problem.cluster);
  }
  return json;
}

}  // namespace

std::string edge_words(const SearchTree& tree, const Problem& problem, std::int32_t vertex) {
  const SearchTree::Vertex& v = at(tree, vertex);
  if (v.parent < 0) return "";
  const GroupId group = tree.order[static_cast<std::size_t>(v.depth - 1)];
  return fmt::format("{}: {}", problem.grouping->group(group).name,
                     describe(tree.actions[static_cast<std::size_t>(v.action)], *problem.cluster));
}

Json decision_json(const Decision& decision, const Cluster& cluster) {
  Json devices = Json::object();
  for (const DeviceShare& share : decision.devices)
    devices[cluster.device(share.device).name] = share.weight;
  return {{"mode", std::string(name_of(decision.mode))}, {"devices", std::move(devices)}};
}

std::string tree_text(const SearchTree& tree, const Problem& problem, const TreeView& view) {
  std::string text =
      fmt::format("{} vertices, {} iterations, {} actions, {} steps of history\n\n",
                  tree.vertices.size(), tree.iterations, tree.actions.size(), tree.log.size());
  text += Printer(tree, problem, view).text() + pins_text(tree, problem);
  if (tree.focus >= 0) text += fmt::format("\nSearches below {}\n", vertex_path(tree, tree.focus));
  return text;
}

Json tree_json(const SearchTree& tree, const Problem& problem, const TreeView& view) {
  Json path = Json::array();
  for (const std::int32_t vertex : tree.best_path()) path.push_back(vertex_path(tree, vertex));
  Json json = {{"vertices", tree.vertices.size()},
               {"iterations", tree.iterations},
               {"actions", tree.actions.size()},
               {"steps", tree.log.size()},
               {"seed", tree.seed},
               {"best_path", std::move(path)},
               {"pinned", pins_json(tree, problem)}};
  if (tree.focus >= 0) json["focus"] = vertex_path(tree, tree.focus);
  json["tree"] = Printer(tree, problem, view).json(view.vertex, 0);
  return json;
}

}  // namespace strato::cli
