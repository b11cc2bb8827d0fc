// The graph view on a graph of 100,000 ops: what a frame costs while panning (the goal is 16 ms at
// the 95th percentile), and what its worker does meanwhile.
#include <benchmark/benchmark.h>

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <ctime>

#include "tests/bench/gui_application.h"
#include "tests/bench/synthetic_graph.h"
#include "tests/views/graph/sample_problems.h"
#include "views/graph/graph_painter.h"
#include "views/graph/in_place.h"
#include "views/graph/op_search.h"

namespace strato {
namespace {

constexpr std::size_t kOps = 100'000;

const Problem& deep() {
  static const Problem problem = test::in_even_groups(synthetic::training_graph(kOps), 60);
  return problem;
}

const Problem& isolated() {
  static const Problem problem = test::isolated_ops(kOps, 60);
  return problem;
}

// Through ranges and scopes to as many single ops as a level may have.
GraphLevel widest_level(const Problem& problem) {
  GraphLevel level;
  level.group = GroupId(0);
  level.ops = problem.grouping->group(GroupId(0)).ops;
  level.ops.resize(std::min(kMostNodes, level.ops.size()));
  return level;
}

GraphScene scene_of(const Problem& problem, const GraphLevel& level, Overlay overlay) {
  need_gui_application();
  GraphScene scene;
  scene.content = content_of(problem, level, {});
  const LayoutRequest request = layout_request(scene.content, FlowDirection::Down);
  std::vector<int> kept;
  const LayoutRequest joined = without_isolated(request, kept);
  scene.layout = with_isolated(layered_layout(joined), request, kept);
  const std::size_t nodes = scene.content.nodes.size();
  scene.cluster = problem.cluster.get();
  scene.stripes.assign(nodes, {{DeviceGroupId(0), 0.5}, {DeviceGroupId(1), 0.5}});
  scene.marks.assign(nodes, QStringLiteral("AllReduce"));
  scene.selected.assign(nodes, 0), scene.found.assign(nodes, 0);
  scene.overlay = overlay;
  for (std::size_t n = 0; n < nodes; ++n) scene.values.push_back(static_cast<double>(n));
  scene.most_value = static_cast<double>(nodes);
  return scene;
}

// Of this thread: what others do on the machine is not in it.
double cpu_ms() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// Pans over the whole drawing, at `times` the scale at which it just fits.
void pan(benchmark::State& state, GraphScene scene, double times, int panes = 1) {
  QImage image(1280 / panes, 800, QImage::Format_ARGB32_Premultiplied);
  scene.scale = std::min(4.0, fit_scale(scene.layout, QSizeF(image.size())) * times);
  std::vector<double> frames;
  int step = 0;
  for (auto _ : state) {
    const double part = (++step % 97) / 97.0;
    const QPointF at = scene.layout.bounds.topLeft() +
                       QPointF(scene.layout.bounds.width(), scene.layout.bounds.height()) * part;
    scene.offset = QRectF(image.rect()).center() - at * scene.scale;
    const double begin = cpu_ms();
    QPainter painter(&image);
    for (int pane = 0; pane < panes; ++pane) {
      paint_graph(painter, scene, image.size());
      paint_mini_map(painter, scene, image.size());
    }
    painter.end();
    frames.push_back(cpu_ms() - begin);
  }
  std::ranges::sort(frames);
  state.counters["p95_ms"] = frames[frames.size() * 95 / 100];
  state.counters["nodes"] = static_cast<double>(scene.content.nodes.size());
  state.counters["edges"] = static_cast<double>(scene.content.edges.size());
}

void pan_groups(benchmark::State& state) {
  pan(state, scene_of(deep(), {}, Overlay::Device), static_cast<double>(state.range(0)));
}
void pan_widest_level(benchmark::State& state) {
  pan(state, scene_of(deep(), widest_level(deep()), Overlay::Time),
      static_cast<double>(state.range(0)));
}
void pan_isolated(benchmark::State& state) {
  pan(state, scene_of(isolated(), widest_level(isolated()), Overlay::Device),
      static_cast<double>(state.range(0)));
}
// Two plans beside each other: both are painted in a frame, each in half of the room.
void pan_two_graphs(benchmark::State& state) {
  GraphScene scene = scene_of(deep(), widest_level(deep()), Overlay::Device);
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) scene.moved.push_back(n % 3 == 0);
  pan(state, scene, static_cast<double>(state.range(0)), 2);
}
BENCHMARK(pan_two_graphs)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(pan_groups)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(pan_widest_level)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(pan_isolated)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

void make_groups(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(content_of(deep(), {}, {}));
}
void make_widest_level(benchmark::State& state) {
  const GraphLevel level = widest_level(deep());
  for (auto _ : state) benchmark::DoNotOptimize(content_of(deep(), level, {}));
}
void query_ops(benchmark::State& state) {
  const OpQuery query = OpQuery::parse("type ~ layer and bytes > 4kB and not name ~ 'f1*2'");
  for (auto _ : state) benchmark::DoNotOptimize(find_ops(query, deep(), {}, nullptr, {}));
}
// What the window's thread does when a group was opened in place and laid out: the first of 60.
void open_in_place(benchmark::State& state) {
  const GraphScene scene = scene_of(deep(), {}, Overlay::Device);
  OpenedPart part;
  part.level = level_of(scene.content.nodes[0], *deep().grouping);
  part.inside.content = parts_of(deep(), part.level, {});
  part.inside.layout = layered_layout(layout_request(part.inside.content, FlowDirection::Down));
  for (auto _ : state)
    benchmark::DoNotOptimize(with_part({scene.content, scene.layout}, part, deep()));
  state.counters["parts"] = static_cast<double>(part.inside.content.nodes.size());
}
BENCHMARK(open_in_place)->Unit(benchmark::kMillisecond);
BENCHMARK(make_groups)->Unit(benchmark::kMillisecond);
BENCHMARK(make_widest_level)->Unit(benchmark::kMillisecond);
BENCHMARK(query_ops)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
