// What levels hold: sizes, edges, names; and the figures, colours and traces over them.
#include "views/graph/graph_content.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QTimer>
#include <ctime>
#include <set>

#include "tests/paths.h"
#include "tests/views/graph/sample_problems.h"
#include "tests/views/models/fixture.h"
#include "views/graph/dot_process.h"
#include "views/graph/graph_canvas.h"
#include "views/graph/op_search.h"
#include "views/graph/trace.h"

namespace strato {
namespace {

using test::isolated_ops;
using test::nested_chain;

GraphLevel all_of_group(const Problem& problem, std::size_t group) {
  GraphLevel level;
  level.group = GroupId(group);
  level.ops = problem.grouping->group(GroupId(group)).ops;
  return level;
}

std::size_t own_nodes(const GraphContent& content) {
  return static_cast<std::size_t>(
      std::ranges::count_if(content.nodes, [](const GraphNode& n) { return !n.boundary; }));
}

// Opens every node of every level below.
void open_all(const Problem& problem, const GraphLevel& level, std::size_t most,
              std::set<OpId>& met, int depth = 0) {
  ASSERT_LT(depth, 12);
  const GraphContent content = content_of(problem, level, {}, most);
  ASSERT_LE(own_nodes(content), most);
  ASSERT_LE(content.nodes.size(), most + 2 * kMostBoundary);
  for (const GraphEdge& edge : content.edges) {
    ASSERT_LT(static_cast<std::size_t>(edge.from), content.nodes.size());
    ASSERT_LT(static_cast<std::size_t>(edge.to), content.nodes.size());
    ASSERT_NE(edge.from, edge.to);
  }
  for (const GraphNode& node : content.nodes) {
    if (node.op.valid()) {
      EXPECT_TRUE(met.insert(node.op).second);
      continue;
    }
    if (node.boundary) continue;
    ASSERT_TRUE(node.can_open());
    open_all(problem, level_of(node, *problem.grouping), most, met, depth + 1);
  }
}

TEST(GraphContent, EveryOpIsReachedLevelByLevel) {
  for (const Problem& problem : {nested_chain(3000, 7), nested_chain(500, 400),
                                 isolated_ops(900, 3), isolated_ops(1, 1), nested_chain(60, 60)}) {
    std::set<OpId> met;
    open_all(problem, {}, 40, met);
    EXPECT_EQ(met.size(), problem.graph->op_count());
  }
}

TEST(GraphContent, ScopesComeBeforeOps) {
  const Problem problem = nested_chain(3000, 1);
  const GraphContent stages = content_of(problem, all_of_group(problem, 0), {});
  ASSERT_EQ(stages.nodes.size(), 3u);
  EXPECT_EQ(stages.nodes[1].name, QStringLiteral("stage1"));
  EXPECT_EQ(stages.nodes[1].detail, QStringLiteral("1000 ops"));
  EXPECT_EQ(stages.edges.size(), 2u);
  const GraphContent blocks = content_of(problem, level_of(stages.nodes[1], *problem.grouping), {});
  EXPECT_EQ(own_nodes(blocks), 10u);
  EXPECT_EQ(blocks.nodes[10].detail, QStringLiteral("the rest of this group"));
}

TEST(GraphContent, RepeatedScopesAreMarkedAsEqual) {
  const Problem problem = nested_chain(3000, 1);
  const GraphContent stages = content_of(problem, all_of_group(problem, 0), {});
  const GraphContent blocks = content_of(problem, level_of(stages.nodes[1], *problem.grouping), {});
  for (std::size_t n = 0; n < 10; ++n) {
    EXPECT_EQ(blocks.nodes[n].equals, 10) << n;
    EXPECT_EQ(blocks.nodes[n].block, 0) << n;
    EXPECT_TRUE(blocks.nodes[n].tooltip.contains(QStringLiteral("equal blocks")));
  }
  EXPECT_EQ(blocks.nodes[10].equals, 1);
}

TEST(GraphContent, AHundredThousandOpsWithoutAnEdge) {
  const Problem problem = isolated_ops(100'000, 2);
  EXPECT_EQ(content_of(problem, {}, {}).nodes.size(), 2u);
  const GraphContent ranges = content_of(problem, all_of_group(problem, 0), {});
  EXPECT_EQ(ranges.nodes.size(), 50u);
  const GraphContent ops = content_of(problem, level_of(ranges.nodes[7], *problem.grouping), {});
  EXPECT_EQ(own_nodes(ops), kMostNodes);
  EXPECT_TRUE(ops.edges.empty());
}

TEST(GraphContent, AsManyGroupsAsOpsAreBundled) {
  const Problem problem = nested_chain(5000, 5000);
  const GraphContent bundles = content_of(problem, {}, {});
  ASSERT_EQ(bundles.nodes.size(), 5u);
  EXPECT_EQ(bundles.nodes[0].groups.size(), 1000u);
  EXPECT_EQ(bundles.edges.size(), 4u);
  const GraphContent groups =
      content_of(problem, level_of(bundles.nodes[0], *problem.grouping), {});
  EXPECT_EQ(groups.nodes.size(), kMostNodes);
  EXPECT_TRUE(groups.nodes[0].is_group());
}

TEST(GraphContent, TooManyEdgesAreToldAndTheHeaviestStay) {
  toy::Model model(4);
  std::vector<TensorId> made = {model.input("x", 2)};
  for (int i = 0; i < 100; ++i) made.push_back(model.layer("op" + std::to_string(i), made, 2));
  const Problem problem = test::in_even_groups(std::move(model).build(), 100);
  const GraphContent content = content_of(problem, {}, {});
  EXPECT_EQ(content.edges.size(), kMostEdges);
  EXPECT_TRUE(content.note.contains(QStringLiteral("heaviest")));
}

TEST(GraphContent, OddNamesArePainted) {
  std::string rtl = "שלום/עולם/", emoji = "🙂👨‍👩‍👧/🙃/";
  for (const std::string& prefix : {std::string(10'000, 'x'), rtl, emoji, std::string("a<b>&\"/"),
                                    std::string(5'000, '/') + std::string(5'000, 'y')}) {
    const Problem problem = isolated_ops(5, 1, prefix);
    GraphCanvas canvas;
    canvas.resize(700, 400);
    canvas.scene().content = content_of(problem, all_of_group(problem, 0), {});
    const auto request = layout_request(canvas.scene().content, FlowDirection::Down);
    canvas.scene().stripes.resize(5), canvas.scene().marks.resize(5);
    canvas.scene().selected.assign(5, 0), canvas.scene().found.assign(5, 0);
    canvas.show_layout(layered_layout(request));
    EXPECT_FALSE(canvas.grab().isNull());
    for (const QSizeF& size : request.nodes) EXPECT_LT(size.width(), 200);
    EXPECT_LT(canvas.scene().content.nodes[0].tooltip.size(), 2000);
  }
}

// Whatever costs most: a person begins to read where the graph begins.
TEST(GraphContent, WhatIsTooLargeOpensWhereItBegins) {
  const Problem problem = nested_chain(400, 400);
  GraphCanvas canvas;
  canvas.resize(500, 300);
  GraphContent& content = canvas.scene().content;
  content = content_of(problem, {}, {});
  const std::size_t count = content.nodes.size();
  ASSERT_GT(count, 50u);
  content.nodes.back().share = 1;
  canvas.scene().stripes.resize(count), canvas.scene().marks.resize(count);
  canvas.scene().selected.assign(count, 0), canvas.scene().found.assign(count, 0);
  canvas.show_layout(layered_layout(layout_request(content, FlowDirection::Down)));
  const GraphLayout& layout = canvas.scene().layout;
  ASSERT_LT(fit_scale(layout, QSizeF(canvas.size())), kLegibleScale);
  const auto first = std::ranges::min_element(
      layout.nodes, {}, [](const QRectF& place) { return place.top() + place.left(); });
  EXPECT_TRUE(QRectF(canvas.rect()).contains(canvas.scene().to_view(*first)));
}

double thread_cpu_ms() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// By the time that the thread itself takes between two turns of the loop: waiting for others' work
// on a busy machine does not count, but waiting for a process would hold up the turns themselves.
TEST(GraphLayoutLoop, AnswersWhileAHugeLayoutRuns) {
  const Problem problem = nested_chain(1000, 1000);
  GraphContent content = content_of(problem, {}, {});
  for (int i = 0; i + 40 < 1000; ++i)  // hard for dot
    content.edges.push_back({i, i + 7 + i % 33, Bytes(1 << 20), Bytes(0)});
  DotProcess dot;
  int turns = 0;
  bool done = false;
  double longest = 0, last = thread_cpu_ms();
  QTimer tick;
  QObject::connect(&tick, &QTimer::timeout, [&] {
    const double now = thread_cpu_ms();
    longest = std::max(longest, now - last);
    last = now;
    if (++turns == 40)
      dot.request(layout_request(content, FlowDirection::Right));  // kills the first
    if (turns == 80) dot.give_up();
  });
  QObject::connect(&dot, &DotProcess::done, [&] { done = true; });
  tick.start(2);
  dot.request(layout_request(content, FlowDirection::Down));
  EXPECT_TRUE(wait_until([&] { return done && turns > 80; }));
  EXPECT_LT(longest, kSanitized ? 1000 : 100);
}

TEST(Trace, OfTheForwardPassKeepsToIt) {
  const auto graph = toy::training_chain(8, 5, 4);
  const OpId third = graph->find_op("f3");
  const auto inputs = traced_ops(*graph, std::vector{third}, TraceWay::Inputs);
  const auto outputs = traced_ops(*graph, std::vector{third}, TraceWay::Outputs);
  for (const char* name : {"f1", "f2", "f3"}) EXPECT_EQ(inputs[graph->find_op(name).index()], 1);
  for (const char* name : {"f4", "gw2", "u1"}) EXPECT_EQ(inputs[graph->find_op(name).index()], 0);
  for (const char* name : {"f3", "f4", "f5"}) EXPECT_EQ(outputs[graph->find_op(name).index()], 1);
  for (const char* name : {"f2", "gx3", "u3"}) EXPECT_EQ(outputs[graph->find_op(name).index()], 0);
  const auto back = traced_ops(*graph, std::vector{graph->find_op("gx3")}, TraceWay::Outputs);
  for (const char* name : {"gx2", "gw2", "u2", "u1"})
    EXPECT_EQ(back[graph->find_op(name).index()], 1) << name;
  EXPECT_EQ(back[graph->find_op("u3").index()], 0);
  EXPECT_EQ(traced_ops(*graph, {}, TraceWay::Inputs), std::vector<char>(graph->op_count(), 0));
}

TEST(LevelIn, FollowsMostOfItsOps) {
  const Problem problem = nested_chain(600, 6);
  const Grouping& before = *problem.grouping;
  const std::vector<OpId> ops = before.group(GroupId(2)).ops;
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < 600; ++i) numbers.push_back(before.group_of(OpId(i)).value());
  for (std::size_t i = 0; i < 10; ++i) numbers[ops[i].index()] = 6;  // ten leave it
  const Grouping now(*problem.graph, numbers, std::vector<Nanos>(600, Nanos(10)));
  const GroupId rest = now.group_of(ops[10]), left = now.group_of(ops[0]);
  const GraphLevel group = level_in(all_of_group(problem, 2), before, now);
  EXPECT_EQ(group.group, rest);
  EXPECT_EQ(group.ops, now.group(rest).ops);
  EXPECT_EQ(group.name.toStdString(), now.group(rest).name);
  GraphLevel scope = all_of_group(problem, 2);
  scope.ops = scope.opened_ops = {ops.begin(), ops.begin() + 8};  // all of which left it
  const GraphLevel followed = level_in(scope, before, now);
  EXPECT_EQ(followed.group, left);
  EXPECT_EQ(followed.ops, scope.ops);
  EXPECT_EQ(followed.opened_ops, scope.ops);
  scope.ops = scope.opened_ops = {ops.begin() + 4, ops.begin() + 20};
  EXPECT_EQ(level_in(scope, before, now).ops,
            (std::vector<OpId>{ops.begin() + 10, ops.begin() + 20}));
  GraphLevel bundle;
  bundle.groups = {GroupId(2)};
  EXPECT_EQ(level_in(bundle, before, now).groups,
            (std::vector{std::min(rest, left), std::max(rest, left)}));
}

}  // namespace
}  // namespace strato
