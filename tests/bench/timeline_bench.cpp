// A frame of a timeline with a million slices (and with the 3.2 million of a million tasks): the
// limit is 16 ms, zoomed out, half way in and far in, with the critical path and the reasons on.
// paint_million_slices is the painter alone; frame_of_million_slices is the widget from the key or
// the wheel to the picture, with a slice chosen, its arrows, and a range.
#include <benchmark/benchmark.h>

#include <QImage>
#include <QKeyEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <map>
#include <vector>

#include "core/sim/explain/path_pieces.h"
#include "tests/bench/frames.h"
#include "tests/bench/gui_application.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

// Made once for each number of tasks; each task is in about three rows.
struct DrawnSample {
  std::shared_ptr<const TimelineRows> rows;
  std::shared_ptr<const PathReasons> reasons;
};

const DrawnSample& sample_of(int tasks) {
  static std::map<int, DrawnSample> made;
  if (const auto known = made.find(tasks); known != made.end()) return known->second;
  DrawnSample sample{std::make_shared<const TimelineRows>(make_rows(test::random_timeline(
                         test::chain_graph(200), test::even_cluster(4, 4), tasks, 1))),
                     nullptr};
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(*sample.rows->timeline);
  for (std::vector<Gap>& own : gaps(*sample.rows->timeline))
    reasons->gaps.emplace_back(std::move(own));
  sample.reasons = std::move(reasons);
  return made.emplace(tasks, std::move(sample)).first->second;
}

void paint_million_slices(benchmark::State& state) {
  need_gui_application();
  const DrawnSample& sample = sample_of(static_cast<int>(state.range(0)));
  const TimelineRows& rows = *sample.rows;
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
  Frames frames;
  for (auto _ : state) {
    frames.begin();
    QPainter painter(&image);
    TimelinePainter(scene).paint(painter, image.size());
    frames.end();
  }
  frames.report(state, rows.slice_count);
}
BENCHMARK(paint_million_slices)
    ->ArgNames({"tasks", "zoom"})
    ->ArgsProduct({{310'000, 1'000'000}, {1, 100, 10'000}})
    ->Unit(benchmark::kMillisecond);

// A canvas as a person has it: shown, zoomed in, with a slice and a range chosen.
struct Hand {
  Session session;
  TimelineCanvas canvas{session};

  Hand(const DrawnSample& sample, double zoom) {
    canvas.resize(1280, 800);
    canvas.set_other(true);  // no problem is open
    canvas.show();
    canvas.show_rows(sample.rows, Nanos(0));
    auto explanation = std::make_shared<Explanation>();
    explanation->timeline = sample.rows->timeline;
    explanation->reasons = sample.reasons;
    canvas.show_explanation(std::move(explanation));
    canvas.go_to(TaskId(sample.rows->timeline->tasks.size() / 2));
    const double step = static_cast<double>(sample.rows->timeline->step_time.value);
    const double half = step * 0.4 / zoom;
    const auto at = [&](double time) { return Nanos(static_cast<std::int64_t>(time)); };
    const TimeRange range{at(step / 2 - half), at(step / 2 + half)};
    canvas.zoom_to(range);
    session.selection().select_range(range);
    QCoreApplication::processEvents();
  }
  void key(Qt::Key key) {
    QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(&canvas, &event);
  }
  void wheel(int delta) {
    QWheelEvent event(QPointF(700, 300), QPointF(700, 300), QPoint(), QPoint(0, delta),
                      Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas.viewport(), &event);
  }
  // There and back again, so that it stays where it is.
  void move(int frame) {
    switch (frame % 4) {
      case 0:
        return key(Qt::Key_D);
      case 1:
        return wheel(120);
      case 2:
        return wheel(-120);
      default:
        return key(Qt::Key_A);
    }
  }
};

void frame_of_million_slices(benchmark::State& state) {
  need_gui_application();
  const DrawnSample& sample = sample_of(static_cast<int>(state.range(0)));
  Hand hand(sample, static_cast<double>(state.range(1)));
  Frames frames;
  int frame = 0;
  for (auto _ : state) {
    frames.begin();
    hand.move(frame++);
    QCoreApplication::processEvents();  // paints and flushes
    frames.end();
  }
  frames.report(state, sample.rows->slice_count);
}
BENCHMARK(frame_of_million_slices)
    ->ArgNames({"tasks", "zoom"})
    ->ArgsProduct({{310'000, 1'000'000}, {1, 100, 10'000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
