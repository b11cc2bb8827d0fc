// The plugin's entry: an engine whose instructions keep a GPU busy for as long as they were
// simulated to, with buffers of the real sizes there, so that a plan can be tried on GPUs other
// than its own and without its data. Nothing of LibTorch is needed.
//
// run() returns when its kernel is done. Kernels are of one thread in a stream of their own, so the
// transport's streams go on beside them. How long a kernel was late, starting included, the next
// one makes good.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/plugin/api/plugin.h"
#include "plugins/engines/replay_buffers/replay_execution.h"
#include "plugins/engines/replay_cuda/gpu.h"

namespace strato::replay_cuda {
namespace {

constexpr Nanos kSlack(50'000);

// In the order of a stream, as a plain cudaMalloc or cudaFree may wait for the whole device, and so
// for a transport's kernel that waits for another rank, which may wait for this one. The calling
// thread's stream is waited for: afterwards the memory is everyone's.
std::byte* allocate_on_gpu(std::size_t bytes) {
  void* data = nullptr;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  const cudaError_t status = cudaMallocAsync(&data, size, cudaStreamPerThread);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is told by the result
    return nullptr;
  }
  cuda_check(status, "taking memory");
  cuda_check(cudaMemsetAsync(data, 0, size, cudaStreamPerThread), "clearing memory");
  cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "clearing memory");
  return static_cast<std::byte*>(data);
}
constexpr replay::Memory kGpuMemory{
    allocate_on_gpu, [](std::byte* data) { cudaFreeAsync(data, cudaStreamPerThread); }};

class CudaReplay final : public replay::ReplayExecution, public DeviceMemory {
 public:
  CudaReplay(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program,
             int gpu)
      : ReplayExecution(std::move(graph), std::move(program), kSlack, kGpuMemory, "the GPU's"),
        gpu_(gpu),
        scratch_(std::make_shared<replay::BufferPool>(kGpuMemory)) {}

  void run(std::size_t i) override {
    on_gpu();
    ReplayExecution::run(i);
  }
  std::span<std::byte> memory(ValueId id) override {
    on_gpu();
    return buffers_.memory(id);
  }

  std::string read(ValueId id) const override {
    on_gpu();
    const std::span<const std::byte> bytes = buffers_.present(id);
    std::string elements(bytes.size(), '\0');
    cuda_check(cudaMemcpy(elements.data(), bytes.data(), bytes.size(), cudaMemcpyDefault),
               "reading memory");
    return elements;
  }
  void write(ValueId id, const std::string& elements) override {
    on_gpu();
    const std::span<std::byte> bytes = buffers_.to_fill(id, elements);
    cuda_check(cudaMemcpy(bytes.data(), elements.data(), bytes.size(), cudaMemcpyDefault),
               "filling memory");
  }

  void copy(const RowCopy& rows) override {
    if (rows.width == 0 || rows.rows == 0) return;
    on_gpu();
    cuda_check(cudaMemcpy2DAsync(rows.to, rows.to_pitch, rows.from, rows.from_pitch, rows.width,
                                 rows.rows, cudaMemcpyDefault, cudaStreamPerThread),
               "copying memory");
    cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "copying memory");
  }
  std::shared_ptr<std::byte> scratch(std::size_t bytes) override {
    on_gpu();
    auto buffer = std::make_shared<replay::Buffer>(scratch_->take(bytes));
    return {buffer->get(), [pool = scratch_, buffer, bytes](std::byte*) {
              pool->give_back(std::move(*buffer), bytes);
            }};
  }

  Bytes peak_memory() const override { return buffers_.peak() + scratch_->peak(); }

 private:
  void be_busy_until(Nanos end) override { spinner_.spin(end - replay::now()); }
  // CUDA knows a current GPU for each thread, and the worker has several.
  void on_gpu() const { cuda_check(cudaSetDevice(gpu_), "choosing the GPU"); }

  int gpu_;
  std::shared_ptr<replay::BufferPool> scratch_;
  Spinner spinner_;
};

class CudaReplayEngine final : public RankEngine {
 public:
  std::string software() const override {
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return fmt::format("replay, CUDA {}.{}", version / 1000, version % 1000 / 10);
  }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const EngineOptions& options) const override {
    // Streams that share one of the device's queues would wait for each other; 8 are the default.
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    const int gpu = gpu_index(options.device, local_rank(program->rank), gpu_count());
    cuda_check(cudaSetDevice(gpu), "choosing the GPU");
    return std::make_unique<CudaReplay>(std::move(graph), std::move(program), gpu);
  }
};

}  // namespace
}  // namespace strato::replay_cuda

STRATOSCOPE_RANK_ENGINE([](std::string_view) {
  return std::make_unique<strato::replay_cuda::CudaReplayEngine>();
})
STRATOSCOPE_ENGINE([](std::string_view) {
  return std::make_unique<strato::replay::MeasuresNothing>("replay, CUDA");
})
