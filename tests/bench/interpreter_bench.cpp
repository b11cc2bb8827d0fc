// What the worker adds to an op: its interpreter (limit: 3 us a task), and of that the tracing
// (limit: 2 % of a step; a step of n instructions takes at least n times 10 us where ops are as
// small as ops get).
#include <benchmark/benchmark.h>

#include <span>

#include "app/worker/clock.h"
#include "app/worker/measurement.h"
#include "app/worker/step_runner.h"
#include "tests/app/worker/hand_program.h"

namespace strato::worker {
namespace {

class NoWork final : public RankExecution {
 public:
  void begin_step(std::int64_t) override {}
  void run(std::size_t) override {}
  std::span<std::byte> memory(ValueId) override { return {}; }
  void release(ValueId) override {}
  std::string read(ValueId) const override { return {}; }
  void write(ValueId, const std::string&) override {}
  std::optional<double> loss() const override { return std::nullopt; }
  Bytes peak_memory() const override { return {}; }
};

class NoPeers final : public Transport {
 public:
  std::unique_ptr<Pending> send(int, std::uint32_t, std::span<std::byte>) override { return {}; }
  std::unique_ptr<Pending> receive(int, std::uint32_t, std::span<std::byte>) override { return {}; }
  std::unique_ptr<Pending> all_reduce(const Members&, std::uint32_t, DataType,
                                      std::vector<std::span<std::byte>>) override {
    return {};
  }
  std::unique_ptr<Pending> all_gather(const Members&, std::uint32_t,
                                      std::vector<std::span<std::byte>>) override {
    return {};
  }
  std::unique_ptr<Pending> reduce_scatter(const Members&, std::uint32_t, DataType,
                                          std::vector<std::span<std::byte>>) override {
    return {};
  }
  std::unique_ptr<Pending> all_to_all(const Members&, std::uint32_t,
                                      std::vector<std::span<std::byte>>,
                                      std::vector<std::span<std::byte>>) override {
    return {};
  }
  void barrier() override {}
  std::vector<std::string> gather(const std::string&) override { return {}; }
};

// Items are instructions. Tracing is in it.
void BM_Interpreter(benchmark::State& state) {
  const auto instructions = static_cast<std::size_t>(state.range(0));
  const auto graph = graph_of(2, {4});
  HandProgram made(0, 2);
  for (std::size_t i = 0; i < instructions; ++i) made.compute({.reads = {0}, .writes = {1}});
  NoWork execution;
  NoPeers transport;
  const std::vector<DeviceId> devices = {DeviceId(0)};
  StepRunner runner(*graph, made.program(), devices, execution, transport);
  for (auto _ : state) runner.run();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Interpreter)->Arg(1000);

// The part of it that is tracing: two looks at the clock for an instruction, and keeping the step.
void BM_Tracing(benchmark::State& state) {
  std::vector<Span> spans(static_cast<std::size_t>(state.range(0)));
  SpanHistory history(spans.size());
  std::int64_t step = 0;
  for (auto _ : state) {
    for (Span& span : spans) {
      span.start = now_ns();
      span.end = now_ns();
    }
    history.add(step++, spans);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Tracing)->Arg(1000);

}  // namespace
}  // namespace strato::worker
