// The plugin's entry: LibTorch as a compute engine, on the CPU.
#include <torch/version.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/tensor_files.h"
#include "plugins/engines/torch/execution.h"
#include "plugins/engines/torch/kernels/kernel.h"
#include "plugins/engines/torch/rank/rank_execution.h"
#include "plugins/engines/torch/values/memory.h"
#include "plugins/engines/torch/values/pytorch_files.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

class TorchEngine final : public Engine {
 public:
  TorchEngine() { count_allocations(); }

  std::vector<EngineDevice> devices() const override {
    const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
    return {{"cpu", processor_name(), Bytes(pages * ::sysconf(_SC_PAGESIZE))}};
  }

  std::string software() const override { return "LibTorch " TORCH_VERSION; }

  bool supports(const Graph& graph, OpId op) const override {
    if (find_kernel(graph.op(op).type) == nullptr) return false;
    try {
      make_kernel(graph, op);
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph> graph,
                                     const EngineOptions& options) const override {
    check_device(options.device);
    return make_execution(std::move(graph), options);
  }
};

class TorchRankEngine final : public RankEngine {
 public:
  TorchRankEngine() { count_allocations(); }

  std::string software() const override { return "LibTorch " TORCH_VERSION; }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const EngineOptions& options) const override {
    check_device(options.device);
    return make_rank_execution(std::move(graph), std::move(program), options);
  }
};

std::unique_ptr<Engine> make(std::string_view) { return std::make_unique<TorchEngine>(); }
std::unique_ptr<RankEngine> make_for_ranks(std::string_view) {
  return std::make_unique<TorchRankEngine>();
}

}  // namespace
}  // namespace strato::torch_engine

STRATOSCOPE_ENGINE(strato::torch_engine::make)
STRATOSCOPE_RANK_ENGINE(strato::torch_engine::make_for_ranks)
STRATOSCOPE_PYTORCH_FILES(strato::torch_engine::open_pytorch, strato::torch_engine::write_pytorch)
