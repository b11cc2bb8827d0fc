#include "core/cost/efficiency.h"

#include <array>

namespace strato {
namespace {

constexpr std::size_t kFamilies = static_cast<std::size_t>(OpFamily::Other) + 1;

// In the order of OpFamily. Large kernels of training are meant; small ones are held back by the
// launch overhead, which is apart.
constexpr std::array<Efficiency, kFamilies> kEfficiency = {{
    // cores tensor memory
    {0.75, 0.60,
     0.75},  // MatMul: GEMMs of training reach 70-90 % of fp32 peak; matrix units starve
             // for operands on all but the largest
    {0.60, 0.35, 0.70},  // Convolution: implicit GEMM with odd shapes; ResNet-50 in fp32 reaches
                         // about 0.6 of a V100's peak, TF32 kernels far less of theirs
    {0.50, 0.50, 0.75},  // Elementwise: a stream; the measured copy bandwidth is 75-80 % of nominal
    {0.40, 0.40, 0.60},  // Normalization: two passes, a reduction between them
    {0.40, 0.40, 0.65},  // Softmax: rows are read more than once, mostly from cache
    {0.40, 0.40, 0.70},  // Reduction: a stream with a tree at its end
    {0.40, 0.40, 0.60},  // Pooling: overlapping windows
    {0.40, 0.40, 0.60},  // DataMovement: transposes read or write with a stride
    {0.40, 0.40, 0.40},  // Embedding: scattered rows
    {0.45, 0.30, 0.65},  // Recurrent: small GEMMs, one step after the other
    {0.40, 0.40, 0.65},  // Loss
    {0.50, 0.50, 0.75},  // Update: a stream over parameter, gradient and state
    {1.00, 1.00, 1.00},  // View: costs nothing
    {0.40, 0.30, 0.60},  // Other: unknown, so a careful guess
}};

constexpr double kLocalMove = 0.70;  // split, concat and sum: plain streams of moderate size

bool uses_matrix_units(OpFamily family) {
  return family == OpFamily::MatMul || family == OpFamily::Convolution ||
         family == OpFamily::Recurrent;
}

// TF32 stands for fp32 where a GPU has it, as frameworks have it for convolutions (and, with a
// switch that training scripts set, for matrix products).
Precision matrix_precision(DataType type) {
  switch (type) {
    case DataType::F16:
      return Precision::Fp16;
    case DataType::BF16:
      return Precision::Bf16;
    case DataType::I8:
    case DataType::U8:
      return Precision::Int8;
    default:
      return Precision::Tf32;
  }
}

double peak(const GpuType& gpu, Precision precision) {
  return gpu.peak_flops[static_cast<std::size_t>(precision)];
}

}  // namespace

const Efficiency& efficiency_of(OpFamily family) {
  return kEfficiency[static_cast<std::size_t>(family)];
}

Rates rates_of(OpFamily family, DataType type, const GpuType& gpu) {
  const Efficiency& part = efficiency_of(family);
  Rates rates{peak(gpu, Precision::Fp32) * part.cuda_cores, gpu.memory_bandwidth * part.memory};
  if (type == DataType::F64) {
    // A GPU whose fp64 rate is not listed has about 1/32 of its fp32 rate.
    const double fp64 = peak(gpu, Precision::Fp64);
    rates.flops = (fp64 > 0 ? fp64 : peak(gpu, Precision::Fp32) / 32) * part.cuda_cores;
  } else if (uses_matrix_units(family)) {
    // Never slower than the ordinary cores: libraries choose the better kernel.
    rates.flops = std::max(rates.flops, peak(gpu, matrix_precision(type)) * part.tensor_cores);
  }
  return rates;
}

// Measured times from call to start of an empty kernel, back to back: about 5 microseconds up to
// Turing and 3.5 since Ampere (told by TF32), framework overhead hidden by asynchronous launches.
double launch_seconds(const GpuType& gpu) { return peak(gpu, Precision::Tf32) > 0 ? 3.5e-6 : 5e-6; }

double local_move_rate(const GpuType& gpu) { return gpu.memory_bandwidth * kLocalMove; }

}  // namespace strato
