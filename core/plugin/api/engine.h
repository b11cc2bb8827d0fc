// Compute engines: plugins that execute the ops of a graph for real, on a device of this machine.
// They measure what profiles are made of, and are the arithmetic behind a launched plan.
//
// Numerics follow the op catalogue and the training graph (core/graph): a loss is a sum over the
// samples at hand divided by the count of the global batch, so that losses and gradients of shards
// add up; batch normalisation takes the statistics of the samples at hand; dropout masks and
// synthetic inputs are functions of the seed, the op or tensor and the sample, not of the shard.
//
// An engine is safe from any thread; an Execution belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/graph/value/graph.h"

namespace strato {

struct EngineDevice {
  std::string name;      // "cpu", "cuda:0"
  std::string hardware;  // "AMD EPYC 7763", for people
  Bytes memory;          // the machine's or the GPU's
};

struct EngineOptions {
  std::string device = "cpu";
  std::uint64_t seed = 1;               // parameters, synthetic inputs, dropout
  int threads = 1;                      // of the CPU, for one op
  std::optional<double> learning_rate;  // nothing: 0.01, of Adam 0.001
};

// One device that has a graph's parameters, optimizer state, constants and one batch of inputs, and
// runs training steps on them.
class Execution {
 public:
  virtual ~Execution() = default;

  // One step, op by op in graph order, updates last. Tensors are freed after their last reader.
  // `times` is empty, or has one entry for each op, which gets the time from the end of the op
  // before to the end of this one, so that they add up to the step; a view's time goes to the next
  // op, because views are free in a simulation. False: stopped before the end; parameters may have
  // been updated in part. Throws InputError naming the op when the device's memory does not suffice
  // or the library refuses it.
  virtual bool run_step(std::span<Nanos> times = {}, std::stop_token stop = {}) = 0;

  // Elements of a tensor, little endian: of one that lives from step to step, or of an activation
  // or gradient that keep() named before the last step.
  virtual std::string read(TensorId tensor) const = 0;
  virtual void write(TensorId tensor, const std::string& elements) = 0;  // of the first kind
  virtual void keep(TensorId tensor) = 0;

  // The clock that `times` are read from, which starts anywhere. An op that one thread of the CPU
  // computes is timed by that thread's own time, which stands still while other programs have the
  // core: on an idle machine there is no difference. With more threads it is the time of day.
  virtual Nanos now() const = 0;

  // Largest sum of tensors and of the library's workspaces in the steps so far.
  virtual Bytes peak_memory() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::vector<EngineDevice> devices() const = 0;
  virtual std::string software() const = 0;  // "LibTorch 1.13.1, oneDNN 2.6.3"
  // True when run_step() can run this op.
  virtual bool supports(const Graph& graph, OpId op) const = 0;
  // Throws InputError for an unknown device, or naming an op type that is not supported.
  virtual std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph> graph,
                                             const EngineOptions& options) const = 0;
};

}  // namespace strato
