// The plugin's entry: an engine whose instructions take as long as they were simulated to, with
// buffers of the real sizes, so that a plan can be tried on machines without its GPUs and its data.
// Transfers and collectives are the transport's and take what they take.
//
// The clock of the compute stream does not slip: an instruction that starts right after another one
// starts when that one should have ended, so that lateness does not add up over a step.
#include <fmt/format.h>

#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/plugin/plugin.h"
#include "plugins/engines/replay/buffer_pool.h"
#include "plugins/engines/replay/precise_wait.h"

namespace strato::replay {
namespace {

constexpr Nanos kSlack(20'000);  // a start within so much of the last end follows it directly

class ReplayExecution final : public RankExecution {
 public:
  ReplayExecution(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program)
      : graph_(std::move(graph)), program_(std::move(program)) {
    for (const Value& value : program_->values) {
      sizes_.push_back(static_cast<std::size_t>(
          bytes_of(graph_->tensor(value.tensor), value.piece, graph_->batch()).value));
    }
    buffers_.resize(sizes_.size());
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (program_->values[ValueId(i)].resident) take(ValueId(i));
    }
  }

  void begin_step(std::int64_t) override { last_end_ = Nanos(); }

  void run(std::size_t i) override {
    const Nanos start = now();
    const Nanos from = start - last_end_ < kSlack ? last_end_ : start;
    for (const ValueId id : program_->writes[i]) {
      if (id.valid()) take(id);
    }
    last_end_ = from + program_->instructions[i].duration;
    wait_until(last_end_);
  }

  std::span<std::byte> memory(ValueId id) override {
    take(id);
    return {buffers_[id].get(), sizes_[id]};
  }

  void release(ValueId id) override {
    if (!program_->values[id].resident) pool_.give_back(std::move(buffers_[id]), sizes_[id]);
  }

  std::string read(ValueId id) const override {
    CHECK(buffers_[id] != nullptr, "a value that is not there");
    return {reinterpret_cast<const char*>(buffers_[id].get()), sizes_[id]};
  }
  void write(ValueId id, const std::string& elements) override {
    const Tensor& tensor = graph_->tensor(program_->values[id].tensor);
    if (elements.size() != sizes_[id]) {
      throw InputError("", fmt::format("tensor \"{}\"", tensor.name),
                       fmt::format("has {} bytes instead of {}", elements.size(), sizes_[id]),
                       "give all its elements");
    }
    take(id);
    std::memcpy(buffers_[id].get(), elements.data(), elements.size());
  }

  std::optional<double> loss() const override { return std::nullopt; }
  Bytes peak_memory() const override { return pool_.peak(); }

 private:
  void take(ValueId id) {
    if (buffers_[id]) return;
    try {
      buffers_[id] = pool_.take(sizes_[id]);
    } catch (const std::bad_alloc&) {
      throw InputError("", fmt::format("tensor \"{}\"",
                                       graph_->tensor(program_->values[id].tensor).name),
                       "the machine's memory does not suffice", "take a smaller batch");
    }
  }

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const RankProgram> program_;
  IdVector<ValueId, std::size_t> sizes_;
  BufferPool pool_;
  IdVector<ValueId, Buffer> buffers_;
  Nanos last_end_;
};

class ReplayEngine final : public RankEngine {
 public:
  std::string software() const override { return "replay"; }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const RankOptions& options) const override {
    if (options.device != "cpu") {
      throw InputError("", "--device", fmt::format("there is no device \"{}\"", options.device),
                       "use cpu");
    }
    return std::make_unique<ReplayExecution>(std::move(graph), std::move(program));
  }
};

// It has no device to measure ops on: a profile of it would be what it was given.
class NothingToMeasure final : public Engine {
 public:
  std::vector<EngineDevice> devices() const override { return {}; }
  std::string software() const override { return "replay"; }
  bool supports(const Graph&, OpId) const override { return false; }
  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph>,
                                     const EngineOptions& options) const override {
    throw InputError("", "--device", fmt::format("there is no device \"{}\"", options.device),
                     "take another engine: this one computes nothing");
  }
};

std::unique_ptr<RankEngine> make(std::string_view) { return std::make_unique<ReplayEngine>(); }
std::unique_ptr<Engine> make_engine(std::string_view) {
  return std::make_unique<NothingToMeasure>();
}

}  // namespace
}  // namespace strato::replay

STRATOSCOPE_RANK_ENGINE(strato::replay::make)
STRATOSCOPE_ENGINE(strato::replay::make_engine)
