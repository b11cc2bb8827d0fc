// Measuring a training graph on an engine: whole steps, timed op by op and as a whole in turns, so
// that both see the same state of the machine.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/profile.h"
#include "core/plugin/engine.h"

namespace strato::cli {

struct MeasuredStep {
  std::int64_t batch = 1;
  // Of whole steps without timers, by the engine's clock: median, half of the middle 50 %.
  Nanos time, spread;
  Nanos wall;        // the same by the time of day: longer where other programs took the cores
  Nanos sum_of_ops;  // what the ops' times of this batch add up to
  std::int64_t repetitions = 0;
  Bytes peak;
};

struct OpTime {
  std::string signature;
  bool follows_batch = true;
  std::int64_t ops = 0;  // of this signature in the graph
  OpMeasurement measurement;
};

struct Measured {
  MeasuredStep step;
  std::vector<OpTime> ops;  // ascending by signature, without views; empty when stopped too soon
};

struct MeasureOptions {
  EngineOptions engine;
  int repetitions = 5;  // at least; short steps get more, until they have taken half a second
};

// `progress` is told the share that is done, 0 to 1. Stopped: what there is until then.
Measured measure(const Engine& engine, std::shared_ptr<const Graph> graph,
                 const MeasureOptions& options, const std::stop_token& stop,
                 const std::function<void(double)>& progress);

// Median and half of the middle 50 %; `values` is not empty.
struct Middle {
  double median = 0, spread = 0;
};
Middle middle_of(std::vector<double> values);

}  // namespace strato::cli
