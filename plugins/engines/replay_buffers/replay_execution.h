// What engines that replay have in common: instructions take as long as they were simulated to, on
// buffers of the real sizes; transfers and collectives are the transport's and take what they take.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"
#include "plugins/engines/replay_buffers/value_buffers.h"

namespace strato::replay {

// Nanoseconds of the monotonic clock.
inline Nanos now() {
  return Nanos(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

// The clock of the compute stream does not slip: an instruction that starts right after another one
// starts when that one should have ended, so that lateness does not add up over a step.
class ReplayExecution : public RankExecution {
 public:
  // `slack`: a start within so much of the last end follows it directly. `where`: see ValueBuffers.
  ReplayExecution(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program,
                  Nanos slack, Memory memory, std::string where)
      : buffers_(std::move(graph), program, memory, std::move(where)),
        program_(std::move(program)),
        slack_(slack) {}

  void begin_step(std::int64_t) override { last_end_ = Nanos(); }
  void run(std::size_t i) override {
    const Nanos start = now();
    const Nanos from = start - last_end_ < slack_ ? last_end_ : start;
    buffers_.take_writes(i);
    last_end_ = from + program_->instructions[i].duration;
    be_busy_until(last_end_);
  }
  std::span<std::byte> memory(ValueId id) override { return buffers_.memory(id); }
  void release(ValueId id) override { buffers_.release(id); }
  std::optional<double> loss() const override { return std::nullopt; }
  Bytes peak_memory() const override { return buffers_.peak(); }

 protected:
  virtual void be_busy_until(Nanos end) = 0;

  ValueBuffers buffers_;

 private:
  std::shared_ptr<const RankProgram> program_;
  Nanos slack_, last_end_;
};

// An engine that replays has no device to measure ops on: a profile of it would be what it was
// given.
class MeasuresNothing final : public Engine {
 public:
  explicit MeasuresNothing(std::string name) : name_(std::move(name)) {}
  std::vector<EngineDevice> devices() const override { return {}; }
  std::string software() const override { return name_; }
  bool supports(const Graph&, OpId) const override { return false; }
  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph>,
                                     const EngineOptions& options) const override {
    throw InputError("", "--device", "there is no device \"" + options.device + "\"",
                     "take another engine: this one computes nothing");
  }

 private:
  std::string name_;
};

}  // namespace strato::replay
