// A frame of a timeline with a million slices: the goal is 50 ms, zoomed out, half way in and far
// in.
#include <benchmark/benchmark.h>

#include <QImage>
#include <QPainter>

#include "tests/bench/gui_application.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/timeline_painter.h"

namespace strato {
namespace {

constexpr int kTasks = 1'000'000;

const TimelineRows& million() {
  static const TimelineRows rows =
      make_rows(test::random_timeline(test::chain_graph(200), test::even_cluster(4, 4), kTasks, 1));
  return rows;
}

std::shared_ptr<const PathReasons> reasons_of_million() {
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(*million().timeline);
  for (std::vector<Gap>& own : gaps(*million().timeline))
    reasons->gaps.emplace_back(std::move(own));
  return reasons;
}

void paint_million_slices(benchmark::State& state) {
  need_gui_application();
  const TimelineRows& rows = million();
  TimelineScene scene;
  scene.rows = &rows;
  scene.layout = layout_rows(rows, {});
  scene.colours = colour_tasks(*rows.timeline->program, ColourMode::Kind, false);
  scene.on_critical_path.resize(rows.rows.size());
  static const auto reasons = reasons_of_million();
  scene.reasons = reasons;
  scene.mapping.resize(184, 1096);
  const auto whole = static_cast<double>(rows.timeline->step_time.value);
  scene.mapping.fit(0, whole);
  scene.mapping.zoom(static_cast<double>(state.range(0)), 600);
  scene.mapping.clamp(whole);
  QImage image(1280, 800, QImage::Format_ARGB32_Premultiplied);
  for (auto _ : state) {
    QPainter painter(&image);
    TimelinePainter(scene).paint(painter, image.size());
  }
  state.counters["slices"] = static_cast<double>(rows.slice_count);
}
BENCHMARK(paint_million_slices)->Arg(1)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
