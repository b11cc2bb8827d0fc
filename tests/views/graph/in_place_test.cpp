// Nodes opened where they stand: nothing overlaps, the rest keeps its order, and closing is exact.
#include "views/graph/in_place.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <chrono>
#include <set>

#include "tests/views/graph/sample_problems.h"
#include "views/graph/graph_painter.h"

namespace strato {
namespace {

using test::isolated_ops;
using test::nested_chain;

DrawnGraph drawn(const GraphContent& content) {
  return {content, layered_layout(layout_request(content, FlowDirection::Down))};
}

OpenedPart part_at(const Problem& problem, const DrawnGraph& graph, std::size_t node) {
  OpenedPart part;
  part.level = level_of(graph.content.nodes[node], *problem.grouping);
  part.inside = drawn(parts_of(problem, part.level, {}));
  return part;
}

// Is `inner` on the frame `outer`, or on one that is?
bool is_on(const DrawnGraph& graph, std::size_t inner, std::size_t outer) {
  return graph.content.nodes[outer].frame && inner > outer &&
         graph.layout.nodes[outer].contains(graph.layout.nodes[inner]);
}

void expect_tidy(const DrawnGraph& graph) {
  ASSERT_EQ(graph.content.nodes.size(), graph.layout.nodes.size());
  ASSERT_EQ(graph.content.edges.size(), graph.layout.edges.size());
  for (std::size_t a = 0; a < graph.layout.nodes.size(); ++a) {
    EXPECT_TRUE(graph.layout.bounds.contains(graph.layout.nodes[a]));
    for (std::size_t b = a + 1; b < graph.layout.nodes.size(); ++b) {
      if (is_on(graph, a, b) || is_on(graph, b, a)) continue;
      EXPECT_FALSE(graph.layout.nodes[a].adjusted(1, 1, -1, -1).intersects(graph.layout.nodes[b]))
          << a << " " << b;
    }
  }
  for (std::size_t e = 0; e < graph.content.edges.size(); ++e) {
    const GraphEdge& edge = graph.content.edges[e];
    ASSERT_LT(static_cast<std::size_t>(edge.from), graph.content.nodes.size());
    ASSERT_LT(static_cast<std::size_t>(edge.to), graph.content.nodes.size());
    EXPECT_NE(edge.from, edge.to);
    EXPECT_FALSE(graph.content.nodes[static_cast<std::size_t>(edge.from)].frame);
    EXPECT_FALSE(graph.content.nodes[static_cast<std::size_t>(edge.to)].frame);
    if (graph.layout.edges[e].isEmpty()) continue;
    const auto near = [&](const QPointF& p, int node) {
      return graph.layout.nodes[static_cast<std::size_t>(node)].adjusted(-8, -8, 8, 8).contains(p);
    };
    EXPECT_TRUE(near(graph.layout.edges[e].first(), edge.from)) << e;
    EXPECT_TRUE(near(graph.layout.edges[e].last(), edge.to)) << e;
  }
}

std::size_t ops_in(const Problem& problem, const DrawnGraph& graph) {
  std::set<OpId> ops;
  std::size_t count = 0;
  for (const GraphNode& node : graph.content.nodes) {
    for (const OpId op : ops_of(node, *problem.grouping)) ops.insert(op), ++count;
  }
  EXPECT_EQ(ops.size(), count);  // none twice
  return count;
}

TEST(InPlace, EveryNodeOfALevelOneAfterTheOther) {
  const Problem problem = nested_chain(600, 9);
  const DrawnGraph base = drawn(content_of(problem, {}, {}));
  for (std::size_t n = 0; n < base.content.nodes.size(); ++n) {
    const DrawnGraph opened = with_part(base, part_at(problem, base, n), problem);
    expect_tidy(opened);
    EXPECT_TRUE(opened.content.nodes[n].frame);
    EXPECT_EQ(ops_in(problem, opened), problem.graph->op_count());
    EXPECT_NEAR(opened.layout.nodes[n].center().x(), base.layout.nodes[n].center().x(), 1e-6);
    EXPECT_NEAR(opened.layout.nodes[n].center().y(), base.layout.nodes[n].center().y(), 1e-6);
    for (std::size_t m = 0; m < base.content.nodes.size(); ++m) {  // sizes and order stay
      if (m == n) continue;
      EXPECT_EQ(opened.layout.nodes[m].size(), base.layout.nodes[m].size());
    }
    // Its neighbours in the chain are still joined to something in it.
    bool joined = false;
    for (const GraphEdge& edge : opened.content.edges) {
      const bool from = static_cast<std::size_t>(edge.from) >= base.content.nodes.size(),
                 to = static_cast<std::size_t>(edge.to) >= base.content.nodes.size();
      joined |= from != to;
    }
    EXPECT_TRUE(joined) << n;
  }
}

TEST(InPlace, SeveralAndNestedDownToOps) {
  const Problem problem = nested_chain(2000, 4);
  DrawnGraph graph = drawn(content_of(problem, {}, {}));
  for (int opened = 0; opened < 12; ++opened) {
    int node = -1;
    for (std::size_t n = graph.content.nodes.size(); n-- > 0 && node < 0;) {
      if (graph.content.nodes[n].can_open() && !graph.content.nodes[n].frame)
        node = static_cast<int>(n);
    }
    if (node < 0) break;
    graph = with_part(std::move(graph), part_at(problem, graph, static_cast<std::size_t>(node)),
                      problem);
    expect_tidy(graph);
    EXPECT_EQ(ops_in(problem, graph), problem.graph->op_count());
  }
}

TEST(InPlace, WhatIsNotThereChangesNothing) {
  const Problem problem = nested_chain(50, 3);
  const DrawnGraph base = drawn(content_of(problem, {}, {}));
  const OpenedPart part = part_at(problem, base, 0);
  const DrawnGraph opened = with_part(base, part, problem);
  EXPECT_EQ(node_for(opened.content, part.level), -1);  // it is open already
  EXPECT_EQ(with_part(opened, part, problem).layout.nodes, opened.layout.nodes);
  OpenedPart empty = part_at(problem, base, 1);
  empty.inside = {};
  EXPECT_EQ(with_part(base, empty, problem).layout.nodes, base.layout.nodes);
  EXPECT_EQ(with_part({}, part, problem).content.nodes.size(), 0u);
  const Problem one = nested_chain(1, 1);
  const DrawnGraph single = drawn(content_of(one, {}, {}));
  expect_tidy(with_part(single, part_at(one, single, 0), one));
}

TEST(InPlace, OfManyOpsAtOnceAndLongNames) {
  const std::string odd = "\u05d0\u05d1\u05d2/\U0001F680";
  for (const auto& [ops, prefix] : {std::pair<std::size_t, std::string>{100'000, "op_"},
                                    {200, std::string(10'000, 'n')},
                                    {200, odd}}) {
    const Problem problem = isolated_ops(ops, 2, prefix);
    const DrawnGraph base = drawn(content_of(problem, {}, {}));
    const OpenedPart part = part_at(problem, base, 0);
    ASSERT_LE(part.inside.content.nodes.size(), kMostInPlace);
    const auto start = std::chrono::steady_clock::now();
    const DrawnGraph opened = with_part(base, part, problem);
    GraphScene scene;
    scene.content = opened.content;
    scene.layout = opened.layout;
    const std::size_t count = scene.content.nodes.size();
    scene.stripes.resize(count);
    scene.marks.resize(count);
    scene.selected.resize(count);
    scene.found.resize(count);
    QImage image(800, 600, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    for (const double scale : {0.1, 0.5, 1.0}) {
      scene.scale = scale;
      paint_graph(painter, scene, image.size());
      for (int i = 0; i < 100; ++i) scene.node_at(QPointF(i * 8, i * 6));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 10) << ops;
  }
}

}  // namespace
}  // namespace strato
