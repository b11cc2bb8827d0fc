// The plugin's entry: an engine whose instructions take as long as they were simulated to, with
// buffers of the real sizes, so that a plan can be tried on machines without its GPUs and its data.
// Transfers and collectives are the transport's and take what they take.
//
// The clock of the compute stream does not slip: an instruction that starts right after another one
// starts when that one should have ended, so that lateness does not add up over a step.
#include <fmt/format.h>

#include <cstring>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/engines/replay/precise_wait.h"
#include "plugins/engines/replay_buffers/measures_nothing.h"
#include "plugins/engines/replay_buffers/value_buffers.h"

namespace strato::replay {
namespace {

constexpr Nanos kSlack(20'000);  // a start within so much of the last end follows it directly

class ReplayExecution final : public RankExecution {
 public:
  ReplayExecution(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program)
      : program_(program),
        buffers_(std::move(graph), std::move(program), kHostMemory, "the machine's") {}

  void begin_step(std::int64_t) override { last_end_ = Nanos(); }

  void run(std::size_t i) override {
    const Nanos start = now();
    const Nanos from = start - last_end_ < kSlack ? last_end_ : start;
    buffers_.take_writes(i);
    last_end_ = from + program_->instructions[i].duration;
    wait_until(last_end_);
  }

  std::span<std::byte> memory(ValueId id) override { return buffers_.memory(id); }
  void release(ValueId id) override { buffers_.release(id); }

  std::string read(ValueId id) const override {
    const std::span<const std::byte> bytes = buffers_.present(id);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void write(ValueId id, const std::string& elements) override {
    std::memcpy(buffers_.to_fill(id, elements).data(), elements.data(), elements.size());
  }

  std::optional<double> loss() const override { return std::nullopt; }
  Bytes peak_memory() const override { return buffers_.peak(); }

 private:
  std::shared_ptr<const RankProgram> program_;
  ValueBuffers buffers_;
  Nanos last_end_;
};

class ReplayEngine final : public RankEngine {
 public:
  std::string software() const override { return "replay"; }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const EngineOptions& options) const override {
    if (options.device != "cpu") {
      throw InputError("", "--device", fmt::format("there is no device \"{}\"", options.device),
                       "use cpu");
    }
    return std::make_unique<ReplayExecution>(std::move(graph), std::move(program));
  }
};

std::unique_ptr<RankEngine> make(std::string_view) { return std::make_unique<ReplayEngine>(); }
std::unique_ptr<Engine> make_engine(std::string_view) {
  return std::make_unique<MeasuresNothing>("replay");
}

}  // namespace
}  // namespace strato::replay

STRATOSCOPE_RANK_ENGINE(strato::replay::make)
STRATOSCOPE_ENGINE(strato::replay::make_engine)
