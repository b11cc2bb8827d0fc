// Reading and analysing recorded traces: bytes a second beside the limit (100 MB in 10 s), and how
// much memory a byte of text takes (4 GB for 2 GB of text).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/trace/analyse/analysis.h"
#include "core/trace/read/read_trace.h"

namespace strato {
namespace {

// As Kineto writes them: an operator, its launch and its kernel for every 1,000 bytes or so.
std::string kineto_text(std::size_t bytes) {
  std::string text =
      R"({"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":[)";
  for (std::size_t i = 1; text.size() < bytes; ++i) {
    text += fmt::format(
        R"({}{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":{}.25,"dur":9.125,)"
        R"("args":{{"External id":{},"Ev Idx":{},"Input Dims":[[2048,1024],[1024,4096]],)"
        R"("Input type":["float","float"],"Concrete Inputs":["",""]}}}},)"
        "\n"
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":{}.5,"dur":4,)"
        R"("args":{{"correlation":{},"cbid":211,"External id":{}}}}},)"
        "\n"
        R"({{"ph":"X","cat":"kernel","name":"ampere_sgemm_128x64_tn_{}","pid":0,"tid":7,"ts":{}.75,)"
        R"("dur":8,"args":{{"External id":{},"device":0,"context":1,"stream":7,"correlation":{},)"
        R"("registers per thread":96,"blocks per SM":0.5,"grid":[64,8,1],"block":[128,1,1],)"
        R"("est. achieved occupancy %":25}}}})"
        "\n",
        i == 1 ? "" : ",", i * 10, i, i, i * 10, i, i, i % 50, i * 10, i, i);
  }
  return text + "]}";
}

void read_kineto(benchmark::State& state) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("stratoscope-bench-{}.json", ::getpid());
  const std::string text = kineto_text(std::size_t{100'000'000});
  std::ofstream(file, std::ios::binary) << text;
  std::size_t events = 0;
  for (auto _ : state) {
    const auto traces = trace::read_trace(file);
    benchmark::DoNotOptimize(trace::analyse(traces));
    events = traces.front().events.size();
  }
  std::filesystem::remove(file);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["limit_bytes_per_second"] = 10e6;
  state.counters["bytes_kept_per_text_byte"] =
      static_cast<double>(events * sizeof(trace::Event)) / static_cast<double>(text.size());
}
BENCHMARK(read_kineto)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
