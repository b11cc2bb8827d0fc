#include "views/graph/graph_content.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/graph/group/equal_blocks.h"
#include "views/graph/op_level.h"
#include "views/models/strategy_edits.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct GraphWords {
  Q_DECLARE_TR_FUNCTIONS(GraphWords)
};

constexpr QSizeF kGroupSize(132, 44), kOpSize(132, 32), kBoundarySize(148, 32);
constexpr qsizetype kLongestTooltip = 200;  // letters of a tooltip

// Wide enough for the last part of the name, which says most; by letters, so that a layout does not
// depend on the machine's fonts.
QSizeF group_size(const QString& name) {
  const auto last = name.size() - 1 - name.lastIndexOf(QLatin1Char('/'), name.size() - 2);
  return {std::clamp(28 + 6.8 * static_cast<double>(last), kGroupSize.width(), 184.0),
          kGroupSize.height()};
}

// Where in the forward pass a group lies: the mean id of its forward ops.
double position(const Problem& problem, GroupId group) {
  const Graph& graph = *problem.graph;
  const std::vector<OpId>& ops = problem.grouping->group(group).ops;
  double sum = 0;
  for (const OpId op : ops) {
    const OpId forward = graph.op(op).forward;
    sum += (forward.valid() ? forward : op).value();
  }
  return ops.empty() ? 0 : sum / static_cast<double>(ops.size());
}

class GroupLevel {
 public:
  GroupLevel(const Problem& problem, const GraphLevel& level, std::size_t most)
      : problem_(problem), grouping_(*problem.grouping), groups_(level.groups) {
    if (groups_.empty()) {
      for (std::size_t g = 0; g < grouping_.size(); ++g) groups_.emplace_back(g);
    }
    for (std::size_t g = 0; g < grouping_.size(); ++g)
      positions_.push_back(position(problem, GroupId(g)));
    for (const OpGroup& group : grouping_.groups())
      whole_ += static_cast<double>(group.compute_time.value);
    divide(most);
  }

  GraphContent make() {
    for (const auto& part : parts_) content_.nodes.push_back(node_of(part));
    std::vector<int> index(grouping_.size(), -1);
    for (std::size_t n = 0; n < parts_.size(); ++n) {
      for (const GroupId group : parts_[n]) index[group.index()] = static_cast<int>(n);
    }
    std::map<std::pair<int, int>, GraphEdge> edges;
    for (const Grouping::Edge& edge : grouping_.edges()) {
      const int from = index[edge.from.index()], to = index[edge.to.index()];
      if (from < 0 || to < 0 || from == to) continue;
      const bool along = place_of(from) < place_of(to);
      const int first = along ? from : to, second = along ? to : from;
      GraphEdge& merged =
          edges.try_emplace({first, second}, GraphEdge{first, second, Bytes(0), Bytes(0)})
              .first->second;
      (along ? merged.bytes : merged.back) += edge.bytes;
    }
    for (const auto& [ends, edge] : edges) content_.edges.push_back(edge);
    return std::move(content_);
  }

 private:
  // One part a group, or even runs of neighbours where that would be too many.
  void divide(std::size_t most) {
    if (groups_.size() <= most) {
      for (const GroupId group : groups_) parts_.push_back({group});
      return;
    }
    std::ranges::stable_sort(groups_, {}, [&](GroupId g) { return positions_[g.index()]; });
    const std::size_t count = std::min(most, (groups_.size() + most - 1) / most);
    for (std::size_t c = 0; c < count; ++c) {
      const auto at = [&](std::size_t i) {
        return groups_.begin() + static_cast<std::ptrdiff_t>(i * groups_.size() / count);
      };
      parts_.emplace_back(at(c), at(c + 1));
    }
  }

  std::pair<double, int> place_of(int node) const {
    return {positions_[parts_[static_cast<std::size_t>(node)][0].index()], node};
  }

  GraphNode node_of(const std::vector<GroupId>& part) const {
    GraphNode node;
    const OpGroup& first = grouping_.group(part[0]);
    node.name = text(first.name);
    if (part.size() > 1) {
      node.groups = part;
      std::ranges::sort(node.groups);
      node.name += QStringLiteral(" … ") + text(grouping_.group(part.back()).name);
    } else {
      node.group = part[0];
    }
    Nanos time;
    Bytes parameters;
    std::size_t ops = 0;
    for (const GroupId id : part) {
      const OpGroup& group = grouping_.group(id);
      time += group.compute_time;
      parameters += group.parameter_bytes;
      ops += group.ops.size();
    }
    node.share = whole_ > 0 ? static_cast<double>(time.value) / whole_ : 0;
    node.detail = part.size() > 1 ? GraphWords::tr("%1 groups").arg(part.size())
                                  : GraphWords::tr("%1 ops").arg(ops);
    node.tooltip =
        GraphWords::tr("<b>%1</b><br>%2 ops, %3 of all compute time (%4)<br>parameters %5")
            .arg(node.name.left(kLongestTooltip).toHtmlEscaped())
            .arg(ops)
            .arg(style::percent(node.share), style::time(time), style::bytes(parameters));
    return node;
  }

  const Problem& problem_;
  const Grouping& grouping_;
  std::vector<GroupId> groups_;
  std::vector<double> positions_;
  double whole_ = 0;
  std::vector<std::vector<GroupId>> parts_;
  GraphContent content_;
};

// Nodes that are the same block over again. A single op says little: only whole blocks count.
void mark_equal_blocks(const Problem& problem, GraphContent& content) {
  std::vector<std::vector<OpId>> sets;
  std::vector<std::span<const OpId>> spans;
  for (const GraphNode& node : content.nodes)
    sets.push_back(node.op.valid() ? std::vector<OpId>{} : ops_of(node, *problem.grouping));
  spans.assign(sets.begin(), sets.end());
  const std::vector<std::size_t> first = equal_blocks(*problem.graph, spans);
  std::vector<int> count(first.size());
  for (const std::size_t f : first) ++count[f];
  for (std::size_t n = 0; n < content.nodes.size(); ++n) {
    if (sets[n].size() < 2) continue;
    GraphNode& node = content.nodes[n];
    node.block = static_cast<int>(first[n]);
    node.equals = count[first[n]];
    if (node.equals < 2) continue;
    node.tooltip += GraphWords::tr(
                        "<br>one of %1 equal blocks: E selects them all, and what you "
                        "then edit applies to each")
                        .arg(node.equals);
  }
}

// By time; ops without a time count a nanosecond.
void add_phases(const Problem& problem, GraphContent& content, const std::vector<Nanos>& times) {
  for (GraphNode& node : content.nodes) {
    double whole = 0;
    for (const OpId op : ops_of(node, *problem.grouping)) {
      const auto time = op.index() < times.size() ? times[op.index()].value : 0;
      const double weight = static_cast<double>(std::max<std::int64_t>(1, time));
      node.phases[static_cast<std::size_t>(problem.graph->op(op).phase)] += weight;
      whole += weight;
    }
    for (double& phase : node.phases) phase /= std::max(1.0, whole);
  }
}

void keep_heaviest_edges(GraphContent& content) {
  if (content.edges.size() <= kMostEdges) return;
  content.note =
      GraphWords::tr("The %1 heaviest of %2 edges").arg(kMostEdges).arg(content.edges.size());
  const auto weight = [](const GraphEdge& edge) { return -(edge.bytes + edge.back).value; };
  std::ranges::stable_sort(content.edges, {}, weight);
  content.edges.resize(kMostEdges);
  std::ranges::sort(content.edges, {}, [](const GraphEdge& e) { return std::pair(e.from, e.to); });
}

}  // namespace

GraphLevel level_of(const GraphNode& node, const Grouping& grouping) {
  GraphLevel level;
  level.name = node.name;
  if (!node.groups.empty()) {
    level.groups = node.groups;
    return level;
  }
  level.group = node.group;
  level.opened_ops = node.ops;
  level.ops = node.ops.empty() ? grouping.group(node.group).ops : node.ops;
  return level;
}

GraphLevel level_in(GraphLevel level, const Grouping& before, const Grouping& now) {
  level.groups = groups_with_ops_of(level.groups, before, now);
  if (level.ops.empty()) return level;
  std::map<GroupId, std::size_t> ops;
  for (const OpId op : level.ops) ++ops[now.group_of(op)];
  level.group =
      std::ranges::max_element(ops, {}, [](const auto& entry) { return entry.second; })->first;
  if (level.opened_ops.empty()) {
    level.ops = now.group(level.group).ops;
    level.name = text(now.group(level.group).name);
    return level;
  }
  const auto elsewhere = [&](OpId op) { return now.group_of(op) != level.group; };
  std::erase_if(level.ops, elsewhere);
  std::erase_if(level.opened_ops, elsewhere);
  return level;
}

std::vector<OpId> ops_of(const GraphNode& node, const Grouping& grouping) {
  if (node.boundary || node.frame) return {};
  if (node.op.valid()) return {node.op};
  if (!node.ops.empty()) return node.ops;
  if (node.groups.empty()) return grouping.group(node.group).ops;
  std::vector<OpId> ops;
  for (const GroupId group : node.groups) {
    const auto& own = grouping.group(group).ops;
    ops.insert(ops.end(), own.begin(), own.end());
  }
  std::sort(ops.begin(), ops.end());
  return ops;
}

GraphContent content_of(const Problem& problem, const GraphLevel& level,
                        const std::vector<Nanos>& op_times, std::size_t most) {
  GraphContent content = level.ops.empty() ? GroupLevel(problem, level, most).make()
                                           : content_of_ops(problem, level, op_times, most);
  mark_equal_blocks(problem, content);
  add_phases(problem, content, op_times);
  keep_heaviest_edges(content);
  return content;
}

std::vector<PlacementStripe> stripes_of(const Decision& decision, const Cluster& cluster) {
  const bool weighted = splits_batch(decision.mode);
  std::map<DeviceGroupId, double> sums;
  double whole = 0;
  for (const DeviceShare& share : decision.devices) {
    const double weight = weighted ? share.weight : 1;
    sums[cluster.device(share.device).group] += weight;
    whole += weight;
  }
  std::vector<PlacementStripe> stripes;
  for (const auto& [group, sum] : sums) stripes.push_back({group, sum / whole});
  return stripes;
}

LayoutRequest layout_request(const GraphContent& content, FlowDirection direction) {
  LayoutRequest request;
  request.direction = direction;
  for (const GraphNode& node : content.nodes) {
    request.nodes.push_back(node.boundary     ? kBoundarySize
                            : node.op.valid() ? kOpSize
                                              : group_size(node.name));
  }
  for (const GraphEdge& edge : content.edges) {
    const double bytes = static_cast<double>((edge.bytes + edge.back).value);
    request.edges.push_back(
        {edge.from, edge.to, std::clamp(2 * std::log10(std::max(1.0, bytes / 1e5)), 1.0, 10.0)});
  }
  return request;
}

OpTimes op_times_of(const Problem& problem, OpTimes known) {
  if (known) return known;
  return std::make_shared<const std::vector<Nanos>>(
      mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
}

}  // namespace strato
