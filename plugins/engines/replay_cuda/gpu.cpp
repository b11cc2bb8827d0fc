#include "plugins/engines/replay_cuda/gpu.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"

namespace strato::replay_cuda {
namespace {

constexpr std::string_view kPrefix = "cuda:";

// -1: not a number from 0 on.
int number_in(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

[[noreturn]] void no_device(const std::string& device, const std::string& remedy) {
  throw InputError("", "--device", fmt::format("there is no device \"{}\"", device), remedy);
}

}  // namespace

int gpu_index(const std::string& device, int local_rank, int gpus) {
  if (device == "cuda") return local_rank % gpus;
  if (!device.starts_with(kPrefix)) no_device(device, "use cuda, or cuda:0");
  const int index = number_in(std::string_view(device).substr(kPrefix.size()));
  if (index < 0 || index >= gpus) no_device(device, fmt::format("use cuda:0 to cuda:{}", gpus - 1));
  return index;
}

int local_rank(int rank) {
  for (const char* name : {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"}) {
    const char* text = std::getenv(name);
    const int local = text == nullptr ? -1 : number_in(text);
    if (local >= 0) return local;
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

}  // namespace strato::replay_cuda
