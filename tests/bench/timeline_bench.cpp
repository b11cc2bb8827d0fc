// A frame of a timeline with a million slices (and with the 3.2 million of a million tasks): the
// limit is 16 ms, zoomed out, half way in and far in, with the critical path and the reasons on.
#include <benchmark/benchmark.h>

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "tests/bench/gui_application.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/timeline_painter.h"

namespace strato {
namespace {

// Made once for each number of tasks; each task is in about three rows.
struct Sample {
  TimelineRows rows;
  std::shared_ptr<const PathReasons> reasons;
};

const Sample& sample_of(int tasks) {
  static std::map<int, Sample> made;
  if (const auto known = made.find(tasks); known != made.end()) return known->second;
  Sample sample{make_rows(test::random_timeline(test::chain_graph(200), test::even_cluster(4, 4),
                                                tasks, 1)),
                nullptr};
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(*sample.rows.timeline);
  for (std::vector<Gap>& own : gaps(*sample.rows.timeline))
    reasons->gaps.emplace_back(std::move(own));
  sample.reasons = std::move(reasons);
  return made.emplace(tasks, std::move(sample)).first->second;
}

void paint_million_slices(benchmark::State& state) {
  need_gui_application();
  const Sample& sample = sample_of(static_cast<int>(state.range(0)));
  const TimelineRows& rows = sample.rows;
  TimelineScene scene;
  scene.rows = &rows;
  scene.layout = layout_rows(rows, {});
  scene.colours = colour_tasks(*rows.timeline->program, ColourMode::Kind, false);
  scene.on_critical_path.resize(rows.rows.size());
  for (const auto& places : rows.critical_places) {
    for (const RowSlice& at : places)
      scene.on_critical_path[at.row].push_back(static_cast<std::uint32_t>(at.slice));
  }
  for (auto& row : scene.on_critical_path) std::ranges::sort(row);
  scene.reasons = sample.reasons;
  scene.mapping.resize(184, 1096);
  const auto whole = static_cast<double>(rows.timeline->step_time.value);
  scene.mapping.fit(0, whole);
  scene.mapping.zoom(static_cast<double>(state.range(1)), 600);
  scene.mapping.clamp(whole);
  QImage image(1280, 800, QImage::Format_ARGB32_Premultiplied);
  std::vector<double> frames;  // ms
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    QPainter painter(&image);
    TimelinePainter(scene).paint(painter, image.size());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    frames.push_back(took.count());
  }
  std::ranges::sort(frames);
  state.counters["p95_ms"] = frames[frames.size() * 95 / 100];
  state.counters["slices"] = static_cast<double>(rows.slice_count);
}
BENCHMARK(paint_million_slices)
    ->ArgNames({"tasks", "zoom"})
    ->ArgsProduct({{310'000, 1'000'000}, {1, 100, 10'000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
