#include "views/graph/graph_layout.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <random>

#include "views/graph/dot_process.h"
#include "views/graph/graph_canvas.h"

namespace strato {
namespace {

LayoutRequest random_request(unsigned seed, int nodes, int edges) {
  std::mt19937 random(seed);
  LayoutRequest request;
  request.direction = seed % 2 ? FlowDirection::Down : FlowDirection::Right;
  for (int i = 0; i < nodes; ++i)
    request.nodes.push_back(QSizeF(60 + random() % 100, 20 + random() % 40));
  for (int i = 0; i < edges; ++i) {
    request.edges.push_back({static_cast<int>(random() % static_cast<unsigned>(nodes)),
                             static_cast<int>(random() % static_cast<unsigned>(nodes)), 1});
  }
  return request;
}

void expect_no_overlap(const GraphLayout& layout) {
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    EXPECT_TRUE(layout.bounds.contains(layout.nodes[a]));
    for (std::size_t b = a + 1; b < layout.nodes.size(); ++b)
      EXPECT_FALSE(layout.nodes[a].intersects(layout.nodes[b])) << a << " " << b;
  }
}

TEST(LayeredLayout, NeverOverlapsEvenWithCyclesAndLoops) {
  for (unsigned seed = 1; seed < 30; ++seed) {
    const LayoutRequest request =
        random_request(seed, 1 + static_cast<int>(seed * 2), static_cast<int>(seed * 5));
    const GraphLayout layout = layered_layout(request);
    ASSERT_EQ(layout.nodes.size(), request.nodes.size());
    ASSERT_EQ(layout.edges.size(), request.edges.size());
    EXPECT_TRUE(layout.approximate);
    expect_no_overlap(layout);
  }
}

TEST(LayeredLayout, FollowsTheFlow) {
  LayoutRequest chain;
  for (int i = 0; i < 5; ++i) chain.nodes.push_back(QSizeF(100, 40));
  for (int i = 0; i < 4; ++i) chain.edges.push_back({i, i + 1, 1});
  const GraphLayout down = layered_layout(chain);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_GT(down.nodes[i].top(), down.nodes[i - 1].bottom());
  chain.direction = FlowDirection::Right;
  const GraphLayout right = layered_layout(chain);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_GT(right.nodes[i].left(), right.nodes[i - 1].right());
}

TEST(Snake, WrapsAChainAndKeepsEveryNodeApart) {
  for (const FlowDirection direction : {FlowDirection::Down, FlowDirection::Right}) {
    LayoutRequest chain;
    chain.direction = direction;
    for (int i = 0; i < 47; ++i) chain.nodes.push_back(QSizeF(148, 44));
    for (int i = 0; i < 46; ++i) chain.edges.push_back({i, i + 1, 1});
    const GraphLayout plain = layered_layout(chain);
    const QSizeF view(800, 330);
    const GraphLayout wrapped = snaked(plain, chain, view);
    EXPECT_GT(fit_scale(wrapped, view), 3 * fit_scale(plain, view));
    expect_no_overlap(wrapped);
    EXPECT_EQ(wrapped.nodes[0].size(), QSizeF(148, 44));
  }
}

TEST(Snake, LeavesWhatFitsAsItIs) {
  const LayoutRequest request = random_request(9, 6, 6);
  const GraphLayout plain = layered_layout(request);
  EXPECT_EQ(snaked(plain, request, QSizeF(2000, 2000)).nodes, plain.nodes);
}

TEST(ParsePlain, ReadsNodesAndEdges) {
  LayoutRequest request;
  request.nodes = {QSizeF(72, 36), QSizeF(72, 36)};
  request.edges = {{0, 1, 1}};
  const QByteArray answer =
      "graph 1 2 3\nnode n0 1 2.5 1 0.5 \"\" solid box black lightgrey\nnode n1 1 0.5 1 0.5 \"\" "
      "solid box black lightgrey\n"
      "edge n0 n1 4 1 2.25 1 1.8 1 1.2 1 0.75 solid black\nstop\n";
  const auto layout = parse_plain(answer, request);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->nodes[0].center(), QPointF(72, 36));
  EXPECT_EQ(layout->nodes[1].center(), QPointF(72, 180));
  ASSERT_EQ(layout->edges[0].size(), 4);
  EXPECT_NEAR(layout->edges[0][3].y(), 2.25 * 72, 1e-9);
}

TEST(ParsePlain, RefusesWhatIsNotComplete) {
  LayoutRequest request;
  request.nodes = {QSizeF(72, 36)};
  for (const char* text : {"", "graph 1 2 3\n", "graph 1 2 3\nstop\n",
                           "graph 1 2 3\nnode n7 1 1 1 1\nstop\n", "graph 1 2 3\nnode n0 1 1 1 1\n",
                           "graph 1 2 3\nnode n0 1 1 1 1\nedge n0 n0 4 1 1\nstop\n"}) {
    EXPECT_FALSE(parse_plain(text, request)) << text;
  }
}

TEST(Dot, AnswersAndRemembers) {
  DotProcess dot;
  QSignalSpy done(&dot, &DotProcess::done);
  LayoutRequest request = random_request(3, 20, 30);
  dot.request(request);
  ASSERT_TRUE(done.wait(20'000));
  dot.request(request);
  EXPECT_EQ(done.count(), 2);  // at once
}

TEST(Dot, FallsBackWithoutTheProgram) {
  DotProcess dot;
  dot.set_program(QStringLiteral("no-such-program-here"));
  QSignalSpy done(&dot, &DotProcess::done);
  dot.request(random_request(4, 10, 12));
  ASSERT_TRUE(!done.isEmpty() || done.wait(5000));
  EXPECT_FALSE(done[0][1].toString().isEmpty());
}

TEST(Dot, ADroppedRequestNeverAnswers) {
  DotProcess dot;
  QSignalSpy done(&dot, &DotProcess::done);
  dot.request(random_request(5, 200, 400));
  dot.request(random_request(6, 5, 4));
  ASSERT_TRUE(done.wait(20'000));
  EXPECT_EQ(done.count(), 1);
}

TEST(Canvas, HitTestFollowsZoomAndPan) {
  GraphScene scene;
  scene.content.nodes.resize(2);
  scene.layout.nodes = {QRectF(0, 0, 100, 40), QRectF(0, 100, 100, 40)};
  scene.scale = 2;
  scene.offset = QPointF(10, 20);
  EXPECT_EQ(scene.node_at(QPointF(15, 25)), 0);
  EXPECT_EQ(scene.node_at(QPointF(15, 225)), 1);
  EXPECT_EQ(scene.node_at(QPointF(15, 150)), -1);
  EXPECT_EQ(scene.node_at(QPointF(5, 25)), -1);
}

TEST(Isolated, LieInAGridBelowTheOthers) {
  LayoutRequest request = random_request(8, 40, 0);
  request.edges = {{3, 7, 1}, {7, 9, 1}};
  std::vector<int> kept;
  const LayoutRequest joined = without_isolated(request, kept);
  EXPECT_EQ(kept, (std::vector<int>{3, 7, 9}));
  EXPECT_EQ(joined.edges[1].from, 1);
  const GraphLayout layout = with_isolated(layered_layout(joined), request, kept);
  ASSERT_EQ(layout.nodes.size(), request.nodes.size());
  expect_no_overlap(layout);
  for (std::size_t n = 0; n < 40; ++n) EXPECT_EQ(layout.nodes[n].size(), request.nodes[n]);
}

TEST(Isolated, AloneAreAboutAsWideAsHigh) {
  const LayoutRequest request = random_request(8, 1000, 0);
  DotProcess dot;
  QSignalSpy done(&dot, &DotProcess::done);
  dot.request(request);
  ASSERT_EQ(done.count(), 1);  // at once
  const auto layout = done[0][0].value<GraphLayout>();
  expect_no_overlap(layout);
  EXPECT_LT(layout.bounds.width(), 3 * layout.bounds.height());
  EXPECT_LT(layout.bounds.height(), 3 * layout.bounds.width());
}

TEST(Isolated, AFewGoWithTheOthers) {
  LayoutRequest request = random_request(2, 3, 0);
  std::vector<int> kept;
  EXPECT_EQ(without_isolated(request, kept).nodes.size(), 3u);
  EXPECT_TRUE(without_isolated({}, kept).nodes.empty());
}

TEST(Dot, GivingUpAnswersAtOnce) {
  DotProcess dot;
  QSignalSpy done(&dot, &DotProcess::done);
  dot.request(random_request(5, 400, 1500));
  dot.give_up();
  ASSERT_EQ(done.count(), 1);
  EXPECT_FALSE(done[0][1].toString().isEmpty());
  EXPECT_FALSE(dot.is_running());
}

}  // namespace
}  // namespace strato
