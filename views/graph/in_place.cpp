#include "views/graph/in_place.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace strato {
namespace {

constexpr double kFrameMargin = 12, kFrameTitle = 26;  // px around the parts
constexpr std::size_t kMostLinks = 400;                // edges between a part and what is around

// Moves everything away from a box that grows about its middle. Boxes that did not overlap do not
// after that: the order along both axes stays.
class Spread {
 public:
  Spread(const QRectF& box, const QSizeF& wanted)
      : box_(box),
        x_(std::max(0.0, wanted.width() - box.width()) / 2),
        y_(std::max(0.0, wanted.height() - box.height()) / 2) {}

  QRectF grown() const { return box_.adjusted(-x_, -y_, x_, y_); }

  QRectF moved(const QRectF& other) const {
    return other.translated(step(other.left(), other.right(), box_.left(), box_.right(), x_),
                            step(other.top(), other.bottom(), box_.top(), box_.bottom(), y_));
  }

  // Of a frame around the box.
  QRectF stretched(const QRectF& frame) const {
    return QRectF(moved(frame.topLeft()), moved(frame.bottomRight()));
  }

  QPointF moved(const QPointF& p) const {
    return {along(p.x(), box_.left(), box_.right(), x_),
            along(p.y(), box_.top(), box_.bottom(), y_)};
  }

 private:
  static double step(double low, double high, double from, double to, double by) {
    return low >= to ? by : high <= from ? -by : 0;
  }
  static double along(double at, double from, double to, double by) {
    if (at <= from) return at - by;
    if (at >= to) return at + by;
    return at + by * (2 * (at - from) / (to - from) - 1);
  }

  QRectF box_;
  double x_, y_;
};

QPolygonF curve_between(const QRectF& a, const QRectF& b) {
  const QPointF way = b.center() - a.center();
  QPointF from, to, pull;
  if (std::abs(way.y()) >= std::abs(way.x())) {
    const bool down = way.y() >= 0;
    from = {a.center().x(), down ? a.bottom() : a.top()};
    to = {b.center().x(), down ? b.top() : b.bottom()};
    pull = {0, (to.y() - from.y()) / 2};
  } else {
    const bool right = way.x() >= 0;
    from = {right ? a.right() : a.left(), a.center().y()};
    to = {right ? b.left() : b.right(), b.center().y()};
    pull = {(to.x() - from.x()) / 2, 0};
  }
  return QPolygonF({from, from + pull, to - pull, to});
}

// The edges between the parts and all other nodes, from the ops themselves.
class Links {
 public:
  Links(const GraphContent& content, int node, const OpenedPart& part, const Problem& problem)
      : problem_(problem), first_part_(static_cast<int>(content.nodes.size())) {
    const Grouping& grouping = *problem.grouping;
    node_of_.assign(problem.graph->op_count(), -1);
    for (std::size_t n = 0; n < content.nodes.size(); ++n) {
      const GraphNode& other = content.nodes[n];
      if (other.boundary && other.group.valid()) mark(grouping.group(other.group).ops, n);
    }
    for (std::size_t n = 0; n < content.nodes.size(); ++n) {
      if (static_cast<int>(n) != node) mark(ops_of(content.nodes[n], grouping), n);
    }
    for (std::size_t p = 0; p < part.inside.content.nodes.size(); ++p) {
      const auto ops = ops_of(part.inside.content.nodes[p], grouping);
      mark(ops, static_cast<std::size_t>(first_part_) + p);
      inside_.insert(inside_.end(), ops.begin(), ops.end());
    }
    for (const GraphEdge& edge : content.edges) {  // ends that stand for many groups
      if (edge.from == node && content.nodes[at(edge.to)].boundary) others_after_ = edge.to;
      if (edge.to == node && content.nodes[at(edge.from)].boundary) others_before_ = edge.from;
      if (edge.from == node) after_.insert(edge.to);
    }
  }

  std::vector<GraphEdge> make() {
    const Graph& graph = *problem_.graph;
    for (const OpId op : inside_) {
      const auto& inputs = graph.op(op).inputs;
      for (const TensorId tensor : std::set<TensorId>(inputs.begin(), inputs.end())) {
        if (!tensor.valid() || !graph.tensor(tensor).producer.valid()) continue;
        const int from = node_of_[graph.tensor(tensor).producer.index()];
        add(from < 0 ? others_before_ : from, node_of_[op.index()], graph.tensor(tensor).bytes());
      }
      for (const TensorId tensor : graph.op(op).outputs) {
        if (!tensor.valid()) continue;
        std::set<int> readers;
        for (const OpId reader : graph.consumers(tensor)) {
          const int to = node_of_[reader.index()];
          readers.insert(to < 0 ? others_after_ : to);
        }
        for (const int to : readers) add(node_of_[op.index()], to, graph.tensor(tensor).bytes());
      }
    }
    std::vector<GraphEdge> edges;
    for (const auto& [ends, edge] : edges_) edges.push_back(edge);
    if (edges.size() > kMostLinks) {
      std::ranges::stable_sort(edges, std::greater(),
                               [](const GraphEdge& e) { return e.bytes + e.back; });
      edges.resize(kMostLinks);
    }
    return edges;
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  void mark(const std::vector<OpId>& ops, std::size_t node) {
    for (const OpId op : ops) node_of_[op.index()] = static_cast<int>(node);
  }

  // Only between a part and something else; one for both directions, the way the node's own went.
  void add(int from, int to, Bytes bytes) {
    if (from < 0 || to < 0 || (from >= first_part_) == (to >= first_part_)) return;
    const int part = std::max(from, to), other = std::min(from, to);
    const bool out = after_.contains(other);
    const int first = out ? part : other, second = out ? other : part;
    GraphEdge& edge =
        edges_.try_emplace({first, second}, GraphEdge{first, second, Bytes(0), Bytes(0)})
            .first->second;
    (from == first ? edge.bytes : edge.back) += bytes;
  }

  const Problem& problem_;
  int first_part_, others_before_ = -1, others_after_ = -1;
  std::vector<int> node_of_;
  std::vector<OpId> inside_;
  std::set<int> after_;
  std::map<std::pair<int, int>, GraphEdge> edges_;
};

void move_apart(DrawnGraph& graph, const Spread& spread, int node) {
  const QRectF box = graph.layout.nodes[static_cast<std::size_t>(node)];
  std::vector<QPointF> steps;
  for (std::size_t n = 0; n < graph.layout.nodes.size(); ++n) {
    QRectF& other = graph.layout.nodes[n];
    const QPointF before = other.center();
    const bool around = graph.content.nodes[n].frame && other.contains(box);
    other = around ? spread.stretched(other) : spread.moved(other);
    steps.push_back(other.center() - before);
  }
  graph.layout.nodes[static_cast<std::size_t>(node)] = spread.grown();
  for (std::size_t e = 0; e < graph.layout.edges.size(); ++e) {
    QPolygonF& line = graph.layout.edges[e];
    if (line.isEmpty()) continue;
    const GraphEdge& edge = graph.content.edges[e];
    const QPointF first = line.first() + steps[static_cast<std::size_t>(edge.from)],
                  last = line.last() + steps[static_cast<std::size_t>(edge.to)];
    for (QPointF& point : line) point = spread.moved(point);
    line.first() = first;
    line.last() = last;
  }
}

void drop_edges_of(DrawnGraph& graph, int node) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < graph.content.edges.size(); ++e) {
    const GraphEdge edge = graph.content.edges[e];
    if (edge.from == node || edge.to == node) continue;
    graph.content.edges[kept] = edge;
    graph.layout.edges[kept] = graph.layout.edges[e];
    ++kept;
  }
  graph.content.edges.resize(kept);
  graph.layout.edges.resize(kept);
}

void add_parts(DrawnGraph& graph, const DrawnGraph& inside, int node, const QPointF& corner) {
  const auto first = static_cast<int>(graph.content.nodes.size());
  const double share = graph.content.nodes[static_cast<std::size_t>(node)].share;
  int block = 0;
  for (const GraphNode& other : graph.content.nodes) block = std::max(block, other.block + 1);
  for (std::size_t p = 0; p < inside.content.nodes.size(); ++p) {
    GraphNode part = inside.content.nodes[p];
    part.share *= share;
    if (part.block >= 0) part.block += block;
    graph.content.nodes.push_back(std::move(part));
    graph.layout.nodes.push_back(inside.layout.nodes[p].translated(corner));
  }
  for (std::size_t e = 0; e < inside.content.edges.size(); ++e) {
    GraphEdge edge = inside.content.edges[e];
    edge.from += first;
    edge.to += first;
    graph.content.edges.push_back(edge);
    graph.layout.edges.push_back(inside.layout.edges[e].translated(corner));
  }
}

}  // namespace

GraphContent parts_of(const Problem& problem, const GraphLevel& level,
                      const std::vector<Nanos>& op_times) {
  GraphContent content = content_of(problem, level, op_times, kMostInPlace);
  std::vector<int> place(content.nodes.size(), -1);
  std::vector<GraphNode> nodes;
  for (std::size_t n = 0; n < content.nodes.size(); ++n) {
    if (content.nodes[n].boundary) continue;
    place[n] = static_cast<int>(nodes.size());
    nodes.push_back(std::move(content.nodes[n]));
  }
  content.nodes = std::move(nodes);
  std::erase_if(content.edges, [&](GraphEdge& edge) {
    edge.from = place[static_cast<std::size_t>(edge.from)];
    edge.to = place[static_cast<std::size_t>(edge.to)];
    return edge.from < 0 || edge.to < 0;
  });
  return content;
}

int node_for(const GraphContent& content, const GraphLevel& level) {
  for (std::size_t n = 0; n < content.nodes.size(); ++n) {
    const GraphNode& node = content.nodes[n];
    if (node.frame || node.boundary || !node.can_open()) continue;
    const bool bundle = !level.groups.empty();
    if (bundle ? node.groups == level.groups
               : node.groups.empty() && node.group == level.group && node.ops == level.opened_ops)
      return static_cast<int>(n);
  }
  return -1;
}

DrawnGraph with_part(DrawnGraph graph, const OpenedPart& part, const Problem& problem) {
  const int node = node_for(graph.content, part.level);
  const GraphLayout& inner = part.inside.layout;
  if (node < 0 || inner.nodes.size() != part.inside.content.nodes.size() || inner.nodes.empty())
    return graph;
  const QRectF box = graph.layout.nodes[static_cast<std::size_t>(node)];
  const QSizeF wanted(inner.bounds.width() + 2 * kFrameMargin,
                      inner.bounds.height() + kFrameTitle + kFrameMargin);
  const Spread spread(box, wanted);
  const std::vector<GraphEdge> links = Links(graph.content, node, part, problem).make();
  drop_edges_of(graph, node);
  move_apart(graph, spread, node);
  const QRectF frame = spread.grown();
  const QPointF corner(frame.center().x() - inner.bounds.center().x(),
                       frame.top() + kFrameTitle - inner.bounds.top());
  add_parts(graph, part.inside, node, corner);
  graph.content.nodes[static_cast<std::size_t>(node)].frame = true;
  for (const GraphEdge& link : links) {
    graph.content.edges.push_back(link);
    graph.layout.edges.push_back(
        curve_between(graph.layout.nodes[static_cast<std::size_t>(link.from)],
                      graph.layout.nodes[static_cast<std::size_t>(link.to)]));
  }
  QRectF bounds;
  for (const QRectF& other : graph.layout.nodes) bounds |= other;
  for (const QPolygonF& line : graph.layout.edges) bounds |= line.boundingRect();
  graph.layout.bounds = bounds.adjusted(-8, -8, 8, 8);
  return graph;
}

}  // namespace strato
