#include "plugins/engines/replay_cuda/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "plugins/engines/replay_buffers/replay_execution.h"
#include "plugins/engines/replay_cuda/spin_kernels.h"

namespace strato::replay_cuda {
namespace {

constexpr std::string_view kPrefix = "cuda:";
constexpr std::int64_t kSampled = 5'000'000;  // ns
constexpr std::int64_t kFineTicks = 200;  // so many of them, and one more or less is half a percent
constexpr int kClockRounds = 3, kLaunches = 101;

[[noreturn]] void no_device(const std::string& device, const std::string& remedy) {
  throw InputError("", "--device", fmt::format("there is no device \"{}\"", device), remedy);
}

}  // namespace

int gpu_index(const std::string& device, int local_rank, int gpus) {
  if (device == "cuda") return local_rank % gpus;
  if (!device.starts_with(kPrefix)) no_device(device, "use cuda, or cuda:0");
  const auto index = number_from(std::string_view(device).substr(kPrefix.size()), 0, gpus - 1);
  if (!index) no_device(device, fmt::format("use cuda:0 to cuda:{}", gpus - 1));
  return *index;
}

int local_rank(int rank) {
  for (const char* name : {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"}) {
    const char* text = std::getenv(name);
    if (const auto local = number_from(text == nullptr ? "" : text, 0)) return *local;
  }
  return rank;
}

int gpu_count() {
  int gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  if (status == cudaSuccess && gpus > 0) return gpus;
  throw InputError(
      "", "--device",
      fmt::format("no GPU can be used here ({})",
                  status == cudaSuccess ? "there is none" : cudaGetErrorString(status)),
      "install NVIDIA's driver on a machine with a GPU, or take --engine replay");
}

void cuda_check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  throw InputError("", "the GPU", fmt::format("{} failed: {}", what, cudaGetErrorString(status)),
                   "see nvidia-smi, and the system's log for the driver's messages");
}

SpinPlan spin_plan(Nanos time, const SpinClocks& calibration) {
  const Nanos spin = time - calibration.overhead;
  if (spin <= Nanos(0)) return {};
  if (spin >= kFineTicks * calibration.tick) return {SpinPlan::Clock::Nanoseconds, spin.value};
  const double cycles = static_cast<double>(spin.value) * calibration.cycles_per_nano;
  return {SpinPlan::Clock::Cycles, std::llround(cycles)};
}

Spinner::Spinner() {
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  calibrate_clocks();
  calibrate_overhead();
}

Spinner::~Spinner() { cudaStreamDestroy(stream_); }

void Spinner::spin(Nanos time) {
  const SpinPlan plan = spin_plan(time, calibration_);
  if (plan.clock == SpinPlan::Clock::None) return;
  launch(plan);
  cuda_check(cudaStreamSynchronize(stream_), "waiting for a kernel");
}

void Spinner::launch(const SpinPlan& plan) {
  cuda_check(plan.clock == SpinPlan::Clock::Cycles ? spin_cycles(stream_, plan.count)
                                                   : spin_nanoseconds(stream_, plan.count),
             "starting a kernel");
}

// The last round counts: the GPU has raised its clock rate by then.
void Spinner::calibrate_clocks() {
  ClockSample* sample = nullptr;
  cuda_check(cudaMallocHost(&sample, sizeof *sample), "taking pinned memory");
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < kClockRounds && status == cudaSuccess; ++i) {
    status = sample_clocks(stream_, kSampled, sample);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream_);
  }
  if (status == cudaSuccess) {
    calibration_.tick = Nanos(std::max<std::int64_t>(sample->tick, 1));
    calibration_.cycles_per_nano =
        static_cast<double>(sample->cycles) / static_cast<double>(sample->nanoseconds);
  }
  cudaFreeHost(sample);
  cuda_check(status, "calibrating the kernels");
}

// Each kernel is started once, as CUDA may load it then, and wait for the whole device.
void Spinner::calibrate_overhead() {
  launch({SpinPlan::Clock::Nanoseconds, 0});
  std::vector<Nanos> times;
  for (int i = 0; i < kLaunches; ++i) {
    const Nanos start = replay::now();
    launch({SpinPlan::Clock::Cycles, 0});
    cuda_check(cudaStreamSynchronize(stream_), "waiting for a kernel");
    times.push_back(replay::now() - start);
  }
  std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
  calibration_.overhead = times[kLaunches / 2];
}

}  // namespace strato::replay_cuda
