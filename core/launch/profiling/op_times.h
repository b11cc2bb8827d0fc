// Measuring a training graph on an engine: whole steps, timed op by op and as a whole in turns, so
// that both see the same state of the machine.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/value/profile.h"
#include "core/plugin/api/engine.h"

namespace strato {

struct ProfiledStep {
  std::int64_t batch = 1;
  // Times of whole steps without timers, by the engine's clock: their median, and half of the
  // middle 50 %.
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

struct ProfiledGraph {
  ProfiledStep step;
  std::vector<OpTime> ops;  // ascending by signature, without views; empty when stopped too soon
};

struct OpTimesOptions {
  EngineOptions engine;
  int repetitions = 5;  // at least; short steps get more, until they have taken a second
};

// `progress` is told the share that is done, 0 to 1. Stopped: what there is until then.
ProfiledGraph measure_ops(const Engine& engine, std::shared_ptr<const Graph> graph,
                          const OpTimesOptions& options, const std::stop_token& stop,
                          const std::function<void(double)>& progress);

// Adds what was measured to a profile, under the GPU type's name. Ops whose time does not depend on
// the batch are best measured beside the largest one, and left out of the others.
void add_ops(Profile& profile, const ProfiledGraph& measured, const std::string& model,
             const std::string& gpu, bool largest_batch);

// The batch, its half, its quarter and its eighth, as far as they are whole.
std::vector<std::int64_t> halves(std::int64_t batch);

// Throws InputError when one op alone needs more than the device has: the engine's library would
// refuse it in its own words, which lead elsewhere.
void check_memory(const Graph& graph, const EngineDevice& device);

// Median and half of the middle 50 %; `values` is not empty.
struct Middle {
  double median = 0, spread = 0;
};
Middle middle_of(std::vector<double> values);

}  // namespace strato
