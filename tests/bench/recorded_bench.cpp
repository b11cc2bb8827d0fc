// A frame of a recorded run of 64 ranks with 50,000 events each: the limit is 16 ms, zoomed out,
// half way in and far in, with the streams of some ranks opened. From the key or the wheel to the
// picture.
#include <QKeyEvent>
#include <QWheelEvent>

#include "tests/bench/frames.h"
#include "tests/bench/gui_application.h"
#include "views/traces/recorded_canvas.h"

namespace strato {
namespace {

constexpr int kRanksOfRun = 64, kEventsOfRank = 50'000;

// Kernels on three streams, every fourth of them an AllReduce beside the others.
trace::Trace made_up_trace(int rank) {
  trace::Trace made;
  made.rank = rank;
  made.world_size = kRanksOfRun;
  for (const int stream : {7, 8, 9}) made.lanes.push_back({true, 0, stream, ""});
  const trace::NameId gemm = made.names.add("gemm"), copy = made.names.add("Memcpy DtoH"),
                      reduce = made.names.add("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  std::uint64_t random = static_cast<std::uint64_t>(rank) + 1;
  std::int64_t at = 0;
  for (int i = 0; i < kEventsOfRank; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    trace::Event event;
    event.kind = i % 16 == 5 ? trace::EventKind::Copy : trace::EventKind::Kernel;
    event.name = i % 16 == 5 ? copy : i % 4 == 0 ? reduce : gemm;
    event.lane = trace::LaneId(i % 16 == 5 ? 2u : i % 4 == 0 ? 1u : 0u);
    event.start = Nanos(at);
    event.duration = Nanos(1000 + static_cast<std::int64_t>((random >> 33) % 20'000));
    at += static_cast<std::int64_t>((random >> 20) % 25'000);
    made.events.push_back(event);
  }
  return made;
}

std::shared_ptr<const RecordedRun> large_run() {
  static const std::shared_ptr<const RecordedRun> run = [] {
    trace::TraceSet set;
    for (int rank = 0; rank < kRanksOfRun; ++rank) set.traces.push_back(made_up_trace(rank));
    return make_run("made up", std::move(set));
  }();
  return run;
}

void frame_of_recorded_run(benchmark::State& state) {
  need_gui_application();
  RecordedCanvas canvas;
  canvas.resize(1280, 800);
  canvas.show();
  canvas.show_run(large_run());
  for (const std::size_t rank : {0, 3, 5, 8}) canvas.open_rank(rank, true);
  const auto length = large_run()->length.value, zoom = state.range(0);
  canvas.choose_range(TimeRange{Nanos(length / 2), Nanos(length / 2 + length / zoom)}, true);
  canvas.choose_range(std::nullopt, zoom == 1);
  QCoreApplication::processEvents();
  const auto key = [&](Qt::Key which) {
    QKeyEvent event(QEvent::KeyPress, which, Qt::NoModifier);
    QCoreApplication::sendEvent(&canvas, &event);
  };
  const auto wheel = [&](int delta) {
    QWheelEvent event(QPointF(700, 300), QPointF(700, 300), QPoint(), QPoint(0, delta),
                      Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas.viewport(), &event);
  };
  Frames frames;
  int frame = 0;
  for (auto _ : state) {
    frames.begin();
    switch (frame++ % 4) {
      case 0:
        key(Qt::Key_D);
        break;
      case 1:
        wheel(120);
        break;
      case 2:
        wheel(-120);
        break;
      default:
        key(Qt::Key_A);
    }
    QCoreApplication::processEvents();  // paints and flushes
    frames.end();
  }
  frames.report(state, std::size_t{kRanksOfRun} * kEventsOfRank);
}
BENCHMARK(frame_of_recorded_run)
    ->ArgName("zoom")
    ->Arg(1)
    ->Arg(100)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
